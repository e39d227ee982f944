//! HTTP/1 answers and packed bodies. See `engine::fuzzing::http_answer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| engine::fuzzing::http_answer(input));

//! k6's archives. See `script::fuzzing::archive`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| script::fuzzing::archive(input));

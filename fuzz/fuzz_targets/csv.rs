//! Tables of k6/experimental/csv. See `script::fuzzing::csv`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| script::fuzzing::csv(input));

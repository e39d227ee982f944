//! Durations and stages. See `script::fuzzing::duration`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| script::fuzzing::duration(input));

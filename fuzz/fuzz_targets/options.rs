//! Options of scripts. See `script::fuzzing::options`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| script::fuzzing::options(input));

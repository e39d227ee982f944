//! Options from the environment. See `script::fuzzing::environment`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| script::fuzzing::environment(input));

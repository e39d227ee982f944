//! TypeScript and the linking of modules. See `script::fuzzing::modules`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| script::fuzzing::modules(input));

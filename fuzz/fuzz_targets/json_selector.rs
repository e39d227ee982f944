//! Selectors of response.json(). See `script::fuzzing::json_selector`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| script::fuzzing::json_selector(input));

//! Thresholds, metric selectors, promises. See `model::fuzzing::threshold`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| model::fuzzing::threshold(input));

//! What a fuzzer calls (`script/fuzz`): each function takes bytes that anybody may have written, and must come back. Never
//! part of a program that people run.

use crate::expression::{Expression, Promise, Selector};

/// Reads a threshold, a metric selector and a promise.
pub fn threshold(text: &str) {
    if let Ok(expression) = text.parse::<Expression>() {
        assert!(expression.limit.is_finite());
        assert_eq!(expression.text.parse().as_ref(), Ok(&expression), "its text says all of it");
    }
    if let Ok(selector) = text.parse::<Selector>() {
        assert!(!selector.metric.is_empty());
        // Writing it must not fail either.
        assert!(selector.to_string().starts_with(&selector.metric));
    }
    if let Ok(promise) = text.parse::<Promise>() {
        let _ = (promise.exceedance(), promise.to_string());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    /// Everything that the fuzzer once found worth keeping.
    #[test]
    fn the_corpus_is_read_to_its_end() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/threshold");
        let inputs = fs::read_dir(folder).expect("the corpus is kept").map(|entry| fs::read(entry.unwrap().path()));
        let texts = inputs.filter_map(|input| String::from_utf8(input.unwrap()).ok());
        assert!(texts.map(|text| super::threshold(&text)).count() > 0);
    }
}

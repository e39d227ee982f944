//! Selectors in k6's dialect: CSS with `:contains()`, `:matches()`, `:input`, `[a!=b]`, `[a#=regex]` and the like. Own code,
//! since the crates that read selectors follow the standard, which has none of these.

use regex::{Regex, RegexBuilder};

use super::parser::Parser;

/// Why a text is no selector.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{selector}' is no selector: {what}")]
pub(super) struct SelectorError {
    pub(super) selector: String,
    pub(super) what: String,
}

/// Alternatives.
#[derive(Debug)]
pub(super) struct Selector(pub(super) Vec<Chain>);

/// Compounds from left to right, each with what joins it to the one before it.
#[derive(Debug)]
pub(super) struct Chain(pub(super) Vec<(Joint, Vec<Part>)>);

/// How a compound stands to the one on its left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    Inside,
    Child,
    Next,
    Later,
}

/// One condition.
#[derive(Debug)]
pub(super) enum Part {
    Any,
    Tag(String),
    Id(String),
    Class(String),
    Attribute { name: String, test: Test, ignores_case: bool },
    Not(Selector),
    Has(Selector),
    HasChild(Selector),
    Contains { text: String, is_own: bool },
    Matches { regex: Regex, is_own: bool },
    Nth { step: i64, offset: i64, from_end: bool, of_type: bool },
    OnlyChild { of_type: bool },
    Language(String),
    Empty,
    Root,
    Input,
    Link,
    Enabled,
    Disabled,
    Checked,
}

/// What the value of an attribute must be.
#[derive(Debug)]
pub(super) enum Test {
    Present,
    Equal(String),
    Unequal(String),
    Word(String),
    Dash(String),
    Prefix(String),
    Suffix(String),
    Within(String),
    Regex(Regex),
}

impl Selector {
    /// Reads a selector.
    pub(super) fn parse(text: &str) -> Result<Self, SelectorError> {
        let error = |what| SelectorError { selector: text.chars().take(200).collect(), what };
        Parser::new(text).whole().map_err(error)
    }
}

/// A regular expression of a selector, of bounded size.
pub(super) fn regex(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(1 << 20).build();
    built.map_err(|_| format!("'{text}' is no regular expression, or too large a one"))
}

//! Queries: `#(path operator value)`. A text compares with the value as text, a number as number, and what does not
//! compare does not match.

use std::cmp::Ordering;

use super::text::{Kind, closing, kind, unquoted};
use super::{pattern, walk};

/// A query.
#[derive(Debug)]
pub(super) struct Query<'a> {
    /// Leads from an element to what is compared; empty for the element itself.
    path: &'a str,
    operator: Operator,
    value: std::borrow::Cow<'a, str>,
    class: Option<Class>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    IsThere,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    Unlike,
}

const OPERATORS: [(&str, Operator); 9] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("!%", Operator::Unlike),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("%", Operator::Like),
];

/// What a value written with `~` stands for.
#[derive(Clone, Copy, Debug)]
enum Class {
    Truthy,
    Falsy,
    Null,
    Anything,
    /// One that there is not: nothing matches.
    Unknown,
}

impl<'a> Query<'a> {
    /// Reads `(…)` or `[…]`; also gives whether all matches are wanted, and what is behind it. `None` if it is not closed
    /// or has an operator that there is not.
    pub(super) fn parse(text: &'a str) -> Option<(Self, bool, &'a str)> {
        let end = closing(text, 0)?;
        let (inner, rest) = (&text[1..end], &text[end + 1..]);
        let (all, rest) = rest.strip_prefix('#').map_or((false, rest), |rest| (true, rest));
        let mut at = 0;
        loop {
            match inner.as_bytes().get(at) {
                None => {
                    let query = Self { path: inner.trim(), operator: Operator::IsThere, value: "".into(), class: None };
                    return Some((query, all, rest));
                }
                Some(b'!' | b'=' | b'<' | b'>' | b'%') => break,
                Some(b'\\') => at += 2,
                Some(b'(' | b'[' | b'"') => at = closing(inner, at)? + 1,
                Some(_) => at += 1,
            }
        }
        let (path, comparison) = inner.split_at(at);
        let (sign, operator) = OPERATORS.iter().find(|(sign, _)| comparison.starts_with(sign))?;
        let value = comparison[sign.len()..].trim();
        let class = match value {
            "~true" => Some(Class::Truthy),
            "~false" => Some(Class::Falsy),
            "~null" => Some(Class::Null),
            "~*" => Some(Class::Anything),
            _ if value.starts_with('~') => Some(Class::Unknown),
            _ => None,
        };
        let value = if value.starts_with('"') { unquoted(value) } else { value.into() };
        Some((Self { path: path.trim(), operator: *operator, value, class }, all, rest))
    }

    /// Whether an element matches.
    pub(super) fn holds(&self, element: &str, depth: usize) -> bool {
        let found = if self.path.is_empty() { Some(element.into()) } else { walk(element, self.path, depth) };
        let found = found.as_deref();
        if let Some(class) = self.class {
            let is_of_class = match class {
                Class::Truthy => found.is_some_and(|value| truth(value) == Some(true)),
                Class::Falsy => found.is_none_or(|value| truth(value) == Some(false) || kind(value) == Kind::Null),
                Class::Null => found.is_none_or(|value| kind(value) == Kind::Null),
                Class::Anything => found.is_some(),
                Class::Unknown => return false,
            };
            return self.boolean(is_of_class, "true");
        }
        let Some(value) = found else { return false };
        if self.operator == Operator::IsThere {
            return !self.path.is_empty();
        }
        match kind(value) {
            Kind::Text => self.text(&unquoted(value)),
            Kind::Number => {
                let wanted = self.value.parse::<f64>().unwrap_or(0.0);
                value
                    .parse::<f64>()
                    .ok()
                    .and_then(|value| value.partial_cmp(&wanted))
                    .is_some_and(|it| self.ordered(it))
            }
            Kind::True => self.boolean(true, &self.value),
            Kind::False => self.boolean(false, &self.value),
            Kind::Object | Kind::Array | Kind::Null | Kind::Nothing => false,
        }
    }

    fn text(&self, text: &str) -> bool {
        match self.operator {
            Operator::Like => pattern::matches(&self.value, text),
            Operator::Unlike => !pattern::matches(&self.value, text),
            _ => self.ordered(text.cmp(&self.value)),
        }
    }

    fn ordered(&self, ordering: Ordering) -> bool {
        match self.operator {
            Operator::Equal => ordering.is_eq(),
            Operator::Unequal => ordering.is_ne(),
            Operator::Less => ordering.is_lt(),
            Operator::LessOrEqual => ordering.is_le(),
            Operator::Greater => ordering.is_gt(),
            Operator::GreaterOrEqual => ordering.is_ge(),
            Operator::IsThere | Operator::Like | Operator::Unlike => false,
        }
    }

    /// True is greater than `false` and never less than anything; false the other way round.
    fn boolean(&self, boolean: bool, wanted: &str) -> bool {
        let (same, other) = if boolean { ("true", "false") } else { ("false", "true") };
        match self.operator {
            Operator::Equal => wanted == same,
            Operator::Unequal => wanted != same,
            Operator::Greater => boolean && wanted == other,
            Operator::GreaterOrEqual => boolean,
            Operator::Less => !boolean && wanted == other,
            Operator::LessOrEqual => !boolean,
            Operator::IsThere | Operator::Like | Operator::Unlike => false,
        }
    }
}

/// Whether a value counts as true or as false, if as either.
fn truth(value: &str) -> Option<bool> {
    match kind(value) {
        Kind::True => Some(true),
        Kind::False => Some(false),
        Kind::Number => value.parse::<f64>().ok().map(|number| number != 0.0),
        Kind::Text => match unquoted(value).to_ascii_lowercase().as_str() {
            "1" | "t" | "true" => Some(true),
            "0" | "f" | "false" => Some(false),
            _ => None,
        },
        Kind::Object | Kind::Array | Kind::Null | Kind::Nothing => None,
    }
}

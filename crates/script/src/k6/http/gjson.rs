//! Selectors of `response.json()`: GJSON paths, followed on the raw text of a document. Takes valid JSON and gives valid
//! JSON; never builds a tree, and never goes deeper than [`DEPTH_MAX`] steps.

mod modifier;
mod pattern;
mod query;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;

pub(super) use text::is_valid;

use query::Query;
use text::{Items, Kind, closing, key_of, kind, quoted};

/// Steps of a path and selectors within selectors, taken together.
const DEPTH_MAX: usize = 128;

/// A part of a document, as JSON; `None` if it is not there.
pub(super) type Found<'a> = Option<Cow<'a, str>>;

/// The part of `json`, a valid document, that `path` leads to.
pub(super) fn select<'a>(json: &'a str, path: &str) -> Found<'a> {
    match path.strip_prefix("..") {
        // The document as the only one of JSON lines: more than one is no valid document.
        Some(rest) => owned(walk(&format!("[{json}]"), rest, 0)),
        None => walk(json, path, 0),
    }
}

/// Follows a path of a fuzzer's through a document of its own.
#[cfg(any(test, fuzzing))]
pub(crate) fn select_any(json: &str, path: &str) {
    if is_valid(json)
        && let Some(found) = select(json, path)
    {
        assert!(is_valid(&found), "`{path}` makes of {json} what is no JSON: {found}");
    }
}

fn owned(found: Found<'_>) -> Found<'static> {
    found.map(|found| Cow::Owned(found.into_owned()))
}

/// Follows a path from its first component on.
fn walk<'a>(json: &'a str, path: &str, depth: usize) -> Found<'a> {
    if depth > DEPTH_MAX || path.is_empty() {
        return None;
    }
    match path.as_bytes()[0] {
        b'@' => {
            if let Some((modified, rest)) = modifier::apply(json, path, depth) {
                return go_on(modified?, rest, depth);
            }
        }
        b'!' => return literal(path, depth),
        b'{' | b'[' => return several(json, path, depth),
        _ => {}
    }
    match kind(json) {
        Kind::Object => member(json, path, depth),
        Kind::Array if path.starts_with('#') => elements(json, path, depth),
        Kind::Array => {
            let (component, rest) = component(path);
            let is_index = !component.is_empty() && component.bytes().all(|byte| byte.is_ascii_digit());
            let index = is_index.then(|| component.parse().ok()).flatten();
            go_on_if(index.and_then(|index| Items::of(json).nth(index)).map(|(_, value)| value), rest, depth)
        }
        _ => None,
    }
}

/// Goes on behind a component: `rest` is empty or begins with the separator.
fn go_on<'a>(value: Cow<'a, str>, rest: &str, depth: usize) -> Found<'a> {
    match (rest.get(1..), value) {
        (None, value) => Some(value),
        (Some(rest), Cow::Borrowed(value)) => walk(value, rest, depth + 1),
        (Some(rest), Cow::Owned(value)) => owned(walk(&value, rest, depth + 1)),
    }
}

/// As [`go_on`]. Of modifiers behind what is not there, some make something of nothing.
fn go_on_if<'a>(value: Option<&'a str>, rest: &str, depth: usize) -> Found<'a> {
    match value {
        Some(value) => go_on(value.into(), rest, depth),
        None if rest.get(1..2) == Some("@") => go_on("".into(), rest, depth),
        None => None,
    }
}

/// The first component of a path, and what is behind it: from the separator on.
fn component(path: &str) -> (&str, &str) {
    let mut bytes = path.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'.' | b'|' => return path.split_at(at),
            _ => {}
        }
    }
    (path, "")
}

/// A member of an object, by its name or by a pattern: the first that there is.
fn member<'a>(json: &'a str, path: &str, depth: usize) -> Found<'a> {
    let (name, rest) = component(path);
    let found = if pattern::is_wild(name) {
        Items::of(json).find(|(key, _)| pattern::matches(name, &key_of(*key)))
    } else {
        let name = pattern::plain(name);
        Items::of(json).find(|(key, _)| key_of(*key) == name)
    };
    go_on_if(found.map(|(_, value)| value), rest, depth)
}

/// Whatever begins with `#`: the length of an array, something of each element, or those that a query finds.
fn elements<'a>(json: &'a str, path: &str, depth: usize) -> Found<'a> {
    let behind = &path[1..];
    match behind.as_bytes().first() {
        None | Some(b'|') => go_on(Items::of(json).count().to_string().into(), behind, depth),
        Some(b'.') => each(Items::of(json).map(|(_, value)| value), behind, depth),
        Some(b'(' | b'[') => {
            let (query, all, rest) = Query::parse(behind)?;
            let mut found = Items::of(json).map(|(_, value)| value).filter(|value| query.holds(value, depth + 1));
            if all {
                return each(found, rest, depth);
            }
            match found.next() {
                None if rest.starts_with('.') => None,
                found => go_on_if(found, rest, depth),
            }
        }
        _ => None,
    }
}

/// An array of what `.path` finds in each value; behind a `|` the array itself is followed.
fn each<'a>(values: impl Iterator<Item = &'a str>, rest: &str, depth: usize) -> Found<'a> {
    let (own, piped) = if rest.starts_with('.') { split_at_pipe(rest) } else { ("", rest) };
    let found = values.filter_map(|value| match own.strip_prefix('.') {
        Some(path) => walk(value, path, depth + 1),
        None => Some(value.into()),
    });
    go_on(list(found).into(), piped, depth)
}

fn list<'a>(values: impl Iterator<Item = Cow<'a, str>>) -> String {
    let values: Vec<_> = values.collect();
    format!("[{}]", values.join(","))
}

/// Splits before the first `|` that stands in no brackets and no quotes.
fn split_at_pipe(path: &str) -> (&str, &str) {
    let mut at = 0;
    while let Some(byte) = path.as_bytes().get(at) {
        match byte {
            b'|' => return path.split_at(at),
            b'\\' => at += 2,
            b'(' | b'[' | b'{' | b'"' => at = closing(path, at).map_or(path.len(), |end| end + 1),
            _ => at += 1,
        }
    }
    (path, "")
}

/// `!` and a value that stands for itself.
fn literal(path: &str, depth: usize) -> Found<'static> {
    let value = path[1..].trim_start();
    let end = match value.as_bytes().first()? {
        b'{' | b'[' | b'"' => closing(value, 0)? + 1,
        _ => value.find(['.', '|']).filter(|_| value.parse::<f64>().is_err()).unwrap_or(value.len()),
    };
    let (value, rest) = value.split_at(end);
    if !is_valid(value) {
        return None;
    }
    owned(go_on(value.trim().into(), rest, depth))
}

/// `{a,b}` makes an object, `[a,b]` an array of what the selectors find.
fn several<'a>(json: &'a str, path: &str, depth: usize) -> Found<'a> {
    let end = closing(path, 0)?;
    let is_object = path.starts_with('{');
    let mut made = Vec::new();
    for selector in split_at_commas(&path[1..end]) {
        let (name, selector) = named(selector);
        let Some(value) = walk(json, selector, depth + 1) else { continue };
        made.push(match (is_object, name) {
            (false, _) => value.into_owned(),
            (true, Some(name)) => format!("{}:{value}", quoted(&name)),
            (true, None) => format!("{}:{value}", quoted(last_name(selector))),
        });
    }
    let made = made.join(",");
    let made = if is_object { format!("{{{made}}}") } else { format!("[{made}]") };
    go_on(made.into(), &path[end + 1..], depth)
}

fn split_at_commas(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = list.as_bytes().get(at) {
        match byte {
            b',' => {
                parts.push(&list[start..at]);
                start = at + 1;
                at = start;
            }
            b'\\' => at += 2,
            b'(' | b'[' | b'{' | b'"' => at = closing(list, at).map_or(list.len(), |end| end + 1),
            _ => at += 1,
        }
    }
    parts.push(&list[start..]);
    parts
}

/// `name:selector`, where the name may be quoted, or a selector alone.
fn named(selector: &str) -> (Option<Cow<'_, str>>, &str) {
    let selector = selector.trim();
    if selector.starts_with('"') {
        let end = closing(selector, 0);
        let behind = end.and_then(|end| selector[end + 1..].trim_start().strip_prefix(':'));
        return match (end, behind) {
            (Some(end), Some(path)) => (Some(text::unquoted(&selector[..=end])), path.trim_start()),
            _ => (None, selector),
        };
    }
    let bytes = selector.as_bytes();
    let colon = bytes.iter().position(|byte| b":([{\"".contains(byte)).filter(|at| bytes[*at] == b':');
    // What follows the name of a modifier is its argument.
    let modifier = |name: &str| name.split(['.', '|']).any(|part| part.starts_with('@'));
    match colon.map(|at| (&selector[..at], &selector[at + 1..])) {
        Some((name, path)) if !modifier(name) => (Some(name.into()), path),
        _ => (None, selector),
    }
}

/// The name of a value that was given none: the last component, if it is a plain one.
fn last_name(selector: &str) -> &str {
    let name = selector.rsplit(['.', '|']).next().unwrap_or_default();
    if name.is_empty() || name.contains(|c: char| "[]{}()#!\"\\".contains(c) || c.is_control()) { "_" } else { name }
}

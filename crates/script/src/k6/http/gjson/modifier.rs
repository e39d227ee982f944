//! Modifiers: `@name` or `@name:argument` makes another value of the one before it. Each is one line in a list.

use std::borrow::Cow;

use super::text::{Items, Kind, closing, is_valid, key_of, kind, quoted, unquoted};
use super::{Found, list, walk};

/// What a `@dig` costs of the steps that a path may have: each goes through the whole document.
const DIG_STEPS: usize = super::DEPTH_MAX / 2;

/// Objects and arrays within each other that `@dig` and a deep `@flatten` go into.
const LEVELS_MAX: usize = 512;

type Modify = for<'a> fn(&'a str, &str, usize) -> Found<'a>;

/// All modifiers. Each takes a value (empty for none), its argument and the depth of selectors.
const MODIFIERS: &[(&str, Modify)] = &[
    ("dig", |json, path, depth| Some(dig(json, path, depth).into())),
    ("flatten", |json, argument, _| Some(flatten(json, flag(argument, "deep")))),
    ("fromstr", |json, _, _| from_text(json)),
    ("group", |json, _, _| group(json).map(Cow::Owned)),
    ("join", |json, argument, _| Some(join(json, flag(argument, "preserve")))),
    ("keys", |json, _, _| Some(keys(json).into())),
    ("pretty", |json, _, _| Some(pretty(json).into())),
    ("reverse", |json, _, _| Some(reverse(json))),
    ("this", |json, _, _| Some(json.into())),
    ("tostr", |json, _, _| Some(quoted(json).into())),
    ("ugly", |json, _, _| Some(ugly(json).into())),
    ("valid", |json, _, _| is_valid(json).then_some(json.into())),
    ("values", |json, _, _| Some(values(json))),
];

/// Applies the modifier that `path` begins with, and gives what is behind it; `None` if there is no such modifier.
pub(super) fn apply<'a, 'p>(json: &'a str, path: &'p str, depth: usize) -> Option<(Found<'a>, &'p str)> {
    let end = path.find([':', '.', '|']).unwrap_or(path.len());
    let (_, modify) = MODIFIERS.iter().find(|(name, _)| *name == &path[1..end])?;
    let mut rest = &path[end..];
    let mut argument = "";
    if let Some(behind) = rest.strip_prefix(':') {
        let end = match behind.as_bytes().first() {
            Some(b'{' | b'[' | b'(' | b'"') => closing(behind, 0).map(|end| end + 1),
            _ => behind.find('|'),
        };
        (argument, rest) = behind.split_at(end.unwrap_or(behind.len()));
    }
    let modified = modify(json, argument, depth).filter(|modified| !modified.is_empty());
    Some((modified, rest))
}

/// Whether the argument, an object, has this member and it is true.
fn flag(argument: &str, name: &str) -> bool {
    Items::of(argument).any(|(key, value)| key_of(key) == name && kind(value) == Kind::True)
}

fn object(members: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn reverse(json: &str) -> Cow<'_, str> {
    let mut items: Vec<_> = Items::of(json).collect();
    items.reverse();
    match kind(json) {
        Kind::Array => list(items.into_iter().map(|(_, value)| value.into())).into(),
        Kind::Object => {
            object(items.into_iter().map(|(key, value)| format!("{}:{value}", key.unwrap_or_default()))).into()
        }
        _ => json.into(),
    }
}

/// Names of an object; of anything else a null for each value.
fn keys(json: &str) -> String {
    match kind(json) {
        Kind::Object | Kind::Array => list(Items::of(json).map(|(key, _)| key.unwrap_or("null").into())),
        Kind::Nothing => "[]".to_owned(),
        _ => "[null]".to_owned(),
    }
}

fn values(json: &str) -> Cow<'_, str> {
    match kind(json) {
        Kind::Array => json.into(),
        Kind::Object => list(Items::of(json).map(|(_, value)| value.into())).into(),
        Kind::Nothing => "[]".into(),
        _ => format!("[{json}]").into(),
    }
}

fn flatten(json: &str, deep: bool) -> Cow<'_, str> {
    if kind(json) != Kind::Array {
        return json.into();
    }
    let mut flat: Vec<Cow<'_, str>> = Vec::new();
    let mut open = vec![Items::of(json)];
    while let Some(items) = open.last_mut() {
        match items.next() {
            None => drop(open.pop()),
            Some((_, value)) if kind(value) == Kind::Array && (open.len() == 1 || deep && open.len() < LEVELS_MAX) => {
                open.push(Items::of(value));
            }
            Some((_, value)) => flat.push(value.into()),
        }
    }
    list(flat.into_iter()).into()
}

/// One object of all objects of an array: where names repeat the last value stands, or the first to preserve it.
fn join(json: &str, preserve: bool) -> Cow<'_, str> {
    if kind(json) != Kind::Array {
        return json.into();
    }
    let mut members: Vec<(&str, &str)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (key, value) in Items::of(json).filter(|(_, value)| kind(value) == Kind::Object).flat_map(|it| Items::of(it.1))
    {
        let key = key.unwrap_or_default();
        let place = *places.entry(key).or_insert(members.len());
        match members.get_mut(place) {
            Some(member) if !preserve => member.1 = value,
            Some(_) => {}
            None => members.push((key, value)),
        }
    }
    object(members.iter().map(|(key, value)| format!("{key}:{value}"))).into()
}

/// The JSON that a text holds; of any other value itself.
fn from_text(json: &str) -> Found<'_> {
    if kind(json) != Kind::Text {
        return is_valid(json).then_some(json.into());
    }
    let text = unquoted(json);
    is_valid(&text).then(|| Cow::Owned(text.trim().to_owned()))
}

/// Of an object of arrays an array of objects.
fn group(json: &str) -> Option<String> {
    if kind(json) != Kind::Object {
        return None;
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (key, values) in Items::of(json).filter(|(_, value)| kind(value) == Kind::Array) {
        for (index, (_, value)) in Items::of(values).enumerate() {
            if index == rows.len() {
                rows.push(Vec::new());
            }
            rows[index].push(format!("{}:{value}", key.unwrap_or_default()));
        }
    }
    Some(list(rows.into_iter().map(|row| object(row.into_iter()).into())))
}

/// What the path finds in a value and in everything within it.
fn dig(json: &str, path: &str, depth: usize) -> String {
    let mut found: Vec<Cow<'_, str>> = Vec::new();
    found.extend(walk(json, path, depth + DIG_STEPS));
    let mut open = vec![Items::of(json)];
    while let Some(items) = open.last_mut() {
        match items.next() {
            None => drop(open.pop()),
            Some((_, value)) => {
                if matches!(kind(value), Kind::Object | Kind::Array) {
                    found.extend(walk(value, path, depth + DIG_STEPS));
                    if open.len() < LEVELS_MAX {
                        open.push(Items::of(value));
                    }
                }
            }
        }
    }
    list(found.into_iter())
}

/// Without any space between values.
fn ugly(json: &str) -> String {
    laid_out(json, None)
}

/// One value a line.
fn pretty(json: &str) -> String {
    laid_out(json, Some("  "))
}

fn laid_out(json: &str, indent: Option<&str>) -> String {
    let (mut out, mut level, mut at) = (String::new(), 0_usize, 0);
    let line = |out: &mut String, level: usize| {
        if let Some(indent) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(indent, level));
        }
    };
    while let Some(byte) = json.as_bytes().get(at) {
        match byte {
            b'"' => {
                let end = closing(json, at).map_or(json.len(), |end| end + 1);
                out.push_str(&json[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.push(char::from(*byte));
                level += 1;
                if json[at + 1..].trim_start().starts_with(['}', ']']) {
                    level -= 1;
                } else {
                    line(&mut out, level);
                }
            }
            b'}' | b']' => {
                if !out.ends_with(['{', '[']) {
                    level = level.saturating_sub(1);
                    line(&mut out, level);
                }
                out.push(char::from(*byte));
            }
            b',' => {
                out.push(',');
                line(&mut out, level);
            }
            b':' => out.push_str(if indent.is_some() { ": " } else { ":" }),
            byte if byte.is_ascii_whitespace() => {}
            byte => out.push(char::from(*byte)),
        }
        at += 1;
    }
    if indent.is_some() && !out.is_empty() {
        out.push('\n');
    }
    out
}

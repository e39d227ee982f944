//! JSON as text: what kind a value is, where it ends, what is in it. Takes valid JSON only; of anything else it makes
//! something, but never panics.

use std::borrow::Cow;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Text,
    Number,
    True,
    False,
    Null,
    /// There is no value.
    Nothing,
}

/// The kind of a value, by its first character.
pub(super) fn kind(json: &str) -> Kind {
    match json.trim_start().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::Text,
        Some(b't') => Kind::True,
        Some(b'f') => Kind::False,
        Some(b'n') => Kind::Null,
        Some(_) => Kind::Number,
        None => Kind::Nothing,
    }
}

/// Elements of an array, or members of an object with their keys (as JSON); nothing in anything else.
pub(super) struct Items<'a> {
    json: &'a str,
    at: usize,
    is_object: bool,
}

impl<'a> Items<'a> {
    pub(super) fn of(json: &'a str) -> Self {
        let json = json.trim_start();
        let is_object = json.starts_with('{');
        let at = if is_object || json.starts_with('[') { 1 } else { json.len() };
        Self { json, at, is_object }
    }

    fn skip(&mut self, more: &[u8]) {
        let bytes = self.json.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace() || more.contains(byte)) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        let bytes = self.json.as_bytes();
        self.at = match bytes.get(start)? {
            b'{' | b'[' | b'"' => closing(self.json, start)? + 1,
            b'}' | b']' => return None,
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b",]}:".contains(byte);
                bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length)
            }
        };
        // A colon where none may be is no value: it would be met for ever.
        self.json.get(start..self.at).filter(|value| !value.is_empty())
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = (Option<&'a str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        self.skip(b",");
        let first = self.value()?;
        if !self.is_object {
            return Some((None, first));
        }
        self.skip(b":");
        Some((Some(first), self.value()?))
    }
}

/// Where the bracket or quote at `start` is closed. Brackets in quotes do not count.
pub(super) fn closing(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut open, mut in_quotes, mut at) = (0_usize, false, start);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => in_quotes = !in_quotes,
            b'(' | b'[' | b'{' if !in_quotes => open += 1,
            b')' | b']' | b'}' if !in_quotes => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 && !in_quotes {
            return (at < bytes.len()).then_some(at);
        }
        at += 1;
    }
    None
}

/// The text of a key; of an element, which has none, it is empty.
pub(super) fn key_of(key: Option<&str>) -> Cow<'_, str> {
    key.map_or("".into(), unquoted)
}

/// The text that a JSON string stands for. Halves of surrogate pairs become replacement characters.
pub(super) fn unquoted(json: &str) -> Cow<'_, str> {
    let inner = json.strip_prefix('"').unwrap_or(json);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return inner.into();
    }
    let (mut units, mut characters) = (Vec::new(), inner.chars());
    while let Some(character) = characters.next() {
        let character = if character == '\\' {
            match characters.next() {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => {
                    let code = characters.as_str().get(..4).and_then(|code| u16::from_str_radix(code, 16).ok());
                    units.push(code.unwrap_or(0xfffd));
                    if code.is_some() {
                        characters = characters.as_str()[4..].chars();
                    }
                    continue;
                }
                Some(other) => other,
                None => break,
            }
        } else {
            character
        };
        units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16_lossy(&units).into()
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether a text is one JSON value.
pub(crate) fn is_valid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut at = 0;
    loop {
        // A value is expected at `at`.
        at = space(bytes, at);
        match bytes.get(at) {
            Some(bracket @ (b'{' | b'[')) => {
                open.push(*bracket);
                at = space(bytes, at + 1);
                let is_empty = bytes.get(at) == Some(if *bracket == b'{' { &b'}' } else { &b']' });
                if !is_empty {
                    match (*bracket == b'{').then(|| name(bytes, at)) {
                        Some(Some(behind)) => at = behind,
                        Some(None) => return false,
                        None => {}
                    }
                    continue;
                }
            }
            _ => match scalar(bytes, at) {
                Some(behind) => at = behind,
                None => return false,
            },
        }
        // A value ended before `at`, or an empty one is about to.
        loop {
            at = space(bytes, at);
            let Some(bracket) = open.last() else { return at == bytes.len() };
            match (bytes.get(at), bracket) {
                (Some(b'}'), b'{') | (Some(b']'), b'[') => {
                    open.pop();
                    at += 1;
                }
                (Some(b','), b'[') => {
                    at += 1;
                    break;
                }
                (Some(b','), _) => match name(bytes, at + 1) {
                    Some(behind) => {
                        at = behind;
                        break;
                    }
                    None => return false,
                },
                _ => return false,
            }
        }
    }
}

fn space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| b" \t\n\r".contains(byte)) {
        at += 1;
    }
    at
}

/// Behind a name and its colon.
fn name(bytes: &[u8], at: usize) -> Option<usize> {
    let at = space(bytes, at);
    let at = space(bytes, string(bytes, at)?);
    (bytes.get(at) == Some(&b':')).then_some(at + 1)
}

fn string(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' if bytes.get(at + 1) == Some(&b'u') => {
                let code = bytes.get(at + 2..at + 6)?;
                if !code.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                at += 6;
            }
            b'\\' if b"\"\\/bfnrt".contains(bytes.get(at + 1)?) => at += 2,
            b'\\' | 0..=0x1f => return None,
            _ => at += 1,
        }
    }
}

fn scalar(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    for word in [&b"true"[..], b"false", b"null"] {
        if rest.starts_with(word) {
            return Some(at + word.len());
        }
    }
    if rest.first() == Some(&b'"') {
        return string(bytes, at);
    }
    let digits = |from: usize| rest[from.min(rest.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = usize::from(rest.first() == Some(&b'-'));
    let whole = digits(length);
    if whole == 0 || whole > 1 && rest[length] == b'0' {
        return None;
    }
    length += whole;
    if rest.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        if fraction == 0 {
            return None;
        }
        length += 1 + fraction;
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent == 0 {
            return None;
        }
        length += 1 + sign + exponent;
    }
    Some(at + length)
}

//! From the text of a selector to its parts.

use super::selector::{Chain, Joint, Part, Selector, Test, regex};

/// Selectors inside of each other, and compounds in a row.
const DEPTH_MAX: usize = 32;
const COMPOUNDS_MAX: usize = 256;

type Result<T> = std::result::Result<T, String>;

/// A text that is read from left to right.
pub(super) struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, depth: 0 }
    }

    /// All of the text.
    pub(super) fn whole(mut self) -> Result<Selector> {
        let selector = self.alternatives()?;
        if self.rest.is_empty() { Ok(selector) } else { Err(self.unexpected()) }
    }

    fn alternatives(&mut self) -> Result<Selector> {
        let mut chains = Vec::new();
        loop {
            chains.push(self.chain()?);
            if !self.eat(',') {
                return Ok(Selector(chains));
            }
        }
    }

    fn chain(&mut self) -> Result<Chain> {
        let mut compounds = Vec::new();
        let mut joint = Joint::Inside;
        self.space();
        loop {
            compounds.push((joint, self.compound()?));
            if compounds.len() > COMPOUNDS_MAX {
                return Err(format!("it has more than {COMPOUNDS_MAX} parts in a row"));
            }
            let has_space = self.space();
            joint = match self.rest.chars().next() {
                Some('>') => Joint::Child,
                Some('+') => Joint::Next,
                Some('~') => Joint::Later,
                None | Some(',' | ')') => return Ok(Chain(compounds)),
                Some(_) if has_space => Joint::Inside,
                Some(_) => return Err(self.unexpected()),
            };
            if joint != Joint::Inside {
                self.rest = &self.rest[1..];
                self.space();
            }
        }
    }

    fn compound(&mut self) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        if self.eat('*') {
            parts.push(Part::Any);
        } else if self.begins_name() {
            parts.push(Part::Tag(self.identifier()?.to_ascii_lowercase()));
        }
        loop {
            if self.eat('#') {
                parts.push(Part::Id(self.name()?));
            } else if self.eat('.') {
                parts.push(Part::Class(self.identifier()?));
            } else if self.eat('[') {
                parts.push(self.attribute()?);
            } else if self.eat(':') {
                parts.push(self.pseudo()?);
            } else if parts.is_empty() {
                return Err(self.unexpected());
            } else {
                return Ok(parts);
            }
        }
    }

    fn attribute(&mut self) -> Result<Part> {
        self.space();
        let name = self.identifier()?.to_ascii_lowercase();
        self.space();
        if self.eat(']') {
            return Ok(Part::Attribute { name, test: Test::Present, ignores_case: false });
        }
        let operator = self.rest.find('=').map(|end| &self.rest[..=end]).unwrap_or_default();
        let make: fn(String) -> Test = match operator {
            "=" => Test::Equal,
            "!=" => Test::Unequal,
            "~=" => Test::Word,
            "|=" => Test::Dash,
            "^=" => Test::Prefix,
            "$=" => Test::Suffix,
            "*=" => Test::Within,
            "#=" => {
                self.rest = &self.rest[2..];
                let end = raw_end(self.rest, '[', ']').ok_or("its [ is never closed")?;
                let test = Test::Regex(regex(&self.rest[..end])?);
                self.rest = &self.rest[end + 1..];
                return Ok(Part::Attribute { name, test, ignores_case: false });
            }
            _ => return Err(self.unexpected()),
        };
        self.rest = &self.rest[operator.len()..];
        self.space();
        let value = self.value()?;
        self.space();
        let ignores_case = self.eat('i') || self.eat('I');
        self.space();
        self.expect(']')?;
        let value = if ignores_case { value.to_lowercase() } else { value };
        Ok(Part::Attribute { name, test: make(value), ignores_case })
    }

    fn pseudo(&mut self) -> Result<Part> {
        let name = self.identifier()?.to_ascii_lowercase();
        let first = |from_end, of_type| Part::Nth { step: 0, offset: 1, from_end, of_type };
        Ok(match name.as_str() {
            "first-child" => first(false, false),
            "last-child" => first(true, false),
            "first-of-type" => first(false, true),
            "last-of-type" => first(true, true),
            "only-child" => Part::OnlyChild { of_type: false },
            "only-of-type" => Part::OnlyChild { of_type: true },
            "empty" => Part::Empty,
            "root" => Part::Root,
            "input" => Part::Input,
            "link" => Part::Link,
            "enabled" => Part::Enabled,
            "disabled" => Part::Disabled,
            "checked" => Part::Checked,
            "not" | "has" | "haschild" => self.nested(&name)?,
            "matches" | "matchesown" => {
                self.expect('(')?;
                let end = raw_end(self.rest, '(', ')').ok_or("its ( is never closed")?;
                let regex = regex(&self.rest[..end])?;
                self.rest = &self.rest[end + 1..];
                Part::Matches { regex, is_own: name == "matchesown" }
            }
            "contains" | "containsown" | "lang" => {
                self.expect('(')?;
                self.space();
                let value = self.value()?.to_lowercase();
                self.space();
                self.expect(')')?;
                match name.as_str() {
                    "lang" => Part::Language(value),
                    _ => Part::Contains { text: value, is_own: name == "containsown" },
                }
            }
            "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type" => {
                self.expect('(')?;
                let end = self.rest.find(')').ok_or("its ( is never closed")?;
                let (step, offset) = nth(&self.rest[..end])?;
                self.rest = &self.rest[end + 1..];
                Part::Nth { step, offset, from_end: name.contains("last"), of_type: name.ends_with("type") }
            }
            _ => return Err(format!("there is no ':{name}'")),
        })
    }

    fn nested(&mut self, name: &str) -> Result<Part> {
        self.expect('(')?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("it has more than {DEPTH_MAX} selectors inside of each other"));
        }
        let inner = self.alternatives()?;
        self.depth -= 1;
        self.expect(')')?;
        Ok(match name {
            "not" => Part::Not(inner),
            "has" => Part::Has(inner),
            _ => Part::HasChild(inner),
        })
    }

    /// A text in quotes, or a name.
    fn value(&mut self) -> Result<String> {
        let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return self.identifier();
        };
        self.rest = &self.rest[1..];
        let mut value = String::new();
        loop {
            let c = self.rest.chars().next().ok_or("a quoted text never ends")?;
            match c {
                '\\' => value.extend(self.escape()?),
                '\n' | '\r' => return Err("a quoted text never ends".into()),
                _ => {
                    self.rest = &self.rest[c.len_utf8()..];
                    if c == quote {
                        return Ok(value);
                    }
                    value.push(c);
                }
            }
        }
    }

    fn begins_name(&self) -> bool {
        let after = self.rest.strip_prefix('-').unwrap_or(self.rest);
        after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '\\') || !c.is_ascii())
    }

    fn identifier(&mut self) -> Result<String> {
        if self.begins_name() { self.name() } else { Err(self.unexpected()) }
    }

    fn name(&mut self) -> Result<String> {
        let mut name = String::new();
        while let Some(c) = self.rest.chars().next() {
            if c == '\\' {
                name.extend(self.escape()?);
            } else if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii() {
                self.rest = &self.rest[c.len_utf8()..];
                name.push(c);
            } else {
                break;
            }
        }
        if name.is_empty() { Err(self.unexpected()) } else { Ok(name) }
    }

    /// What follows a backslash: a code point in hexadecimal digits, or a letter as it is.
    fn escape(&mut self) -> Result<Option<char>> {
        self.rest = &self.rest[1..];
        let digits = self.rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let c = self.rest.chars().next().ok_or("it ends with a backslash")?;
            self.rest = &self.rest[c.len_utf8()..];
            return Ok((c != '\n').then_some(c));
        }
        let code = u32::from_str_radix(&self.rest[..digits], 16).expect("these are hexadecimal digits");
        self.rest = &self.rest[digits..];
        self.rest = self.rest.strip_prefix([' ', '\t', '\n']).unwrap_or(self.rest);
        Ok(Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)))
    }

    /// Skips spaces and comments.
    fn space(&mut self) -> bool {
        let before = self.rest.len();
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']);
            match self.rest.strip_prefix("/*").and_then(|comment| comment.split_once("*/")) {
                Some((_, after)) => self.rest = after,
                None => return self.rest.len() != before,
            }
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.eat(wanted) { Ok(()) } else { Err(format!("'{wanted}' is expected, {}", self.found())) }
    }

    fn unexpected(&self) -> String {
        format!("a name, '#', '.', '[' or ':' is expected, {}", self.found())
    }

    fn found(&self) -> String {
        match self.rest.chars().next() {
            Some(c) => format!("and there is '{c}'"),
            None => "and it ends".into(),
        }
    }
}

/// Where a bracket is closed that is open already.
fn raw_end(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == open => depth += 1,
            _ if c == close && depth == 0 => return Some(at),
            _ if c == close => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `odd`, `even`, `3`, `2n+1`: every which element, beginning with which.
fn nth(text: &str) -> Result<(i64, i64)> {
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>().to_ascii_lowercase();
    let number = |text: &str| text.parse::<i32>().map(i64::from).ok();
    let parsed = match text.as_str() {
        "odd" => Some((2, 1)),
        "even" => Some((2, 0)),
        _ => match text.split_once('n') {
            None => number(&text).map(|offset| (0, offset)),
            Some((step, offset)) => {
                let step = match step {
                    "" | "+" => Some(1),
                    "-" => Some(-1),
                    _ => number(step),
                };
                let is_signed = offset.is_empty() || offset.starts_with(['+', '-']);
                let offset = if offset.is_empty() { Some(0) } else { number(offset) };
                step.zip(offset).filter(|_| is_signed)
            }
        },
    };
    parsed.ok_or_else(|| format!("'{text}' is not of the form 2n+1"))
}

//! What a script said: console lines and exceptions, in order. Plimsoll does not say of a warning whether it is the
//! script's, so k6's lines must be among ours; informational lines are the script's alone and must be the same.
//! Exceptions that the engine made differ in their words, and are only counted.

use serde_json::Value;

use super::{Differences, sorted};
use crate::differential::contestant::Run;
use crate::differential::script::Script;

#[derive(Debug, Clone, PartialEq, PartialOrd, Eq, Ord)]
struct Line {
    level: String,
    text: String,
}

pub(super) fn compare(found: &mut Differences, script: &Script, k6: &Run, ours: &Run) {
    let (mut wanted, exceptions) = of_k6(&k6.stderr);
    let mut have = of_ours(&ours.stderr);
    if script.any_order {
        wanted.sort();
        have.sort();
    }
    let info = |lines: &[Line]| {
        let texts = lines.iter().filter(|line| line.level == "INFO" || line.level == "DEBUG");
        texts.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n        ")
    };
    found.unequal("console", "console lines", &info(&wanted), &info(&have));
    let mut rest = have.iter();
    for line in &wanted {
        if !rest.any(|one| one == line) {
            let ours = ours.stderr.trim();
            found.add("console", format!("lacks {} {}, or it comes too early in:\n{ours}", line.level, line.text));
            break;
        }
    }
    let errors = have.iter().filter(|line| line.level == "ERROR" && !line.text.starts_with("threshold ")).count();
    let wanted_errors = exceptions + wanted.iter().filter(|line| line.level == "ERROR").count();
    // Why a run failed as a whole each program says in its own way.
    if errors != wanted_errors && script.exit == 0 {
        let (k6, ours) = (k6.stderr.trim(), ours.stderr.trim());
        found.add("console", format!("{errors} lines of errors; in k6 {wanted_errors}\n{ours}\n        k6:\n{k6}"));
    }
}

/// Lines of the console and exceptions that a script made, and the number of other exceptions.
fn of_k6(log: &str) -> (Vec<Line>, usize) {
    let mut lines = Vec::new();
    let mut exceptions = 0;
    for line in log.lines() {
        let Some(level) = field(line, " level=") else { continue };
        // An empty message is left out.
        let text = quoted(line).unwrap_or_default();
        // Of async functions.
        let (source, text) = match text.strip_prefix("Uncaught (in promise) ") {
            Some(text) => (Some("stacktrace"), text.to_owned()),
            None => (field(line, " source="), text),
        };
        let level = if level == "warning" { "WARN".to_owned() } else { level.to_uppercase() };
        match source {
            Some("console") => lines.push(Line { level, text: keys_in_order(text.trim_end()) }),
            Some("stacktrace") if text.starts_with("Error: ") => {
                lines.push(Line { level, text: text.lines().next().unwrap_or_default().to_owned() });
            }
            Some("stacktrace") => exceptions += 1,
            _ => {}
        }
    }
    (lines, exceptions)
}

/// A text with the keys of the JSON objects in it in order: k6 parses JSON into maps that have none.
fn keys_in_order(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(place) = rest.find('{') {
        result += &rest[..place];
        rest = &rest[place..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let length = match values.next() {
            Some(Ok(value)) => {
                result += &sorted(&value);
                values.byte_offset()
            }
            _ => {
                result.push('{');
                1
            }
        };
        rest = &rest[length..];
    }
    result + rest
}

fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    // The message may hold anything: what comes behind it is looked for from the end.
    let start = if name == " level=" { line.find(name) } else { line.rfind(name) }? + name.len();
    line[start..].split_whitespace().next()
}

/// The message of a logfmt line: a word, or a text in quotes.
fn quoted(line: &str) -> Option<String> {
    let text = &line[line.find(" msg=")? + 5..];
    if !text.starts_with('"') {
        return text.split(' ').next().map(str::to_owned);
    }
    let mut result = String::new();
    let mut chars = text[1..].chars();
    loop {
        match chars.next()? {
            '"' => return Some(result),
            '\\' => match chars.next()? {
                'n' => result.push('\n'),
                't' => result.push('\t'),
                'r' => result.push('\r'),
                'x' => result.push(code(&mut chars, 2)?),
                'u' => result.push(code(&mut chars, 4)?),
                other => result.push(other),
            },
            other => result.push(other),
        }
    }
}

fn code(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let text: String = chars.take(digits).collect();
    char::from_u32(u32::from_str_radix(&text, 16).ok()?)
}

fn of_ours(log: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in log.lines() {
        let level =
            ["DEBUG", "INFO", "WARN", "ERROR"].into_iter().find(|level| line.starts_with(&format!("{level:6}")));
        match level {
            Some(level) => lines.push(Line { level: level.to_owned(), text: line[6..].to_owned() }),
            None if line.starts_with("      ") => {
                if let Some(last) = lines.last_mut() {
                    last.text += &format!("\n{}", &line[6..]);
                }
            }
            None => {}
        }
    }
    for line in &mut lines {
        line.text = keys_in_order(&line.text);
    }
    // Of an exception only what it says counts, not where it was thrown.
    for line in lines.iter_mut().filter(|line| line.level == "ERROR" && line.text.starts_with("Error: ")) {
        line.text = line.text.lines().next().unwrap_or_default().to_owned();
    }
    lines
}

//! Names with wildcards: `*` is any text, `?` any character, `\` takes away the meaning of what follows. Takes time in
//! proportion to text times pattern at worst.

use std::borrow::Cow;

enum Part {
    Any,
    One,
    Character(char),
}

/// Whether there is a wildcard in it.
pub(super) fn is_wild(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '*' | '?' => return true,
            _ => {}
        }
    }
    false
}

/// The name without the escapes.
pub(super) fn plain(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return name.into();
    }
    let mut characters = name.chars();
    let mut plain = String::new();
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain.into()
}

/// Whether the whole text is as the pattern says.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        parts.push(match character {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => characters.next().map_or(Part::Character('\\'), Part::Character),
            other => Part::Character(other),
        });
    }
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut part) = (0, 0);
    // Where the last `*` stands, and how far it has been taken to reach.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match parts.get(part) {
            Some(Part::Any) => {
                star = Some((part, at));
                part += 1;
            }
            Some(Part::One) => (at, part) = (at + 1, part + 1),
            Some(Part::Character(wanted)) if *wanted == text[at] => (at, part) = (at + 1, part + 1),
            _ => {
                let Some((position, reach)) = star else { return false };
                star = Some((position, reach + 1));
                (at, part) = (reach + 1, position + 1);
            }
        }
    }
    parts[part..].iter().all(|part| matches!(part, Part::Any))
}

//! Selectors of `response.json()`: keys and indices with dots between, `#` for a length. The rest of GJSON is refused
//! by name.

use rquickjs::{Ctx, Result, Value};

/// A selector that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{character}' in the JSON selector '{selector}' is not supported yet: keys, indices and # with dots between are"
)]
pub(super) struct SelectorError {
    character: char,
    selector: String,
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To a member or an element.
    Key(String),
    /// To the length of an array.
    Length,
}

/// Reads a selector.
pub(super) fn parse(selector: &str) -> std::result::Result<Vec<Step>, SelectorError> {
    let unsupported = |character| SelectorError { character, selector: selector.to_owned() };
    let mut steps = Vec::new();
    let mut key = String::new();
    let mut characters = selector.chars();
    loop {
        match characters.next() {
            Some('\\') => key.extend(characters.next()),
            Some('.') | None if key == "#" => {
                if !characters.as_str().is_empty() {
                    return Err(unsupported('#'));
                }
                steps.push(Step::Length);
                return Ok(steps);
            }
            Some('.') => steps.push(Step::Key(std::mem::take(&mut key))),
            None => {
                steps.push(Step::Key(key));
                return Ok(steps);
            }
            Some(character @ ('*' | '?' | '|' | '@' | '!' | '{' | '[' | '(' | '=')) => {
                return Err(unsupported(character));
            }
            Some('#') if !key.is_empty() => return Err(unsupported('#')),
            Some(character) => key.push(character),
        }
    }
}

/// Follows a selector; undefined where it leads nowhere.
pub(super) fn select<'js>(ctx: &Ctx<'js>, value: Value<'js>, steps: &[Step]) -> Result<Value<'js>> {
    let mut value = value;
    for step in steps {
        value = match (step, value.as_array(), value.as_object()) {
            (Step::Length, Some(array), _) => Value::new_number(ctx.clone(), array.len() as f64),
            (Step::Key(key), Some(array), _) => match key.parse::<usize>() {
                Ok(index) => array.get(index)?,
                Err(_) => return Ok(Value::new_undefined(ctx.clone())),
            },
            (Step::Key(key), None, Some(object)) if object.contains_key(key)? => object.get(key)?,
            _ => return Ok(Value::new_undefined(ctx.clone())),
        };
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> Step {
        Step::Key(key.to_owned())
    }

    #[test]
    fn paths_are_split_at_dots() {
        assert_eq!(parse("a.0.b").unwrap(), [key("a"), key("0"), key("b")]);
        assert_eq!(parse(r"a\.b.c").unwrap(), [key("a.b"), key("c")]);
        assert_eq!(parse("items.#").unwrap(), [key("items"), Step::Length]);
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (selector, character) in [("a.#.b", '#'), ("a.*", '*'), ("#(x==1)", '('), ("@reverse", '@')] {
            assert_eq!(parse(selector).map_err(|error| error.character), Err(character), "{selector}");
        }
    }
}

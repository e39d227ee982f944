//! What a script threw, as people want to read it: name, message and a stack without our own frames.

use std::fmt;

use rquickjs::{Ctx, Value};

/// File name of our own code in stacks.
pub(crate) const OWN_CODE: &str = "plimsoll:";

/// The engine's words for a stack that is used up.
const OVERFLOW: &str = "Maximum call stack size exceeded";

/// The engine's words for an allocation that is not to be had.
const OUT_OF_MEMORY: &str = "out of memory";

/// What is thrown where not even an error fits into the memory that is left.
const NOTHING: &str = "null (by the script, or since its memory ran out: --memory-per-user gives it more)";

/// Something that was thrown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Thrown {
    /// `TypeError: x is not a function`.
    pub(crate) headline: String,
    /// Frames, one a line, indented.
    pub(crate) stack: String,
}

impl Thrown {
    /// Takes the pending exception.
    pub(crate) fn catch(ctx: &Ctx<'_>, error: &rquickjs::Error) -> Self {
        match error {
            rquickjs::Error::Exception => Self::new(&ctx.catch()),
            other => Self { headline: other.to_string(), stack: String::new() },
        }
    }

    /// Describes a value. Whatever goes wrong in its own code leaves its part out.
    pub(crate) fn new(value: &Value<'_>) -> Self {
        let property = |key: &str| {
            let object = value.as_object()?;
            let found = object.get::<_, Option<rquickjs::Coerced<String>>>(key);
            if found.is_err() {
                object.ctx().catch();
            }
            found.ok().flatten().map(|text| text.0)
        };
        if !value.is_error() {
            let headline = if value.is_null() { NOTHING.to_owned() } else { plain(value) };
            return Self { headline, stack: String::new() };
        }
        let (name, message) = (property("name"), property("message").unwrap_or_default());
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "Error".to_owned());
        let name_is_internal = name == "InternalError";
        let mut headline = if message.is_empty() { name } else { format!("{name}: {message}") };
        if message.contains(OVERFLOW) {
            headline.push_str(" (a user's stack is limited: raise the stack size if the script needs deep recursion)");
        }
        if name_is_internal && message == OUT_OF_MEMORY {
            headline.push_str(" (what a user may hold is limited: raise --memory-per-user if the script needs more)");
        }
        let stack = property("stack").unwrap_or_default();
        let frames = stack.lines().filter(|line| !line.contains(OWN_CODE) && !line.trim().is_empty());
        Self { headline, stack: frames.collect::<Vec<_>>().join("\n") }
    }

    /// Whether it is an allocation that was not to be had.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.headline.starts_with("InternalError: out of memory") || self.headline == NOTHING
    }

    /// `file:line:column` of the innermost frame that has one.
    pub(crate) fn place(&self) -> Option<&str> {
        let place = |line: &'_ str| -> Option<(usize, usize)> {
            let inner = line.trim().strip_prefix("at ")?;
            let inner = inner.rsplit_once(" (").map_or(inner, |(_, place)| place.trim_end_matches(')'));
            let start = line.find(inner)?;
            inner.rsplit(':').next()?.parse::<u32>().ok().map(|_| (start, inner.len()))
        };
        self.stack.lines().find_map(|line| place(line).map(|(start, length)| &line[start..start + length]))
    }
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)?;
        if !self.stack.is_empty() {
            write!(f, "\n{}", self.stack)?;
        }
        Ok(())
    }
}

/// A value that is no error: text as it is, the rest as JSON where that says something.
fn plain(value: &Value<'_>) -> String {
    let ctx = value.ctx();
    if value.is_object() && !value.is_function() {
        match ctx.json_stringify(value.clone()) {
            Ok(Some(json)) => return json.to_string().unwrap_or_default(),
            Ok(None) => {}
            Err(_) => drop(ctx.catch()),
        }
    }
    crate::host::text(value).unwrap_or_else(|_| {
        ctx.catch();
        value.type_name().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_that_of_the_innermost_frame_with_a_file() {
        let stack = "    at get (native)\n    at inner (/tmp/a b.js:12:7)\n    at /tmp/c.js:3:1".to_owned();
        let thrown = Thrown { headline: "Error: x".into(), stack };
        assert_eq!(thrown.place(), Some("/tmp/a b.js:12:7"));
        let thrown = Thrown { stack: "    at /tmp/c.js:3:1".into(), ..thrown };
        assert_eq!(thrown.place(), Some("/tmp/c.js:3:1"));
        assert_eq!(Thrown::default().place(), None);
    }
}

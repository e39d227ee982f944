//! Typed access to one object of the options. What is wrong is noted, not returned: all mistakes are reported
//! together, so reading goes on behind the first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::plan::Stage;
use serde_json::{Map, Value};

use super::duration::{from_milliseconds, parse_duration};

/// What was found to say about the options.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) mistakes: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Notes {
    pub(super) fn mistake(&mut self, sentence: impl Into<String>) {
        self.mistakes.push(sentence.into());
    }

    pub(super) fn warning(&mut self, sentence: impl Into<String>) {
        self.warnings.push(sentence.into());
    }
}

/// An object of the options, and which of its keys were asked for. A key whose value is `null` counts as not given.
pub(super) struct Fields<'v> {
    /// What a message says in front of the key: `option`, or the scenario.
    place: String,
    map: &'v Map<String, Value>,
    asked: BTreeSet<&'static str>,
}

impl<'v> Fields<'v> {
    pub(super) fn new(place: impl Into<String>, map: &'v Map<String, Value>) -> Self {
        Self { place: place.into(), map, asked: BTreeSet::new() }
    }

    /// How messages name `key`.
    pub(super) fn label(&self, key: &str) -> String {
        format!("{} `{key}`", self.place)
    }

    pub(super) fn value(&mut self, key: &'static str) -> Option<&'v Value> {
        self.asked.insert(key);
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Keys that nobody asked for.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &'v String> {
        self.map.keys().filter(|key| !self.asked.contains(key.as_str()))
    }

    /// A whole number, not negative. Numbers in text are taken, as k6 does: `vus: __ENV.VUS` is text.
    pub(super) fn whole(&mut self, notes: &mut Notes, key: &'static str) -> Option<u64> {
        let value = self.value(key)?;
        let number = match value {
            Value::String(text) if text.is_empty() => return None,
            Value::String(text) => text.parse().ok(),
            Value::Number(number) => number
                .as_u64()
                .or_else(|| number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=9e15).contains(n)).map(|n| n as u64)),
            _ => None,
        };
        if number.is_none() {
            notes.mistake(expected(&self.label(key), "a whole number that is not negative", value));
        }
        number
    }

    /// A number of users.
    pub(super) fn users(&mut self, notes: &mut Notes, key: &'static str) -> Option<u32> {
        let number = self.whole(notes, key)?;
        let users = u32::try_from(number).ok();
        if users.is_none() {
            notes.mistake(format!("{}: {number} is more than can be", self.label(key)));
        }
        users
    }

    pub(super) fn duration(&mut self, notes: &mut Notes, key: &'static str) -> Option<Duration> {
        let value = self.value(key)?;
        let result = match value {
            Value::Number(number) => from_milliseconds(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => parse_duration(text),
            _ => {
                notes.mistake(expected(&self.label(key), "a duration such as `30s`", value));
                return None;
            }
        };
        result.map_err(|error| notes.mistake(format!("{}: {error}", self.label(key)))).ok()
    }

    pub(super) fn flag(&mut self, notes: &mut Notes, key: &'static str) -> Option<bool> {
        let value = self.value(key)?;
        if value.as_bool().is_none() {
            notes.mistake(expected(&self.label(key), "`true` or `false`", value));
        }
        value.as_bool()
    }

    pub(super) fn text(&mut self, notes: &mut Notes, key: &'static str) -> Option<&'v str> {
        let value = self.value(key)?;
        if value.as_str().is_none() {
            notes.mistake(expected(&self.label(key), "text", value));
        }
        value.as_str()
    }

    pub(super) fn object(&mut self, notes: &mut Notes, key: &'static str) -> Option<&'v Map<String, Value>> {
        let value = self.value(key)?;
        if value.as_object().is_none() {
            notes.mistake(expected(&self.label(key), "an object", value));
        }
        value.as_object()
    }

    pub(super) fn list(&mut self, notes: &mut Notes, key: &'static str) -> Option<&'v [Value]> {
        let value = self.value(key)?;
        if value.as_array().is_none() {
            notes.mistake(expected(&self.label(key), "a list", value));
        }
        value.as_array().map(Vec::as_slice)
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, notes: &mut Notes, key: &'static str) -> Option<Vec<String>> {
        let list = self.list(notes, key)?;
        let label = self.label(key);
        let text = |(at, value): (usize, &Value)| {
            let text = value.as_str().map(str::to_owned);
            if text.is_none() {
                notes.mistake(expected(&format!("{label}[{at}]"), "text", value));
            }
            text
        };
        Some(list.iter().enumerate().filter_map(text).collect())
    }

    /// Texts by name: tags, environment.
    pub(super) fn text_map(&mut self, notes: &mut Notes, key: &'static str) -> Option<BTreeMap<String, String>> {
        let map = self.object(notes, key)?;
        let label = self.label(key);
        let entry = |(name, value): (&String, &Value)| {
            if value.as_str().is_none() {
                notes.mistake(expected(&format!("{label}, `{name}`"), "text", value));
            }
            Some((name.clone(), value.as_str()?.to_owned()))
        };
        Some(map.iter().filter_map(entry).collect())
    }

    /// The stages of a ramp.
    pub(super) fn stages(&mut self, notes: &mut Notes, key: &'static str) -> Option<Vec<Stage>> {
        let list = self.list(notes, key)?;
        let mut stages = Vec::new();
        for (at, value) in list.iter().enumerate() {
            let place = format!("{}[{at}]", self.label(key));
            let Some(map) = value.as_object() else {
                notes.mistake(expected(&place, "`{ duration, target }`", value));
                continue;
            };
            let mut fields = Fields::new(format!("{place},"), map);
            let duration = Some(fields.duration(notes, "duration").unwrap_or_default());
            let target = fields.required(notes, "target", Self::users);
            for unknown in fields.unknown() {
                notes.warning(format!("{place} has no key `{unknown}`: it is ignored"));
            }
            stages.extend(duration.zip(target).map(|(duration, target)| Stage { duration, target }));
        }
        Some(stages)
    }

    /// What `read` gives for `key`; a mistake if it is not there.
    pub(super) fn required<T>(
        &mut self,
        notes: &mut Notes,
        key: &'static str,
        read: impl Fn(&mut Self, &mut Notes, &'static str) -> Option<T>,
    ) -> Option<T> {
        if self.value(key).is_none() {
            notes.mistake(format!("{} is missing", self.label(key)));
            return None;
        }
        read(self, notes, key)
    }
}

/// The sentence about a value of a wrong kind.
pub(super) fn expected(label: &str, what: &str, given: &Value) -> String {
    format!("{label}: {what} is expected, {} was given", shown(given))
}

/// A value as a message shows it: short.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return format!("`{text}`");
    }
    format!("`{}…`", text.chars().take(LONGEST).collect::<String>())
}

//! `--out influxdb`: line protocol of InfluxDB 1, every sample with its own time, sent once a second.

use std::collections::HashMap;

use model::sample::{Sample, Tags};
use model::unit::Moment;

use crate::courier::{Courier, Payload};
use crate::output::{Context, Ending, Output};
use crate::spell::number;

/// What is told of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) retention: String,
    pub(crate) consistency: String,
    /// Seconds between two deliveries.
    pub(crate) interval_s: u64,
    /// Tags that are written as fields, and of which type.
    pub(crate) fields: Vec<(String, FieldType)>,
}

/// How a tag is written as a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldType {
    Text,
    Integer,
    Float,
    Boolean,
}

/// Tag sets whose text is remembered.
const TEXTS_MAX: usize = 100_000;
/// Lines of one delivery at most, in bytes; what is beyond goes with the next one.
const BODY_MAX: usize = 4 * 1024 * 1024;

/// See the module.
pub(crate) struct InfluxDb {
    context: Context,
    database: Database,
    courier: Courier,
    lines: String,
    /// Text of tags and of fields, by where the tags stand in memory; the tags beside it keep that place taken.
    texts: HashMap<usize, (Tags, String, String)>,
    sent_s: u64,
}

impl InfluxDb {
    pub(crate) fn new(database: Database, mut courier: Courier, context: Context) -> Self {
        let query = format!("/query?q=CREATE+DATABASE+{}", escaped(&database.name));
        courier.send(Payload { path: query, headers: Vec::new(), body: Vec::new() });
        Self { context, database, courier, lines: String::new(), texts: HashMap::new(), sent_s: 0 }
    }

    fn send(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let Database { name, retention, consistency, .. } = &self.database;
        let path = format!(
            "/write?consistency={}&db={}&precision=ns&rp={}",
            escaped(consistency),
            escaped(name),
            escaped(retention)
        );
        let body = std::mem::take(&mut self.lines).into_bytes();
        self.courier.send(Payload { path, headers: Vec::new(), body });
    }
}

/// A value of a query.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn texts_of(tags: &Tags, fields: &[(String, FieldType)]) -> (String, String) {
    let (mut tag_text, mut field_text) = (String::new(), String::new());
    for (key, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
        let field = fields.iter().find(|(name, _)| **name == **key).map(|(_, field)| *field);
        match field.and_then(|field| field_value(field, value)) {
            Some(value) => field_text += &format!("{}={value},", key_text(key)),
            None => tag_text += &format!(",{}={}", key_text(key), key_text(value)),
        }
    }
    (tag_text, field_text)
}

fn field_value(field: FieldType, value: &str) -> Option<String> {
    match field {
        FieldType::Text => Some(format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))),
        FieldType::Integer => value.parse::<i64>().ok().map(|number| format!("{number}i")),
        FieldType::Float => value.parse::<f64>().ok().map(number),
        FieldType::Boolean => value.parse::<bool>().ok().map(|truth| truth.to_string()),
    }
}

/// A name or value of a tag. Line ends, which the protocol cannot hold, become spaces.
fn key_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            ',' | '=' | ' ' => out.extend(['\\', letter]),
            '\n' | '\r' => out.push_str("\\ "),
            _ => out.push(letter),
        }
    }
    // A backslash at the end would escape what comes behind.
    if out.ends_with('\\') {
        out.push_str("\\ ");
    }
    out
}

impl Output for InfluxDb {
    fn add(&mut self, samples: &[Sample]) {
        for sample in samples {
            if self.texts.len() >= TEXTS_MAX {
                self.texts.clear();
            }
            let place = sample.tags.as_ptr().addr();
            let new = || {
                let (tags, fields) = texts_of(&sample.tags, &self.database.fields);
                (sample.tags.clone(), tags, fields)
            };
            let (_, tags, fields) = self.texts.entry(place).or_insert_with(new);
            let name = &self.context.plan.metrics[sample.metric.0 as usize].name;
            let (value, time) = (number(sample.value), self.context.unix_ns(sample.at));
            self.lines += &format!("{name}{tags} {fields}value={value} {time}\n");
        }
        if self.lines.len() >= BODY_MAX {
            self.send();
        }
    }

    fn tick(&mut self, now: Moment) {
        let second = now.0 / 1_000_000_000;
        if second >= self.sent_s + self.database.interval_s {
            self.sent_s = second;
            self.send();
        }
    }

    fn finish(mut self: Box<Self>) -> Ending {
        self.send();
        self.courier.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_protocol_gives_a_meaning_is_escaped() {
        let tags: Tags =
            [("a b".into(), "c=d,e".into()), ("none".into(), "".into()), ("url".into(), "x\"y".into())].into();
        let (tags, fields) = texts_of(&tags, &[("url".to_owned(), FieldType::Text)]);
        assert_eq!((tags.as_str(), fields.as_str()), (",a\\ b=c\\=d\\,e", "url=\"x\\\"y\","));
        assert_eq!(escaped("my db/1"), "my%20db%2F1");
    }
}

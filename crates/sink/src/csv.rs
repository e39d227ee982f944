//! `--out csv`: a header, then one line per sample: a column for each system tag, all other tags in one.

use std::collections::HashMap;

use model::sample::{Sample, Tags};
use model::unit::Moment;

use crate::file::Writer;
use crate::output::{Context, Ending, Output};
use crate::spell::rfc3339;

/// System tags of k6 that have a column of their own, in its order.
const COLUMNS: [&str; 14] = [
    "check",
    "error",
    "error_code",
    "expected_response",
    "group",
    "method",
    "name",
    "proto",
    "scenario",
    "service",
    "status",
    "subproto",
    "tls_version",
    "url",
];
/// Tag sets whose text is remembered.
const TEXTS_MAX: usize = 100_000;

/// How times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    Unix,
    UnixMilli,
    UnixMicro,
    UnixNano,
    Rfc3339,
    Rfc3339Nano,
}

impl TimeFormat {
    /// From k6's words.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "unix" => Self::Unix,
            "unix_milli" => Self::UnixMilli,
            "unix_micro" => Self::UnixMicro,
            "unix_nano" => Self::UnixNano,
            "rfc3339" => Self::Rfc3339,
            "rfc3339_nano" => Self::Rfc3339Nano,
            _ => return None,
        })
    }

    fn write(self, unix_ns: u64) -> String {
        match self {
            Self::Unix => (unix_ns / 1_000_000_000).to_string(),
            Self::UnixMilli => (unix_ns / 1_000_000).to_string(),
            Self::UnixMicro => (unix_ns / 1_000).to_string(),
            Self::UnixNano => unix_ns.to_string(),
            Self::Rfc3339 => rfc3339(unix_ns / 1_000_000_000 * 1_000_000_000),
            Self::Rfc3339Nano => rfc3339(unix_ns),
        }
    }
}

/// See the module.
pub(crate) struct Csv {
    context: Context,
    writer: Writer,
    time_format: TimeFormat,
    columns: Vec<&'static str>,
    /// Text of tags, by where they stand in memory; the tags beside it keep that place taken.
    texts: HashMap<usize, (Tags, String)>,
}

impl Csv {
    pub(crate) fn new(mut writer: Writer, time_format: TimeFormat, context: Context) -> Self {
        let is_shown = |column: &&&str| !context.plan.hidden_tags.iter().any(|hidden| hidden == **column);
        let columns: Vec<_> = COLUMNS.iter().filter(is_shown).copied().collect();
        let header = format!("metric_name,timestamp,metric_value,{},extra_tags,metadata\n", columns.join(","));
        writer.write(header.as_bytes(), &context);
        Self { context, writer, time_format, columns, texts: HashMap::new() }
    }
}

fn text_of(tags: &Tags, columns: &[&str]) -> String {
    let mut line = String::new();
    for column in columns {
        let value = tags.iter().find(|(key, _)| **key == **column).map_or("", |(_, value)| value);
        line += &field(value);
        line.push(',');
    }
    let others = tags.iter().filter(|(key, _)| !columns.contains(&&**key));
    let others: Vec<_> = others.map(|(key, value)| format!("{key}={value}")).collect();
    // There is no metadata here.
    line + &field(&others.join("&")) + ","
}

/// A field as RFC 4180 has it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

impl Output for Csv {
    fn add(&mut self, samples: &[Sample]) {
        let mut lines = String::new();
        for sample in samples {
            if self.texts.len() >= TEXTS_MAX {
                self.texts.clear();
            }
            let place = sample.tags.as_ptr().addr();
            let new = || (sample.tags.clone(), text_of(&sample.tags, &self.columns));
            let (_, tags) = self.texts.entry(place).or_insert_with(new);
            let name = &self.context.plan.metrics[sample.metric.0 as usize].name;
            let time = self.time_format.write(self.context.unix_ns(sample.at));
            lines += &format!("{name},{time},{:.6},{tags}\n", sample.value);
        }
        self.writer.write(lines.as_bytes(), &self.context);
    }

    fn tick(&mut self, _now: Moment) {
        self.writer.flush(&self.context);
    }

    fn finish(self: Box<Self>) -> Ending {
        self.writer.close(&self.context)
    }
}

//! `--out experimental-prometheus-rw`: Prometheus remote write, version 1: totals since the beginning, names and units
//! as k6 has them.

mod wire;

use std::collections::BTreeMap;

use model::metric::{Contains, Metric};
use model::plan::Plan;
use model::sample::Sample;
use model::unit::Moment;
use prost::Message;

use crate::courier::{Courier, Payload};
use crate::output::{Context, Ending, Output};
use crate::series::{Series, Table, Values};
use crate::sketch::Sketch;
use wire::{BucketSpan, Histogram, Label, TimeSeries, Value, WriteRequest};

/// The only encoding of values that the protocol has.
const HEADERS: [(&str, &str); 4] = [
    ("Content-Type", "application/x-protobuf"),
    ("Content-Encoding", "snappy"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
    ("User-Agent", concat!("plimsoll/", env!("CARGO_PKG_VERSION"))),
];
/// `2^-128`: what lies below counts as zero.
const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;
/// Eight buckets per doubling.
const SCHEMA: i32 = 3;
/// The value that says that a series has ended.
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// How Trends are written, and how often.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Style {
    pub(crate) interval_s: u64,
    pub(crate) trends: TrendStyle,
    /// Whether series are said to have ended when the run ends.
    pub(crate) stale_markers: bool,
}

/// How Trends are written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TrendStyle {
    /// One gauge for each.
    Stats(Vec<Stat>),
    /// One native histogram.
    Native,
}

/// A statistic of a Trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stat {
    Avg,
    Min,
    Med,
    Max,
    Count,
    Sum,
    P(f64),
}

impl Stat {
    /// From k6's words.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "avg" => Self::Avg,
            "min" => Self::Min,
            "med" => Self::Med,
            "max" => Self::Max,
            "count" => Self::Count,
            "sum" => Self::Sum,
            _ => {
                let percent: f64 = name.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
                Self::P(percent).in_range()?
            }
        })
    }

    fn in_range(self) -> Option<Self> {
        matches!(self, Self::P(percent) if (0.0..=100.0).contains(&percent)).then_some(self)
    }

    /// What stands behind the name of the metric: `p99`, `p99_9`.
    fn suffix(self) -> String {
        match self {
            Self::Avg => "avg".to_owned(),
            Self::Min => "min".to_owned(),
            Self::Med => "med".to_owned(),
            Self::Max => "max".to_owned(),
            Self::Count => "count".to_owned(),
            Self::Sum => "sum".to_owned(),
            Self::P(percent) => format!("p{}", percent.to_string().replace('.', "_")),
        }
    }

    fn of(self, sketch: &Sketch, scale: f64) -> f64 {
        match self {
            Self::Avg => sketch.mean() * scale,
            Self::Min => sketch.min * scale,
            Self::Med => sketch.percentile(50.0) * scale,
            Self::Max => sketch.max * scale,
            Self::Count => sketch.count as f64,
            Self::Sum => sketch.sum * scale,
            Self::P(percent) => sketch.percentile(percent) * scale,
        }
    }
}

/// See the module.
pub(crate) struct Prometheus {
    context: Context,
    style: Style,
    courier: Courier,
    table: Table,
    sent_s: u64,
}

impl Prometheus {
    pub(crate) fn new(style: Style, courier: Courier, context: Context) -> Self {
        Self { context, style, courier, table: Table::default(), sent_s: 0 }
    }

    fn send(&mut self) {
        let mut request = WriteRequest::default();
        for series in self.table.all.iter_mut().filter(|series| series.is_fresh) {
            series.is_fresh = false;
            let time_ms = i64::try_from(self.context.unix_ns(series.last) / 1_000_000).unwrap_or(i64::MAX);
            write(&mut request, series, &self.style.trends, &self.context.plan, time_ms);
        }
        self.deliver(&request);
    }

    fn deliver(&mut self, request: &WriteRequest) {
        if request.timeseries.is_empty() {
            return;
        }
        let packed = snap::raw::Encoder::new().compress_vec(&request.encode_to_vec());
        let Ok(body) = packed else { return };
        self.courier.send(Payload { path: String::new(), headers: HEADERS.to_vec(), body });
    }

    /// Says of every series that it has ended.
    fn mark_stale(&mut self) {
        let mut request = WriteRequest::default();
        for series in &self.table.all {
            let time_ms = i64::try_from(self.context.unix_ns(series.last) / 1_000_000).unwrap_or(i64::MAX) + 1;
            write(&mut request, series, &self.style.trends, &self.context.plan, time_ms);
        }
        for series in &mut request.timeseries {
            series.samples.iter_mut().for_each(|value| value.value = f64::from_bits(STALE));
            for histogram in &mut series.histograms {
                *histogram =
                    Histogram { sum: f64::from_bits(STALE), timestamp: histogram.timestamp, ..Histogram::default() };
            }
        }
        self.deliver(&request);
    }
}

/// Writes a series in all the forms that it has.
fn write(request: &mut WriteRequest, series: &Series, trends: &TrendStyle, plan: &Plan, time_ms: i64) {
    let Metric { name, contains, .. } = &plan.metrics[series.metric.0 as usize];
    let mut gauge = |suffix: &str, value: f64| {
        let value = Value { value, timestamp: time_ms };
        request.timeseries.push(TimeSeries {
            labels: labels(&format!("k6_{name}{suffix}"), series),
            samples: vec![value],
            histograms: Vec::new(),
        });
    };
    // Prometheus counts in seconds.
    let (scale, unit) = if *contains == Contains::Time { (1e-3, "_seconds") } else { (1.0, "") };
    match (&series.values, trends) {
        (Values::Counter(sum), _) => gauge("_total", *sum),
        (Values::Gauge(value), _) => gauge("", *value * scale),
        (Values::Rate { passes, total }, _) => gauge("_rate", *passes as f64 / (*total).max(1) as f64),
        (Values::Trend(sketch), TrendStyle::Stats(stats)) => {
            stats.iter().for_each(|stat| gauge(&format!("_{}", stat.suffix()), stat.of(sketch, scale)));
        }
        (Values::Trend(sketch), TrendStyle::Native) => request.timeseries.push(TimeSeries {
            labels: labels(&format!("k6_{name}{unit}"), series),
            samples: Vec::new(),
            histograms: vec![native(sketch, scale, time_ms)],
        }),
    }
}

fn native(sketch: &Sketch, scale: f64, time_ms: i64) -> Histogram {
    let (zeros, buckets) = sketch.native(scale);
    let (spans, deltas) = spans(&buckets);
    Histogram {
        count_int: sketch.count,
        sum: sketch.sum * scale,
        schema: SCHEMA,
        zero_threshold: ZERO_THRESHOLD,
        zero_count_int: zeros,
        positive_spans: spans,
        positive_deltas: deltas,
        timestamp: time_ms,
    }
}

/// Runs of neighbouring buckets, and the difference of each count to the one before.
fn spans(buckets: &BTreeMap<i32, u64>) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas) = (Vec::<BucketSpan>::new(), Vec::new());
    let (mut next, mut before) = (0, 0);
    for (&index, &count) in buckets {
        match spans.last_mut() {
            Some(span) if index == next => span.length += 1,
            Some(_) => spans.push(BucketSpan { offset: index - next, length: 1 }),
            None => spans.push(BucketSpan { offset: index, length: 1 }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        (next, before) = (index + 1, count);
    }
    (spans, deltas)
}

/// Sorted by name, as the protocol wants it.
fn labels(name: &str, series: &Series) -> Vec<Label> {
    let mut labels = vec![Label { name: "__name__".to_owned(), value: name.to_owned() }];
    for (key, value) in series.tags.iter().filter(|(_, value)| !value.is_empty()) {
        labels.push(Label { name: label_name(key), value: value.to_string() });
    }
    labels.sort_by(|left, right| left.name.cmp(&right.name));
    labels.dedup_by(|later, first| later.name == first.name);
    labels
}

fn label_name(key: &str) -> String {
    let fitting = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' };
    let name: String = key.chars().map(fitting).collect();
    if name.starts_with(|letter: char| letter.is_ascii_digit()) { format!("_{name}") } else { name }
}

impl Output for Prometheus {
    fn add(&mut self, samples: &[Sample]) {
        samples.iter().for_each(|sample| self.table.add(sample, &self.context.plan));
    }

    fn tick(&mut self, now: Moment) {
        let second = now.0 / 1_000_000_000;
        if second >= self.sent_s + self.style.interval_s {
            self.sent_s = second;
            self.send();
        }
    }

    fn finish(mut self: Box<Self>) -> Ending {
        self.send();
        if self.style.stale_markers {
            self.mark_stale();
        }
        let left_out = self.table.trouble("experimental-prometheus-rw");
        let mut ending = self.courier.finish();
        ending.trouble = ending.trouble.or(left_out);
        ending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_buckets_are_one_span() {
        let (spans, deltas) = spans(&BTreeMap::from([(-3, 5), (-2, 7), (4, 1)]));
        assert_eq!(spans, [BucketSpan { offset: -3, length: 2 }, BucketSpan { offset: 5, length: 1 }]);
        assert_eq!(deltas, [5, 2, -6]);
    }

    #[test]
    fn statistics_have_the_names_of_k6() {
        let suffix = |name: &str| Stat::named(name).map(Stat::suffix);
        assert_eq!(suffix("p(99)").as_deref(), Some("p99"));
        assert_eq!(suffix("p(99.9)").as_deref(), Some("p99_9"));
        assert_eq!((suffix("p(101)"), suffix("mode")), (None, None));
        assert_eq!(label_name("1 a-b"), "_1_a_b");
    }
}

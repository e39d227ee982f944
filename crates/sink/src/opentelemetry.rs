//! `--out opentelemetry`: OTLP over HTTP, totals since the beginning, names and units as k6 has them.

mod wire;

use std::collections::BTreeMap;

use model::metric::{Contains, MetricId};
use model::sample::Sample;
use model::unit::Moment;
use prost::Message;

use crate::courier::{Courier, Payload};
use crate::output::{Context, Ending, Output};
use crate::series::{Series, Table, Values};
use crate::sketch::{BOUNDS, Sketch};
use wire::{
    Data, ExportRequest, Gauge, Histogram, HistogramPoint, KeyValue, Metric, NumberPoint, Resource, ResourceMetrics,
    Scope, ScopeMetrics, Sum, Text,
};

const HEADERS: [(&str, &str); 2] =
    [("Content-Type", "application/x-protobuf"), ("User-Agent", concat!("plimsoll/", env!("CARGO_PKG_VERSION")))];
/// Values since the beginning.
const CUMULATIVE: i32 = 2;

/// How metrics are named, and how often they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) interval_s: u64,
    pub(crate) prefix: String,
    pub(crate) service_name: String,
    pub(crate) service_version: String,
    /// Whether a Rate is one counter with the attribute `condition`, as in k6 from 1.4 on; else it is two counters.
    pub(crate) single_counter_for_rate: bool,
}

/// See the module.
pub(crate) struct OpenTelemetry {
    context: Context,
    style: Style,
    courier: Courier,
    table: Table,
    sent_s: u64,
}

impl OpenTelemetry {
    pub(crate) fn new(style: Style, courier: Courier, context: Context) -> Self {
        Self { context, style, courier, table: Table::default(), sent_s: 0 }
    }

    fn send(&mut self) {
        if !self.table.all.iter().any(|series| series.is_fresh) {
            return;
        }
        self.table.all.iter_mut().for_each(|series| series.is_fresh = false);
        let mut by_metric: BTreeMap<MetricId, Vec<&Series>> = BTreeMap::new();
        for series in &self.table.all {
            by_metric.entry(series.metric).or_default().push(series);
        }
        let metrics = by_metric.iter().flat_map(|(metric, series)| self.metric(*metric, series)).collect();
        let attributes = [("service.name", &self.style.service_name), ("service.version", &self.style.service_version)];
        let attributes = attributes.map(|(key, value)| attribute(key, value)).to_vec();
        let scope = Some(Scope { name: "k6".to_owned() });
        let request = ExportRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(Resource { attributes }),
                scope_metrics: vec![ScopeMetrics { scope, metrics }],
            }],
        };
        self.courier.send(Payload { path: String::new(), headers: HEADERS.to_vec(), body: request.encode_to_vec() });
    }

    /// A metric with all its series; a Rate may be two.
    fn metric(&self, metric: MetricId, series: &[&Series]) -> Vec<Metric> {
        let of = &self.context.plan.metrics[metric.0 as usize];
        let unit = match of.contains {
            Contains::Default => "",
            Contains::Time => "ms",
            Contains::Data => "By",
        };
        let name = format!("{}{}", self.style.prefix, of.name);
        let made =
            |suffix: &str, data| Metric { name: format!("{name}{suffix}"), unit: unit.to_owned(), data: Some(data) };
        let sum = |points| Data::Sum(Sum { points, temporality: CUMULATIVE, is_monotonic: true });
        let (mut sums, mut gauges, mut histograms, mut others) = (vec![], vec![], vec![], vec![]);
        for one in series {
            match &one.values {
                Values::Counter(value) => sums.push(self.number(one, *value, None)),
                Values::Gauge(value) => gauges.push(self.number(one, *value, None)),
                Values::Trend(sketch) => histograms.push(self.distribution(one, sketch)),
                Values::Rate { passes, total } if self.style.single_counter_for_rate => {
                    let zero = self.number(one, (total - passes) as f64, Some("zero"));
                    sums.extend([self.number(one, *passes as f64, Some("nonzero")), zero]);
                }
                Values::Rate { passes, total } => {
                    others.push(self.number(one, *passes as f64, None));
                    sums.push(self.number(one, *total as f64, None));
                }
            }
        }
        if !others.is_empty() {
            return vec![made(".occurred", sum(others)), made(".total", sum(sums))];
        }
        let mut metrics = Vec::new();
        if !sums.is_empty() {
            metrics.push(made("", sum(sums)));
        }
        if !gauges.is_empty() {
            metrics.push(made("", Data::Gauge(Gauge { points: gauges })));
        }
        if !histograms.is_empty() {
            metrics.push(made("", Data::Histogram(Histogram { points: histograms, temporality: CUMULATIVE })));
        }
        metrics
    }

    fn number(&self, series: &Series, value: f64, condition: Option<&str>) -> NumberPoint {
        let mut attributes = attributes(series);
        attributes.extend(condition.map(|condition| attribute("condition", condition)));
        NumberPoint {
            start_ns: self.context.unix_ns(series.first),
            time_ns: self.context.unix_ns(series.last),
            value: Some(value),
            attributes,
        }
    }

    fn distribution(&self, series: &Series, sketch: &Sketch) -> HistogramPoint {
        HistogramPoint {
            start_ns: self.context.unix_ns(series.first),
            time_ns: self.context.unix_ns(series.last),
            count: sketch.count,
            sum: Some(sketch.sum),
            bucket_counts: sketch.explicit.to_vec(),
            bounds: BOUNDS.to_vec(),
            attributes: attributes(series),
            min: Some(sketch.min),
            max: Some(sketch.max),
        }
    }
}

fn attributes(series: &Series) -> Vec<KeyValue> {
    let tags = series.tags.iter().filter(|(_, value)| !value.is_empty());
    tags.map(|(key, value)| attribute(key, value)).collect()
}

fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(Text { text: Some(value.to_owned()) }) }
}

impl Output for OpenTelemetry {
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
        let left_out = self.table.trouble("opentelemetry");
        let mut ending = self.courier.finish();
        ending.trouble = ending.trouble.or(left_out);
        ending
    }
}

//! `--out json`: one object per line, a `Metric` when a metric is first seen, then a `Point` for each sample.

use std::collections::{BTreeMap, HashMap};

use model::metric::{Contains, Metric, MetricId, MetricType};
use model::plan::Plan;
use model::sample::{Sample, Tags};
use model::unit::Moment;
use serde_json::{Value, json};

use crate::file::Writer;
use crate::output::{Context, Ending, Output};
use crate::spell::{number, rfc3339};

/// Tag sets whose text is remembered.
const TEXTS_MAX: usize = 100_000;

/// See the module.
pub(crate) struct Json {
    context: Context,
    writer: Writer,
    seen: Vec<bool>,
    /// Text of tags, by where they stand in memory; the tags beside it keep that place taken.
    texts: HashMap<(usize, bool), (Tags, String)>,
    line: String,
    /// The last time that was written out: samples of one request share it.
    time: (Moment, String),
}

impl Json {
    pub(crate) fn new(writer: Writer, context: Context) -> Self {
        let seen = vec![false; context.plan.metrics.len()];
        let time = (Moment::START, rfc3339(context.began_ns));
        Self { context, writer, seen, texts: HashMap::new(), line: String::new(), time }
    }

    fn point(&mut self, sample: &Sample) {
        let name = &self.context.plan.metrics[sample.metric.0 as usize].name;
        if sample.at != self.time.0 {
            self.time = (sample.at, rfc3339(self.context.unix_ns(sample.at)));
        }
        let in_groups = in_groups(sample.metric) && !self.context.plan.hidden_tags.iter().any(|tag| tag == "group");
        let place = (sample.tags.as_ptr().addr(), in_groups);
        if self.texts.len() >= TEXTS_MAX {
            self.texts.clear();
        }
        let (_, tags) =
            self.texts.entry(place).or_insert_with(|| (sample.tags.clone(), text_of(&sample.tags, in_groups)));
        let (time, value) = (&self.time.1, number(sample.value));
        self.line += &format!(
            "{{\"metric\":\"{name}\",\"type\":\"Point\",\"data\":{{\"time\":\"{time}\",\"value\":{value},\"tags\":{tags}}}}}\n"
        );
    }
}

/// Whether samples of a metric carry the tag `group` also outside of groups, as in k6.
fn in_groups(metric: MetricId) -> bool {
    ![MetricId::VUS, MetricId::VUS_MAX, MetricId::DROPPED_ITERATIONS].contains(&metric)
}

fn text_of(tags: &Tags, in_groups: bool) -> String {
    let mut all: BTreeMap<&str, &str> = tags.iter().map(|(key, value)| (&**key, &**value)).collect();
    if in_groups {
        all.entry("group").or_default();
    }
    serde_json::to_string(&all).expect("texts always have a JSON form")
}

/// The line that introduces a metric.
fn introduction(metric: &Metric, plan: &Plan) -> Value {
    let kind = match metric.kind {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
        MetricType::Rate => "rate",
        MetricType::Trend => "trend",
    };
    let contains = match metric.contains {
        Contains::Default => "default",
        Contains::Time => "time",
        Contains::Data => "data",
    };
    let of_it = || plan.thresholds.iter().filter(|rule| rule.selector.metric == metric.name);
    let whole = of_it().filter(|rule| rule.selector.tags.is_empty());
    let thresholds: Vec<String> =
        whole.filter_map(|rule| rule.expression.as_ref().map(|expression| expression.text.clone())).collect();
    let mut submetrics: Vec<Value> = Vec::new();
    let expected =
        (metric.name == "http_req_duration").then(|| vec![("expected_response".to_owned(), "true".to_owned())]);
    for tags in of_it().map(|rule| rule.selector.tags.clone()).chain(expected).filter(|tags| !tags.is_empty()) {
        let suffix = tags.iter().map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>().join(",");
        let name = format!("{}{{{suffix}}}", metric.name);
        let tags: BTreeMap<_, _> = tags.into_iter().collect();
        let submetric = json!({ "name": name, "suffix": suffix, "tags": tags });
        if !submetrics.contains(&submetric) {
            submetrics.push(submetric);
        }
    }
    let submetrics = if submetrics.is_empty() { Value::Null } else { submetrics.into() };
    let data = json!({
        "name": metric.name, "type": kind, "contains": contains, "thresholds": thresholds, "submetrics": submetrics,
    });
    json!({ "type": "Metric", "data": data, "metric": metric.name })
}

impl Output for Json {
    fn add(&mut self, samples: &[Sample]) {
        self.line.clear();
        for sample in samples {
            let index = sample.metric.0 as usize;
            if !std::mem::replace(&mut self.seen[index], true) {
                let metric = introduction(&self.context.plan.metrics[index], &self.context.plan);
                self.line += &format!("{metric}\n");
            }
            self.point(sample);
        }
        self.writer.write(self.line.as_bytes(), &self.context);
    }

    fn tick(&mut self, _now: Moment) {
        self.writer.flush(&self.context);
    }

    fn finish(self: Box<Self>) -> Ending {
        self.writer.close(&self.context)
    }
}

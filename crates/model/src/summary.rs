//! The totals of a run: what k6's end-of-test summary is made of.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::expression::Selector;
use crate::histogram::{Histogram, Trend};
use crate::metric::{BUILTIN, Contains, MetricId, MetricType};
use crate::window::{OTHER, Requests, Window};

/// All totals of a run, all workers together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Length of the run in seconds, setup and teardown included; the divisor of Counter rates.
    pub duration_s: f64,
    /// Every metric that got a sample or has a threshold, and every submetric, by selector as k6 writes it.
    pub metrics: BTreeMap<String, MetricTotal>,
    /// Checks, in the order of first use, nested by group.
    pub root: Group,
    /// Results of thresholds, in the order of the script.
    pub thresholds: Vec<ThresholdResult>,
    /// Failed requests by cause: k6's error code and text, or `status 503`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, RequestErrors>,
    /// Requests that were sent again, since the service had closed the idle connection that they went out on.
    #[serde(default)]
    pub sent_again: u64,
    /// Requests by endpoint (the `name` tag, grouped).
    #[serde(default)]
    pub endpoints: BTreeMap<String, Requests>,
    /// Metrics of one scenario and one group, if the plan wants the full summary.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// How often iterations ended by an exception, by its text.
    #[serde(default)]
    pub exceptions: BTreeMap<String, u64>,
    /// What was too much to be told apart, one sentence each.
    #[serde(default)]
    pub limits: BTreeSet<String>,
}

/// How many causes of failed requests are told apart; further ones count under [`crate::window::OTHER`].
pub const ERROR_CAUSES_MAX: usize = 250;

/// Failed requests of one cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestErrors {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: RequestExample,
}

/// A request that failed, without its secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestExample {
    /// Method.
    pub method: String,
    /// URL; user info and values of parameters that look like secrets are masked.
    pub url: String,
    /// Status; 0 if there was no answer.
    pub status: u16,
    /// Headers that the answer had.
    pub headers: u32,
}

/// How many kinds of exceptions are told apart; further ones count as [`OTHER`].
pub const EXCEPTIONS_MAX: usize = 20;

/// Metrics of one scenario and one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The scenario; empty outside of scenarios.
    pub scenario: String,
    /// Path of the group in k6's form; empty for the scenario as a whole.
    pub group: String,
    /// Its metrics by name.
    pub metrics: BTreeMap<String, MetricTotal>,
    /// Its own checks, and for a scenario as a whole those of all its groups.
    pub checks: Vec<Check>,
}

impl Summary {
    /// What windows alone tell, for a run that was cut off before its totals: requests, iterations, bytes and users, but
    /// neither checks nor a script's own metrics.
    pub fn of_windows(windows: &[Window]) -> Self {
        let (mut requests, mut lengths) = (Requests::default(), Histogram::default());
        let mut users = Total::new(MetricType::Gauge);
        for window in windows {
            requests.merge(&window.requests);
            lengths.merge(&window.iteration_duration);
            users.add(f64::from(window.users));
        }
        let sum = |value: fn(&Window) -> u64| Total::Counter(windows.iter().map(value).sum::<u64>() as f64);
        let totals = [
            (MetricId::VUS, users),
            (MetricId::ITERATIONS, sum(|window| window.iterations)),
            (MetricId::ITERATION_DURATION, Total::Trend(lengths.into())),
            (MetricId::DROPPED_ITERATIONS, sum(|window| window.dropped)),
            (MetricId::DATA_SENT, sum(|window| window.data_sent)),
            (MetricId::DATA_RECEIVED, sum(|window| window.data_received)),
            (MetricId::HTTP_REQS, Total::Counter(requests.finished as f64)),
            (MetricId::HTTP_REQ_FAILED, Total::Rate { passes: requests.failed, total: requests.finished }),
            (MetricId::HTTP_REQ_DURATION, Total::Trend(requests.duration.into())),
        ];
        let mut endpoints: BTreeMap<String, Requests> = BTreeMap::new();
        for (name, requests) in windows.iter().flat_map(|window| &window.endpoints) {
            endpoints.entry(name.clone()).or_default().merge(requests);
        }
        let metrics = totals.into_iter().filter(|(_, total)| !total.is_empty()).map(|(id, total)| {
            let (name, kind, contains) = BUILTIN[id.0 as usize];
            (name.to_owned(), MetricTotal { selector: Selector::all(name), kind, contains, total })
        });
        let duration_s = windows.last().map_or(0.0, |window| window.interval.to.seconds());
        Self { duration_s, metrics: metrics.collect(), endpoints, ..Self::default() }
    }

    /// Adds the totals of another worker.
    pub fn merge(&mut self, other: &Self) {
        merge_metrics(&mut self.metrics, &other.metrics);
        self.root.merge(&other.root);
        for (name, requests) in &other.endpoints {
            self.endpoints.entry(name.clone()).or_default().merge(requests);
        }
        for block in &other.blocks {
            self.block(&block.scenario, &block.group).merge(block);
        }
        other.exceptions.iter().for_each(|(text, count)| self.threw(text, *count));
        self.limits.extend(other.limits.iter().cloned());
        self.sent_again += other.sent_again;
        for (cause, errors) in &other.errors {
            // The example of whichever worker comes first is as good as another.
            let mine = self.errors.entry(cause.clone()).or_insert_with(|| RequestErrors { count: 0, ..errors.clone() });
            mine.count += errors.count;
        }
    }

    /// The block of this scenario and group, made if it is new.
    pub fn block(&mut self, scenario: &str, group: &str) -> &mut Block {
        let position = self.blocks.iter().position(|block| block.scenario == scenario && block.group == group);
        let position = position.unwrap_or_else(|| {
            self.blocks.push(Block { scenario: scenario.into(), group: group.into(), ..Block::default() });
            self.blocks.len() - 1
        });
        &mut self.blocks[position]
    }

    /// Counts exceptions of this text.
    pub fn threw(&mut self, text: &str, count: u64) {
        let is_known = self.exceptions.contains_key(text) || self.exceptions.len() < EXCEPTIONS_MAX;
        *self.exceptions.entry(if is_known { text } else { OTHER }.to_owned()).or_default() += count;
    }

    /// How many iterations ended by an exception.
    pub fn exceptions_count(&self) -> u64 {
        self.exceptions.values().sum()
    }
}

impl Block {
    fn merge(&mut self, other: &Self) {
        merge_metrics(&mut self.metrics, &other.metrics);
        other.checks.iter().for_each(|check| count(&mut self.checks, &check.name, check.passes, check.fails));
    }

    /// Counts one check.
    pub fn count(&mut self, name: &str, passes: u64, fails: u64) {
        count(&mut self.checks, name, passes, fails);
    }
}

fn merge_metrics(into: &mut BTreeMap<String, MetricTotal>, other: &BTreeMap<String, MetricTotal>) {
    for (name, total) in other {
        match into.get_mut(name) {
            Some(mine) => mine.total.merge(&total.total),
            None => {
                into.insert(name.clone(), total.clone());
            }
        }
    }
}

fn count(checks: &mut Vec<Check>, name: &str, passes: u64, fails: u64) {
    let position = checks.iter().position(|check| check.name == name);
    let position = position.unwrap_or_else(|| {
        checks.push(Check { name: name.to_owned(), ..Check::default() });
        checks.len() - 1
    });
    checks[position].passes += passes;
    checks[position].fails += fails;
}

/// The total of one metric or submetric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricTotal {
    /// Which samples.
    pub selector: Selector,
    /// How values are summed up.
    pub kind: MetricType,
    /// What the values are.
    pub contains: Contains,
    /// The values.
    pub total: Total,
}

/// Summed-up values of a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Total {
    /// Sum.
    Counter(f64),
    /// Last, smallest, largest value and how many there were.
    Gauge {
        /// Last value.
        value: f64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// How many values.
        samples: u64,
    },
    /// How many values were not zero, and how many there were.
    Rate {
        /// Not zero.
        passes: u64,
        /// All.
        total: u64,
    },
    /// Distribution.
    Trend(Trend),
}

impl Total {
    /// An empty total.
    pub fn new(kind: MetricType) -> Self {
        match kind {
            MetricType::Counter => Self::Counter(0.0),
            MetricType::Gauge => Self::Gauge { value: 0.0, min: 0.0, max: 0.0, samples: 0 },
            MetricType::Rate => Self::Rate { passes: 0, total: 0 },
            MetricType::Trend => Self::Trend(Trend::default()),
        }
    }

    /// Adds one value.
    pub fn add(&mut self, value: f64) {
        match self {
            Self::Counter(sum) => *sum += value,
            Self::Gauge { value: last, min, max, samples } => {
                (*min, *max) = if *samples == 0 { (value, value) } else { (min.min(value), max.max(value)) };
                *last = value;
                *samples += 1;
            }
            Self::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            Self::Trend(trend) => trend.add(value),
        }
    }

    /// Adds the values of another worker. Of two Gauges the value of `other` counts as the later one.
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter(mine), Self::Counter(theirs)) => *mine += theirs,
            (
                Self::Gauge { value, min, max, samples },
                Self::Gauge { value: last, min: low, max: high, samples: more },
            ) if *more > 0 => {
                (*min, *max) = if *samples == 0 { (*low, *high) } else { (min.min(*low), max.max(*high)) };
                *value = *last;
                *samples += more;
            }
            (Self::Rate { passes, total }, Self::Rate { passes: more, total: all }) => {
                *passes += more;
                *total += all;
            }
            (Self::Trend(mine), Self::Trend(theirs)) => mine.merge(theirs),
            _ => {}
        }
    }

    /// Whether no value was added.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Counter(sum) => *sum == 0.0,
            Self::Gauge { samples, .. } => *samples == 0,
            Self::Rate { total, .. } => *total == 0,
            Self::Trend(trend) => trend.count() == 0,
        }
    }
}

/// Checks of one group. The root group has an empty name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its own name.
    pub name: String,
    /// Groups inside, in the order of first use.
    pub groups: Vec<Group>,
    /// Checks, in the order of first use.
    pub checks: Vec<Check>,
}

/// One check: how often it held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Times it held.
    pub passes: u64,
    /// Times it did not.
    pub fails: u64,
}

impl Group {
    /// The group at `path` (k6's form, `::outer::inner`; empty is this group), made if it is new.
    pub fn at(&mut self, path: &str) -> &mut Self {
        let mut group = self;
        for name in path.split("::").filter(|name| !name.is_empty()) {
            let position = group.groups.iter().position(|inner| inner.name == name);
            let position = position.unwrap_or_else(|| {
                group.groups.push(Self { name: name.to_owned(), ..Self::default() });
                group.groups.len() - 1
            });
            group = &mut group.groups[position];
        }
        group
    }

    /// Counts one check.
    pub fn count(&mut self, name: &str, passes: u64, fails: u64) {
        count(&mut self.checks, name, passes, fails);
    }

    /// Adds the checks of another worker.
    pub fn merge(&mut self, other: &Self) {
        for check in &other.checks {
            self.count(&check.name, check.passes, check.fails);
        }
        for group in &other.groups {
            self.at(&group.name).merge(group);
        }
    }
}

/// How a threshold ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdResult {
    /// Which samples, as k6 writes it.
    pub selector: String,
    /// The expression as written.
    pub expression: String,
    /// What it came to.
    pub state: ThresholdState,
}

/// What a threshold came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdState {
    /// It held; the value that was judged.
    Passed(f64),
    /// It did not; the value that was judged.
    Failed(f64),
    /// There was no sample. Counts as passed, as in k6, and is shown as a state of its own.
    NoData,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_nest_in_order_of_first_use() {
        let mut root = Group::default();
        root.at("::b::inner").count("ok", 1, 0);
        root.at("::a").count("ok", 0, 1);
        root.at("::b::inner").count("ok", 1, 1);
        let mut other = Group::default();
        other.at("::a").count("ok", 5, 0);
        root.merge(&other);
        assert_eq!(root.groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(root.at("::b::inner").checks, [Check { name: "ok".into(), passes: 2, fails: 1 }]);
        assert_eq!(root.at("::a").checks[0].passes, 5);
    }

    #[test]
    fn windows_alone_tell_of_requests_and_iterations() {
        let second = |second: u64, users| {
            let at = |second: u64| crate::unit::Moment(second * 1_000_000_000);
            let interval = crate::unit::Interval::new(at(second), at(second + 1));
            let mut window = Window { interval, users, iterations: 2, ..Window::default() };
            (window.requests.finished, window.requests.failed) = (2, 1);
            [10.0, 30.0].into_iter().for_each(|length| window.requests.duration.record_ms(length));
            window
        };
        let summary = Summary::of_windows(&[second(0, 3), second(1, 5)]);
        assert_eq!(summary.duration_s, 2.0);
        assert_eq!(summary.metrics["iterations"].total, Total::Counter(4.0));
        assert_eq!(summary.metrics["http_req_failed"].total, Total::Rate { passes: 2, total: 4 });
        assert_eq!(summary.metrics["vus"].total, Total::Gauge { value: 5.0, min: 3.0, max: 5.0, samples: 2 });
        let Total::Trend(times) = &summary.metrics["http_req_duration"].total else { panic!("not a Trend") };
        assert_eq!(times.count(), 4);
        assert!((times.mean() - 20.0).abs() < 0.1 && (times.percentile(100.0) - 30.0).abs() < 0.1);
        assert!(!summary.metrics.contains_key("dropped_iterations"));
    }

    #[test]
    fn errors_add_up_and_keep_one_example() {
        let errors = |count, url: &str| {
            let example = RequestExample { url: url.to_owned(), ..RequestExample::default() };
            let errors = [("1000 EOF".to_owned(), RequestErrors { count, example })].into();
            Summary { errors, sent_again: count, ..Summary::default() }
        };
        let mut summary = Summary::default();
        summary.merge(&errors(2, "http://first/"));
        summary.merge(&errors(3, "http://second/"));
        let of = &summary.errors["1000 EOF"];
        assert_eq!((of.count, of.example.url.as_str(), summary.sent_again), (5, "http://first/", 5));
    }

    #[test]
    fn gauges_merge_without_inventing_zeros() {
        let (mut left, mut right) = (Total::new(MetricType::Gauge), Total::new(MetricType::Gauge));
        right.add(7.0);
        left.merge(&right);
        assert_eq!(left, Total::Gauge { value: 7.0, min: 7.0, max: 7.0, samples: 1 });
        left.merge(&Total::new(MetricType::Gauge));
        assert_eq!(left, Total::Gauge { value: 7.0, min: 7.0, max: 7.0, samples: 1 });
    }
}

//! Totals since the beginning, for each metric and each set of tags: what is sent where a protocol takes no single
//! samples. Their number is bounded; samples beyond it are counted.

use std::collections::HashMap;

use model::metric::{MetricId, MetricType};
use model::plan::Plan;
use model::sample::{Sample, Tags};
use model::unit::Moment;

use crate::sketch::Sketch;

/// Series that are told apart.
pub(crate) const SERIES_MAX: usize = 50_000;

/// The values of a series.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Counter(f64),
    Gauge(f64),
    Rate { passes: u64, total: u64 },
    Trend(Box<Sketch>),
}

/// One metric with one set of tags.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) metric: MetricId,
    pub(crate) tags: Tags,
    pub(crate) values: Values,
    pub(crate) first: Moment,
    pub(crate) last: Moment,
    /// Whether a sample came since the last sending.
    pub(crate) is_fresh: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) all: Vec<Series>,
    by_content: HashMap<(MetricId, Tags), usize>,
    /// The same by where the tags stand in memory; the series keep the first place of each content taken, the tags here
    /// the others.
    by_place: HashMap<(MetricId, usize), (Tags, usize)>,
    /// Samples that belong to no series, since there were too many.
    pub(crate) lost: u64,
}

impl Table {
    pub(crate) fn add(&mut self, sample: &Sample, plan: &Plan) {
        let place = (sample.metric, sample.tags.as_ptr().addr());
        let index = match self.by_place.get(&place) {
            Some((_, index)) => *index,
            None => match self.find(sample, plan) {
                Some(index) => {
                    if self.by_place.len() >= 4 * SERIES_MAX {
                        self.by_place.clear();
                    }
                    self.by_place.insert(place, (sample.tags.clone(), index));
                    index
                }
                None => {
                    self.lost += 1;
                    return;
                }
            },
        };
        let series = &mut self.all[index];
        (series.last, series.is_fresh) = (sample.at, true);
        match &mut series.values {
            Values::Counter(sum) => *sum += sample.value,
            Values::Gauge(value) => *value = sample.value,
            Values::Rate { passes, total } => {
                *passes += u64::from(sample.value != 0.0);
                *total += 1;
            }
            Values::Trend(sketch) => sketch.add(sample.value),
        }
    }

    fn find(&mut self, sample: &Sample, plan: &Plan) -> Option<usize> {
        let key = (sample.metric, sample.tags.clone());
        if let Some(index) = self.by_content.get(&key) {
            return Some(*index);
        }
        if self.all.len() >= SERIES_MAX {
            return None;
        }
        let values = match plan.metrics[sample.metric.0 as usize].kind {
            MetricType::Counter => Values::Counter(0.0),
            MetricType::Gauge => Values::Gauge(0.0),
            MetricType::Rate => Values::Rate { passes: 0, total: 0 },
            MetricType::Trend => Values::Trend(Box::default()),
        };
        let Sample { metric, at, tags, .. } = sample.clone();
        self.all.push(Series { metric, tags, values, first: at, last: at, is_fresh: true });
        self.by_content.insert(key, self.all.len() - 1);
        Some(self.all.len() - 1)
    }

    /// What to say of samples that found no series.
    pub(crate) fn trouble(&self, name: &str) -> Option<String> {
        let lost = self.lost;
        (lost > 0).then(|| format!("output {name}: {lost} samples were left out, beyond {SERIES_MAX} series"))
    }
}

//! Single samples, for outputs that want each of them. Nothing here exists in a run without such an output.

use std::sync::Arc;

use crate::metric::MetricId;
use crate::unit::Moment;

/// Tags of a sample: names and values, sorted by name.
pub type Tags = Arc<[(Box<str>, Box<str>)]>;

/// One value of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Of which metric.
    pub metric: MetricId,
    /// When it was taken.
    pub at: Moment,
    /// In the metric's own unit.
    pub value: f64,
    /// Shared by all samples with these tags of one worker.
    pub tags: Tags,
}

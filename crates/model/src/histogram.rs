//! Latency histograms and trends: exact while small, of fixed size and mergeable afterwards.

use std::borrow::Cow;

use hdrhistogram::Histogram as Hdr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A histogram of non-negative durations in microseconds, three significant digits (relative error at most 0.1 %). Grows
/// with the largest value: to about 90 kB for an hour, to about 220 kB for the largest number there is, as a script's own
/// metric may bring. Merges exactly.
#[derive(Clone, Debug)]
pub struct Histogram(Form);

#[derive(Clone, Debug)]
enum Form {
    Open(Hdr<u32>),
    /// Filled buckets alone: what is kept and no longer written to takes a few kB instead of 50.
    Packed(Box<[(u64, u32)]>),
}

/// Larger values count as this one: far beyond all durations and sizes.
const MICROS_MAX: u64 = 1 << 62;

impl Default for Histogram {
    fn default() -> Self {
        let mut inner = Hdr::new(3).expect("three digits are a valid precision");
        inner.auto(true);
        Self(Form::Open(inner))
    }
}

impl Histogram {
    /// Gives back the memory of empty buckets, until it is written to again.
    pub fn pack(&mut self) {
        if let Form::Open(inner) = &self.0 {
            let filled = inner.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()));
            self.0 = Form::Packed(filled.collect());
        }
    }

    fn inner(&self) -> Cow<'_, Hdr<u32>> {
        match &self.0 {
            Form::Open(inner) => Cow::Borrowed(inner),
            Form::Packed(filled) => Cow::Owned(opened(filled)),
        }
    }

    fn inner_mut(&mut self) -> &mut Hdr<u32> {
        if let Form::Packed(filled) = &self.0 {
            self.0 = Form::Open(opened(filled));
        }
        match &mut self.0 {
            Form::Open(inner) => inner,
            Form::Packed(_) => unreachable!("it was just opened"),
        }
    }

    /// Records one duration given in milliseconds; negative and NaN count as zero.
    pub fn record_ms(&mut self, value_ms: f64) {
        self.record_micros((value_ms * 1e3).round() as u64);
    }

    /// Records one duration in microseconds.
    pub fn record_micros(&mut self, value: u64) {
        self.inner_mut().record(value.min(MICROS_MAX)).expect("an auto-resizing histogram takes every value");
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        match &other.0 {
            Form::Open(theirs) => {
                self.inner_mut().add(theirs).expect("an auto-resizing histogram takes every value of its own range");
            }
            Form::Packed(filled) => fill(self.inner_mut(), filled),
        }
    }

    /// Forgets all values, keeping the memory.
    pub fn clear(&mut self) {
        self.inner_mut().reset();
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Form::Open(inner) => inner.len(),
            Form::Packed(filled) => filled.iter().map(|(_, count)| u64::from(*count)).sum(),
        }
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Mean in milliseconds; 0 when empty.
    pub fn mean_ms(&self) -> f64 {
        self.inner().mean() / 1e3
    }

    /// Standard deviation in milliseconds; 0 when empty.
    pub fn stdev_ms(&self) -> f64 {
        self.inner().stdev() / 1e3
    }

    /// Largest value in milliseconds; 0 when empty.
    pub fn max_ms(&self) -> f64 {
        self.inner().max() as f64 / 1e3
    }

    /// Smallest value in milliseconds; 0 when empty.
    pub fn min_ms(&self) -> f64 {
        self.inner().min() as f64 / 1e3
    }

    /// The value in milliseconds that `percent` (0 to 100) of all values do not exceed; 0 when empty.
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        self.inner().value_at_percentile(percent) as f64 / 1e3
    }

    /// How many values are above `limit_ms` (to within the histogram's precision).
    pub fn count_above_ms(&self, limit_ms: f64) -> u64 {
        let limit = (limit_ms * 1e3).max(0.0) as u64;
        if limit >= self.inner().max() { 0 } else { self.count() - self.inner().count_between(0, limit) }
    }

    /// The filled buckets as (representative value in microseconds, count), rising.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (open, packed) = match &self.0 {
            Form::Open(inner) => (Some(inner.iter_recorded()), None),
            Form::Packed(filled) => (None, Some(filled.iter())),
        };
        let open = open.into_iter().flatten();
        let open = open.map(|bucket| (bucket.value_iterated_to(), u64::from(bucket.count_at_value())));
        open.chain(packed.into_iter().flatten().map(|(value, count)| (*value, u64::from(*count))))
    }
}

fn opened(filled: &[(u64, u32)]) -> Hdr<u32> {
    let mut inner = Hdr::new(3).expect("three digits are a valid precision");
    inner.auto(true);
    fill(&mut inner, filled);
    inner
}

fn fill(inner: &mut Hdr<u32>, filled: &[(u64, u32)]) {
    for (value, count) in filled {
        inner.record_n(*value, *count).expect("an auto-resizing histogram takes every value");
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.buckets().eq(other.buckets())
    }
}

/// On disk: a list `[value, count, value, count, …]` of the filled buckets.
impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.buckets().flat_map(|(value, count)| [value, count]))
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let flat = Vec::<u64>::deserialize(deserializer)?;
        let mut histogram = Self::default();
        for pair in flat.chunks_exact(2) {
            let count = u32::try_from(pair[1]).unwrap_or(u32::MAX);
            let value = pair[0].min(MICROS_MAX);
            fill(histogram.inner_mut(), &[(value, count)]);
        }
        Ok(histogram)
    }
}

/// How many values a [`Trend`] keeps exactly before it turns to buckets.
pub const EXACT_VALUES: usize = 1000;

/// All values of a Trend metric: exact up to [`EXACT_VALUES`], afterwards in buckets with three significant digits.
/// Values are in the metric's own unit (milliseconds for times) and may be negative or fractional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    exact: Vec<f64>,
    above: Option<Box<Histogram>>,
    below: Option<Box<Histogram>>,
}

/// As precise as the histogram: in buckets from the beginning, in milliseconds.
impl From<Histogram> for Trend {
    fn from(histogram: Histogram) -> Self {
        let count = histogram.count();
        if count == 0 {
            return Self::default();
        }
        let (min, max) = (histogram.min_ms(), histogram.max_ms());
        let sum = histogram.mean_ms() * count as f64;
        Self { count, sum, min, max, above: Some(Box::new(histogram)), ..Self::default() }
    }
}

impl Trend {
    /// Adds one value; NaN is ignored.
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.note(value, value, 1, value);
        if self.spilled() {
            self.bucket(value);
        } else {
            self.exact.push(value);
            if self.exact.len() > EXACT_VALUES {
                self.spill();
            }
        }
    }

    /// Adds all values of `other`. The result is exact only if it is small enough.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.note(other.min, other.max, other.count, other.sum);
        if !self.spilled() && !other.spilled() && self.exact.len() + other.exact.len() <= EXACT_VALUES {
            self.exact.extend_from_slice(&other.exact);
            return;
        }
        self.spill();
        other.exact.iter().for_each(|value| self.bucket(*value));
        for (mine, theirs) in [(&mut self.above, &other.above), (&mut self.below, &other.below)] {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }

    fn note(&mut self, min: f64, max: f64, count: u64, sum: f64) {
        (self.min, self.max) = if self.count == 0 { (min, max) } else { (self.min.min(min), self.max.max(max)) };
        self.count += count;
        self.sum += sum;
    }

    fn spilled(&self) -> bool {
        self.above.is_some() || self.below.is_some()
    }

    fn spill(&mut self) {
        self.above.get_or_insert_default();
        for value in std::mem::take(&mut self.exact) {
            self.bucket(value);
        }
    }

    fn bucket(&mut self, value: f64) {
        let side = if value < 0.0 { &mut self.below } else { &mut self.above };
        side.get_or_insert_default().record_ms(value.abs());
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean, from a running sum; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// Smallest value, exact; 0 when empty.
    pub fn min(&self) -> f64 {
        self.min
    }

    /// Largest value, exact; 0 when empty.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The `percent` (0 to 100) percentile; 0 when empty. While exact it interpolates linearly at index
    /// p × (n − 1), as k6 does; in buckets it is off by at most 0.1 %.
    pub fn percentile(&self, percent: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let share = (percent / 100.0).clamp(0.0, 1.0);
        if !self.spilled() {
            let mut sorted = self.exact.clone();
            sorted.sort_by(f64::total_cmp);
            let index = share * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[index.floor() as usize], sorted[index.ceil() as usize]);
            return low + (high - low) * index.fract();
        }
        let below = self.below.as_ref().map_or(0, |side| side.count());
        let rank = share * self.count as f64;
        let value = if rank < below as f64 {
            -self.below.as_ref().map_or(0.0, |side| side.percentile_ms((1.0 - rank / below as f64) * 100.0))
        } else {
            let above = self.above.as_ref().map_or(0, |side| side.count()).max(1);
            self.above.as_ref().map_or(0.0, |side| side.percentile_ms((rank - below as f64) / above as f64 * 100.0))
        };
        value.clamp(self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_histogram_says_the_same_in_less_memory() {
        let mut open = Histogram::default();
        (1..2000).for_each(|micros| open.record_micros(micros * 37));
        let mut packed = open.clone();
        packed.pack();
        assert_eq!(packed, open);
        assert_eq!((packed.count(), packed.max_ms(), packed.mean_ms()), (1999, open.max_ms(), open.mean_ms()));
        assert_eq!(packed.percentile_ms(90.0), open.percentile_ms(90.0));
        let mut sum = Histogram::default();
        sum.merge(&packed);
        packed.record_micros(5);
        open.record_micros(5);
        assert_eq!((packed.count(), sum.count()), (2000, 1999));
        assert_eq!(packed, open);
    }

    #[test]
    fn small_trends_are_exact_and_interpolate() {
        let mut trend = Trend::default();
        [4.0, 1.0, 3.0, 2.0].into_iter().for_each(|value| trend.add(value));
        assert_eq!(trend.percentile(50.0), 2.5);
        assert!((trend.percentile(90.0) - 3.7).abs() < 1e-12);
        assert_eq!((trend.min(), trend.max(), trend.mean(), trend.count()), (1.0, 4.0, 2.5, 4));
    }

    #[test]
    fn large_trends_keep_three_digits_on_both_sides_of_zero() {
        let mut trend = Trend::default();
        (-5000..=15000).for_each(|value| trend.add(f64::from(value) / 10.0));
        for percent in [1.0, 10.0, 24.0, 26.0, 50.0, 90.0, 99.0] {
            let truth = -500.0 + percent / 100.0 * 2000.0;
            let seen = trend.percentile(percent);
            assert!((seen - truth).abs() <= truth.abs() * 0.002 + 0.2, "p{percent}: {seen} is not {truth}");
        }
    }

    #[test]
    fn large_trends_hold_bytes_and_moments_as_well_as_times() {
        let mut trend = Trend::default();
        (0..=3000).for_each(|value| trend.add(f64::from(value) * 1e9));
        for percent in [10.0, 50.0, 95.0] {
            let truth = percent / 100.0 * 3e12;
            let seen = trend.percentile(percent);
            assert!((seen - truth).abs() <= truth * 0.002, "p{percent}: {seen} is not {truth}");
        }
        trend.add(f64::INFINITY);
        assert_eq!(trend.count(), 3002);
    }

    #[test]
    fn merging_equals_adding() {
        let (mut left, mut right, mut both) = (Trend::default(), Trend::default(), Trend::default());
        for value in 0..3000 {
            let value = f64::from(value * 7 % 1009);
            if value < 300.0 {
                left.add(value);
            } else {
                right.add(value);
            }
            both.add(value);
        }
        left.merge(&right);
        assert_eq!((left.count(), left.min(), left.max()), (both.count(), both.min(), both.max()));
        assert!((left.percentile(95.0) - both.percentile(95.0)).abs() < 1.0);
    }

    #[test]
    fn histograms_survive_their_on_disk_form() {
        let mut histogram = Histogram::default();
        [0.0, 0.4, 12.0, 500.0, 499.9, 61_000.0].into_iter().for_each(|value| histogram.record_ms(value));
        let text = serde_json::to_string(&histogram).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
    }

    #[test]
    fn counting_above_a_limit() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|value| histogram.record_ms(f64::from(value)));
        assert_eq!(histogram.count_above_ms(900.0), 100);
        assert_eq!(histogram.count_above_ms(1e9), 0);
        assert_eq!(Histogram::default().count_above_ms(1.0), 0);
    }
}

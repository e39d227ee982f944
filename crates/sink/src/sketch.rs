//! A distribution in few bytes: how many values lie in each of exponentially growing buckets. It takes what outputs need
//! of it: statistics, Prometheus's native histogram, OpenTelemetry's explicit buckets.

use std::collections::BTreeMap;

/// Buckets per doubling: a value is known to about 0.6 %. A multiple of [`NATIVE_PER_DOUBLING`], so that buckets nest.
const PER_DOUBLING: i32 = 64;
/// Buckets per doubling of a native histogram of schema 3.
const NATIVE_PER_DOUBLING: i32 = 8;

/// Upper ends of OpenTelemetry's explicit buckets; a last one has none.
pub(crate) const BOUNDS: [f64; 15] =
    [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10_000.0];

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    pub(crate) count: u64,
    pub(crate) sum: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    zeros: u64,
    positive: BTreeMap<i32, u64>,
    negative: BTreeMap<i32, u64>,
    pub(crate) explicit: [u64; BOUNDS.len() + 1],
}

impl Sketch {
    pub(crate) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        (self.min, self.max) =
            if self.count == 0 { (value, value) } else { (self.min.min(value), self.max.max(value)) };
        self.count += 1;
        self.sum += value;
        self.explicit[BOUNDS.partition_point(|bound| *bound < value)] += 1;
        if value == 0.0 {
            self.zeros += 1;
            return;
        }
        let side = if value > 0.0 { &mut self.positive } else { &mut self.negative };
        *side.entry(bucket(value.abs())).or_default() += 1;
    }

    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// The value that `percent` of all values do not exceed, to about 0.6 %.
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        let rank = (percent / 100.0 * self.count as f64).ceil().max(1.0) as u64;
        let below = self.negative.iter().rev().map(|(bucket, count)| (-middle(*bucket), *count));
        let above = self.positive.iter().map(|(bucket, count)| (middle(*bucket), *count));
        let mut seen = 0;
        for (value, count) in below.chain([(0.0, self.zeros)]).chain(above) {
            seen += count;
            if seen >= rank {
                return value.clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// Buckets of a native histogram of schema 3 for values that are `scale` times as large: those of zero, those above.
    pub(crate) fn native(&self, scale: f64) -> (u64, BTreeMap<i32, u64>) {
        let mut buckets = BTreeMap::new();
        for (bucket, count) in &self.positive {
            let ratio = f64::from(NATIVE_PER_DOUBLING);
            // The upper end of the bucket, moved by the scale, decides; a hair less, since ends belong to their bucket.
            let upper = f64::from(*bucket) / f64::from(PER_DOUBLING) + scale.log2();
            *buckets.entry((upper * ratio - 1e-9).ceil() as i32).or_default() += count;
        }
        (self.zeros, buckets)
    }
}

/// The bucket with `2^((bucket - 1) / 64) < value <= 2^(bucket / 64)`.
fn bucket(value: f64) -> i32 {
    (value.log2() * f64::from(PER_DOUBLING)).ceil() as i32
}

fn middle(bucket: i32) -> f64 {
    ((f64::from(bucket) - 0.5) / f64::from(PER_DOUBLING)).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_as_exact_as_it_says() {
        let mut sketch = Sketch::default();
        (1..=10_000).for_each(|value| sketch.add(f64::from(value)));
        assert_eq!((sketch.count, sketch.min, sketch.max, sketch.mean()), (10_000, 1.0, 10_000.0, 5000.5));
        for percent in [1.0, 50.0, 95.0, 99.0, 100.0] {
            let exact = percent * 100.0;
            assert!(
                (sketch.percentile(percent) / exact - 1.0).abs() < 0.007,
                "{percent}: {}",
                sketch.percentile(percent)
            );
        }
        assert_eq!(sketch.explicit.iter().sum::<u64>(), 10_000);
        assert_eq!(sketch.explicit[..3], [0, 5, 5]);
    }

    #[test]
    fn zeros_and_negative_values_count_too() {
        let mut sketch = Sketch::default();
        [-8.0, 0.0, 0.0, 2.0].into_iter().for_each(|value| sketch.add(value));
        assert!((sketch.percentile(1.0) + 8.0).abs() < 0.1 && sketch.percentile(50.0) == 0.0);
        assert_eq!(sketch.native(1.0), (2, BTreeMap::from([(8, 1)])));
    }

    #[test]
    fn native_buckets_are_those_of_prometheus() {
        let mut sketch = Sketch::default();
        sketch.add(4.0);
        // As k6 wrote it for 4 ms: 0.004 s lies in bucket -63.
        assert_eq!(sketch.native(1e-3).1, BTreeMap::from([(-63, 1)]));
        assert_eq!(sketch.native(1.0).1, BTreeMap::from([(16, 1)]));
    }
}

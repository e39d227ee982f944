//! Where single samples leave the engine, if an output wants them. It never waits: what the writer cannot take in time
//! is counted as lost, since a slow disk must not slow the load.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use model::metric::MetricId;
use model::sample::{Sample, Tags};
use model::unit::Moment;

use crate::clock::Clock;
use crate::meter::TagSet;

/// Samples that are handed over at once.
const BATCH: usize = 1_000;
/// Batches that may wait for the writer.
const BATCHES_MAX: usize = 256;

/// The engine's end of a stream of samples.
#[derive(Clone, Debug)]
pub struct SampleSender {
    batches: SyncSender<Vec<Sample>>,
    lost: Lost,
}

/// The writer's end.
#[derive(Debug)]
pub struct SampleReceiver {
    /// Ends when the run is over.
    pub batches: Receiver<Vec<Sample>>,
    /// How many samples found no room.
    pub lost: Lost,
}

/// Counts samples that found no room.
#[derive(Clone, Debug, Default)]
pub struct Lost(Arc<AtomicU64>);

/// A stream of samples that holds a bounded number of them.
pub fn sample_stream() -> (SampleSender, SampleReceiver) {
    let (sender, batches) = sync_channel(BATCHES_MAX);
    let lost = Lost::default();
    (SampleSender { batches: sender, lost: lost.clone() }, SampleReceiver { batches, lost })
}

impl Lost {
    /// How many so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One thread's way into the stream.
pub(crate) struct Outlet {
    sender: SampleSender,
    clock: Clock,
    batch: Vec<Sample>,
    tags: Vec<Option<Tags>>,
    /// When the samples that come now were taken.
    at: Moment,
}

impl Outlet {
    pub(crate) fn new(sender: SampleSender, clock: Clock) -> Self {
        Self { sender, clock, batch: Vec::with_capacity(BATCH), tags: Vec::new(), at: Moment::START }
    }

    /// Samples that come from here on were taken now.
    pub(crate) fn stamp(&mut self) {
        self.at = self.clock.now();
    }

    /// Samples that come from here on were taken at this moment.
    pub(crate) fn stamp_at(&mut self, at: Moment) {
        self.at = at;
    }

    /// Adds a sample; `tags` gives the tags behind `set` when they are met for the first time.
    pub(crate) fn add(&mut self, metric: MetricId, value: f64, set: TagSet, tags: impl FnOnce() -> Tags) {
        let index = set.index();
        if self.tags.len() <= index {
            self.tags.resize(index + 1, None);
        }
        let tags = self.tags[index].get_or_insert_with(tags).clone();
        self.batch.push(Sample { metric, at: self.at, value, tags });
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Hands over what is there.
    pub(crate) fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let samples = batch.len() as u64;
        if self.sender.batches.try_send(batch).is_err() {
            self.sender.lost.0.fetch_add(samples, Ordering::Relaxed);
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_writer_that_does_not_keep_up_costs_samples_and_not_time() {
        let (sender, receiver) = sample_stream();
        let clock = Clock::new(tokio::time::Instant::now().into_std());
        let mut outlet = Outlet::new(sender, clock);
        let room = BATCH * BATCHES_MAX;
        (0..room + 2 * BATCH + 7).for_each(|_| outlet.add(MetricId::VUS, 1.0, TagSet::RUN, || Arc::from([])));
        assert_eq!(receiver.lost.count(), 2 * BATCH as u64);
        drop(outlet);
        assert_eq!(receiver.lost.count(), 2 * BATCH as u64 + 7);
        assert_eq!(receiver.batches.iter().map(|batch| batch.len()).sum::<usize>(), room);
    }
}

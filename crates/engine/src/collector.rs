//! Puts together what the workers saw: windows of the same second, snapshots of the same second, totals.

use std::collections::BTreeMap;

use model::expression::Selector;
use model::metric::{BUILTIN, MetricId};
use model::summary::{MetricTotal, RequestErrors, Summary, Total};
use model::unit::Moment;
use model::window::Window;

/// Adds the totals of `other`.
pub(crate) fn merge(into: &mut Summary, other: &Summary) {
    for (name, total) in &other.metrics {
        match into.metrics.get_mut(name) {
            Some(mine) => mine.total.merge(&total.total),
            None => {
                into.metrics.insert(name.clone(), total.clone());
            }
        }
    }
    into.root.merge(&other.root);
    into.sent_again += other.sent_again;
    for (cause, errors) in &other.errors {
        // The example of whichever worker comes first is as good as another.
        let mine = into.errors.entry(cause.clone()).or_insert_with(|| RequestErrors { count: 0, ..errors.clone() });
        mine.count += errors.count;
    }
}

/// Things of the workers that belong together, by second.
struct Gathering<T> {
    workers: usize,
    waiting: BTreeMap<u64, (usize, T)>,
}

impl<T> Gathering<T> {
    /// Adds one worker's thing; returns what is complete, in order.
    fn add(&mut self, second: u64, thing: T, merge: impl Fn(&mut T, &T)) -> Vec<T> {
        match self.waiting.get_mut(&second) {
            Some((count, sum)) => {
                *count += 1;
                merge(sum, &thing);
            }
            None => {
                self.waiting.insert(second, (1, thing));
            }
        }
        let mut complete = Vec::new();
        while let Some(first) = self.waiting.first_entry().filter(|first| first.get().0 >= self.workers) {
            complete.push(first.remove().1);
        }
        complete
    }
}

/// See the module.
pub(crate) struct Collector {
    windows: Gathering<Window>,
    snapshots: Gathering<Summary>,
    vus: Total,
    vus_max: Total,
    users_made: u32,
}

impl Collector {
    pub(crate) fn new(workers: usize) -> Self {
        let gauge = || Total::new(BUILTIN[MetricId::VUS.0 as usize].1);
        Self {
            windows: Gathering { workers, waiting: BTreeMap::new() },
            snapshots: Gathering { workers, waiting: BTreeMap::new() },
            vus: gauge(),
            vus_max: gauge(),
            users_made: 0,
        }
    }

    /// So many more users exist.
    pub(crate) fn made(&mut self, users: u32) {
        self.users_made += users;
    }

    /// How many users exist.
    pub(crate) fn users_made(&self) -> u32 {
        self.users_made
    }

    /// Adds one worker's window; returns those that are complete.
    pub(crate) fn window(&mut self, second: u64, window: Window) -> Vec<Window> {
        let complete = self.windows.add(second, window, |sum, window| sum.merge(window));
        complete.iter().for_each(|window| self.gauge(window));
        complete
    }

    /// The windows that are left at the end, complete or not.
    pub(crate) fn rest(&mut self) -> Vec<Window> {
        let rest: Vec<_> = std::mem::take(&mut self.windows.waiting).into_values().map(|(_, window)| window).collect();
        rest.iter().for_each(|window| self.gauge(window));
        rest
    }

    /// `vus` and `vus_max` have a sample every full second.
    fn gauge(&mut self, window: &Window) {
        if window.interval.seconds() >= 1.0 {
            self.vus.add(f64::from(window.users));
            self.vus_max.add(f64::from(self.users_made));
        }
    }

    /// Adds one worker's snapshot; returns those that are complete.
    pub(crate) fn snapshot(&mut self, second: u64, summary: Summary) -> Vec<Summary> {
        let mut complete = self.snapshots.add(second, summary, merge);
        complete.iter_mut().for_each(|summary| self.complete(summary, Moment::START));
        complete
    }

    /// Adds what only the sum of all workers can tell. `ended` is the length of the run.
    pub(crate) fn complete(&self, summary: &mut Summary, ended: Moment) {
        summary.duration_s = ended.seconds();
        for (id, total) in [(MetricId::VUS, &self.vus), (MetricId::VUS_MAX, &self.vus_max)] {
            let (name, kind, contains) = BUILTIN[id.0 as usize];
            if total.is_empty() && !summary.metrics.contains_key(name) {
                continue;
            }
            let selector = Selector::all(name);
            summary.metrics.insert(name.to_owned(), MetricTotal { selector, kind, contains, total: total.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::summary::RequestExample;
    use model::unit::Interval;

    fn window(second: u64, users: u32) -> Window {
        let at = |second: u64| Moment(second * 1_000_000_000);
        Window { interval: Interval::new(at(second), at(second + 1)), users, ..Window::default() }
    }

    #[test]
    fn windows_of_one_second_are_merged_and_come_in_order() {
        let mut collector = Collector::new(2);
        assert!(collector.window(0, window(0, 1)).is_empty());
        assert!(collector.window(1, window(1, 2)).is_empty());
        assert!(collector.window(1, window(1, 3)).is_empty());
        let complete = collector.window(0, window(0, 4));
        assert_eq!(complete.iter().map(|window| window.users).collect::<Vec<_>>(), [5, 5]);
        assert!(collector.window(2, window(2, 7)).is_empty());
        assert_eq!(collector.rest().len(), 1);
    }

    #[test]
    fn errors_add_up_and_keep_one_example() {
        let errors = |count, url: &str| {
            let example = RequestExample { url: url.to_owned(), ..RequestExample::default() };
            let errors = [("1000 EOF".to_owned(), RequestErrors { count, example })].into();
            Summary { errors, sent_again: count, ..Summary::default() }
        };
        let mut summary = Summary::default();
        merge(&mut summary, &errors(2, "http://first/"));
        merge(&mut summary, &errors(3, "http://second/"));
        let of = &summary.errors["1000 EOF"];
        assert_eq!((of.count, of.example.url.as_str(), summary.sent_again), (5, "http://first/", 5));
    }

    #[test]
    fn vus_are_the_sum_of_all_workers() {
        let mut collector = Collector::new(2);
        collector.made(9);
        collector.window(0, window(0, 4));
        collector.window(0, window(0, 2));
        let mut summary = Summary::default();
        collector.complete(&mut summary, Moment(1_500_000_000));
        assert_eq!(summary.duration_s, 1.5);
        assert_eq!(summary.metrics["vus"].total, Total::Gauge { value: 6.0, min: 6.0, max: 6.0, samples: 1 });
        assert_eq!(summary.metrics["vus_max"].total, Total::Gauge { value: 9.0, min: 9.0, max: 9.0, samples: 1 });
    }
}

//! Puts together what the workers saw: windows of the same second, snapshots of the same second, totals.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::expression::Selector;
use model::metric::{BUILTIN, MetricId};
use model::plan::Plan;
use model::sample::Tags;
use model::summary::{MetricTotal, Summary, Total};
use model::unit::Moment;
use model::window::{Requests, Window};

use crate::meter::TagSet;
use crate::outlet::Outlet;

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
    /// Requests of the whole run so far.
    endpoints: BTreeMap<String, Requests>,
    /// Where the samples of gauges go, with the tags of the run.
    outlet: Option<(Outlet, Tags)>,
}

impl Collector {
    pub(crate) fn new(workers: usize, outlet: Option<(Outlet, Arc<Plan>)>) -> Self {
        let tags =
            |plan: &Plan| plan.tags.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into())).collect();
        let gauge = || Total::new(BUILTIN[MetricId::VUS.0 as usize].1);
        Self {
            windows: Gathering { workers, waiting: BTreeMap::new() },
            snapshots: Gathering { workers, waiting: BTreeMap::new() },
            vus: gauge(),
            vus_max: gauge(),
            users_made: 0,
            endpoints: BTreeMap::new(),
            outlet: outlet.map(|(outlet, plan)| (outlet, tags(&plan))),
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
        complete.iter().for_each(|window| self.note(window));
        complete
    }

    /// The windows that are left at the end, complete or not.
    pub(crate) fn rest(&mut self) -> Vec<Window> {
        let rest: Vec<_> = std::mem::take(&mut self.windows.waiting).into_values().map(|(_, window)| window).collect();
        rest.iter().for_each(|window| self.note(window));
        rest
    }

    /// The requests of the whole run, once it is over.
    pub(crate) fn endpoints(&mut self) -> BTreeMap<String, Requests> {
        std::mem::take(&mut self.endpoints)
    }

    /// `vus` and `vus_max` have a sample every full second.
    fn note(&mut self, window: &Window) {
        for (name, requests) in &window.endpoints {
            match self.endpoints.get_mut(name) {
                Some(sum) => sum.merge(requests),
                None => drop(self.endpoints.insert(name.clone(), requests.clone())),
            }
        }
        if window.interval.seconds() < 1.0 {
            return;
        }
        let (users, made) = (f64::from(window.users), f64::from(self.users_made));
        self.vus.add(users);
        self.vus_max.add(made);
        if let Some((outlet, tags)) = &mut self.outlet {
            outlet.stamp_at(window.interval.to);
            outlet.add(MetricId::VUS, users, TagSet::RUN, || tags.clone());
            outlet.add(MetricId::VUS_MAX, made, TagSet::RUN, || tags.clone());
            outlet.flush();
        }
    }

    /// Adds one worker's snapshot; returns those that are complete.
    pub(crate) fn snapshot(&mut self, second: u64, summary: Summary) -> Vec<Summary> {
        let mut complete = self.snapshots.add(second, summary, Summary::merge);
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
    use model::unit::Interval;

    fn window(second: u64, users: u32) -> Window {
        let at = |second: u64| Moment(second * 1_000_000_000);
        Window { interval: Interval::new(at(second), at(second + 1)), users, ..Window::default() }
    }

    #[test]
    fn windows_of_one_second_are_merged_and_come_in_order() {
        let mut collector = Collector::new(2, None);
        assert!(collector.window(0, window(0, 1)).is_empty());
        assert!(collector.window(1, window(1, 2)).is_empty());
        assert!(collector.window(1, window(1, 3)).is_empty());
        let complete = collector.window(0, window(0, 4));
        assert_eq!(complete.iter().map(|window| window.users).collect::<Vec<_>>(), [5, 5]);
        assert!(collector.window(2, window(2, 7)).is_empty());
        assert_eq!(collector.rest().len(), 1);
    }

    #[test]
    fn vus_are_the_sum_of_all_workers() {
        let mut collector = Collector::new(2, None);
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

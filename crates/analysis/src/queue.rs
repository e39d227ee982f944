//! The queue model behind the search: N users who think, then wait for one of c servers. A seeded event simulation of
//! milliseconds, since percentiles of such queues have no usable formula.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use model::histogram::Histogram;

use crate::stats::random::Random;

/// A closed queue: first come, first served, service times log-normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClosedQueue {
    /// How many requests are served at once.
    pub servers: u64,
    /// Mean service time in seconds.
    pub service_s: f64,
    /// Coefficient of variation of the service time.
    pub cv: f64,
    /// Mean time between an answer and the next request in seconds, exponential.
    pub think_s: f64,
}

/// Answers simulated for one number of users: the quantile is then good to about 1 % where queues are long.
const ANSWERS: u64 = 4_000;
/// More users than this are scaled down together with the servers: a queue of thousands behaves like a fluid, so that
/// only the ratio counts.
const USERS_MAX: u64 = 1_500;

/// What happens next, ordered by time in nanoseconds.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Asks,
    Answered(u64),
}

impl ClosedQueue {
    /// The queue that explains a response time of `base_s` without load and at most `rate_max_per_s` under load: as
    /// many servers as fit (X · R by Little), each as slow as it must be.
    pub(crate) fn fitted(base_s: f64, rate_max_per_s: f64, cv: f64, think_s: f64) -> Self {
        let servers = (rate_max_per_s * base_s).round().max(1.0);
        Self { servers: servers as u64, service_s: servers / rate_max_per_s, cv: cv.clamp(0.0, 3.0), think_s }
    }

    /// The response time in milliseconds that the share `quantile` of requests do not exceed with `users` users.
    pub(crate) fn quantile_ms(&self, users: u64, quantile: f64) -> f64 {
        self.simulate(users).percentile_ms(quantile * 100.0)
    }

    /// Response times with `users` users, once the start has passed.
    fn simulate(&self, users: u64) -> Histogram {
        let scale = (users as f64 / USERS_MAX as f64).max(1.0);
        let servers = ((self.servers as f64 / scale).round() as u64).max(1);
        let service_s = self.service_s * servers as f64 * scale / self.servers as f64;
        let users = ((users as f64 / scale).round() as u64).max(1);
        let mut random = Random::new(0x0070_6C69_6D73_6F6C);
        let nanos = |seconds: f64| (seconds * 1e9) as u64;
        let mut events: BinaryHeap<Reverse<(u64, Event)>> =
            (0..users).map(|_| Reverse((nanos(self.think_s * random.unit()), Event::Asks))).collect();
        let (mut waiting, mut busy, mut answers) = (VecDeque::new(), 0, 0);
        let mut histogram = Histogram::default();
        let warm_up = users + ANSWERS / 4;
        while answers < warm_up + ANSWERS {
            let Some(Reverse((now, event))) = events.pop() else { break };
            match event {
                Event::Asks => waiting.push_back(now),
                Event::Answered(asked) => {
                    busy -= 1;
                    answers += 1;
                    if answers > warm_up {
                        histogram.record_micros((now - asked) / 1000);
                    }
                    let think = if self.think_s > 0.0 { random.exponential(self.think_s) } else { 0.0 };
                    events.push(Reverse((now + nanos(think), Event::Asks)));
                }
            }
            while busy < servers
                && let Some(asked) = waiting.pop_front()
            {
                busy += 1;
                events.push(Reverse((now + nanos(random.spread(service_s, self.cv)), Event::Answered(asked))));
            }
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saturated_queue_follows_the_straight_line() {
        // R = N / X_max − Z with X_max = c / S.
        let queue = ClosedQueue { servers: 5, service_s: 0.02, cv: 0.05, think_s: 0.0 };
        for users in [20, 50, 114] {
            let expected = users as f64 / 250.0 * 1e3;
            let seen = queue.simulate(users).mean_ms();
            assert!((seen / expected - 1.0).abs() < 0.01, "{users}: {seen} is not {expected}");
        }
        let thinking = ClosedQueue { think_s: 1.0, ..queue };
        let seen = thinking.simulate(400).mean_ms();
        assert!((seen / 600.0 - 1.0).abs() < 0.02, "{seen}");
    }

    #[test]
    fn without_a_queue_the_response_is_the_service() {
        let queue = ClosedQueue { servers: 50, service_s: 0.1, cv: 0.3, think_s: 0.5 };
        let seen = queue.simulate(20);
        assert!((seen.mean_ms() / 100.0 - 1.0).abs() < 0.02);
        // Log-normal, cv 0.3: p90 = 100 · exp(1.2816 · 0.2936 − 0.0431) = 139.5.
        assert!((queue.quantile_ms(20, 0.9) / 139.5 - 1.0).abs() < 0.03, "{}", queue.quantile_ms(20, 0.9));
    }

    #[test]
    fn thousands_of_users_are_scaled_without_changing_the_answer() {
        let queue = ClosedQueue { servers: 40, service_s: 0.002, cv: 0.5, think_s: 0.0 };
        let expected = 9_000.0 / 20_000.0 * 1e3;
        let seen = queue.simulate(9_000).mean_ms();
        assert!((seen / expected - 1.0).abs() < 0.03, "{seen} is not {expected}");
    }

    #[test]
    fn the_fit_keeps_the_rate() {
        let queue = ClosedQueue::fitted(0.021, 236.0, 0.1, 0.0);
        assert_eq!(queue.servers, 5);
        assert!((queue.servers as f64 / queue.service_s - 236.0).abs() < 1e-9);
        assert_eq!(ClosedQueue::fitted(0.0001, 100.0, 0.1, 0.0).servers, 1);
    }
}

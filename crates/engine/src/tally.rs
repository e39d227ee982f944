//! One worker's account of the second that is under way. It closes windows at whole seconds since the beginning,
//! and hands them on; whoever reports an event passes the moment, so that the event lands in the right second.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use model::unit::{Interval, Moment};
use model::window::Window;

use crate::clock::Clock;
use crate::meter::Meter;

/// Length of a window.
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A count and its integral over time.
#[derive(Debug, Default)]
pub(crate) struct Level {
    count: Cell<u32>,
    since: Cell<Moment>,
    integral: Cell<u128>,
}

impl Level {
    fn advance(&self, now: Moment) {
        let length = now.0.saturating_sub(self.since.get().0);
        self.integral.set(self.integral.get() + u128::from(length) * u128::from(self.count.get()));
        self.since.set(self.since.get().max(now));
    }

    fn up(&self, now: Moment) {
        self.advance(now);
        self.count.set(self.count.get() + 1);
    }

    fn down(&self, now: Moment) {
        self.advance(now);
        self.count.set(self.count.get() - 1);
    }

    /// The mean since the last call, over `[.., at)` of this length.
    fn take_mean(&self, at: Moment, length: Duration) -> f64 {
        self.advance(at);
        let integral = self.integral.replace(0);
        if length.is_zero() { 0.0 } else { integral as f64 / length.as_nanos() as f64 }
    }
}

/// Where a closed window goes: its second, and what was seen in it.
type Hand = Box<dyn Fn(u64, Box<Window>)>;

/// See the module.
pub(crate) struct Tally {
    /// Samples.
    pub(crate) meter: Rc<Meter>,
    /// Time.
    pub(crate) clock: Clock,
    from: Cell<Moment>,
    boundary: Cell<Moment>,
    active: Level,
    in_flight: Level,
    users: Cell<u32>,
    connections: Cell<u64>,
    opened: Cell<u64>,
    sent: Cell<u64>,
    received: Cell<u64>,
    hand: Hand,
}

impl Tally {
    pub(crate) fn new(meter: Rc<Meter>, clock: Clock, hand: Hand) -> Rc<Self> {
        Rc::new(Self {
            meter,
            clock,
            from: Cell::new(Moment::START),
            boundary: Cell::new(crate::alarm::NEVER),
            active: Level::default(),
            in_flight: Level::default(),
            users: Cell::new(0),
            connections: Cell::new(0),
            opened: Cell::new(0),
            sent: Cell::new(0),
            received: Cell::new(0),
            hand,
        })
    }

    /// Begins with the second that `from` lies in. Until then nothing is handed on.
    pub(crate) fn begin(&self, from: Moment) {
        let second = Moment::START + SECOND * u32::try_from(from.0 / 1_000_000_000).unwrap_or(u32::MAX);
        self.from.set(second);
        self.boundary.set(second + SECOND);
        self.active.since.set(second);
        self.in_flight.since.set(second);
    }

    /// The end of the second that is under way.
    pub(crate) fn boundary(&self) -> Moment {
        self.boundary.get()
    }

    /// Closes all windows that end at `now` or before.
    pub(crate) fn roll(&self, now: Moment) {
        while now >= self.boundary.get() {
            let boundary = self.boundary.get();
            self.close(boundary);
            self.boundary.set(boundary + SECOND);
        }
    }

    /// Closes everything up to `at`, the end of the run, the last window being shorter.
    pub(crate) fn finish(&self, at: Moment) {
        self.roll(at);
        if at > self.from.get() && self.boundary.get() != crate::alarm::NEVER {
            self.close(at);
        }
        self.boundary.set(crate::alarm::NEVER);
    }

    fn close(&self, at: Moment) {
        let from = self.from.replace(at);
        let length = at.since(from);
        let mut window = self.meter.take_window();
        window.interval = Interval::new(from, at);
        window.users = self.users.get();
        window.active_mean = self.active.take_mean(at, length);
        window.in_flight_mean = self.in_flight.take_mean(at, length);
        window.connections_open = self.connections.get();
        window.connections_opened = self.opened.replace(0);
        window.data_sent = self.sent.replace(0);
        window.data_received = self.received.replace(0);
        window.generator.workers = 1;
        (self.hand)(from.0 / 1_000_000_000, Box::new(window));
    }

    /// An iteration begins.
    pub(crate) fn iteration_begins(&self, now: Moment) {
        self.roll(now);
        self.active.up(now);
    }

    /// An iteration ends, however.
    pub(crate) fn iteration_ends(&self, now: Moment) {
        self.roll(now);
        self.active.down(now);
    }

    /// Something began later than it was planned.
    pub(crate) fn late(&self, planned: Moment, now: Moment) {
        let micros = u64::try_from(now.since(planned).as_micros()).unwrap_or(u64::MAX);
        self.meter.window(|window| window.late.record_micros(micros));
    }

    /// A request begins; it ends when what this returns is dropped.
    pub(crate) fn request_begins(&self, now: Moment) -> InFlight<'_> {
        self.roll(now);
        self.in_flight.up(now);
        InFlight { tally: self, ended: Cell::new(None) }
    }

    pub(crate) fn user_joins(&self) {
        self.users.set(self.users.get() + 1);
        self.meter.progress().active(self.meter.worker(), self.users.get());
    }

    pub(crate) fn user_leaves(&self) {
        self.users.set(self.users.get() - 1);
        self.meter.progress().active(self.meter.worker(), self.users.get());
    }

    pub(crate) fn connection_opens(&self) {
        self.opened.set(self.opened.get() + 1);
        self.connections.set(self.connections.get() + 1);
    }

    pub(crate) fn connection_closes(&self) {
        self.connections.set(self.connections.get() - 1);
    }

    #[cfg(test)]
    pub(crate) fn connections_open(&self) -> u64 {
        self.connections.get()
    }

    pub(crate) fn bytes_sent(&self, bytes: u64) {
        self.sent.set(self.sent.get() + bytes);
    }

    pub(crate) fn bytes_received(&self, bytes: u64) {
        self.received.set(self.received.get() + bytes);
    }
}

/// A request under way.
pub(crate) struct InFlight<'a> {
    tally: &'a Tally,
    ended: Cell<Option<Moment>>,
}

impl InFlight<'_> {
    /// The request ended at `now`.
    pub(crate) fn end(self, now: Moment) {
        self.tally.roll(now);
        self.ended.set(Some(now));
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let now = self.ended.get().unwrap_or_else(|| self.tally.clock.now());
        self.tally.in_flight.down(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_weighs_counts_by_time() {
        let level = Level::default();
        level.up(Moment(0));
        level.up(Moment(250));
        level.down(Moment(750));
        assert_eq!(level.take_mean(Moment(1000), Duration::from_nanos(1000)), 1.5);
        assert_eq!(level.take_mean(Moment(2000), Duration::from_nanos(1000)), 1.0);
    }
}

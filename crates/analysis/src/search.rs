//! The search for the capacity: a pure function from what was seen to the next load. It never applies load, reads a
//! clock or remembers more than a run record holds.
//!
//! Baseline → probes that double or quadruple → trials guided by a queue model, inside a bracket that always holds →
//! one longer step approached from above → one step over the line → one step back.

mod bracket;
mod forecast;
mod guide;
mod outcome;
mod schedule;
#[cfg(test)]
mod tests;

use std::time::Duration;

use model::record::RunRecord;
use model::verdict::{Capacity, Judgement, Phase};

pub(crate) use bracket::died;
use bracket::{Bracket, Seen};
use forecast::forecast;
use guide::Guide;
pub(crate) use outcome::caveats;
use schedule::Schedule;

/// What the user wants to know, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Upper end of the search.
    pub users_max: u64,
    /// Time to answer.
    pub budget: Duration,
    /// Shorter steps and a wider range.
    pub quick: bool,
    /// Whether steps may be taken that the memory forecast says will kill the service.
    pub allow_crash: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { users_max: 10_000, budget: Duration::from_secs(180), quick: false, allow_crash: false }
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Change the load.
    Step(Order),
    /// Hold the step for longer; its [`model::record::StepSpan`] is replaced by the longer one.
    Extend(Duration),
    /// The search is over.
    Done,
}

/// A load level to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Why.
    pub phase: Phase,
    /// Users.
    pub users: u64,
    /// How long to wait before the measured part begins.
    pub settle: Duration,
    /// How long the measured part is.
    pub length: Duration,
}

/// A bracket narrower than this is narrow enough.
const BRACKET_NARROW: f64 = 1.07;
/// A response time this near to the promise makes a trial the last one.
const NEAR: f64 = 0.10;
/// The confirmed number of users is where the response time is this far below the promise: at the line itself a step
/// of any length stays undecided half of the time.
const CONFIRM_AT: f64 = 0.95;
/// How far above the candidate the load is before it is confirmed, so that its queue is met from above.
const APPROACH: f64 = 1.12;
/// How far over the line the over step goes.
const OVER: f64 = 1.3;
/// Trials at most.
const TRIALS_MAX: usize = 5;
/// Confirmations at most.
const CONFIRMS_MAX: usize = 2;

/// A running search.
#[derive(Clone, Debug)]
pub struct Search {
    settings: Settings,
    schedule: Schedule,
    /// The candidate was approached from above: what comes next is its confirmation.
    approached: bool,
}

impl Search {
    /// A search that has not begun.
    pub fn new(settings: Settings) -> Self {
        Self { settings, schedule: Schedule::new(settings), approached: false }
    }

    /// Time that is left of the budget.
    pub fn time_left(&self, elapsed: Duration) -> Duration {
        self.schedule.budget().saturating_sub(elapsed)
    }

    /// The next move, given everything seen so far. Called when the ordered step is over and its span is the last of
    /// `record.steps`; `elapsed` is the time since the search began.
    pub fn next(&mut self, record: &RunRecord, elapsed: Duration) -> Move {
        let bracket = Bracket::new(record);
        let left = self.time_left(elapsed);
        let Some(last) = bracket.last() else { return self.baseline(record, left) };
        if bracket.dead().is_some() || left.is_zero() {
            return Move::Done;
        }
        if let Some(more) = self.schedule.extension(last, left) {
            return Move::Extend(more);
        }
        let guide = Guide::new(record, &bracket);
        match last.facts.span.phase {
            Phase::Return => Move::Done,
            Phase::Over => self.back(&bracket, left),
            Phase::Confirm if last.below => self.over(&bracket, &guide, record, left),
            Phase::Confirm => self.confirm(&bracket, &guide, left),
            // A service that is still warming up gets a second chance; one that is far too slow does not need it.
            Phase::Baseline if !last.below && is_near(last) && bracket.times_at(1) == 1 => {
                self.step(Phase::Baseline, 1, last, left)
            }
            Phase::Baseline if !last.below => Move::Done,
            Phase::Baseline | Phase::Probe | Phase::Trial => {
                // What held, held, however hard it was for the generator. What did not may be its fault: the first
                // time that may be chance, from then on it is believed.
                if last.is_red() && !last.below && bracket.red_failures() == 1 {
                    return self.step(last.facts.span.phase, last.users(), last, left);
                }
                self.close_in(&bracket, &guide, record, left)
            }
        }
    }

    /// The capacity, from whatever the record holds.
    pub fn capacity(&self, record: &RunRecord) -> Capacity {
        outcome::capacity(record, self.settings)
    }

    /// What the user wanted to know.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    fn baseline(&self, record: &RunRecord, left: Duration) -> Move {
        // A step without windows cannot be judged: the load never ran, and will not by trying again.
        if left.is_zero() || !record.steps.is_empty() || self.settings.users_max == 0 {
            return Move::Done;
        }
        Move::Step(self.schedule.first())
    }

    /// Widens or narrows the bracket, until it is time to confirm.
    fn close_in(&mut self, bracket: &Bracket, guide: &Guide, record: &RunRecord, left: Duration) -> Move {
        let Some(last) = bracket.last() else { return Move::Done };
        let low = bracket.low().map_or(0, Seen::users);
        let ceiling = self.ceiling(record, low);
        let Some(high) = bracket.high() else {
            if last.facts.span.users >= ceiling {
                return if ceiling > 1 && last.facts.span.phase != Phase::Baseline {
                    self.confirm_at(ceiling, last, left)
                } else {
                    Move::Done
                };
            }
            let users = guide.probe(bracket, last).clamp(low + 1, ceiling);
            return self.step(Phase::Probe, users, last, left);
        };
        if self.approached {
            return self.confirm(bracket, guide, left);
        }
        let narrow = high.users() <= low + 1 || high.users() as f64 <= low as f64 * BRACKET_NARROW;
        let near = last.facts.span.phase == Phase::Trial && guide.distance(last).is_some_and(|away| away <= NEAR);
        if narrow || near || bracket.trials() >= TRIALS_MAX || !self.schedule.has_time_for_trial(last, left) {
            return self.confirm(bracket, guide, left);
        }
        let users = guide.propose(bracket, low, high.users());
        self.step(Phase::Trial, users, last, left)
    }

    /// The most users that may be tried: what was asked for, and short of what the memory forecast calls fatal.
    fn ceiling(&self, record: &RunRecord, low: u64) -> u64 {
        let fatal = forecast(record).filter(|_| !self.settings.allow_crash).map(|forecast| forecast.safe_users);
        self.settings.users_max.min(fatal.unwrap_or(u64::MAX)).max(low)
    }

    fn confirm(&mut self, bracket: &Bracket, guide: &Guide, left: Duration) -> Move {
        let (Some(last), Some(high)) = (bracket.last(), bracket.high()) else { return Move::Done };
        if bracket.confirms() >= CONFIRMS_MAX || !self.schedule.has_time_for_confirm(left) {
            return Move::Done;
        }
        let low = bracket.low().map_or(0, Seen::users);
        let sure = bracket.sure_low();
        let below_high = (high.users() as f64 * 0.98).floor() as u64;
        let users = match guide.estimate(bracket, CONFIRM_AT) {
            Some(users) => (users as u64).clamp(sure, below_high.max(sure)),
            None => low,
        };
        // A number that just failed its own confirmation is not asked again.
        if users == 0 || (last.facts.span.phase == Phase::Confirm && users >= last.users()) {
            return Move::Done;
        }
        let above = ((users as f64 * APPROACH).ceil() as u64).min(self.settings.users_max);
        if !self.approached && last.users() <= users && above > users && self.schedule.has_time_for_approach(left) {
            self.approached = true;
            return Move::Step(self.schedule.approach(above, last));
        }
        self.confirm_at(users, last, left)
    }

    fn confirm_at(&mut self, users: u64, last: &Seen, left: Duration) -> Move {
        self.approached = false;
        self.step(Phase::Confirm, users, last, left)
    }

    fn over(&mut self, bracket: &Bracket, guide: &Guide, record: &RunRecord, left: Duration) -> Move {
        let (Some(last), Some(_)) = (bracket.last(), bracket.high()) else { return Move::Done };
        let line = guide.estimate(bracket, 1.0).unwrap_or(last.users() as f64).max(last.users() as f64);
        let users = ((line * OVER).ceil() as u64).min(self.ceiling(record, last.users()));
        if users <= last.users() {
            return Move::Done;
        }
        self.step(Phase::Over, users, last, left)
    }

    fn back(&mut self, bracket: &Bracket, left: Duration) -> Move {
        let (Some(last), Some(low)) = (bracket.last(), bracket.low()) else { return Move::Done };
        self.step(Phase::Return, ((low.users() as f64 * 0.8) as u64).max(1), last, left)
    }

    fn step(&mut self, phase: Phase, users: u64, last: &Seen, left: Duration) -> Move {
        self.schedule.order(phase, users, last, left).map_or(Move::Done, Move::Step)
    }
}

/// Whether most of the samples kept the promise that was broken.
fn is_near(seen: &Seen) -> bool {
    seen.facts.worst().is_some_and(|fact| fact.share < 0.5)
}

/// Whether a judgement leaves something to learn from a longer look.
fn is_open(judgement: Judgement) -> bool {
    judgement == Judgement::Undecided
}

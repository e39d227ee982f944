//! What the steps so far say about where the line is: the largest load that held and the smallest that did not.

use model::record::RunRecord;
use model::series::Role;
use model::signal;
use model::unit::Interval;
use model::verdict::{Judgement, Phase};

use crate::read::Reader;
use crate::step::{self, StepFacts};

/// One step and on which side of the line it is.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) facts: StepFacts,
    /// Whether the promise held; by the point estimate where the interval leaves it open.
    pub(crate) below: bool,
    /// Whether that is sure.
    pub(crate) sure: bool,
    /// Whether the service died in it.
    pub(crate) dead: bool,
}

impl Seen {
    pub(crate) fn users(&self) -> u64 {
        self.facts.span.users
    }

    pub(crate) fn is_red(&self) -> bool {
        !self.facts.is_green()
    }
}

/// All steps with the bracket they make.
#[derive(Clone, Debug)]
pub(crate) struct Bracket {
    steps: Vec<Seen>,
    low: Option<usize>,
    high: Option<usize>,
}

impl Bracket {
    /// Reads all steps that have windows. The later of two steps that contradict each other wins, since later steps
    /// are longer and begin under load.
    pub(crate) fn new(record: &RunRecord) -> Self {
        let measured = record.steps.iter().map(|span| step::measure(record, span)).filter(|facts| facts.windows > 0);
        let mut bracket = Self { steps: measured.map(|facts| judge(record, facts)).collect(), low: None, high: None };
        for index in 0..bracket.steps.len() {
            if bracket.steps[index].facts.span.phase != Phase::Return {
                bracket.admit(index);
            }
        }
        bracket
    }

    fn admit(&mut self, index: usize) {
        let users = self.steps[index].users();
        let before = &self.steps[..index];
        let at = |index: Option<usize>| index.map(|index| self.steps[index].users());
        let counts = |seen: &Seen| seen.facts.span.phase != Phase::Return;
        if self.steps[index].below {
            if at(self.low).is_none_or(|low| users >= low) {
                self.low = Some(index);
            }
            if at(self.high).is_some_and(|high| high <= users) {
                let above =
                    before.iter().enumerate().filter(|(_, seen)| counts(seen) && !seen.below && seen.users() > users);
                self.high = above.min_by_key(|(_, seen)| seen.users()).map(|(index, _)| index);
            }
        } else {
            if at(self.high).is_none_or(|high| users <= high) {
                self.high = Some(index);
            }
            if at(self.low).is_some_and(|low| low >= users) {
                let under =
                    before.iter().enumerate().filter(|(_, seen)| counts(seen) && seen.below && seen.users() < users);
                self.low = under.max_by_key(|(_, seen)| seen.users()).map(|(index, _)| index);
            }
        }
    }

    pub(crate) fn steps(&self) -> &[Seen] {
        &self.steps
    }

    pub(crate) fn last(&self) -> Option<&Seen> {
        self.steps.last()
    }

    /// The largest load that held.
    pub(crate) fn low(&self) -> Option<&Seen> {
        self.low.map(|index| &self.steps[index])
    }

    /// The largest load below [`Self::high`] that surely held.
    pub(crate) fn sure_low(&self) -> u64 {
        let under = |users: u64| self.high().is_none_or(|high| users < high.users());
        let held = self.steps.iter().filter(|seen| seen.below && seen.sure && under(seen.users()));
        held.filter(|seen| seen.facts.span.phase != Phase::Return).map(Seen::users).max().unwrap_or(0)
    }

    /// The smallest load above it that did not.
    pub(crate) fn high(&self) -> Option<&Seen> {
        self.high.map(|index| &self.steps[index])
    }

    /// The step in which the service died.
    pub(crate) fn dead(&self) -> Option<&Seen> {
        self.steps.iter().find(|seen| seen.dead)
    }

    pub(crate) fn trials(&self) -> usize {
        self.count(Phase::Trial)
    }

    pub(crate) fn confirms(&self) -> usize {
        self.count(Phase::Confirm)
    }

    fn count(&self, phase: Phase) -> usize {
        self.steps.iter().filter(|seen| seen.facts.span.phase == phase).count()
    }

    /// Steps in which the generator fell behind and the promise did not hold.
    pub(crate) fn red_failures(&self) -> usize {
        self.steps.iter().filter(|seen| seen.is_red() && !seen.below).count()
    }

    /// Steps with this number of users.
    pub(crate) fn times_at(&self, users: u64) -> usize {
        self.steps.iter().filter(|seen| seen.users() == users).count()
    }
}

fn judge(record: &RunRecord, facts: StepFacts) -> Seen {
    let dead = died(record, &facts);
    let silent = facts.requests.finished == 0 && facts.in_flight_mean > 0.0;
    let open_below = !facts.overload && !silent && facts.worst().is_none_or(|fact| fact.excess() <= 1.0);
    let (below, sure) = match facts.promise {
        _ if dead => (false, true),
        Judgement::Pass => (true, true),
        Judgement::Fail => (false, true),
        Judgement::Undecided => (open_below, false),
    };
    Seen { facts, below, sure, dead }
}

/// Whether the service died in this step: its process is gone or another one, or every single request was refused or
/// reset.
pub(crate) fn died(record: &RunRecord, facts: &StepFacts) -> bool {
    let whole = Interval::new(facts.span.whole.from, facts.span.whole.to);
    let reader = Reader::new(record, whole);
    let service = reader.subject(Role::Service).map_or("", |subject| subject.id.as_str());
    let series = |signal: signal::Signal| record.series(service, signal.name).map(|series| series.within(whole));
    let gone = series(signal::ALIVE).and_then(|points| points.last()).is_some_and(|point| point.value < 0.5);
    let replaced = series(signal::STARTED_AT)
        .is_some_and(|points| points.windows(2).any(|pair| (pair[1].value - pair[0].value).abs() > 0.5));
    let refused = facts.requests.finished > 0
        && facts.requests.failed == facts.requests.finished
        && !facts.errors.is_empty()
        && facts.errors.keys().all(|cause| ["refused", "reset", "EOF"].iter().any(|word| cause.contains(word)));
    gone || replaced || refused
}

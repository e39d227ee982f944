//! The rules: one file per bottleneck, one list. A new one is a file in `rule/`, a line in [`RULES`], a page in
//! `docs/bottlenecks/` and two tests: one that provokes it, one with its nearest look-alike.

mod db_cpu;
mod db_pool;
mod gen_cpu;
mod host_contention;
mod net_accept;
mod net_link;
mod pattern_floor;
mod pattern_none;
mod svc_cpu;
mod svc_kernel;
mod svc_one_core;
mod unknown;

use model::finding::{Certainty, Evidence, Lever};
use model::signal::Signal;

use crate::case::Case;
use crate::lever::Outlook;

/// All rules, the deepest first: what lies deeper keeps what lies before it busy, so of two full stations the deeper
/// one is the bottleneck. Patterns come last, since they say what is left when no station is full.
pub(crate) const RULES: &[Rule] = &[
    db_cpu::RULE,
    db_pool::RULE,
    svc_one_core::RULE,
    svc_cpu::RULE,
    svc_kernel::RULE,
    host_contention::RULE,
    net_accept::RULE,
    net_link::RULE,
    gen_cpu::RULE,
    pattern_floor::RULE,
    pattern_none::RULE,
    unknown::RULE,
];

/// One rule of the catalogue.
pub(crate) struct Rule {
    /// Id from the catalogue.
    pub(crate) id: &'static str,
    /// What kind of statement it makes.
    pub(crate) kind: Kind,
    /// Parts of the time budget that grow when this is the bottleneck.
    pub(crate) parts: &'static [&'static str],
    /// Looks at a step.
    pub(crate) judge: fn(&Case<'_>) -> Judged,
    /// What would move the line, and what would not.
    pub(crate) levers: fn(&Case<'_>, &Outlook) -> Vec<Lever>,
}

/// What kind of statement a rule makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A station that is full.
    Station,
    /// Counts before all stations: no load is to blame.
    First,
    /// Counts if no station is full.
    Rest,
}

/// What a rule found.
#[derive(Clone, Debug)]
pub(crate) enum Judged {
    /// It may be this.
    Candidate(Candidate),
    /// It is not, and why, with a number.
    RuledOut(String),
    /// Nothing that it needs was recorded.
    NotSeen,
}

/// A possible bottleneck.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidate {
    pub(crate) subject: String,
    /// A counter moved that moves for no other reason.
    pub(crate) is_hard: bool,
    /// The station is full.
    pub(crate) is_full: bool,
    /// Something seen speaks against it.
    pub(crate) is_contradicted: bool,
    /// Parts of the time budget that it owns in this case besides those of its rule.
    pub(crate) also_owns: &'static [&'static str],
    /// It explains the step whatever the time budget says: all failures are its doing, or all figures are.
    pub(crate) owns_all: bool,
    pub(crate) evidence: Vec<Evidence>,
    /// One or two sentences for people.
    pub(crate) sentence: String,
    /// A few words for a live line.
    pub(crate) words: String,
}

/// A candidate with its score.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
    pub(crate) rule: &'static Rule,
    pub(crate) candidate: Candidate,
    pub(crate) owned: f64,
    pub(crate) score: i32,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// Share of the growth of the response time that the bottleneck must own.
const OWNS: f64 = 0.5;

/// Scores a candidate: hard counter 3, full station 2, half of the growth 2, not full at light load 1, contradiction
/// −3.
pub(crate) fn score(rule: &'static Rule, candidate: Candidate, case: &Case<'_>) -> Scored {
    let owned = if candidate.owns_all { 1.0 } else { case.owned(&[rule.parts, candidate.also_owns].concat()) };
    let light_is_free = case
        .of_light()
        .is_some_and(|light| !matches!((rule.judge)(&light), Judged::Candidate(Candidate { is_full: true, .. })));
    let points = [
        (candidate.is_hard, 3),
        (candidate.is_full, 2),
        (owned >= OWNS, 2),
        (light_is_free, 1),
        (candidate.is_contradicted, -3),
    ];
    let score = points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum();
    Scored { rule, candidate, owned, score }
}

impl Scored {
    /// Proved needs a hard counter, strong at least half of the growth of the response time: shape alone is a suspicion.
    pub(crate) fn certainty(&self) -> Certainty {
        match self.score {
            6.. if self.candidate.is_hard && self.is_owner() => Certainty::Proved,
            4.. if self.is_owner() => Certainty::Strong,
            2.. => Certainty::Suspected,
            _ => Certainty::Unknown,
        }
    }

    pub(crate) fn is_full_or_hard(&self) -> bool {
        self.candidate.is_full || self.candidate.is_hard
    }

    /// Whether it explains at least half of what users wait longer than at light load.
    pub(crate) fn is_owner(&self) -> bool {
        self.owned >= OWNS
    }
}

/// An evidence line about a signal.
fn evidence(signal: Signal, value: f64, source: &str, says: impl Into<String>) -> Evidence {
    Evidence {
        signal: signal.name.to_owned(),
        value,
        unit: signal.unit.to_owned(),
        source: source.to_owned(),
        says: says.into(),
    }
}

/// An evidence line about a rate of a counter of CPU seconds, which reads as cores.
fn cores(signal: Signal, value: f64, says: impl Into<String>) -> Evidence {
    Evidence { unit: "cores".to_owned(), ..evidence(signal, value, "schedstat", says) }
}

/// An evidence line about busy cores of the machine.
fn machine(value: f64, says: impl Into<String>) -> Evidence {
    Evidence { unit: "cores".to_owned(), ..evidence(model::signal::HOST_BUSY, value, "/proc/stat", says) }
}

/// An evidence line about something the engine measured.
pub(crate) fn measured(name: &str, value: f64, unit: &str, says: impl Into<String>) -> Evidence {
    let (signal, unit, source) = (name.to_owned(), unit.to_owned(), "engine".to_owned());
    Evidence { signal, value, unit, source, says: says.into() }
}

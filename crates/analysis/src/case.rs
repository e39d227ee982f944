//! One step together with what it is compared with: the light step and the other load levels.

use model::record::{RunRecord, StepSpan};
use model::verdict::Phase;

use crate::budget::{Budget, budget};
use crate::owner::{Owner, owner};
use crate::scene::Scene;
use crate::search::died;

/// A mean response time that is at most this many times that of a light load has not grown.
const UNHURRIED: f64 = 1.25;
/// Throughput that grows by less than this share of the users' growth bends: something is filling up.
const LINEAR: f64 = 0.7;

/// What rules judge.
#[derive(Clone, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) here: Scene<'a>,
    pub(crate) light: Option<Scene<'a>>,
    pub(crate) budget: Budget,
    pub(crate) light_budget: Option<Budget>,
    pub(crate) owner: Owner,
    /// Whether the service died in it.
    pub(crate) is_dead: bool,
    /// Steps at clearly lower load.
    pub(crate) lower: Vec<Level>,
}

/// What another load level showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    pub(crate) users: u64,
    pub(crate) rate_per_s: f64,
    pub(crate) db_sockets: Option<f64>,
    pub(crate) bytes_per_s: Option<f64>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(record: &'a RunRecord, step: &StepSpan, baseline: Option<&StepSpan>) -> Self {
        let here = Scene::new(record, step);
        let baseline = baseline.filter(|span| span.measured != step.measured);
        let light = baseline.map(|span| Scene::new(record, span)).filter(|scene| scene.step.windows > 0);
        let below = |span: &&StepSpan| span.users as f64 <= 0.8 * step.users as f64 && span.phase != Phase::Return;
        let lower = record.steps.iter().filter(below).map(|span| {
            let scene = Scene::new(record, span);
            Level {
                users: span.users,
                rate_per_s: scene.step.rate_per_s,
                db_sockets: scene.db_sockets,
                bytes_per_s: scene.link.bytes_per_s(),
            }
        });
        Self {
            budget: budget(&here),
            light_budget: light.as_ref().map(budget),
            owner: owner(&here),
            is_dead: died(record, &here.step),
            lower: lower.collect(),
            light,
            here,
        }
    }

    /// The light step as a case of its own.
    pub(crate) fn of_light(&self) -> Option<Self> {
        let here = self.light.clone()?;
        let (budget, owner) = (budget(&here), owner(&here));
        Some(Self { here, light: None, budget, light_budget: None, owner, is_dead: false, lower: Vec::new() })
    }

    /// The share of the growth since light load that these parts of the time budget own.
    pub(crate) fn owned(&self, parts: &[&str]) -> f64 {
        self.budget.owned(parts, self.light_budget.as_ref())
    }

    /// The nearest lower load, if the throughput grew with the users since: by at least [`LINEAR`] of their growth.
    pub(crate) fn growing_from(&self) -> Option<Level> {
        let lower = self.lower.iter().filter(|level| level.rate_per_s > 0.0).max_by_key(|level| level.users)?;
        let users = self.here.step.span.users as f64 / lower.users.max(1) as f64;
        let rate = self.here.step.rate_per_s / lower.rate_per_s;
        (rate - 1.0 >= LINEAR * (users - 1.0)).then_some(*lower)
    }

    /// Whether more users got more answers as quickly as a few did: then nothing stops anybody yet, however busy the
    /// machine is with the work of others.
    pub(crate) fn is_unhurried(&self) -> bool {
        let light = self.light.as_ref().map(|scene| scene.step.latency_ms.avg);
        let quick = light.is_some_and(|light_ms| self.here.step.latency_ms.avg <= UNHURRIED * light_ms);
        quick && self.growing_from().is_some()
    }

    /// Users as words.
    pub(crate) fn users(&self) -> String {
        crate::phrase::users(self.here.step.span.users)
    }

    /// CPU seconds per request of a party.
    pub(crate) fn per_request(&self, run: Option<f64>) -> Option<f64> {
        Some(run? / self.here.rate()?)
    }
}

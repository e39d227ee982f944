//! The scenarios of a plan: those of the script, or the one that `duration`, `iterations` or `stages` stand for.

use std::collections::BTreeMap;
use std::time::Duration;

use model::plan::{Executor, Scenario, Stage};
use serde_json::{Map, Value};

use super::read::{Fields, Notes};
use super::scenario::{GRACEFUL_STOP, check_exec, check_length, check_ramp, check_shared, check_users, scenarios};
use super::{Overrides, ScriptFacts};

/// The longest time that a number of iterations may take, unless `duration` says otherwise.
const MAX_DURATION: Duration = Duration::from_secs(600);

/// What the options say about the load.
struct Shortcuts<'v> {
    duration: Option<Duration>,
    iterations: Option<u64>,
    stages: Option<Vec<Stage>>,
    scenarios: Option<&'v Map<String, Value>>,
}

impl Shortcuts<'_> {
    /// Names of what is given.
    fn given(&self) -> Vec<&'static str> {
        [
            (self.duration.is_some(), "duration"),
            (self.iterations.is_some(), "iterations"),
            (self.stages.is_some(), "stages"),
            (self.scenarios.is_some(), "scenarios"),
        ]
        .iter()
        .filter(|(given, _)| *given)
        .map(|&(_, name)| name)
        .collect()
    }
}

/// The scenarios of the plan.
pub(super) fn choose(top: &mut Fields<'_>, facts: &ScriptFacts, notes: &mut Notes) -> Vec<Scenario> {
    let vus = top.users(notes, "vus");
    let chosen = Shortcuts {
        duration: top.duration(notes, "duration"),
        iterations: top.whole(notes, "iterations"),
        stages: top.stages(notes, "stages"),
        scenarios: top.object(notes, "scenarios"),
    };
    let given = chosen.given();
    // A duration beside iterations is the longest they may take.
    if given.len() > 1 && given != ["duration", "iterations"] {
        notes.mistake(format!("options `{}` contradict each other: give one of them", given.join("` and `")));
        return Vec::new();
    }
    if let Some(map) = chosen.scenarios {
        if vus.is_some() {
            notes.warning("option `vus` has no effect beside `scenarios`");
        }
        return scenarios(map, facts, notes);
    }
    let executor = executor(&chosen, vus, notes);
    check_exec("scenario `default`", "default", facts, notes);
    vec![Scenario {
        name: "default".to_owned(),
        executor,
        exec: "default".to_owned(),
        start_time: Duration::ZERO,
        graceful_stop: GRACEFUL_STOP,
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
    }]
}

/// Those that `--scenario` leaves, and of each only what `--once` leaves.
pub(super) fn only(mut scenarios: Vec<Scenario>, overrides: &Overrides, notes: &mut Notes) -> Vec<Scenario> {
    if let Some(name) = &overrides.scenario
        && !scenarios.is_empty()
    {
        let names: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
        scenarios.retain(|scenario| scenario.name == *name);
        if scenarios.is_empty() {
            notes.mistake(format!("--scenario: there is no scenario `{name}`, only {}", names.join(", ")));
        }
        // Nothing has to be waited for.
        scenarios.iter_mut().for_each(|scenario| scenario.start_time = Duration::ZERO);
    }
    if overrides.once {
        for scenario in &mut scenarios {
            scenario.executor = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION };
            scenario.start_time = Duration::ZERO;
        }
    }
    scenarios
}

fn executor(chosen: &Shortcuts<'_>, vus: Option<u32>, notes: &mut Notes) -> Executor {
    let users = vus.unwrap_or(1);
    if let Some(stages) = &chosen.stages {
        let ramp = Executor::RampingVus { start_vus: users, stages: stages.clone(), graceful_ramp_down: GRACEFUL_STOP };
        check_ramp("option `stages`", &ramp, notes);
        return ramp;
    }
    check_users("option `vus`", users, notes);
    if let Some(duration) = chosen.duration {
        check_length("option `duration`", duration, notes);
    }
    match (chosen.iterations, chosen.duration) {
        (Some(iterations), duration) => {
            if iterations == 0 {
                notes.mistake("option `iterations`: more than 0 is expected");
            } else {
                check_shared("option `iterations`", users, iterations, notes);
            }
            Executor::SharedIterations { vus: users, iterations, max_duration: duration.unwrap_or(MAX_DURATION) }
        }
        (None, Some(duration)) => Executor::ConstantVus { vus: users, duration },
        (None, None) => {
            if let Some(vus) = vus {
                notes.warning(format!(
                    "option `vus` ({vus}) has no effect without `duration`, `iterations` or `stages`: one user runs one iteration"
                ));
            }
            Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION }
        }
    }
}

//! What two runs of a script have in common, aspect by aspect: exit, metrics, thresholds, checks, setup, tags, console,
//! requests, files, stdout. Each difference is a sentence that begins with its aspect. Must never compare times that a
//! script did not make itself.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use serde_json::Value;

use super::contestant::{Contestant, Run};
use super::script::Script;

mod console;
mod metrics;
mod tags;

/// Longest text of a difference that is shown.
const SHOWN_CHARS_MAX: usize = 400;

/// Runs a script with both and says what differs, but for what its header says.
pub(crate) fn all(script: &Script, contestants: &[Contestant; 2]) -> Vec<String> {
    let [k6, ours] = contestants;
    let (k6, ours) = thread::scope(|scope| {
        let k6 = scope.spawn(|| k6.run(script));
        (k6.join(), ours.run(script))
    });
    let k6 = k6.unwrap_or_else(|_| panic!("{}: k6 could not be run", script.name));
    let mut found = Differences::default();
    if k6.exit != Some(script.exit) {
        found.add("header", format!("says exit {}, k6 ended with {:?}: {}", script.exit, k6.exit, k6.stderr));
    }
    exit(&mut found, &k6, &ours);
    summaries(&mut found, &k6, &ours);
    if let (Some(k6), Some(ours)) = (&k6.points, &ours.points) {
        tags::compare(&mut found, k6, ours);
    }
    console::compare(&mut found, script, &k6, &ours);
    requests(&mut found, script, &k6, &ours);
    files(&mut found, &k6, &ours);
    if script.same_stdout {
        found.unequal("stdout", "standard output", &k6.stdout, &ours.stdout);
    }
    let differing: BTreeSet<_> = found.found.iter().map(|(aspect, _)| *aspect).collect();
    let unmet = script.differs.iter().filter(|aspect| !differing.contains(aspect.as_str()));
    let unmet: Vec<_> = unmet.map(|aspect| format!("{aspect}: the header says that it differs; it does not")).collect();
    // A run that ended otherwise has little in common: how it ended says the most.
    if differing.contains("exit") {
        found.found.retain(|(aspect, _)| *aspect == "exit" || script.differs.iter().any(|differs| differs == aspect));
    }
    let kept = found.found.into_iter().filter(|(aspect, _)| !script.differs.iter().any(|differs| differs == aspect));
    kept.map(|(aspect, text)| format!("{aspect}: {text}")).chain(unmet).collect()
}

/// Differences, each with its aspect.
#[derive(Default)]
pub(crate) struct Differences {
    found: Vec<(&'static str, String)>,
}

impl Differences {
    pub(crate) fn add(&mut self, aspect: &'static str, text: impl Into<String>) {
        self.found.push((aspect, text.into()));
    }

    /// Adds a difference if these are not equal.
    pub(crate) fn unequal(&mut self, aspect: &'static str, what: &str, k6: &str, ours: &str) {
        if k6 != ours {
            let same = k6.chars().zip(ours.chars()).take_while(|(one, other)| one == other).count();
            let shown = |text: &str| {
                let from = same.saturating_sub(60);
                let part: String = text.chars().skip(from).take(SHOWN_CHARS_MAX).collect();
                if from > 0 { format!("…{part}") } else { part }
            };
            self.add(aspect, format!("{what}\n        k6:   {}\n        ours: {}", shown(k6), shown(ours)));
        }
    }
}

fn exit(found: &mut Differences, k6: &Run, ours: &Run) {
    if k6.exit != ours.exit {
        let (said, wanted) = (ours.stderr.trim(), k6.stderr.trim());
        found.add(
            "exit",
            format!("k6 {:?}, ours {:?}\n        k6:   {wanted}\n        ours: {said}", k6.exit, ours.exit),
        );
    }
}

fn summaries(found: &mut Differences, k6: &Run, ours: &Run) {
    let (Some(k6), Some(ours)) = (&k6.summary, &ours.summary) else {
        if k6.summary.is_some() != ours.summary.is_some() {
            let wrote = |run: &Run| if run.summary.is_some() { "wrote" } else { "did not write" };
            found.add("metrics", format!("k6 {} a summary, ours {} one", wrote(k6), wrote(ours)));
        }
        return;
    };
    metrics::compare(found, &k6["metrics"], &ours["metrics"]);
    found.unequal("checks", "groups and checks", &sorted(&k6["root_group"]), &sorted(&ours["root_group"]));
    found.unequal("setup", "setup data", &sorted(&k6["setup_data"]), &sorted(&ours["setup_data"]));
}

/// JSON with its keys in order.
pub(crate) fn sorted(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    value.to_string()
}

fn requests(found: &mut Differences, script: &Script, k6: &Run, ours: &Run) {
    let lines = |run: &Run| {
        let mut all = run.requests.clone();
        if script.any_order {
            all.iter_mut().filter_map(Value::as_object_mut).for_each(|one| drop(one.remove("connection")));
        }
        let mut lines: Vec<_> = all.iter().map(sorted).collect();
        if script.any_order {
            lines.sort();
        }
        lines
    };
    let (k6, ours) = (lines(k6), lines(ours));
    if k6.len() != ours.len() {
        found.add("requests", format!("k6 made {}, ours {}", k6.len(), ours.len()));
    }
    if let Some((place, (k6, ours))) = k6.iter().zip(&ours).enumerate().find(|(_, (k6, ours))| k6 != ours) {
        found.unequal("requests", &format!("the request number {}", place + 1), k6, ours);
    }
}

/// Files are compared as JSON if they are: figures that are times may differ, the shape may not.
fn files(found: &mut Differences, k6: &Run, ours: &Run) {
    let names: BTreeSet<_> = k6.files.keys().chain(ours.files.keys()).collect();
    for name in names {
        let shown = |files: &BTreeMap<String, String>| match files.get(name) {
            None => "no such file".to_owned(),
            Some(text) => match serde_json::from_str(text) {
                Ok(value) => sorted(&metrics::without_times(value)),
                Err(_) => text.clone(),
            },
        };
        found.unequal("files", name, &shown(&k6.files), &shown(&ours.files));
    }
}

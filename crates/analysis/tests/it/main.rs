//! Recorded runs in, verdicts out: records of real services with a planted bottleneck, made with `plimsoll find --quick
//! --budget 35s --record`. Whatever changes in the analysis, these must keep their names; what else changes shows in the
//! snapshots.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use analysis::search::{Search, Settings};
use model::finding::Certainty;
use model::record::RunRecord;
use model::verdict::Verdict;

fn record(name: &str) -> RunRecord {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(name).with_extension("jsonl");
    RunRecord::load(BufReader::new(File::open(path).unwrap())).unwrap()
}

fn verdict(record: &RunRecord) -> Verdict {
    let search = Search::new(Settings { quick: true, budget: Duration::from_secs(35), ..Settings::default() });
    let ended = record.windows.last().unwrap().interval.to;
    analysis::verdict(record, &search, Duration::from_nanos(ended.0))
}

/// The parts of a verdict that a reader acts on, in one text.
fn gist(verdict: &Verdict) -> String {
    let bottleneck = &verdict.bottleneck;
    let ruled_out: Vec<_> = bottleneck.ruled_out.iter().map(|one| one.id.as_str()).collect();
    let next: Vec<_> = verdict.next.iter().map(|next| format!("{} at {:.0}/s", next.id, next.rate_per_s)).collect();
    let lever = |lever: &model::finding::Lever| match lever.rate_per_s {
        Some(rate) if lever.helps => format!("+ {}: {} -> {rate:.0}/s", lever.id, lever.change),
        _ => format!("- {}: {}", lever.id, lever.change),
    };
    let levers: Vec<_> = verdict.levers.iter().map(lever).collect();
    let capacity = &verdict.capacity;
    format!(
        "{:?} {} ({} to {:?})\n{} {:?}: {}\nruled out: {}\nnext: {}\n{}",
        capacity.state,
        capacity.users,
        capacity.users_low,
        capacity.users_high,
        bottleneck.id,
        bottleneck.certainty,
        bottleneck.sentence,
        ruled_out.join(" "),
        next.join(", "),
        levers.join("\n")
    )
}

#[test]
fn a_small_pool() {
    let verdict = verdict(&record("pool"));
    assert_eq!((verdict.bottleneck.id.as_str(), verdict.bottleneck.certainty), ("db.pool", Certainty::Proved));
    insta::assert_snapshot!(gist(&verdict));
}

#[test]
fn a_database_without_cpu() {
    let verdict = verdict(&record("dbcpu"));
    assert_eq!(verdict.bottleneck.id, "db.cpu");
    insta::assert_snapshot!(gist(&verdict));
}

#[test]
fn a_full_accept_queue() {
    let verdict = verdict(&record("backlog"));
    assert_eq!(verdict.bottleneck.id, "net.accept");
    insta::assert_snapshot!(gist(&verdict));
}

#[test]
fn everybody_on_the_same_two_cores() {
    let verdict = verdict(&record("contention"));
    assert_eq!(verdict.bottleneck.id, "host.contention");
    insta::assert_snapshot!(gist(&verdict));
}

/// Evidence that is taken away must cost certainty or the name, never lead to another name that is called proved.
#[test]
fn a_record_without_the_database_is_not_sure_of_it() {
    let mut blind = record("dbcpu");
    blind.series.retain(|series| series.subject != "db" && !series.signal.starts_with("pool."));
    blind.subjects.retain(|subject| subject.id != "db");
    let verdict = verdict(&blind);
    assert_ne!(verdict.bottleneck.certainty, Certainty::Proved, "{}", verdict.bottleneck.sentence);
}

/// A record that was cut off anywhere still has an answer.
#[test]
fn every_prefix_of_a_run_has_a_verdict() {
    let whole = record("pool");
    for steps in 0..=whole.steps.len() {
        let mut cut = whole.clone();
        cut.steps.truncate(steps);
        let end = cut.steps.last().map_or(model::unit::Moment::START, |step| step.whole.to);
        cut.windows.retain(|window| window.interval.to <= end);
        if cut.windows.is_empty() {
            continue;
        }
        let verdict = verdict(&cut);
        assert_eq!(verdict.steps.len(), steps);
        assert!(!verdict.bottleneck.sentence.is_empty());
        assert!(verdict.time_budget_ms.values().all(|part| part.is_finite()));
    }
}

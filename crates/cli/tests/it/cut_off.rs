//! A record that was cut off before its end still says what it can.

use std::fs;

use rustix::process::Signal;

use crate::service::{Service, plimsoll};
use crate::signals::Going;

/// How many lines of this kind a record has.
fn count(record: &[u8], kind: &str) -> usize {
    record.split(|byte| *byte == b'\n').filter(|line| line.starts_with(format!("{{\"{kind}\"").as_bytes())).count()
}

/// A search that a closed terminal ended writes everything; what `kill -9` had left of it is enough for a verdict.
#[test]
fn a_search_that_was_cut_short_has_a_verdict() {
    let service = Service::start("laptop --no-database --floor 20ms");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("find.record");
    let target = format!("{}/age?birthdate=1990-02-28", service.url);
    let words =
        ["find", &target, "--users-max", "77", "--quick", "--record", "find.record", "--json", "find.json", "--quiet"];
    let mut going = Going::start(&words, folder.path());
    going.until("a step", |_| fs::read(&path).is_ok_and(|record| count(&record, "step") > 0)).tell(Signal::HUP);
    let (exit, stdout, said) = going.end();
    assert_eq!(exit, Some(105), "{said}");
    assert!(stdout.contains("at least 1 user"), "{stdout}");
    let verdict: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("find.json")).unwrap()).unwrap();
    assert_eq!(verdict["steps"][0]["phase"], "baseline");
    let whole = fs::read(&path).unwrap();
    assert_eq!(count(&whole, "verdict"), 1);
    let plan: serde_json::Value = serde_json::from_slice(whole.split(|byte| *byte == b'\n').nth(1).unwrap()).unwrap();
    assert_eq!(plan["plan"]["search"]["users_max"], 77);

    let mut cut: Vec<u8> = Vec::new();
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        cut.extend_from_slice(line);
        if line.starts_with(b"{\"step\"") {
            break;
        }
    }
    cut.extend_from_slice(b"{\"window\":{\"\xc3");
    fs::write(&path, cut).unwrap();
    let words = ["report", "find.record", "--json", "cut.json"];
    let report = plimsoll().args(words).current_dir(folder.path()).output().unwrap();
    let (stdout, said) = (String::from_utf8_lossy(&report.stdout), String::from_utf8_lossy(&report.stderr));
    assert!(report.status.success(), "{said}");
    assert!(said.contains("WARN  the search was cut short after") && said.contains("only finished step"), "{said}");
    assert!(stdout.contains("at least 1 user") && stdout.contains("baseline"), "{stdout}");
    let verdict: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("cut.json")).unwrap()).unwrap();
    assert!(verdict["caveats"][0].as_str().unwrap().contains("cut short"), "{verdict}");
    assert_eq!(verdict["steps"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_that_was_cut_short_has_what_its_seconds_add_up_to() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    let target = format!("{}/healthz", service.url);
    let words = ["run", &target, "-i", "20", "--record", "run.record"];
    assert!(plimsoll().args(words).current_dir(folder.path()).output().unwrap().status.success());
    let path = folder.path().join("run.record");
    let whole = fs::read(&path).unwrap();
    let is_summary = |line: &&[u8]| line.starts_with(b"{\"summary\"");
    let cut: Vec<u8> =
        whole.split_inclusive(|byte| *byte == b'\n').take_while(|line| !is_summary(line)).flatten().copied().collect();
    fs::write(&path, cut).unwrap();
    let report = plimsoll().args(["report", "run.record"]).current_dir(folder.path()).output().unwrap();
    let (stdout, said) = (String::from_utf8_lossy(&report.stdout), String::from_utf8_lossy(&report.stderr));
    assert!(report.status.success() && said.contains("WARN  the run was cut short after"), "{said}");
    let requests = stdout.lines().find(|line| line.contains("http_reqs")).unwrap_or_default();
    assert!(requests.contains(": 20 "), "{stdout}");
    assert!(stdout.contains("0 out of 20") && stdout.contains("What limited the run"), "{stdout}");
}

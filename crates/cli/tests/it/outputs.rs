//! `run --out`: every sample goes where it is wanted, and nothing that happens there changes the load.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::service::{Service, plimsoll};

const SCRIPT: &str = "
import http from 'k6/http';
import { check, group } from 'k6';
import { Trend } from 'k6/metrics';
const mine = new Trend('mine');
export const options = { tags: { run: 'r' }, thresholds: { http_reqs: ['count>1'] } };
export default function () {
  group('g', () => http.get(`${__ENV.TARGET}/healthz`));
  check(1, { ok: () => true }, { own: 'o' });
  mine.add(1.5);
}";

/// Runs the script; its exit code and what it said.
fn run(folder: &Path, target: &str, words: &[&str], env: &[(&str, &str)]) -> (i32, String) {
    fs::write(folder.join("script.js"), SCRIPT).unwrap();
    let mut command = plimsoll();
    command.args(["run", "-q", "script.js", "-i", "3", "-e", &format!("TARGET={target}")]).args(words);
    let output = command.envs(env.iter().copied()).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn points(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == "Point").collect()
}

#[test]
fn every_sample_has_the_tags_of_k6() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    let (exit, said) = run(folder.path(), &service.url, &["--out", "json=x.json", "-o", "csv=x.csv"], &[]);
    assert_eq!(exit, 0, "{said}");
    let points = points(folder.path(), "x.json");
    let keys = |metric: &str| {
        let mut of = points.iter().filter(|point| point["metric"] == metric);
        let first = of.next().unwrap_or_else(|| panic!("no sample of {metric}"));
        (first["data"]["tags"].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" "), 1 + of.count())
    };
    let request = "expected_response group method name proto run scenario status url";
    assert_eq!(keys("http_reqs"), (request.to_owned(), 3));
    assert_eq!(keys("http_req_waiting"), (request.to_owned(), 3));
    assert_eq!(keys("checks"), ("check group own run scenario".to_owned(), 3));
    for metric in ["iterations", "iteration_duration", "data_sent", "data_received", "group_duration", "mine"] {
        assert_eq!(keys(metric), ("group run scenario".to_owned(), 3), "{metric}");
    }
    let csv = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + points.len(), "both outputs have every sample");
}

#[test]
fn the_environment_asks_for_outputs_and_hides_tags() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    let env = [("K6_OUT", "json=env.json"), ("K6_SYSTEM_TAGS", "status,scenario")];
    let (exit, said) = run(folder.path(), &service.url, &[], &env);
    assert_eq!(exit, 0, "{said}");
    let points = points(folder.path(), "env.json");
    let request = points.iter().find(|point| point["metric"] == "http_reqs").unwrap();
    assert_eq!(request["data"]["tags"], serde_json::json!({ "run": "r", "scenario": "default", "status": "200" }));
}

#[test]
fn a_full_disk_and_a_dead_server_do_not_end_the_run() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    let (exit, said) = run(folder.path(), &service.url, &["--out", "json=/dev/full"], &[]);
    assert!(exit == 255 && said.contains("writing samples to /dev/full failed"), "{exit}: {said}");
    let (exit, said) = run(folder.path(), &service.url, &["--out", "influxdb=http://127.0.0.1:1/db"], &[]);
    assert!(exit == 0 && said.contains("deliveries were lost"), "{exit}: {said}");
    let (exit, said) = run(folder.path(), &service.url, &["--out", "json=missing/x.json"], &[]);
    assert!(exit == 255 && said.contains("missing/x.json"), "{exit}: {said}");
}

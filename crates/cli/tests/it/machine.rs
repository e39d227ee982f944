//! The main job against real services with a planted bottleneck: the right name, never a wrong one called proved. These
//! tests need the whole machine (see `.config/nextest.toml`); they assert names and ratios, never rates.

use std::time::Duration;

use serde_json::Value;

use crate::service::{Service, plimsoll};

fn find(target: &str, words: &[&str]) -> (Value, i32) {
    let fixed = ["find", target, "--quick", "--budget", "40s", "--json", "-", "-q"];
    let output = plimsoll().args(fixed).args(words).timeout(Duration::from_secs(150)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let verdict = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (verdict, output.status.code().unwrap())
}

fn named(verdict: &Value, right: &[&str]) {
    let bottleneck = &verdict["bottleneck"];
    let id = bottleneck["id"].as_str().unwrap();
    let text = serde_json::to_string_pretty(verdict).unwrap();
    assert!(right.contains(&id), "{id} is not one of {right:?}:\n{text}");
    assert!(
        !bottleneck["sentence"].as_str().unwrap().is_empty() && !bottleneck["evidence"].as_array().unwrap().is_empty(),
        "{text}"
    );
}

#[test]
fn a_small_pool_is_found_with_its_lever() {
    let service = Service::start("bench pool");
    let (verdict, exit) = find(&format!("{}/uuid/17", service.url), &[]);
    named(&verdict, &["db.pool"]);
    assert_eq!(exit, 0);
    let (rate, users) =
        (verdict["capacity"]["rate_per_s"].as_f64().unwrap(), verdict["capacity"]["users"].as_u64().unwrap());
    // Five connections that are held for a little over 20 ms: 243 a second, and 500 ms of them are 120 users.
    assert!((150.0..=250.0).contains(&rate) && (60..=135).contains(&users), "{rate} {users}");
    let levers = verdict["levers"].as_array().unwrap();
    assert!(levers.iter().any(|lever| lever["id"] == "db.pool.size" && lever["helps"] == true), "{levers:?}");
    assert!(verdict["bottleneck"]["ruled_out"].as_array().unwrap().iter().any(|one| one["id"] == "db.cpu"));
    assert!(verdict["time_budget_ms"]["unexplained"].is_number());
}

#[test]
fn a_database_without_cpu_is_not_taken_for_a_small_pool() {
    let service = Service::start("bench dbcpu");
    let (verdict, _) = find(&format!("{}/uuid/17", service.url), &[]);
    named(&verdict, &["db.cpu"]);
    let levers = verdict["levers"].as_array().unwrap();
    assert!(levers.iter().any(|lever| lever["id"] == "db.pool.size" && lever["helps"] == false), "{levers:?}");
}

#[test]
fn a_full_accept_queue_is_found() {
    let service = Service::start("bench backlog");
    let (verdict, _) = find(&format!("{}/age?birthdate=1990-02-28", service.url), &[]);
    named(&verdict, &["net.accept"]);
}

#[test]
fn a_slow_single_request_is_a_floor() {
    let service = Service::start("bench floor");
    let (verdict, exit) = find(&format!("{}/age?birthdate=1990-02-28", service.url), &[]);
    named(&verdict, &["pattern.floor"]);
    assert_eq!((verdict["capacity"]["state"].as_str(), exit), (Some("floor"), 0));
}

#[test]
fn a_few_users_are_at_least() {
    let service = Service::start("laptop --no-database --floor 50ms");
    let (verdict, exit) = find(&format!("{}/age?birthdate=1990-02-28", service.url), &["--users-max", "8"]);
    named(&verdict, &["pattern.none"]);
    assert_eq!(
        (verdict["capacity"]["state"].as_str(), verdict["capacity"]["users"].as_u64(), exit),
        (Some("at_least"), Some(8), 0)
    );
}

#[test]
fn a_service_that_dies_ends_the_search_with_what_was_seen() {
    let mut service = Service::start("laptop --no-database --floor 20ms");
    let target = format!("{}/age?birthdate=1990-02-28", service.url);
    let search = std::thread::spawn(move || find(&target, &[]));
    // The load has begun when the service has answered something.
    let metrics = service.url.trim_start_matches("http://").to_owned();
    wait_until_loaded(&metrics);
    service.kill();
    let (verdict, exit) = search.join().unwrap();
    assert_eq!((verdict["capacity"]["state"].as_str(), exit), (Some("crashed"), 255), "{verdict}");
    assert!(!verdict["steps"].as_array().unwrap().is_empty());
}

fn wait_until_loaded(address: &str) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let deadline = deadline();
    while !deadline() {
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = [0; 65536];
        let count = stream.read(&mut answer).unwrap();
        let text = String::from_utf8_lossy(&answer[..count]).into_owned();
        let served = |line: &str| line.contains("_count") && line.contains("/age") && !line.trim_end().ends_with(" 0");
        // A hundred requests are more than the check of the target makes.
        let many = text.lines().filter(|line| served(line)).any(|line| {
            line.rsplit(' ').next().is_some_and(|count| count.parse::<f64>().is_ok_and(|count| count > 100.0))
        });
        if many {
            return;
        }
    }
    panic!("the load never began");
}

/// Says when a minute is over: nothing is awaited for ever.
#[expect(clippy::disallowed_methods, reason = "a test that waits for another process needs a clock to give up by")]
fn deadline() -> impl Fn() -> bool {
    let began = std::time::Instant::now();
    move || began.elapsed() > Duration::from_secs(60)
}

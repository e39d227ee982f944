//! What a user costs, without network: nanoseconds per iteration with canned answers, and memory per parked user.
//!
//! `cargo run --release -p plimsoll-script --example cost [full] [SCRIPT.js]`
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for people, not part of the program")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use engine::meter::{Meter, TagSet};
use engine::user::{Answer, Ask, Assignment, Nursery, Request, Response, Timings, User, UserFactory};
use http::{HeaderMap, HeaderValue};
use script::options::Overrides;
use script::{Isolation, LoadSettings, load};

/// Bodies of scripts: name, code at the top, code of an iteration.
const BODIES: [(&str, &str, &str); 6] = [
    ("empty", "", ""),
    ("sleep", "", "sleep(1);"),
    ("get", "", "http.get('http://127.0.0.1:8080/x');"),
    ("get + check", "", "const r = http.get('http://127.0.0.1:8080/x'); check(r, { ok: (r) => r.status === 200 });"),
    (
        "post JSON + 2 checks + body",
        "const headers = { 'Content-Type': 'application/json' };",
        "const r = http.post('http://127.0.0.1:8080/x', JSON.stringify({ a: 1, vu: __VU }), { headers, tags: { name: 'post' } });
         check(r, { ok: (r) => r.status === 200, key: (r) => r.json().key === 17 });",
    ),
    ("group(get + check)", "", "group('g', () => { check(http.get('http://127.0.0.1:8080/x'), { ok: (r) => r.status === 200 }); });"),
];

fn main() {
    let isolation = if std::env::args().any(|word| word == "full") { Isolation::Full } else { Isolation::Shared };
    let users = if isolation == Isolation::Shared { 10_000 } else { 500 };
    if let Some(path) = std::env::args().find(|word| word.ends_with(".js")) {
        parked(&path, stage(path.as_ref(), isolation), users);
        return;
    }
    // Memory first: what has been freed before would be used again, and not be seen.
    parked(BODIES[3].0, stage_of_text(&script(BODIES[3].1, BODIES[3].2), isolation), users);
    for (name, top, body) in BODIES {
        let best = (0..5).map(|_| iterations(&script(top, body), isolation)).min().unwrap();
        println!("{name:<28} {best:>6} ns per iteration");
    }
}

fn script(top: &str, body: &str) -> String {
    format!(
        "import http from 'k6/http'; import {{ check, group, sleep }} from 'k6';
         export const options = {{ vus: 10, duration: '10s' }};
         {top}
         export default function () {{ {body} sleep; check; group; }}"
    )
}

struct Stage {
    nursery: Box<dyn Nursery>,
    assignment: Rc<Assignment>,
}

fn stage_of_text(text: &str, isolation: Isolation) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cost.js");
    std::fs::write(&path, text).unwrap();
    stage(&path, isolation)
}

fn stage(path: &Path, isolation: Isolation) -> Stage {
    let env = std::env::vars().collect();
    let loaded = load(path, LoadSettings { isolation, env, ..LoadSettings::default() });
    let loaded = loaded.map_err(|error| error.to_string()).unwrap();
    let (plan, _) = loaded.plan(&Overrides::default()).unwrap();
    let nursery = UserFactory::nursery(&*loaded.factory(), 0, Meter::new(Arc::new(plan))).unwrap();
    let (scenario, exec) = ("default".to_owned(), "default".to_owned());
    Stage { nursery, assignment: Rc::new(Assignment { scenario, number: 0, exec, env: Vec::new(), tags: TagSet::RUN }) }
}

fn respond(request: &Request) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("content-length", HeaderValue::from_static("10"));
    Response {
        status: 200,
        url: request.url.clone(),
        proto: "HTTP/1.1",
        remote: None,
        headers: headers.into(),
        body: Some(r#"{"key":17}"#.into()),
        cookies: Vec::new(),
        timings: Timings::default(),
        tls_version: None,
        tls_cipher_suite: None,
        error: None,
    }
}

fn iterate(user: &mut dyn User, assignment: &Rc<Assignment>) {
    let mut ask = user.resume(Answer::Begin(assignment.clone(), 0));
    loop {
        let answer = match ask {
            Ask::Http(request) => Answer::Response(Box::new(respond(&request))),
            Ask::Done(_) => return,
            _ => Answer::Slept,
        };
        ask = user.resume(answer);
    }
}

/// Nanoseconds per iteration, 50 users in turn.
fn iterations(text: &str, isolation: Isolation) -> u128 {
    const ROUNDS: u32 = 400;
    let mut stage = stage_of_text(text, isolation);
    let mut users: Vec<_> = (1..=50).map(|vu| stage.nursery.user(vu).unwrap()).collect();
    users.iter_mut().for_each(|user| iterate(&mut **user, &stage.assignment));
    let began = Instant::now();
    for _ in 0..ROUNDS {
        users.iter_mut().for_each(|user| iterate(&mut **user, &stage.assignment));
    }
    began.elapsed().as_nanos() / u128::from(ROUNDS * 50)
}

/// Prints what a user takes when it is made, and when all wait for the first thing that they ask for.
fn parked(name: &str, mut stage: Stage, count: u32) {
    let before = resident();
    let per_user = |now: usize| now.saturating_sub(before) as f64 / 1024.0 / f64::from(count);
    let began = Instant::now();
    let mut users: Vec<_> = (1..=count).map(|vu| stage.nursery.user(vu).unwrap()).collect();
    let microseconds = began.elapsed().as_secs_f64() * 1e6 / f64::from(count);
    let made = per_user(resident());
    let asks: Vec<_> = users.iter_mut().map(|user| user.resume(Answer::Begin(stage.assignment.clone(), 0))).collect();
    assert!(asks.iter().all(|ask| !matches!(ask, Ask::Done(_))));
    let waiting = per_user(resident());
    println!("{name}: {made:.1} kB made, {waiting:.1} kB waiting, {microseconds:.1} us to make, per user of {count}");
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

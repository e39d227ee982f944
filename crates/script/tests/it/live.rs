//! Scripts on the real engine: real time, real sockets on loopback.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use engine::{EndReason, Ended, Event, Options, Permit, start};
use model::metric::builtin_metrics;
use model::plan::{Executor, Plan, Scenario};
use model::summary::Total;
use script::LoadSettings;

use crate::driver::load_text;

/// How a run went, and what its script logged.
pub(crate) struct Run {
    pub(crate) ended: Ended,
    pub(crate) log: Vec<String>,
    pub(crate) interrupted: u64,
}

impl Run {
    /// The sum of a counter; 0 if it has no sample.
    pub(crate) fn count(&self, metric: &str) -> f64 {
        match self.ended.summary.metrics.get(metric).map(|metric| &metric.total) {
            Some(Total::Counter(count)) => *count,
            _ => 0.0,
        }
    }
}

pub(crate) fn iterations(iterations: u64) -> Executor {
    Executor::PerVuIterations { vus: 1, iterations, max_duration: Duration::from_secs(60) }
}

/// Runs a script; its scenario is cut as soon as its time is up.
pub(crate) fn run(text: &str, executor: Executor) -> Run {
    let loaded = load_text(text, LoadSettings::default()).map_err(|error| error.to_string()).unwrap();
    let scenario = Scenario {
        name: "default".to_owned(),
        executor,
        exec: "default".to_owned(),
        start_time: Duration::ZERO,
        graceful_stop: Duration::ZERO,
        env: Default::default(),
        tags: Default::default(),
    };
    let metrics = builtin_metrics().into_iter().chain(loaded.facts.metrics.clone()).collect();
    let time = |name: &str| text.contains(&format!("function {name}(")).then_some(Duration::from_secs(10));
    let plan = Plan {
        target: "script.js".to_owned(),
        scenarios: vec![scenario],
        metrics,
        setup: time("setup"),
        teardown: time("teardown"),
        ..Plan::default()
    };
    let options = Options { workers: 1, beginning: beginning(), permit: Permit::all(), samples: None };
    let mut running = start(Arc::new(plan), loaded.factory(), options).unwrap();
    let (mut log, mut interrupted) = (Vec::new(), 0);
    while let Some(event) = running.events.blocking_recv() {
        match event {
            Event::Log(line) => log.push(line.text),
            Event::Window(window) => interrupted += window.interrupted,
            Event::Ended(ended) => return Run { ended: *ended, log, interrupted },
            _ => {}
        }
    }
    panic!("the run had no end");
}

#[expect(clippy::disallowed_methods, reason = "a run begins now")]
fn beginning() -> std::time::Instant {
    std::time::Instant::now()
}

/// A server that answers no request before `at_once` of them are there.
fn server_that_waits_for(at_once: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held: Vec<TcpStream> = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if stream.read(&mut [0; 4096]).unwrap_or(0) > 0 {
                held.push(stream);
            }
            if held.len() == at_once {
                for mut stream in held.drain(..) {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok").unwrap();
                }
            }
        }
    });
    url
}

#[test]
fn requests_of_one_user_are_under_way_at_once() {
    let url = server_that_waits_for(3);
    let text = format!(
        "import http from 'k6/http';
         export async function setup() {{ await new Promise((resolve) => setTimeout(resolve, 1)); return 'data'; }}
         export default async function (data) {{
             const get = (name) => http.asyncRequest('GET', `{url}/${{name}}`);
             const all = await Promise.all(['a', 'b', 'c'].map(get));
             console.log(data, all.map((r) => r.status + r.body));
             let rang = false; setTimeout(() => {{ rang = true; }}, 5);
             // A request that blocks does not keep the others from going on.
             const others = [get('d'), get('e')]; const own = http.get('{url}/f'); await others[0]; await others[1];
             console.log(own.body, rang);
         }}"
    );
    let run = run(&text, iterations(2));
    assert_eq!(run.ended.reason, EndReason::Completed);
    assert_eq!(run.log.len(), 4, "{:?}", run.log);
    assert_eq!(run.log[0], r#"data ["200ok","200ok","200ok"]"#);
    assert!(run.log[1].starts_with("ok "), "{:?}", run.log);
    assert_eq!((run.count("http_reqs"), run.count("iterations")), (12.0, 2.0));
}

#[test]
fn what_is_pending_is_cut_with_its_scenario() {
    let url = server_that_waits_for(1000);
    let text = format!(
        "import http from 'k6/http';
         export default function () {{
             setInterval(() => {{}}, 20); http.asyncRequest('GET', '{url}/').then(() => console.log('answered'));
         }}"
    );
    let run = run(&text, Executor::ConstantVus { vus: 2, duration: Duration::from_millis(300) });
    assert_eq!((&run.ended.reason, run.interrupted, run.log.len()), (&EndReason::Completed, 2, 0));
    assert_eq!(run.count("http_reqs"), 0.0);
}

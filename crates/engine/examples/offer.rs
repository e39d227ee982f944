//! Offers closed load to one URL and prints what came of it, for comparing the cost of the client with that of others:
//! `offer URL USERS SECONDS WORKERS [THINK_MS [RAMP_S]]`. For people and benchmarks only; it judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark talks to whoever runs it")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::{Event, Options, start, url_users};
use model::plan::{Executor, Plan, Scenario, Stage};
use model::window::Requests;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, users, seconds, workers, rest @ ..] = &arguments[..] else {
        return Err("offer URL USERS SECONDS WORKERS [THINK_MS [RAMP_S]]".into());
    };
    let think = Duration::from_millis(rest.first().map_or(Ok(0), |text| text.parse())?);
    let ramp = Duration::from_secs(rest.get(1).map_or(Ok(0), |text| text.parse())?);
    let plan = plan(url, users.parse()?, [ramp, Duration::from_secs(seconds.parse()?)]);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let options = Options {
        workers: workers.parse()?,
        beginning: tokio::time::Instant::now().into_std(),
        permit: engine::Permit::all(),
        samples: None,
    };
    let mut running = start(Arc::new(plan), url_users(url, think), options)?;
    let mut total = Requests::default();
    let mut late = model::histogram::Histogram::default();
    runtime.block_on(async {
        while let Some(event) = running.events.recv().await {
            match event {
                Event::Window(window) => {
                    total.merge(&window.requests);
                    late.merge(&window.late);
                    println!(
                        "{:4.0} s  users {:5}  {:7} requests  p50 {:.3} ms  p99 {:.3} ms  failed {}  memory {} MiB",
                        window.interval.from.seconds(),
                        window.users,
                        window.requests.finished,
                        window.requests.duration.percentile_ms(50.0),
                        window.requests.duration.percentile_ms(99.0),
                        window.requests.failed,
                        resident_mib(),
                    );
                }
                Event::Ended(ended) => println!("{:?}", ended.reason),
                _ => {}
            }
        }
    });
    println!("requests {} failed {} late p99 {:.3} ms", total.finished, total.failed, late.percentile_ms(99.0));
    Ok(())
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn plan(url: &str, target: u32, lengths: [Duration; 2]) -> Plan {
    let stages = lengths.map(|duration| Stage { duration, target }).to_vec();
    Plan {
        target: url.to_owned(),
        scenarios: vec![Scenario {
            name: "default".to_owned(),
            executor: Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down: Duration::ZERO },
            exec: "default".to_owned(),
            start_time: Duration::ZERO,
            graceful_stop: Duration::from_secs(5),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
        }],
        ..Plan::default()
    }
}

//! Memory of a long run: 20 million samples over 20,000 distinct URLs, check names and exceptions, an hour of windows
//! and their record, without network. Prints the resident memory after each million; it must stand still.
//!
//! `flat [MILLIONS]`
#![expect(clippy::print_stdout, reason = "a measurement for people, not part of the program")]

use std::sync::Arc;

use engine::meter::{Meter, TagSet};
use model::metric::MetricId;
use model::plan::Plan;
use model::record::{Entry, RunRecord};
use model::unit::{Interval, Moment};

/// Distinct names.
const NAMES: u64 = 20_000;
/// Samples of one second: 20 million in an hour.
const PER_SECOND: u64 = 20_000_000 / 3600;
/// As `plimsoll run` keeps them.
const KEPT_MAX: usize = 240;

const METRICS: [MetricId; 9] = [
    MetricId::HTTP_REQS,
    MetricId::HTTP_REQ_DURATION,
    MetricId::HTTP_REQ_BLOCKED,
    MetricId::HTTP_REQ_CONNECTING,
    MetricId::HTTP_REQ_TLS_HANDSHAKING,
    MetricId::HTTP_REQ_SENDING,
    MetricId::HTTP_REQ_WAITING,
    MetricId::HTTP_REQ_RECEIVING,
    MetricId::HTTP_REQ_FAILED,
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let millions: u64 = std::env::args().nth(1).map_or(Ok(20), |text| text.parse())?;
    let meter = Meter::new(Arc::new(Plan::default()));
    let (mut record, mut samples, mut seconds, mut number) = (RunRecord::default(), 0_u64, 0_u64, 0_u64);
    let mut shown = 0;
    while samples < millions * 1_000_000 {
        number += 1;
        // No generator of random numbers: a step that is prime to their number meets all names.
        let name = number.wrapping_mul(7_919) % NAMES;
        let url = format!("http://127.0.0.1/item/{name}");
        let tags = meter.tags(TagSet::RUN, &[("url", &url), ("name", &url), ("status", "200"), ("scenario", "s")]);
        let latency_ms = 1.0 + (number % 1_000) as f64 / 7.0;
        METRICS.iter().for_each(|metric| meter.add(*metric, latency_ms, tags));
        meter.check(&format!("check {name}"), number % 3 > 0, tags);
        meter.exception(&format!("Error: {name}"));
        meter.window(|window| {
            window.requests.finished += 1;
            window.requests.duration.record_ms(latency_ms);
            window.iteration_duration.record_ms(latency_ms);
            window.late.record_micros(number % 500);
        });
        samples += METRICS.len() as u64 + 1;
        if samples / PER_SECOND > seconds {
            let mut window = meter.take_window();
            let at = |second: u64| Moment(second * 1_000_000_000);
            window.interval = Interval::new(at(seconds), at(seconds + 1));
            seconds += 1;
            record.push(Entry::Window(Box::new(window)));
            record.condense(KEPT_MAX);
        }
        if samples / 1_000_000 > shown {
            shown = samples / 1_000_000;
            println!("{shown:3} million samples  {seconds:5} s  {:.1} MiB resident", resident_mib());
        }
    }
    let summary = meter.summary();
    println!("{} checks, {} kinds of exceptions", summary.root.checks.len(), summary.exceptions.len());
    summary.limits.iter().for_each(|limit| println!("said: {limit}"));
    Ok(())
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

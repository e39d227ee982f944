//! The generator on trial: was it us? A red gate means that the step is a lower bound at best.

use model::record::RunRecord;
use model::series::Role;
use model::signal;
use model::verdict::{Gate, GeneratorHealth};
use model::window::Window;

use super::{StepFacts, latency_limit};
use crate::phrase;
use crate::read::Reader;

/// Share of its workers' time, running or waiting for a core, from which on the generator is a full station itself.
pub(crate) const DEMAND_FULL: f64 = 0.9;
/// Lateness (99th percentile) that may distort a response time, as a share of it.
const LATE_SHARE: f64 = 0.05;
/// Mean share of connections with an answer that the generator had not read yet.
pub(crate) const UNREAD_SHARE: f64 = 0.2;
/// Less than this per answer is the time in which anybody wakes up: of a single user's 0.1 ms it is a large share.
const UNREAD_MS_MIN: f64 = 1.0;
/// Share of ports or file descriptors in use from which on they are used up.
const USED_UP: f64 = 0.98;

/// Fills in [`StepFacts::generator`] and why its gate is red.
pub(super) fn judge(record: &RunRecord, windows: &[&Window], facts: &mut StepFacts) {
    let reader = Reader::new(record, facts.span.measured);
    let me = reader.subject(Role::Generator).map_or("", |subject| subject.id.as_str());
    let run = reader.rate(me, signal::RUN);
    let cpu = run.or_else(|| Some(reader.rate(me, signal::CPU_USER)? + reader.rate(me, signal::CPU_SYSTEM)?));
    let late_ms_p99 = late_p99(windows);
    let mut because = Vec::new();

    let workers = windows.iter().map(|window| window.generator.workers).max().unwrap_or(0);
    let usable = reader.gauge(me, signal::CORES_ALLOWED).unwrap_or(f64::INFINITY).min(f64::from(workers));
    if let (Some(run), Some(wait)) = (run, reader.rate(me, signal::RUN_WAIT))
        && usable > 0.0
        && run + wait >= DEMAND_FULL * usable
    {
        let (run, wait, usable) = (phrase::cores(run), phrase::cores(wait), phrase::cores(usable));
        because.push(format!(
            "the generator was never idle: it ran on {run} cores and waited for {wait} more, of {usable} that it can use"
        ));
    }
    if let Some(limit) = record.plan.as_ref().and_then(|plan| latency_limit(&plan.promises)) {
        // Lateness of 30 ms cannot be why a response took two seconds: the larger of promise and measurement counts.
        let scale_ms = limit.limit_ms.max(facts.promised_latency_ms(limit));
        if late_ms_p99 > LATE_SHARE * scale_ms {
            because.push(format!(
                "the generator began its work up to {} late (99th percentile), more than 5 % of {}",
                phrase::ms(late_ms_p99),
                phrase::ms(scale_ms)
            ));
        }
    }
    let unread_ms = |share: f64| share * facts.connections_mean / facts.rate_per_s.max(1e-9) * 1e3;
    if let Some(unread) = unread(windows).or_else(|| reader.gauge(me, signal::UNREAD_SHARE))
        && unread > UNREAD_SHARE
        && unread_ms(unread) >= UNREAD_MS_MIN
    {
        because.push(format!("{} of the answers already waited in the generator's sockets", phrase::percent(unread)));
    }
    for (used, limit, what) in [
        (signal::PORTS_USED, signal::PORTS_LIMIT, "local ports towards the target"),
        (signal::FDS, signal::FDS_LIMIT, "file descriptors of the generator"),
    ] {
        if let (Some(used), Some(limit)) = (reader.max(me, used), reader.gauge(me, limit))
            && limit > 0.0
            && used >= USED_UP * limit
        {
            because.push(format!("{} of {} {what} were in use", phrase::count(used), phrase::count(limit)));
        }
    }
    because.extend(own_failures(facts));
    let gate = if because.is_empty() { Gate::Green } else { Gate::Red };
    facts.generator = GeneratorHealth { cpu_cores: cpu.unwrap_or(0.0), late_ms_p99, gate };
    facts.gate_because = because;
}

/// Requests that failed by a limit of this machine, in the engine's own words: the service never saw them.
pub(crate) fn own_failures(facts: &StepFacts) -> Option<String> {
    let own = facts.errors.iter().filter(|(cause, _)| cause.contains("this machine"));
    let (cause, count) = own.max_by_key(|(_, count)| **count)?;
    let (count, all) = (phrase::count(*count as f64), phrase::count(facts.requests.finished as f64));
    Some(format!("{count} of {all} requests failed: {cause}"))
}

fn late_p99(windows: &[&Window]) -> f64 {
    let mut late = model::histogram::Histogram::default();
    windows.iter().for_each(|window| late.merge(&window.late));
    late.percentile_ms(99.0)
}

/// Mean of the windows that sampled it.
pub(crate) fn unread(windows: &[&Window]) -> Option<f64> {
    let seen: Vec<f64> = windows.iter().filter_map(|window| window.generator.unread_share).collect();
    (!seen.is_empty()).then(|| seen.iter().sum::<f64>() / seen.len() as f64)
}

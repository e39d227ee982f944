//! `unknown`: nothing that was seen explains it. Says what it looks like and which sensor would tell.

use model::finding::{Evidence, Lever};
use model::series::Role;
use model::signal;

use super::{Candidate, Judged, Kind, Rule, cores, evidence, measured};
use crate::budget::UNEXPLAINED;
use crate::case::Case;
use crate::lever::Outlook;
use crate::phrase;
use crate::station::pool_name;
use crate::step::gate;

pub(super) const RULE: Rule = Rule { id: "unknown", kind: Kind::Rest, parts: &[], judge, levers };

/// More users that bring less than this times the throughput bring no more.
const FLAT: f64 = 1.1;
/// Share of its cores, and of one core for its busiest thread, up to which a service hardly computes.
const IDLE: f64 = 0.5;

fn judge(case: &Case<'_>) -> Judged {
    let step = &case.here.step;
    let subject =
        if case.here.service.name.is_empty() { "the service".to_owned() } else { case.here.service.name.clone() };
    let rest = case.budget.part(UNEXPLAINED);
    let mut proof = vec![measured(
        "unexplained",
        rest,
        "ms",
        format!("of {} per request nothing accounts for", phrase::ms(case.budget.total_ms)),
    )];
    let (subject, sentence) = if step.windows == 0 {
        (subject, "No load was measured in this step, so nothing can be said about it.".to_owned())
    } else if let Some((whose, looks, seen)) = looks_like(case) {
        proof.extend(seen);
        (whose, format!("At {} {looks}", case.users()))
    } else {
        let share = phrase::percent(rest / case.budget.total_ms.max(1e-9));
        let sentence = format!(
            "At {} nothing that was watched is full, and {} ({share}) of the mean {} per request is unexplained. {}",
            case.users(),
            phrase::ms(rest),
            phrase::ms(case.budget.total_ms),
            missing_sensor(case),
        );
        (subject, sentence)
    };
    Judged::Candidate(Candidate {
        subject,
        evidence: proof,
        sentence,
        words: "not known yet".to_owned(),
        ..Candidate::default()
    })
}

/// What it looks like, where a rule for that does not exist yet: whose, a sentence behind "At N users", and evidence.
fn looks_like(case: &Case<'_>) -> Option<(String, String, Vec<Evidence>)> {
    let scene = &case.here;
    if case.is_dead {
        return Some(death(case));
    }
    if let Some(failures) = gate::own_failures(&scene.step) {
        let sentence = format!(
            "the load generator was the limit (it looks like gen.fd or gen.ports), not the service: {failures}. Give it \
             more (ulimit -n, net.ipv4.ip_local_port_range), or another machine."
        );
        let seen = measured("http_req_failed", scene.step.failed_share(), "share", "requests that failed");
        return Some(("plimsoll".to_owned(), sentence, vec![seen]));
    }
    looks_like_database(case).or_else(|| looks_like_lock(case))
}

/// What the sessions of the database wait for, if most of them wait.
fn looks_like_database(case: &Case<'_>) -> Option<(String, String, Vec<Evidence>)> {
    let scene = &case.here;
    let (sessions, size) = (scene.sessions?, scene.pool_size()?);
    let of = |count: f64| format!("{} of {}", phrase::number(count), phrase::count(size));
    let table = [
        (
            sessions.idle_in_transaction,
            sessions.idle_in_transaction >= 0.5 * size,
            signal::PG_IDLE_IN_TRANSACTION,
            "db.held",
            "connections are open in a transaction while the database waits for the service",
        ),
        (
            sessions.lock,
            sessions.lock >= 0.5 * sessions.busy() && sessions.lock > 0.5,
            signal::PG_ACTIVE_LOCK,
            "db.lock",
            "connections wait for rows or tables that others hold",
        ),
        (
            sessions.io,
            sessions.io >= 0.5 * sessions.busy() && sessions.io > 0.5,
            signal::PG_ACTIVE_IO,
            "db.io",
            "connections wait for the database's disk",
        ),
    ];
    let (count, _, signal, id, what) = table.into_iter().find(|(_, holds, ..)| *holds)?;
    let sentence = format!(
        "it looks like {id}: {} {what}. More connections would not help. That it is the limit is not proved.",
        of(count)
    );
    Some((pool_name(scene), sentence, vec![evidence(signal, count, sessions.source, what)]))
}

/// The throughput stands still while the service hardly computes and talks to no database: its requests wait for each
/// other, or for something outside.
fn looks_like_lock(case: &Case<'_>) -> Option<(String, String, Vec<Evidence>)> {
    let scene = &case.here;
    let service = &scene.service;
    let lower = case.lower.iter().max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s))?;
    let (run, available) = (service.run?, scene.cores_of(service)?);
    let idle = run <= IDLE * available && service.busiest_run.is_none_or(|busiest| busiest <= IDLE);
    if !idle || scene.db_sockets.is_some() || scene.step.rate_per_s > FLAT * lower.rate_per_s {
        return None;
    }
    let sentence = format!(
        "it looks like svc.lock: they get {}, and {} got {}, while {} computes on {} of {} cores. Requests wait inside it \
         for each other (a lock, a limit of its own) or for another service; that is not proved. {}",
        phrase::rate(scene.step.rate_per_s),
        phrase::users(lower.users),
        phrase::rate(lower.rate_per_s),
        service.name,
        phrase::cores(run),
        phrase::cores(available),
        missing_sensor(case),
    );
    let seen = cores(signal::RUN, run, "cores the service uses meanwhile");
    Some((service.name.clone(), sentence, vec![seen]))
}

fn death(case: &Case<'_>) -> (String, String, Vec<Evidence>) {
    let scene = &case.here;
    let service = scene.record.subjects.iter().find(|subject| subject.role == Role::Service);
    let series = |signal: signal::Signal| scene.record.series(&service?.id, signal.name);
    let kills = series(signal::CGROUP_OOM_KILLS).and_then(|series| series.growth(scene.step.span.whole)).unwrap_or(0.0);
    let name = service.map_or_else(|| "the service".to_owned(), |service| service.name.clone());
    let memory = series(signal::MEMORY_ANON).and_then(|series| series.max(scene.step.span.whole));
    let seen = measured("http_req_failed", scene.step.failed_share(), "share", "requests that failed");
    if kills > 0.0 {
        let held = memory.map_or_else(String::new, |bytes| format!("; it held {} before", phrase::bytes(bytes)));
        let proof = vec![
            seen,
            evidence(signal::CGROUP_OOM_KILLS, kills, "memory.events", "kills for memory in its control group"),
        ];
        return (
            name.clone(),
            format!(
                "the kernel killed {name} for memory (it looks like svc.oom){held}. More memory, or fewer requests at once, would move the line."
            ),
            proof,
        );
    }
    let sentence = format!(
        "{name} died: {} of the requests of this step failed. Its own log says why; the kernel did not kill it for memory as far as was seen.",
        phrase::percent(scene.step.failed_share())
    );
    (name, sentence, vec![seen])
}

/// The cheapest sensor that is missing.
fn missing_sensor(case: &Case<'_>) -> String {
    let scene = &case.here;
    if !scene.service.is_seen() {
        return "The service could not be watched: run on its machine, or name it with --watch pid:N.".to_owned();
    }
    if scene.service.wait.is_none() {
        return "How long its threads wait for a core was not seen (schedstat is missing).".to_owned();
    }
    if scene.db_sockets.is_some() && scene.sessions.is_none() {
        return "It talks to a database that could not be looked into: --watch postgres://... tells what its sessions wait for.".to_owned();
    }
    if scene.pool.max.is_none() {
        return "Its own queues were not seen: --watch metrics:http://HOST/metrics shows pools, threads and limits."
            .to_owned();
    }
    "It waits for something outside: another service, a lock or a limit of its own.".to_owned()
}

fn levers(_: &Case<'_>, _: &Outlook) -> Vec<Lever> {
    Vec::new()
}

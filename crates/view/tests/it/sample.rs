//! Realistic answers to show. The figures of the database pool are those that were measured for the catalogue entry
//! `db.pool`: five connections, a call of 20 ms.

use std::collections::BTreeMap;

use model::finding::{Basis, Bottleneck, Certainty, Diagnosis, Evidence, Lever, Next, RuledOut};
use model::verdict::{
    Capacity, CapacityState, Gate, GeneratorHealth, Judgement, Latency, Peak, Phase, SCHEMA, Step, Verdict,
};

/// `find` on a service whose pool of five is too small.
pub(crate) fn pool_verdict() -> Verdict {
    let diagnosis = pool_diagnosis();
    Verdict {
        schema: SCHEMA.to_owned(),
        target: "http://127.0.0.1:8080/uuid/17".to_owned(),
        mode: "users".to_owned(),
        duration_s: 162.4,
        slo: vec!["http_req_duration: p(90)<500".to_owned(), "http_req_failed: rate<0.01".to_owned()],
        capacity: Capacity {
            state: CapacityState::Found,
            users: 112,
            users_low: 108,
            users_high: Some(115),
            rate_per_s: 236.3,
            broken_by: Some("http_req_duration: p(90)<500".to_owned()),
        },
        peak: Peak { users: 128, rate_per_s: 238.1 },
        bottleneck: diagnosis.bottleneck,
        next: diagnosis.next,
        levers: diagnosis.levers,
        time_budget_ms: diagnosis.time_budget_ms,
        steps: steps(),
        caveats: diagnosis.caveats,
    }
}

/// The same, ended in another way and without anything known beyond that.
pub(crate) fn bare_verdict(state: CapacityState, users: u64, users_high: Option<u64>, id: &str) -> Verdict {
    let bottleneck = Bottleneck {
        id: id.to_owned(),
        subject: String::new(),
        certainty: Certainty::Unknown,
        sentence: "Nothing that was watched explains where the time goes.".to_owned(),
        evidence: Vec::new(),
        ruled_out: Vec::new(),
    };
    Verdict {
        capacity: Capacity {
            state,
            users,
            users_low: users,
            users_high,
            rate_per_s: 28_807.2,
            broken_by: matches!(state, CapacityState::Floor | CapacityState::Crashed)
                .then(|| "http_req_failed: rate<0.01".to_owned()),
        },
        bottleneck,
        peak: Peak::default(),
        next: Vec::new(),
        levers: Vec::new(),
        time_budget_ms: BTreeMap::new(),
        steps: Vec::new(),
        caveats: Vec::new(),
        ..pool_verdict()
    }
}

/// What limited the service with the small pool.
pub(crate) fn pool_diagnosis() -> Diagnosis {
    Diagnosis {
        bottleneck: Bottleneck {
            id: "db.pool".to_owned(),
            subject: "uuid-api -> postgres 127.0.0.1:5432".to_owned(),
            certainty: Certainty::Strong,
            sentence: "Every request waits 191 ms for one of 5 database connections, then uses it for 21 ms. \
                       PostgreSQL itself needs 4 % of one core."
                .to_owned(),
            evidence: evidence(),
            ruled_out: vec![
                RuledOut {
                    id: "db.cpu".to_owned(),
                    because: "sessions that execute do not wait for a core: PostgreSQL used 0.04 of 2 cores, and the \
                              use of a connection is as short as with one user"
                        .to_owned(),
                },
                RuledOut { id: "db.lock".to_owned(), because: "no session waited for a lock in 600 looks".to_owned() },
                RuledOut { id: "svc.cpu".to_owned(), because: "the service used 0.11 of 2 cores".to_owned() },
            ],
        },
        next: vec![
            Next { id: "svc.cpu".to_owned(), subject: "uuid-api".to_owned(), rate_per_s: 1450.0 },
            Next { id: "db.cpu".to_owned(), subject: "postgres 127.0.0.1:5432".to_owned(), rate_per_s: 10_526.3 },
        ],
        levers: levers(),
        time_budget_ms: [
            ("client", 0.1),
            ("accept", 0.0),
            ("run_queue", 0.2),
            ("service_cpu", 0.1),
            ("pool_wait", 191.0),
            ("database", 20.6),
            ("unexplained", 0.4),
        ]
        .map(|(name, ms)| (name.to_owned(), ms))
        .into(),
        caveats: vec![
            "Generator, service and database share 2 cores of one machine; with the generator elsewhere the service \
             has more of them."
                .to_owned(),
        ],
    }
}

fn evidence() -> Vec<Evidence> {
    [
        ("pg.active.other", 4.8, "sessions", "pg_stat_activity", "sessions that execute, of 5"),
        ("db.sockets", 5.0, "connections", "sock_diag", "connections to the database, the same at every load"),
        (
            "pool.pending",
            45.2,
            "requests",
            "/metrics db_client_connection_pending_requests",
            "requests that wait for a connection while all 5 are in use",
        ),
        ("pool.wait", 191.0, "ms", "/metrics db_client_connection_wait_time", "mean wait for a connection"),
        (
            "pool.busy",
            0.968,
            "share",
            "/metrics db_client_connection_count",
            "share of time that connections are in use",
        ),
        ("memory.anon", 19_650_000.0, "bytes", "/proc/PID/status", "memory of the service"),
    ]
    .map(|(signal, value, unit, source, says)| Evidence {
        signal: signal.to_owned(),
        value,
        unit: unit.to_owned(),
        source: source.to_owned(),
        says: says.to_owned(),
    })
    .into()
}

fn levers() -> Vec<Lever> {
    let lever = |id: &str, change: &str, helps: bool, basis: Basis, says: &str| Lever {
        id: id.to_owned(),
        change: change.to_owned(),
        helps,
        rate_per_s: None,
        rate_per_s_low: None,
        rate_per_s_high: None,
        users: None,
        basis,
        says: says.to_owned(),
    };
    let pool = "20 connections of 20.6 ms each carry 971/s; behind them the service's own CPU binds at 1,450/s.";
    let query = "Each connection is free twice as often.";
    vec![
        Lever {
            rate_per_s: Some(971.0),
            rate_per_s_low: Some(930.0),
            rate_per_s_high: Some(1010.0),
            users: Some(452),
            ..lever("db.pool.size", "pool 5 -> 20", true, Basis::Predicted, pool)
        },
        Lever {
            rate_per_s: Some(472.0),
            users: Some(221),
            ..lever("db.query.time", "query 20.6 ms -> 10.3 ms", true, Basis::Extrapolated, query)
        },
        lever("svc.cores", "2 -> 4 cores", false, Basis::Measured, "The service used 0.11 of 2 cores."),
        lever(
            "db.cores",
            "more cores for PostgreSQL",
            false,
            Basis::Predicted,
            "PostgreSQL needs 0.19 ms of CPU for a request; 2 cores would carry 10,500/s.",
        ),
    ]
}

fn steps() -> Vec<Step> {
    [
        (Phase::Baseline, 1, 47.2, 236, [20.9, 20.8, 21.4, 21.9, 23.0, 31.2], Judgement::Pass),
        (Phase::Probe, 50, 236.0, 7080, [211.9, 211.0, 219.0, 222.0, 230.0, 260.0], Judgement::Pass),
        (Phase::Probe, 128, 238.1, 4762, [538.0, 541.0, 549.0, 553.0, 561.0, 1240.0], Judgement::Fail),
        (Phase::Trial, 114, 236.9, 4738, [481.0, 483.0, 498.0, 503.0, 511.0, 620.0], Judgement::Undecided),
        (Phase::Confirm, 112, 236.3, 7089, [474.0, 475.0, 489.0, 493.0, 501.0, 540.0], Judgement::Pass),
        (Phase::Over, 168, 235.2, 3528, [714.0, 715.0, 728.0, 733.0, 15_700.0, 61_200.0], Judgement::Fail),
        (Phase::Return, 56, 236.4, 3546, [237.0, 236.0, 244.0, 248.0, 255.0, 281.0], Judgement::Pass),
    ]
    .map(|(phase, users, rate_per_s, requests, [avg, p50, p90, p95, p99, max], promise)| Step {
        phase,
        users,
        rate_per_s,
        requests,
        failed: if phase == Phase::Over { 55 } else { 0 },
        duration_s: requests as f64 / rate_per_s,
        latency_ms: Latency { avg, p50, p90, p95, p99, max },
        dropped: 0,
        generator: GeneratorHealth {
            cpu_cores: 0.1,
            late_ms_p99: 0.3,
            gate: if phase == Phase::Over { Gate::Red } else { Gate::Green },
        },
        promise,
    })
    .into()
}

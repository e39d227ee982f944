//! The lab's tables.

use model::lab::{LabReport, LabRow, SCHEMA};
use model::record::Machine;
use model::verdict::{Capacity, CapacityState, Latency, Peak, Verdict};

use crate::sample::{bare_verdict, pool_verdict};
use crate::{UNICODE, assert_readable};

fn row(stage: &str, users: u64, rate_per_s: f64, failed: u64, latency_ms: Latency, bottleneck: Option<&str>) -> LabRow {
    LabRow {
        stage: stage.to_owned(),
        users,
        rate_per_s,
        requests: (rate_per_s * 360.0) as u64,
        failed,
        latency_ms,
        bottleneck: bottleneck.map(str::to_owned),
        skipped: None,
    }
}

fn latency(p50: f64, p90: f64, p95: f64, p99: f64, max: f64) -> Latency {
    Latency { avg: p50, p50, p90, p95, p99, max }
}

fn laptop() -> LabReport {
    let compute = Verdict {
        peak: Peak { users: 7500, rate_per_s: 28_871.0 },
        ..bare_verdict(CapacityState::AtLeast, 7500, None, "svc.kernel")
    };
    let database = Verdict {
        peak: Peak { users: 5000, rate_per_s: 14_906.0 },
        capacity: Capacity {
            users: 6900,
            users_low: 6700,
            users_high: Some(7200),
            rate_per_s: 14_500.0,
            ..pool_verdict().capacity
        },
        ..pool_verdict()
    };
    LabReport {
        schema: SCHEMA.to_owned(),
        story: "laptop".to_owned(),
        machine: Machine {
            kernel: "Linux 6.1.0".to_owned(),
            cpu: "Model 8 Processor".to_owned(),
            cores: 8,
            memory_bytes: 16_777_216_000,
        },
        rows: vec![
            row("age-local", 1000, 28_807.3, 0, latency(19.0, 31.0, 35.0, 50.0, 2300.0), Some("svc.kernel")),
            row("age-local", 7500, 28_871.2, 0, latency(40.0, 131.0, 160.0, 331.0, 2500.0), Some("svc.kernel")),
            row("uuid-local", 1000, 9326.2, 55, latency(53.0, 98.0, 113.0, 296.0, 15_700.0), Some("db.pool")),
            row("uuid-local", 5000, 14_906.1, 0, latency(172.0, 301.0, 365.0, 527.0, 2450.0), Some("db.pool")),
            row("uuid-local", 7500, 14_228.0, 0, latency(263.0, 441.0, 505.0, 673.0, 2180.0), Some("pattern.none")),
            LabRow {
                stage: "uuid-remote".to_owned(),
                skipped: Some("network namespaces need root; run `sudo plimsoll lab laptop` for this stage".to_owned()),
                ..LabRow::default()
            },
        ],
        verdicts: vec![compute, database],
        because: vec![
            (
                "age-local".to_owned(),
                "The kernel carries requests in and out; the date itself costs nothing.".to_owned(),
            ),
            (
                "uuid-local".to_owned(),
                "Each request waits for one of 200 connections; the wait, not the query, is what users feel, and the \
                 bottleneck moved from the kernel to the database stack."
                    .to_owned(),
            ),
        ],
    }
}

#[test]
fn the_laptop_story() {
    let text = view::text::lab(&laptop(), UNICODE);
    assert_readable(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn verdicts_go_to_the_stages_that_ran() {
    let mut report = laptop();
    // The first stage cannot run: the only verdict belongs to the second.
    report.rows[0].skipped = Some("no port".to_owned());
    report.verdicts.remove(0);
    let text = view::text::lab(&report, UNICODE);
    let (first, second) = text.split_once("uuid-local").unwrap();
    assert!(first.contains("skipped: no port") && !first.contains("Answer"), "{text}");
    assert!(second.contains("Answer: 6,900 users (6,700 to 7,200)"), "{text}");
}

#[test]
fn the_json_is_the_contract() {
    let text = view::json::lab(&laptop());
    assert_eq!(serde_json::from_str::<LabReport>(&text).unwrap(), laptop());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema"], "plimsoll.lab/1");
    assert_eq!(json["rows"][2]["latency_ms"]["p99"], 296.0);
    assert_eq!(json["rows"][0].get("skipped"), None);
    assert!(json["rows"][5]["skipped"].as_str().unwrap().starts_with("network namespaces"));
}

//! The bench: its list, and that its rows really start.

use serde_json::Value;

use crate::lab::{Lab, command, timed};

fn list(arguments: &[&str]) -> Vec<Value> {
    let output = command(arguments).output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_list_holds_what_was_promised() {
    let all = list(&["bench", "--list", "--json"]);
    let ids: Vec<&str> = all.iter().map(|bench| bench["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["svc.cpu", "db.pool", "db.cpu", "net.accept", "svc.one-core", "pattern.floor"]);
    for bench in &all {
        for field in ["name", "id", "path", "users", "rate_per_s", "levers_helping", "levers_not_helping"] {
            assert!(bench.get(field).is_some(), "{field} is missing in {bench}");
        }
    }
    let pool = list(&["bench", "pool", "--list", "--json"]);
    assert_eq!((pool.len(), &pool[0]["rate_per_s"]), (1, &Value::from(243.0)));
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let output = command(&["bench", "nonsense"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("no bench 'nonsense'; there are compute, pool, dbcpu"), "{error}");
}

#[test]
fn the_floor_holds_for_a_single_user() {
    let lab = Lab::start(&["bench", "floor"]);
    let (answer, took) = timed(|| lab.get("/age?birthdate=1990-06-15"));
    assert_eq!(answer.status, 200);
    assert!(took.as_millis() >= 700, "{took:?}");
}

#[test]
fn the_backlog_row_accepts_one_connection_in_fifty_milliseconds() {
    let lab = Lab::start(&["bench", "backlog"]);
    let (_, took) = timed(|| (0..5).for_each(|_| assert_eq!(lab.get("/age?birthdate=1990-06-15").status, 200)));
    assert!(took.as_millis() >= 200, "{took:?}");
}

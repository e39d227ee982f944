//! Every kind of answer, from a service with a real PostgreSQL behind it.

use crate::lab::{Client, Lab, command};
use serde_json::json;

#[test]
fn every_answer_of_a_service_with_a_database() {
    let lab = Lab::start(&["laptop", "--pool", "3"]);
    for (path, status, says) in [
        ("/age", 400, "birthdate is missing"),
        ("/age?birthdate=", 400, "not of the form YYYY-MM-DD"),
        ("/age?birthdate=15.06.1990", 400, "not of the form YYYY-MM-DD"),
        ("/age?birthdate=2023-02-29", 400, "not a day of the calendar"),
        ("/age?birthdate=9999-01-01", 400, "in the future"),
        ("/age?birthdate=1990-06-15&birthdate=1990-06-15", 400, "duplicate"),
        ("/age?birthdate=%ff", 400, ""),
        ("/uuid/x", 400, "key 'x' is not an integer"),
        ("/uuid/%ff", 400, ""),
        ("/uuid/0", 404, "keys are 1 to 1000"),
        ("/uuid/1001", 404, "there is no key 1001"),
        ("/uuid/-1", 404, "there is no key -1"),
        ("/uuid/99999999999999999999", 404, "keys are 1 to 1000"),
        ("/uuid", 404, "/uuid/{key}"),
        ("/", 404, "/age?birthdate=YYYY-MM-DD"),
    ] {
        let answer = lab.get(path);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(says), "{path}: {error}");
    }

    let answer = lab.get("/age?birthdate=1900-01-01");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["birthdate"], "1900-01-01");
    assert!(answer.json()["age"].as_i64().unwrap() >= 126);
    assert_eq!(lab.get("/healthz").status, 200);

    // One connection serves many requests, and the same key always has the same value.
    let mut client = Client::connect(lab.address());
    let values: Vec<String> = [1, 17, 1000, 17]
        .map(|key| {
            let answer = client.get(&format!("/uuid/{key}"));
            assert_eq!((answer.status, &answer.json()["key"]), (200, &json!(key)));
            answer.json()["uuid"].as_str().unwrap().to_owned()
        })
        .into();
    assert_eq!(values[1], values[3]);
    assert!(values[0] != values[1] && values[1] != values[2]);
    assert!(values.iter().all(|value| value.len() == 36 && value.matches('-').count() == 4), "{values:?}");

    client.send("POST", "/uuid/17");
    assert_eq!(client.receive().unwrap().status, 405);

    let series = "http_server_request_duration_seconds_count{http_route=\"/uuid/{key}\",http_response_status_code";
    assert_eq!(lab.metric(&format!("{series}=\"200\"}}")), Some(4.0));
    assert_eq!(lab.metric(&format!("{series}=\"404\"}}")), Some(4.0));
    assert_eq!(lab.metric("db_client_connection_max"), Some(3.0));
    assert_eq!(lab.metric("db_client_connection_wait_time_seconds_count"), Some(4.0));
    assert_eq!(lab.metric("db_client_connection_use_time_seconds_count"), Some(4.0));
    assert_eq!(lab.metric("db_client_connection_timeouts_total"), Some(0.0));
}

#[test]
fn without_a_database_the_service_computes_and_says_what_is_missing() {
    let mut command = command(&["laptop", "--no-database"]);
    let lab = Lab::start_command(command.env("PLIMSOLL_PG_BIN", "/nonexistent"));
    assert_eq!(lab.get("/age?birthdate=1990-06-15").status, 200);
    let answer = lab.get("/uuid/17");
    assert_eq!(answer.status, 503);
    assert!(answer.json()["error"].as_str().unwrap().contains("--no-database"));
    assert_eq!(lab.ready["postgres"], json!(null));
    assert_eq!(lab.ready["postmaster_pid"], json!(null));
    assert_eq!(lab.metric("db_client_connection_max"), None);
}

#[test]
fn a_closing_service_ends_each_connection() {
    let lab = Lab::start(&["laptop", "--no-database", "--close"]);
    let mut client = Client::connect(lab.address());
    let answer = client.get("/healthz");
    assert!(answer.headers.contains("connection: close"), "{answer:?}");
    assert_eq!(client.receive(), None);
}

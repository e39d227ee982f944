//! What requests see of the pool, the cache and the database's own limits.

use std::process::{Child, Command, Stdio};

use crate::lab::{Client, Lab, command, timed, until};

#[test]
fn an_exhausted_pool_answers_503_in_time_and_is_counted() {
    let lab = Lab::start(&["laptop", "--pool", "1", "--acquire-timeout", "150ms", "--query-delay", "3s"]);
    let mut first = Client::connect(lab.address());
    first.send("GET", "/uuid/17");
    until("the only connection is in use", || {
        (lab.metric("db_client_connection_count{state=\"used\"}")? > 0.0).then_some(())
    });
    let (answer, took) = timed(|| lab.get("/uuid/18"));
    assert_eq!(answer.status, 503);
    let error = answer.json()["error"].as_str().unwrap().to_owned();
    assert_eq!(error, "no database connection became free within 150ms: all 1 of the pool are in use");
    assert!(took.as_millis() >= 150, "{took:?}");
    assert_eq!(first.receive().unwrap().status, 200);
    assert_eq!(lab.metric("db_client_connection_timeouts_total"), Some(1.0));
    assert!(lab.metric("db_client_connection_use_time_seconds_sum").unwrap() >= 3.0);
    assert_eq!(lab.metric("db_client_connection_count{state=\"idle\"}"), Some(1.0));
}

#[test]
fn waiting_requests_show_as_pending() {
    let lab = Lab::start(&["laptop", "--pool", "1", "--query-delay", "1s", "--query-cpu", "1000"]);
    let mut clients: Vec<Client> = (0..3).map(|_| Client::connect(lab.address())).collect();
    clients.iter_mut().for_each(|client| client.send("GET", "/uuid/1"));
    until("two wait", || (lab.metric("db_client_connection_pending_requests")? == 2.0).then_some(()));
    assert!(clients.iter_mut().all(|client| client.receive().unwrap().status == 200));
}

#[test]
fn a_dead_database_is_a_503_and_not_the_end_of_the_service() {
    let lab = Lab::start(&["laptop", "--pool", "2"]);
    assert_eq!(lab.get("/uuid/17").status, 200);
    let postmaster = u32::try_from(lab.ready["postmaster_pid"].as_u64().unwrap()).unwrap();
    crate::lab::send(postmaster, rustix::process::Signal::QUIT);
    until("the database is gone", || (!crate::lab::runs(postmaster.into())).then_some(()));
    let answer = lab.get("/uuid/17");
    assert_eq!(answer.status, 503);
    assert!(answer.json()["error"].as_str().unwrap().contains("database"), "{answer:?}");
    assert_eq!(lab.get("/age?birthdate=1990-06-15").status, 200);
}

#[test]
fn another_server_can_be_used_and_its_password_does_not_show() {
    let owner = Lab::start(&["laptop", "--pool", "2"]);
    let url = owner.ready["postgres"].as_str().unwrap().replace("plimsoll@", "plimsoll:secret@");
    let guest = Lab::start(&["laptop", "--pool", "2", "--postgres", &url]);
    assert_eq!(guest.ready["postgres"], owner.ready["postgres"]);
    assert_eq!(guest.ready["postmaster_pid"], serde_json::Value::Null);
    assert_eq!(guest.get("/uuid/17").body, owner.get("/uuid/17").body);
}

#[test]
fn the_database_is_asked_once_for_a_cached_key_and_again_without_the_cache() {
    let (mut redis, url) = redis();
    let lab = Lab::start(&["laptop", "--pool", "2", "--cache", &url]);
    let first = lab.get("/uuid/17").body;
    assert_eq!(lab.get("/uuid/17").body, first);
    let uses = "db_client_connection_use_time_seconds_count";
    assert_eq!(lab.metric(uses), Some(1.0));
    redis.kill().unwrap();
    redis.wait().unwrap();
    assert_eq!(lab.get("/uuid/17").body, first);
    assert_eq!(lab.metric(uses), Some(2.0));
}

#[test]
fn an_unreachable_cache_or_database_is_said_at_the_start() {
    for (flag, url, says) in [
        ("--cache", "redis://127.0.0.1:1", "could not reach the cache at 127.0.0.1:1"),
        ("--postgres", "postgres://me:secret@127.0.0.1:1/x", "postgres://me@127.0.0.1:1/x"),
    ] {
        let output = command(&["laptop", flag, url]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(says) && !error.contains("secret"), "{error}");
    }
}

/// A Redis of our own on a free port, in memory only.
fn redis() -> (Child, String) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir", "/"])
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is needed: apt-get install redis-server");
    until("Redis listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    (child, format!("redis://127.0.0.1:{port}"))
}

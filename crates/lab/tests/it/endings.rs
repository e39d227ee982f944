//! However a lab ends, nothing of it stays.

use std::process::Command;

use rustix::process::Signal;

use crate::lab::{Client, Lab, children, command, nothing_left, runs, send, timed, until};

#[test]
fn a_graceful_stop_answers_what_is_in_flight_and_leaves_nothing() {
    let mut lab = Lab::start(&["laptop", "--pool", "2", "--query-delay", "1s"]);
    let (folder, postmaster) = (lab.cluster_folder(), lab.ready["postmaster_pid"].as_u64().unwrap());
    assert!(folder.join("data/PG_VERSION").exists() && runs(postmaster));
    let mut idle = Client::connect(lab.address());
    assert_eq!(idle.get("/healthz").status, 200);
    let mut busy = Client::connect(lab.address());
    busy.send("GET", "/uuid/17");
    in_flight(&lab);
    lab.signal(Signal::TERM);
    assert_eq!(busy.receive().unwrap().status, 200, "a request in flight is answered");
    assert_eq!(idle.receive(), None, "an idle connection is closed");
    assert_eq!(lab.wait().code(), Some(0));
    assert!(nothing_left(&folder));
    assert!(!std::path::Path::new(&format!("/proc/{postmaster}")).exists(), "not even a zombie");
}

#[test]
fn ctrl_c_does_the_same() {
    let mut lab = Lab::start(&["laptop", "--pool", "2"]);
    let folder = lab.cluster_folder();
    lab.signal(Signal::INT);
    assert_eq!(lab.wait().code(), Some(0));
    assert!(nothing_left(&folder));
}

/// A lab with a request in flight that would take an hour.
fn busy() -> (Lab, Client) {
    let lab = Lab::start(&["laptop", "--pool", "2", "--query-delay", "1h"]);
    let mut client = Client::connect(lab.address());
    client.send("GET", "/uuid/17");
    in_flight(&lab);
    (lab, client)
}

fn in_flight(lab: &Lab) {
    until("the request is in flight", || {
        (lab.metric("db_client_connection_count{state=\"used\"}")? > 0.0).then_some(())
    });
}

#[test]
fn a_second_signal_does_not_wait_for_requests() {
    let (mut lab, _client) = busy();
    // The server closes its listening socket when it has seen the first signal.
    lab.signal(Signal::TERM);
    until("new connections are refused", || std::net::TcpStream::connect(lab.address()).err());
    lab.signal(Signal::INT);
    assert_eq!(lab.wait().code(), Some(130));
    assert!(nothing_left(&lab.cluster_folder()));
}

#[test]
fn requests_that_take_too_long_are_cut_off_and_the_end_is_still_graceful() {
    let (mut lab, _client) = busy();
    lab.signal(Signal::TERM);
    let (status, took) = timed(|| lab.wait());
    assert_eq!(status.code(), Some(0));
    assert!(took >= lab::serve::FINISH_WITHIN - std::time::Duration::from_millis(50), "{took:?}");
    assert!(nothing_left(&lab.cluster_folder()));
}

#[test]
fn kill_9_leaves_neither_server_nor_folder() {
    let mut lab = Lab::start(&["laptop", "--pool", "2"]);
    let (folder, postmaster) = (lab.cluster_folder(), lab.ready["postmaster_pid"].as_u64().unwrap());
    assert_eq!(lab.get("/uuid/17").status, 200);
    lab.signal(Signal::KILL);
    lab.wait();
    until("server and folder are gone", || (!runs(postmaster) && nothing_left(&folder)).then_some(()));
}

#[test]
fn without_its_janitor_the_lab_cleans_up_itself() {
    let mut lab = Lab::start(&["laptop", "--pool", "2"]);
    let (folder, postmaster) = (lab.cluster_folder(), lab.ready["postmaster_pid"].as_u64().unwrap());
    let janitor = children(lab.pid()).into_iter().find(|pid| *pid != postmaster).unwrap();
    send(u32::try_from(janitor).unwrap(), Signal::KILL);
    until("the janitor is dead", || (!runs(janitor)).then_some(()));
    lab.signal(Signal::TERM);
    assert_eq!(lab.wait().code(), Some(0));
    assert!(nothing_left(&folder));
}

#[test]
fn the_server_ends_even_if_lab_and_janitor_are_killed_together() {
    let mut lab = Lab::start(&["laptop", "--pool", "2"]);
    let (folder, postmaster) = (lab.cluster_folder(), lab.ready["postmaster_pid"].as_u64().unwrap());
    let janitor = children(lab.pid()).into_iter().find(|pid| *pid != postmaster).unwrap();
    send(u32::try_from(janitor).unwrap(), Signal::KILL);
    lab.signal(Signal::KILL);
    lab.wait();
    until("the server has ended", || lab::janitor::processes_inside(&folder).is_empty().then_some(()));
    lab::janitor::remove_cluster(&folder).unwrap();
    assert!(nothing_left(&folder));
}

#[test]
fn with_its_parent_the_lab_ends_gracefully() {
    // The shell starts a lab, tells its process id, and is then killed.
    let script = "\"$0\" laptop --no-database --with-parent & echo $!; wait";
    let mut shell = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_plimsoll-lab")])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(shell.stdout.take().unwrap()));
    let pid: u64 = lines.next().unwrap().unwrap().parse().unwrap();
    assert!(lines.next().unwrap().unwrap().contains("\"ready\":true"));
    assert!(runs(pid));
    shell.kill().unwrap();
    shell.wait().unwrap();
    until("the lab has followed its parent", || (!runs(pid)).then_some(()));
}

#[test]
fn a_missing_postgresql_is_one_clear_sentence() {
    let output = command(&["laptop"]).env("PLIMSOLL_PG_BIN", "/nonexistent").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(error.lines().count(), 1, "{error}");
    for part in ["private PostgreSQL cluster", "'initdb' and 'postgres' in /nonexistent", "apt-get install postgresql"]
    {
        assert!(error.contains(part), "'{part}' is missing in: {error}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn an_initdb_that_fails_is_quoted_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Readable by the user that the lab hands PostgreSQL to.
    let shown = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), shown).unwrap();
    for name in ["initdb", "postgres"] {
        let program = folder.path().join(name);
        std::fs::write(&program, "#!/bin/sh\necho no space for this >&2; exit 3\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut lab = command(&["laptop"]);
    let child = lab.env("PLIMSOLL_PG_BIN", folder.path()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let cluster = std::env::temp_dir().join(format!("plimsoll-lab-{}", child.id()));
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("no space for this"), "{error}");
    assert!(nothing_left(&cluster));
}

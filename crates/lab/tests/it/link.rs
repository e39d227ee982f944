//! The emulated link: as root the real one, otherwise the refusal.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::lab::{Lab, children, command, nothing_left, runs, send, timed, until};

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Without root the only thing to test is that the refusal is clear.
fn refused() {
    let output = command(&["laptop", "--no-database", "--behind-link", "40mbit"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--behind-link needs root"));
}

fn gone(lab: &Lab) -> bool {
    let interface = Path::new("/sys/class/net").join(format!("plabn{}", lab.pid()));
    let namespace = Path::new("/run/netns").join(lab.ready["netns"].as_str().unwrap());
    !interface.exists() && !namespace.exists()
}

#[test]
fn a_service_behind_a_link_is_later_and_slower_and_leaves_nothing() {
    if !root() {
        return refused();
    }
    let mut lab = Lab::start(&["laptop", "--pool", "2", "--behind-link", "1mbit,20ms"]);
    let service = lab.ready["service_pid"].as_u64().unwrap();
    let cluster = std::env::temp_dir().join(format!("plimsoll-lab-{service}"));
    assert!(cluster.exists());
    let own_net = std::fs::read_link("/proc/self/ns/net").unwrap();
    assert_ne!(std::fs::read_link(format!("/proc/{service}/ns/net")).unwrap(), own_net);
    let (answer, took) = timed(|| lab.get("/uuid/17"));
    assert_eq!(answer.status, 200);
    assert!(took >= Duration::from_millis(40), "{took:?}");
    assert!(lab.url().starts_with("http://10.199."), "the caller's own connections cross the link: {}", lab.url());
    let comm = std::fs::read_to_string(format!("/proc/{service}/comm")).unwrap();
    assert_eq!(comm.trim_end(), "plimsoll-lab");
    let shapers = Command::new("tc").args(["qdisc", "show", "dev", &format!("plabn{}", lab.pid())]).output().unwrap();
    let shapers = String::from_utf8(shapers.stdout).unwrap();
    assert!(shapers.contains("tbf") && shapers.contains("rate 1Mbit"), "{shapers}");
    // All asked for at once, so that the rate and not the delay is what takes the time. The bucket gives 32 KiB at once.
    let mut client = crate::lab::Client::connect(lab.address());
    let (bytes, took) = timed(|| {
        (0..60).for_each(|_| client.send("GET", "/metrics"));
        (0..60).map(|_| client.receive().unwrap().body.len()).sum::<usize>()
    });
    let bytes_per_s = bytes.saturating_sub(33_000) as f64 / took.as_secs_f64();
    assert!(bytes > 100_000 && bytes_per_s < 125_000.0, "{bytes} bytes in {took:?}");

    lab.signal(Signal::TERM);
    assert_eq!(lab.wait().code(), Some(0));
    assert!(gone(&lab) && nothing_left(&cluster) && !runs(service));
}

#[test]
fn a_link_whose_relay_ends_is_no_link_any_more() {
    if !root() {
        return refused();
    }
    let mut lab = Lab::start(&["laptop", "--no-database", "--behind-link", "40mbit,1ms"]);
    let service = lab.ready["service_pid"].as_u64().unwrap();
    let listens_as_relay = |pid: &u64| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split('\0').nth(1) == Some("relay")
    };
    let relay = children(lab.pid()).into_iter().find(listens_as_relay).unwrap();
    send(u32::try_from(relay).unwrap(), Signal::KILL);
    assert_eq!(lab.wait().code(), Some(1));
    assert!(gone(&lab) && !runs(service));
}

#[test]
fn kill_9_takes_the_link_down_too() {
    if !root() {
        return refused();
    }
    let mut lab = Lab::start(&["laptop", "--pool", "2", "--behind-link", "40mbit,0"]);
    let service = lab.ready["service_pid"].as_u64().unwrap();
    let cluster = std::env::temp_dir().join(format!("plimsoll-lab-{service}"));
    assert!(lab.url().starts_with("http://10.199."), "without a delay the service is reached directly");
    assert_eq!(lab.get("/uuid/17").status, 200);
    lab.signal(Signal::KILL);
    lab.wait();
    until("link, service and cluster are gone", || {
        (gone(&lab) && !runs(service) && nothing_left(&cluster)).then_some(())
    });
}

#[test]
fn a_service_that_cannot_start_takes_the_link_down() {
    if !root() {
        return refused();
    }
    let mut lab = command(&["laptop", "--behind-link", "40mbit"]);
    let output = lab.env("PLIMSOLL_PG_BIN", "/nonexistent").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("apt-get install postgresql") && error.contains("behind the link did not start"), "{error}");
}

//! Finding the service and following it through its life.
#![expect(clippy::unwrap_used, reason = "tests, and what only they use")]

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::thread;
use std::time::Duration;

use model::series::Role;
use model::signal;
use probe::discover;

use crate::service::{Service, command, free_port};
use crate::watched::{Watched, settings};

#[test]
fn the_listening_process_is_the_service_with_its_children_and_threads() {
    let service = Service::start();
    let held: Vec<_> = b"cs".iter().map(|&word| service.tell(word)).collect();
    // Without an address of its own, a look for a metrics page would be one more connection.
    let elsewhere = "metrics:http://127.0.0.1:1/metrics";
    let mut watched = Watched::begin(settings(Some(service.address), &[elsewhere], std::process::id()));
    let subject = watched.subject("svc").unwrap().clone();
    assert_eq!((subject.role, subject.pid), (Role::Service, Some(service.pid())));
    assert!(subject.name.starts_with("it-"), "{}", subject.name);

    watched.until("the spinning thread shows", |watched| {
        watched.value("svc", signal::THREAD_BUSIEST_DEMAND).is_some_and(|demand| demand > 0.9)
            && watched.value("svc", signal::THREADS_RUNNING) == Some(1.0)
    });
    assert_eq!(watched.value("svc", signal::PROCESSES), Some(2.0));
    assert_eq!(watched.value("svc", signal::CONNECTIONS), Some(held.len() as f64));
    assert_eq!(watched.value("svc", signal::ALIVE), Some(1.0));
    assert!(watched.value("svc", signal::MEMORY_ANON).is_some_and(|bytes| bytes > 10_000.0));
    assert!(watched.value("svc", signal::FDS).is_some_and(|count| count >= 6.0));
    assert!(watched.value("svc", signal::FDS_LIMIT) > watched.value("svc", signal::FDS));
    let (allowed, cores) = (watched.value("svc", signal::CORES_ALLOWED), watched.value("host", signal::HOST_CORES));
    assert!(allowed.is_some() && allowed <= cores);
    assert!(watched.value("host", signal::HOST_MEMORY_AVAILABLE) < watched.value("host", signal::HOST_MEMORY_TOTAL));
    let [run, user, system] =
        [signal::RUN, signal::CPU_USER, signal::CPU_SYSTEM].map(|signal| watched.value("svc", signal).unwrap());
    assert!((run - user - system).abs() < 0.1, "{run} is not {user} and {system}");
    watched.stop();
}

#[test]
fn a_metrics_page_of_nobody_known_is_named_without_its_password() {
    let settings = settings(None, &["metrics:http://me:s3cret@127.0.0.1:1/metrics"], std::process::id());
    let subjects = format!("{:?}", discover(settings).subjects);
    assert!(subjects.contains("http://me:***@127.0.0.1:1/metrics"), "{subjects}");
}

#[test]
fn time_of_threads_that_ended_stays_in_the_sum() {
    let service = Service::start();
    let mut watched = Watched::begin(settings(Some(service.address), &[], std::process::id()));
    if watched.subject("svc").is_none() {
        // It did not listen yet when it was looked for.
        service.tell(b'.');
        watched = Watched::begin(settings(Some(service.address), &[], std::process::id()));
    }
    watched.seconds(1);
    drop(service.tell(b'e'));
    let used_s = used_s(service.pid());
    watched.until("all of it is counted", |watched| watched.value("svc", signal::RUN).unwrap() >= used_s);
    drop(service.tell(b'e'));
    watched.seconds(2);
    for signal in [signal::RUN, signal::RUN_WAIT, signal::CPU_USER, signal::CPU_SYSTEM] {
        assert!(watched.points("svc", signal).is_sorted(), "{} fell", signal.name);
    }
    watched.stop();
}

/// CPU time of a process by its ticks, ended threads included.
fn used_s(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split_whitespace().collect();
    let ticks: f64 = fields[12..14].iter().map(|field| field.parse::<f64>().unwrap()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

#[test]
fn the_end_of_the_service_and_its_return_are_seen() {
    let mut service = Service::start();
    service.tell(b'.');
    let mut watched = Watched::begin(settings(Some(service.address), &[], std::process::id()));
    watched.until("the service lives", |watched| watched.value("svc", signal::ALIVE) == Some(1.0));
    let started = watched.value("svc", signal::STARTED_AT);
    service.kill();
    watched.until("the service is dead", |watched| watched.value("svc", signal::ALIVE) == Some(0.0));

    let again = Service::start_with(&mut command(), service.address.port());
    again.tell(b'.');
    watched.until("the service lives again", |watched| {
        watched.value("svc", signal::ALIVE) == Some(1.0) && watched.value("svc", signal::STARTED_AT) > started
    });
    assert_eq!(watched.subject("svc").unwrap().pid, Some(again.pid()));
    assert!(watched.points("svc", signal::RUN).is_sorted());
    watched.stop();
}

#[test]
fn a_service_in_another_network_namespace_is_watched_by_pid() {
    let port = free_port();
    let inner = command();
    let mut outer = Command::new("unshare");
    outer.args(["--net", "--"]).arg(inner.get_program()).args(inner.get_args());
    let may_unshare =
        Command::new("unshare").args(["--net", "true"]).output().is_ok_and(|output| output.status.success());
    if !may_unshare {
        return;
    }
    let service = Service::start_with(&mut outer, port);
    // It listens once it shows a socket in state 0A in a namespace that is not ours.
    let listens = || {
        fs::read_to_string(format!("/proc/{}/net/tcp", service.pid()))
            .unwrap()
            .contains(&format!(":{port:04X} 00000000:0000 0A"))
    };
    assert!((0..400).any(|_| listens() || {
        thread::park_timeout(Duration::from_millis(50));
        false
    }));
    let spec = format!("api=pid:{}", service.pid());
    let mut watched = Watched::begin(settings(Some(service.address), &[&spec], std::process::id()));
    assert_eq!(watched.subject("svc").unwrap().name, "api");
    watched.until("its listening socket shows", |watched| {
        watched.value("svc", signal::LISTEN_BACKLOG).is_some_and(|backlog| backlog > 0.0)
    });
    // Nothing was ever sent there.
    assert_eq!(watched.value("svc", signal::SEGMENTS_OUT), Some(0.0));
    watched.stop();
}

#[test]
fn what_cannot_be_watched_is_said() {
    let nobody = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let discovered = discover(settings(Some(nobody), &["pid:4194305", "cgroup:/no/such"], std::process::id()));
    assert_eq!(discovered.subjects.iter().map(|subject| subject.id.as_str()).collect::<Vec<_>>(), ["gen", "host"]);
    let warned = |part: &str| discovered.warnings.iter().any(|warning| warning.contains(part));
    assert!(warned("pid:4194305 is not watched: there is no such process"), "{:?}", discovered.warnings);
    assert!(warned("cgroup:/no/such is not watched"), "{:?}", discovered.warnings);
    // Nobody asked for the service by name.
    assert!(discovered.notices.iter().any(|notice| notice.contains(&format!("nobody is seen to listen on {nobody}"))));
    let remote = discover(settings(Some(SocketAddr::from(([192, 0, 2, 1], 80))), &[], std::process::id()));
    assert!(remote.notices[0].contains("192.0.2.1:80 is not on this machine"), "{:?}", remote.notices);
}

#[test]
fn a_metrics_page_at_the_target_is_read_without_being_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let page =
                "HTTP/1.0 200 OK\r\n\r\n# TYPE hikaricp_connections_active gauge\nhikaricp_connections_active 4\n";
            let _ = stream.write_all(page.as_bytes());
        }
    });
    let mut watched = Watched::begin(settings(Some(address), &[], std::process::id()));
    watched.until("the pool shows", |watched| watched.value("svc", signal::POOL_USED) == Some(4.0));
    assert!(watched.value("svc", signal::METRICS_SCRAPE).is_some());
    watched.stop();
}

//! The engine as others use it: real threads, real sockets on loopback.
#![expect(clippy::unwrap_used, reason = "tests, whose helper functions clippy does not know as such")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use engine::{Control, EndReason, Ended, Event, Options, StartError, Stop, start, url_users};
use model::plan::{Executor, Plan, Scenario};
use model::summary::Total;
use model::window::Window;

fn plan(executor: Executor) -> Plan {
    Plan {
        target: String::new(),
        scenarios: vec![Scenario {
            name: "default".to_owned(),
            executor,
            exec: "default".to_owned(),
            start_time: Duration::ZERO,
            graceful_stop: Duration::from_secs(2),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
        }],
        promises: vec!["http_req_failed: rate<0.01".parse().unwrap()],
        ..Plan::default()
    }
}

/// A server that answers each request after `delay`, with a thread per connection.
fn slow_server(delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || answer(stream, delay));
        }
    });
    address
}

fn answer(mut stream: TcpStream, delay: Duration) {
    let mut buffer = [0; 4096];
    while let Ok(count) = stream.read(&mut buffer) {
        if count == 0 {
            return;
        }
        std::thread::sleep(delay);
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}

fn run(plan: Plan, url: String, workers: usize, steer: impl FnOnce(Control)) -> (Vec<Window>, Ended) {
    let options = Options {
        workers,
        beginning: tokio::time::Instant::now().into_std(),
        permit: engine::Permit::all(),
        samples: None,
    };
    let mut running = start(Arc::new(plan), url_users(url, Duration::ZERO), options).unwrap();
    steer(running.control.clone());
    let mut windows = Vec::new();
    while let Some(event) = running.events.blocking_recv() {
        match event {
            Event::Window(window) => windows.push(*window),
            Event::Ended(ended) => {
                assert!(running.events.blocking_recv().is_none());
                return (windows, *ended);
            }
            _ => {}
        }
    }
    panic!("the run had no end");
}

/// Threads of load that are left. A thread that was joined may still be in the kernel's list for a moment.
fn load_threads() -> usize {
    let count = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with("load-")).count()
    };
    let looks = std::iter::repeat_with(|| {
        std::thread::yield_now();
        count()
    });
    looks.take(100_000).find(|left| *left == 0).unwrap_or_else(count)
}

#[test]
fn littles_law_holds() {
    let address = slow_server(Duration::from_millis(5));
    let executor = Executor::ConstantVus { vus: 12, duration: Duration::from_secs(3) };
    let (windows, ended) = run(plan(executor), format!("http://{address}/uuid/17"), 2, |_| ());
    assert_eq!(ended.reason, EndReason::Completed);
    // The second and third window are full: N = X · R within each.
    for window in &windows[1..3] {
        let users = window.iterations as f64 * window.iteration_duration.mean_ms() / 1e3;
        assert!((window.active_mean / users - 1.0).abs() < 0.03, "{} users, X·R = {users}", window.active_mean);
        let requests = &window.requests;
        let response_ms = requests.duration.mean_ms() + requests.blocked_ms_sum / requests.finished as f64;
        let in_flight = requests.finished as f64 * response_ms / 1e3;
        assert!((window.in_flight_mean / in_flight - 1.0).abs() < 0.03, "{} != {in_flight}", window.in_flight_mean);
        assert_eq!((window.users, window.connections_open), (12, 12));
    }
    let sum = |of: fn(&Window) -> u64| windows.iter().map(of).sum::<u64>();
    let finished = sum(|window| window.requests.finished);
    assert_eq!(sum(|window| window.connections_opened), 12);
    assert_eq!(sum(|window| window.promises[0].samples), finished);
    let Total::Counter(count) = ended.summary.metrics["http_reqs"].total else { panic!("a counter") };
    assert_eq!(count, finished as f64);
    assert_eq!(load_threads(), 0);
}

#[test]
fn a_service_that_does_not_answer_does_not_hold_up_a_stop() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let mut waiting = Vec::new();
    let (windows, ended) =
        run(plan(Executor::ExternallyControlled { vus: 0, max_vus: 5, duration: None }), url, 2, |control| {
            control.set_users(3);
            // Once the users are connected they wait for an answer.
            waiting.extend((0..3).map(|_| silent.accept().unwrap()));
            control.stop(Stop::Now);
        });
    assert_eq!(ended.reason, EndReason::Stopped);
    assert_eq!(windows.iter().map(|window| window.interrupted).sum::<u64>(), 3);
    assert_eq!(load_threads(), 0);
}

#[test]
fn refused_connections_are_counted_by_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a/1", listener.local_addr().unwrap());
    drop(listener);
    let executor = Executor::SharedIterations { vus: 4, iterations: 40, max_duration: Duration::from_secs(20) };
    let (windows, ended) = run(plan(executor), url, 2, |_| ());
    let errors: u64 = windows.iter().filter_map(|window| window.errors.get("1212 dial: connection refused")).sum();
    let broken: u64 = windows.iter().map(|window| window.promises[0].broken).sum();
    assert_eq!((errors, broken), (40, 40));
    assert_eq!(ended.summary.metrics["http_req_failed"].total, Total::Rate { passes: 40, total: 40 });
}

#[test]
fn a_plan_without_scenarios_is_refused() {
    let plan =
        Plan { scenarios: Vec::new(), ..plan(Executor::ExternallyControlled { vus: 0, max_vus: 1, duration: None }) };
    let options = Options {
        workers: 1,
        beginning: tokio::time::Instant::now().into_std(),
        permit: engine::Permit::all(),
        samples: None,
    };
    let refused = start(Arc::new(plan), url_users("http://h/", Duration::ZERO), options);
    assert!(matches!(refused, Err(StartError::NoScenario)));
}

/// What a run of ten iterations tells of addresses and of its end, with this permit.
fn passages(permit: engine::Permit, address: SocketAddr) -> (Vec<SocketAddr>, EndReason) {
    let executor = Executor::SharedIterations { vus: 4, iterations: 10, max_duration: Duration::from_secs(60) };
    let options = Options { workers: 2, beginning: tokio::time::Instant::now().into_std(), permit, samples: None };
    let users = url_users(format!("http://{address}/"), Duration::ZERO);
    let mut running = start(Arc::new(plan(executor)), users, options).unwrap();
    let mut contacted = Vec::new();
    while let Some(event) = running.events.blocking_recv() {
        match event {
            Event::Contacted { address, .. } => contacted.push(address),
            Event::Ended(ended) => return (contacted, ended.reason),
            _ => {}
        }
    }
    panic!("the run had no end");
}

#[test]
fn an_address_is_told_once_and_a_refused_one_is_never_connected_to() {
    let address = slow_server(Duration::ZERO);
    assert_eq!(passages(engine::Permit::all(), address), (vec![address], EndReason::Completed));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let permit = engine::Permit::new(|host, _| Err(format!("{host} is not ours")));
    let (contacted, reason) = passages(permit, listener.local_addr().unwrap());
    assert_eq!((contacted, reason), (Vec::new(), EndReason::Refused("127.0.0.1 is not ours".to_owned())));
    assert!(listener.accept().is_err(), "a connection was made");
}

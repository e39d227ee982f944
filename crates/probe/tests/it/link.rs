//! A service in a network namespace of its own behind a slow link: whose connections are looked at, and what both ends
//! say about the link. Needs root; without it there is no such namespace and nothing to test.
#![expect(clippy::unwrap_used, reason = "tests, and what only they use")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::thread;

use model::signal;

use crate::service::{Service, command, free_port};
use crate::watched::{Watched, settings};

/// Bytes per second that the link carries in each direction.
const LINK_BYTES_PER_S: f64 = 125_000.0;
/// No delayed acknowledgement makes a round trip longer than this.
const QUEUE_MS: f64 = 60.0;

/// A service in a namespace of its own, reached at [`Far::ip`]. Namespace and link vanish with the service.
struct Far {
    service: Service,
    ip: Ipv4Addr,
}

impl Far {
    /// `None` without the right to make one.
    fn start() -> Option<Self> {
        let may = Command::new("unshare").args(["--net", "true"]).output().is_ok_and(|output| output.status.success());
        if !may {
            return None;
        }
        let port = free_port();
        let mut service = Service::start_with(&mut inside(&["unshare", "--net", "--"]), port);
        let pid = service.pid();
        // Addresses for benchmarks of networks, four to each process.
        let base = 0xc612_0000 | ((pid & 0x3fff) << 2);
        let [near, far] = [base | 1, base | 2].map(Ipv4Addr::from);
        until_it_has_its_own_namespace(pid);
        let (name, peer) = (format!("probn{pid}"), format!("probf{pid}"));
        run(&format!("ip link add {name} type veth peer name {peer} netns {pid}"));
        let shape = "root tbf rate 1mbit burst 16kb latency 400ms";
        for (enter, device, address) in
            [(String::new(), &name, near), (format!("nsenter --target {pid} --net "), &peer, far)]
        {
            run(&format!("{enter}ip addr add {address}/30 dev {device}"));
            run(&format!("{enter}ip link set {device} up"));
            run(&format!("{enter}tc qdisc add dev {device} {shape}"));
        }
        run(&format!("nsenter --target {pid} --net ip link set lo up"));
        service.address = SocketAddr::from((far, port));
        Some(Self { service, ip: far })
    }

    /// Another service in the same namespace, as a proxy would be.
    fn neighbour(&self) -> Service {
        let port = free_port();
        let pid = self.service.pid().to_string();
        let mut service = Service::start_with(&mut inside(&["nsenter", "--target", &pid, "--net", "--"]), port);
        service.address = SocketAddr::from((self.ip, port));
        service
    }

    fn watched(&self, target: SocketAddr) -> Watched {
        let spec = format!("svc=pid:{}", self.service.pid());
        let elsewhere = "metrics:http://127.0.0.1:1/metrics";
        Watched::begin(settings(Some(target), &[&spec, elsewhere], std::process::id()))
    }
}

/// The service, started by way of another program.
fn inside(outer: &[&str]) -> Command {
    let inner = command();
    let mut command = Command::new(outer[0]);
    command.args(&outer[1..]).arg(inner.get_program()).args(inner.get_args());
    command
}

fn until_it_has_its_own_namespace(pid: u32) {
    let ours = std::fs::read_link("/proc/self/ns/net").unwrap();
    let has = || std::fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|theirs| theirs != ours);
    assert!((0..400).any(|_| has() || {
        thread::park_timeout(std::time::Duration::from_millis(50));
        false
    }));
}

fn run(line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Growth per second of a counter over what was read so far.
fn rate(watched: &Watched, subject: &str, signal: model::signal::Signal) -> f64 {
    let series = watched.record.series(subject, signal.name).unwrap();
    let (first, last) = (series.points.first().unwrap(), series.points.last().unwrap());
    (last.value - first.value) / last.at.since(first.at).as_secs_f64()
}

/// Whether this end shows a queue in front of the link.
fn shows_a_queue(watched: &Watched, subject: &str) -> bool {
    let value = |signal| watched.value(subject, signal).unwrap_or(0.0);
    value(signal::SEND_BUSY_SHARE) > 0.9
        && value(signal::SEND_QUEUE) > 5_000.0
        && value(signal::RTT_MS) - watched.value(subject, signal::RTT_MIN_MS).unwrap_or(f64::INFINITY) > QUEUE_MS
        && value(signal::RWND_LIMITED_SHARE) < 0.3
}

#[test]
fn answers_that_fill_the_link_show_at_the_service() {
    let Some(far) = Far::start() else { return };
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut stream = far.service.tell(b'w');
        held.push(stream.try_clone().unwrap());
        thread::spawn(move || while stream.read(&mut [0; 65_536]).is_ok_and(|count| count > 0) {});
    }
    let mut watched = far.watched(far.service.address);
    watched.until("the queue shows", |watched| shows_a_queue(watched, "svc"));
    watched.seconds(3);
    assert_eq!(watched.value("svc", signal::CONNECTIONS), Some(4.0));
    let sent = rate(&watched, "svc", signal::LINK_BYTES_SENT);
    assert!((0.5..1.2).contains(&(sent / LINK_BYTES_PER_S)), "{sent} bytes per second");
    assert!(!shows_a_queue(&watched, "gen"));
    watched.stop();
    held.iter().for_each(|stream| stream.shutdown(std::net::Shutdown::Both).unwrap());
}

#[test]
fn requests_that_fill_the_link_show_at_the_generator() {
    let Some(far) = Far::start() else { return };
    let mut held: Vec<TcpStream> = Vec::new();
    for _ in 0..4 {
        let mut stream = far.service.tell(b'r');
        held.push(stream.try_clone().unwrap());
        thread::spawn(move || while stream.write_all(&[0; 65_536]).is_ok() {});
    }
    let mut watched = far.watched(far.service.address);
    watched.until("the queue shows", |watched| shows_a_queue(watched, "gen"));
    watched.seconds(3);
    let sent = rate(&watched, "gen", signal::LINK_BYTES_SENT);
    assert!((0.5..1.2).contains(&(sent / LINK_BYTES_PER_S)), "{sent} bytes per second");
    assert!(!shows_a_queue(&watched, "svc"));
    watched.stop();
    held.iter().for_each(|stream| stream.shutdown(std::net::Shutdown::Both).unwrap());
}

#[test]
fn a_proxy_at_the_target_counts_and_without_one_the_service_itself() {
    let Some(far) = Far::start() else { return };
    let proxy = far.neighbour();
    let (_one, _two) = (proxy.tell(b'.'), proxy.tell(b'.'));
    let _own = far.service.tell(b'.');
    let mut watched = far.watched(proxy.address);
    assert_eq!(watched.subject("svc").unwrap().pid, Some(far.service.pid()));
    watched.until("the proxy's clients show", |watched| watched.value("svc", signal::CONNECTIONS) == Some(2.0));
    watched.stop();

    let elsewhere = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let mut watched = far.watched(elsewhere);
    watched.until("its own client shows", |watched| {
        watched.value("svc", signal::CONNECTIONS) == Some(1.0)
            && watched.value("svc", signal::LISTEN_BACKLOG).is_some_and(|backlog| backlog > 0.0)
    });
    watched.stop();
}

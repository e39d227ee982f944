//! Steps held against a service that leaves some of its users without an answer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Never answers on the first `silent` connections of users, always on later ones; counts them all. What a probe asks
/// for (`/metrics`) is not there.
fn service(silent: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, counted) = (stream.unwrap(), counted.clone());
            std::thread::spawn(move || serve(stream, &counted, silent));
        }
    });
    (address, count)
}

fn serve(mut stream: TcpStream, users: &AtomicUsize, silent: usize) {
    let mut buffer = [0; 4096];
    let mut is_silent = None;
    while let Ok(1..) = stream.read(&mut buffer) {
        if !buffer.starts_with(b"GET / ") {
            return;
        }
        let is_silent = *is_silent.get_or_insert_with(|| users.fetch_add(1, Ordering::Relaxed) < silent);
        if !is_silent && stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
            return;
        }
    }
}

fn session(address: SocketAddr) -> Session {
    let url = format!("http://{address}/");
    let plan = plan(&url, &default_promises(), scenario("default", 100), HttpSettings::default());
    let settings = Settings {
        command: "find",
        plan: Arc::new(plan),
        factory: engine::url_users(url, Duration::from_millis(50)),
        watching: Watching::default(),
        guard: Guard::default(),
        file: None,
        workers: Some(1),
        samples: None,
        notices: None,
    };
    let flags = args::Output { quiet: true, no_color: true, verbose: false };
    Session::begin(settings, Output::new(&flags)).expect("a thread and the signals are free")
}

#[test]
fn who_got_stuck_under_a_heavier_load_is_replaced_in_a_lighter_step_only() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (address, connections) = service(6);
        let mut session = session(address);
        let mut connections_after = async |users| {
            let length = Duration::from_secs(2);
            let order = Order { phase: Phase::Trial, users, settle: Duration::ZERO, length };
            assert_eq!(hold(&mut session, order, length).await, Reached::Moment);
            connections.load(Ordering::Relaxed)
        };
        assert_eq!(connections_after(6).await, 6);
        assert_eq!(connections_after(8).await, 6 + 2, "a heavier step replaces nobody");
        assert_eq!(connections_after(4).await, 6 + 2 + 4);
        assert_eq!(connections_after(4).await, 6 + 2 + 4, "who works is left alone");
    });
}

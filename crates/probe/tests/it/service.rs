//! A service in a process of its own: this test binary, started again and told by the environment to serve. It ends
//! when whoever started it ends.
#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const PORT: &str = "PROBE_TEST_PORT";
const PATIENCE: Duration = Duration::from_secs(20);

/// A service that is running.
pub(crate) struct Service {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Service {
    pub(crate) fn start() -> Self {
        let port = free_port();
        Self::start_with(&mut command(), port)
    }

    pub(crate) fn start_with(command: &mut Command, port: u16) -> Self {
        let child = command.env(PORT, port.to_string()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells the service what to do, over a connection that is then kept.
    pub(crate) fn tell(&self, word: u8) -> TcpStream {
        let connected = (0..400).find_map(|_| {
            let connected = TcpStream::connect_timeout(&self.address, PATIENCE).ok();
            if connected.is_none() {
                thread::park_timeout(Duration::from_millis(50));
            }
            connected
        });
        let mut stream = connected.unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&[word]).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        stream
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What starts the service.
pub(crate) fn command() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "service::serves_when_told_to"]);
    command
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn serves_when_told_to() {
    let Ok(port) = std::env::var(PORT) else { return };
    thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::abort();
    });
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port.parse().unwrap())).unwrap();
    let mut kept = Vec::new();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut word = [0];
        if stream.read_exact(&mut word).is_err() {
            continue;
        }
        match word[0] {
            // One thread that never rests.
            b's' => drop(thread::spawn(|| work(u64::MAX))),
            // Threads that work and end.
            b'e' => (0..10).for_each(|_| thread::spawn(|| work(20_000_000)).join().unwrap()),
            // A thread that reads all that comes, and one that never stops writing.
            b'r' => {
                let mut stream = stream.try_clone().unwrap();
                thread::spawn(move || while stream.read(&mut [0; 65_536]).is_ok_and(|count| count > 0) {});
            }
            b'w' => {
                let mut stream = stream.try_clone().unwrap();
                thread::spawn(move || while stream.write_all(&[0; 65_536]).is_ok() {});
            }
            // A child.
            b'c' => kept.push(Kept::Child(sleeper())),
            _ => {}
        }
        stream.write_all(&word).unwrap();
        kept.push(Kept::Connection(stream));
    }
}

/// What the service holds on to.
#[expect(dead_code, reason = "held, not used")]
enum Kept {
    Child(Child),
    Connection(TcpStream),
}

/// A process that does nothing, and ends with whoever holds it.
pub(crate) fn sleeper() -> Child {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

fn work(rounds: u64) {
    for round in 0..rounds {
        black_box(round);
    }
}

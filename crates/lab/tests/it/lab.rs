//! Starting a lab, asking it, and waiting for it with a deadline. Must never wait by sleeping for a guessed time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Far longer than anything here takes on a crowded machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(40);

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-lab"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).env_remove("PLIMSOLL_PG_BIN");
    command
}

/// A running lab, killed at the end of its test if the test has not ended it.
pub(crate) struct Lab {
    child: Child,
    pub(crate) ready: Value,
}

impl Lab {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_command(&mut command(arguments))
    }

    pub(crate) fn start_command(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no ready line but '{line}'"));
        Self { child, ready }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn url(&self) -> &str {
        self.ready["url"].as_str().unwrap()
    }

    pub(crate) fn address(&self) -> &str {
        self.url().strip_prefix("http://").unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        Client::connect(self.address()).get(path)
    }

    /// The value of one line of `/metrics`.
    pub(crate) fn metric(&self, series: &str) -> Option<f64> {
        let text = self.get("/metrics").body;
        text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
    }

    pub(crate) fn cluster_folder(&self) -> PathBuf {
        std::env::temp_dir().join(format!("plimsoll-lab-{}", self.pid()))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        until("the lab has ended", || self.child.try_wait().unwrap())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One kept-alive connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    host: String,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        assert!(self.headers.contains("content-type: application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Client {
    pub(crate) fn connect(host: &str) -> Self {
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Self { stream: BufReader::new(stream), host: host.to_owned() }
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path);
        self.receive().unwrap()
    }

    pub(crate) fn send(&mut self, method: &str, path: &str) {
        write!(self.stream.get_mut(), "{method} {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.host).unwrap();
    }

    /// The next answer, or `None` when the server has closed the connection.
    pub(crate) fn receive(&mut self) -> Option<Answer> {
        let mut status_line = String::new();
        if self.stream.read_line(&mut status_line).unwrap_or(0) == 0 {
            return None;
        }
        let status = status_line.split(' ').nth(1)?.parse().unwrap();
        let mut headers = String::new();
        while !headers.ends_with("\r\n\r\n") && headers != "\r\n" {
            assert_ne!(self.stream.read_line(&mut headers).unwrap(), 0, "the answer broke off");
        }
        let headers = headers.to_ascii_lowercase();
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        Some(Answer { status, headers, body: String::from_utf8(body).unwrap() })
    }
}

/// Asks again and again until there is an answer; the deadline is only there to end a broken test.
#[expect(clippy::disallowed_methods, reason = "a deadline in a test of real processes")]
pub(crate) fn until<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(start.elapsed() < DEADLINE, "waited {DEADLINE:?} in vain until {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[expect(clippy::disallowed_methods, reason = "the delay of a relay is measured on the real clock")]
pub(crate) fn timed<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let outcome = action();
    (outcome, start.elapsed())
}

pub(crate) fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

/// Whether a process runs; one that nobody has reaped does not.
pub(crate) fn runs(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub(crate) fn children(pid: u32) -> Vec<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Nobody works in the folder, and there is no folder.
pub(crate) fn nothing_left(folder: &Path) -> bool {
    lab::janitor::processes_inside(folder).is_empty() && !folder.exists()
}

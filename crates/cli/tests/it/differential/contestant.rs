//! A program that runs scripts, with a service of its own. Must never let a run take for ever, and must give both
//! programs the same surroundings.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use super::mask::Mask;
use super::root;
use super::script::Script;
use crate::service::Service;

/// After this long a run is ended: scripts of the corpus take a few seconds at most.
const PATIENCE: Duration = Duration::from_secs(60);
/// The version that everything is compared with.
const K6_VERSION: &str = "v1.1.0";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Program {
    K6,
    Plimsoll,
}

/// What a run did, masked: ports, folders and names of the programs read the same for both.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What `--summary-export` wrote.
    pub(crate) summary: Option<Value>,
    /// What `--out json` wrote; nothing if the program cannot.
    pub(crate) points: Option<Vec<Value>>,
    /// What the service was asked.
    pub(crate) requests: Vec<Value>,
    /// All other files that the run made.
    pub(crate) files: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(crate) struct Contestant {
    program: Program,
    service: Service,
    writes_points: bool,
}

impl Contestant {
    pub(crate) fn new(program: Program, service: Service) -> Self {
        let writes_points = match program {
            Program::K6 => {
                let version = Command::new(k6()).arg("version").output().unwrap();
                let version = String::from_utf8_lossy(&version.stdout).into_owned();
                assert!(version.contains(K6_VERSION), "{}: {version} is not {K6_VERSION}", k6().display());
                true
            }
            Program::Plimsoll => can_write_points(),
        };
        Self { program, service, writes_points }
    }

    /// Runs a script in an empty folder.
    pub(crate) fn run(&self, script: &Script) -> Run {
        let folder = tempfile::tempdir().unwrap();
        self.ask("DELETE");
        let output = finish(self.command(script, folder.path()));
        let mask = Mask::new(&self.service.ready, folder.path());
        let text = |bytes: &[u8]| mask.text(&String::from_utf8_lossy(bytes));
        let mut files = BTreeMap::new();
        collect(folder.path(), folder.path(), &mut files);
        let mut take = |name: &str| files.remove(name).map(|bytes| text(&bytes));
        let (summary, points) = (take("summary.json"), take("points.json"));
        let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        Run {
            exit: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            summary: summary.map(|summary| serde_json::from_str(&summary).unwrap()),
            points: self.writes_points.then(|| points.unwrap_or_default().lines().map(line).collect()),
            requests: mask.requests(serde_json::from_str(&self.ask("GET")).unwrap()),
            files: files.iter().map(|(name, bytes)| (name.clone(), text(bytes))).collect(),
        }
    }

    fn command(&self, script: &Script, folder: &Path) -> Command {
        let mut command = match self.program {
            Program::K6 => Command::new(k6()),
            Program::Plimsoll => Command::new(env!("CARGO_BIN_EXE_plimsoll")),
        };
        command.args(["run", "--quiet", "--no-usage-report", "--summary-export", "summary.json"]);
        if self.writes_points {
            command.args(["--out", "json=points.json"]);
        }
        if self.program == Program::K6 {
            // Its control server, which would look for a free port.
            command.args(["--address", ""]);
        }
        let ready = |key: &str| self.service.ready[key].as_str().unwrap().to_owned();
        let base = ready("url");
        let variables = [
            ("WS", base.replacen("http", "ws", 1)),
            ("HOST", base.trim_start_matches("http://").to_owned()),
            ("PORT", base.rsplit(':').next().unwrap().to_owned()),
            ("HTTPS", ready("https")),
            ("MTLS", ready("mtls")),
            ("CERTIFICATE", ready("certificate")),
            ("KEY", ready("key")),
            ("BASE", base),
        ];
        let variables = variables.into_iter().map(|(name, value)| format!("{name}={value}"));
        command.args(variables.chain(script.env.iter().cloned()).flat_map(|one| ["-e".to_owned(), one]));
        command.args(&script.args).arg(&script.path).current_dir(folder);
        // Nothing of who runs the test: no proxies, no configuration, no K6_ variables.
        command.env_clear().env("HOME", "/nonexistent").env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
        command.env("PATH", "/usr/bin:/bin").envs(script.environment.clone());
        command
    }

    /// The service's record: GET reads it, DELETE empties it.
    fn ask(&self, method: &str) -> String {
        let address = self.service.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "{method} /__log HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

fn k6() -> PathBuf {
    let path = root().join(".bench/python/bin/k6");
    assert!(
        path.exists(),
        "the differential test needs k6 {K6_VERSION}; get it with: bash -c '. script/need && need_k6' (script/test does)"
    );
    path
}

/// Whether this build already has `--out json`.
fn can_write_points() -> bool {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("none.js"), "export default function () {}").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(["run", "--quiet", "--out", "json=points.json", "none.js"]).current_dir(folder.path());
    finish(command).status.success() && folder.path().join("points.json").exists()
}

/// Runs a command to its end, or ends it.
fn finish(mut command: Command) -> Output {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(child.wait_with_output()));
    let output = receive.recv_timeout(PATIENCE).or_else(|_| {
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        receive.recv()
    });
    output.unwrap().unwrap()
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

//! Signals end a run in order, wherever they find it: what was seen is kept, and the exit code is 105.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::service::Service;

/// A run that goes on, with what it said so far.
pub(crate) struct Going {
    child: Child,
    said: String,
}

impl Going {
    /// Starts `plimsoll` with these words in `folder`.
    pub(crate) fn start(words: &[&str], folder: &Path) -> Self {
        Self::of(Command::new(env!("CARGO_BIN_EXE_plimsoll")).args(words).current_dir(folder))
    }

    fn of(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self { child, said: String::new() }
    }

    fn script(script: &str, words: &[&str], folder: &Path) -> Self {
        fs::write(folder.join("script.js"), script).unwrap();
        Self::start(&[&["run", "script.js"], words].concat(), folder)
    }

    /// Reads its standard error until it said this.
    pub(crate) fn says(&mut self, word: &str) -> &mut Self {
        let mut chunk = [0; 512];
        while !self.said.contains(word) {
            let count = self.child.stderr.as_mut().unwrap().read(&mut chunk).unwrap();
            assert!(count > 0, "ended without saying {word}: {}", self.said);
            self.said.push_str(&String::from_utf8_lossy(&chunk[..count]));
        }
        self
    }

    /// Looks again and again until it is so.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(u32) -> bool) -> &mut Self {
        for _ in 0..3000 {
            if is_so(self.child.id()) {
                return self;
            }
            assert!(self.child.try_wait().unwrap().is_none(), "ended before {what}");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        panic!("never: {what}");
    }

    fn thread(&mut self, name: &str) -> &mut Self {
        self.until(&format!("a thread {name}"), |pid| {
            let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            threads
                .map(|thread| fs::read_to_string(thread.path().join("comm")).unwrap_or_default())
                .any(|comm| comm.trim() == name)
        })
    }

    pub(crate) fn tell(&mut self, signal: Signal) -> &mut Self {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self
    }

    /// Waits for its end; the exit code, standard output, and all of standard error.
    pub(crate) fn end(self) -> (Option<i32>, String, String) {
        let Output { status, stdout, stderr } = self.child.wait_with_output().unwrap();
        let said = self.said + &String::from_utf8_lossy(&stderr);
        (status.code(), String::from_utf8_lossy(&stdout).into_owned(), said)
    }
}

/// An endless run whose iterations take this many seconds behind their request.
fn loading(seconds: &str, graceful: &str, service: &Service, folder: &Path) -> Going {
    let script = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';\n\
         export const options = {{ scenarios: {{ s: {{ executor: 'constant-vus', vus: 2, duration: '1h', gracefulStop: '{graceful}' }} }} }};\n\
         export default function () {{ http.get(`${{__ENV.TARGET}}/age?birthdate=1990-02-28`); if (__ITER === 0) console.log('loading'); sleep({seconds}); }}"
    );
    let mut going = Going::script(&script, &["-e", &format!("TARGET={}", service.url)], folder);
    going.says("loading");
    going
}

#[test]
fn the_first_signal_drains_and_the_summary_is_kept() {
    let service = Service::start("laptop --no-database --floor 200ms");
    for signal in [Signal::INT, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        let mut going = loading("0.1", "30s", &service, folder.path());
        going.tell(signal).says("Ctrl-C again");
        let (exit, stdout, said) = going.end();
        assert_eq!(exit, Some(105), "{signal:?}: {said}");
        assert!(stdout.contains("http_req_duration") && stdout.contains("iterations"), "{signal:?}: {stdout}");
    }
}

#[test]
fn the_second_signal_stops_now_and_the_summary_is_kept() {
    let service = Service::start("laptop --no-database --floor 200ms");
    let folder = tempfile::tempdir().unwrap();
    let mut going = loading("1000", "1h", &service, folder.path());
    going.tell(Signal::INT).says("Ctrl-C again").tell(Signal::TERM).says("stopping now");
    let (exit, stdout, said) = going.end();
    assert_eq!(exit, Some(105), "{said}");
    assert!(stdout.contains("http_req_duration"), "{stdout}");
}

#[test]
fn who_shall_outlive_the_terminal_does() {
    let service = Service::start("laptop --no-database");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_plimsoll"), "run"]);
    let mut going = Going::of(shell.args([&format!("{}/healthz", service.url), "-d", "1h"]));
    going.thread("load-0");
    let status = fs::read_to_string(format!("/proc/{}/status", going.child.id())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    going.tell(Signal::TERM);
    assert_eq!(going.end().0, Some(105));
    assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & 1, 1, "{ignored}");
}

#[test]
fn endless_init_code_ends_with_the_first_signal() {
    let folder = tempfile::tempdir().unwrap();
    let mut once =
        Going::script("while (true) {}\nexport default function () {}", &["--summary-export", "s.json"], folder.path());
    once.thread("script").tell(Signal::INT);
    let (exit, _, said) = once.end();
    assert!(exit == Some(105) && said.contains("init code of script.js"), "{exit:?}: {said}");
    let mut of_a_user =
        Going::script("if (__VU > 0) { while (true) {} }\nexport default function () {}", &[], folder.path());
    of_a_user.thread("load-0").tell(Signal::INT);
    let (exit, _, said) = of_a_user.end();
    assert_eq!(exit, Some(105), "{said}");
}

#[test]
fn an_endless_teardown_ends_soon_behind_the_first_signal() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export const options = { iterations: 1, teardownTimeout: '1h' };
                  export default function () {}
                  export function teardown() { console.log('tearing'); while (true) {} }";
    let mut going = Going::script(script, &[], folder.path());
    going.says("tearing").tell(Signal::INT);
    let (exit, stdout, said) = going.end();
    assert_eq!(exit, Some(105), "{said}");
    assert!(stdout.contains("iterations"), "{stdout}");
}

/// A script that stays in one phase, and says so, until something ends it there.
const STAYS: &str = "
    import { sleep } from 'k6';
    export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 2, iterations: 4, maxDuration: __ENV.LENGTH, gracefulStop: __ENV.GRACE } } };
    const stays = (phase) => { if (__ENV.PHASE === phase) { console.log(`in ${phase}`); sleep(1000); } };
    export function setup() { stays('setup'); }
    export default function () { stays('load'); if (__ENV.PHASE === 'graceful') sleep(1.5); stays('graceful'); }
    export function teardown() { console.log('torn down'); stays('teardown'); }
    export function handleSummary(data) { while (__ENV.PHASE === 'handleSummary') {} return { 'summary.txt': 'kept' }; }";

/// Runs into the phase, and tells it these signals, each when the one before was heard.
fn told_in(phase: &str, grace: &str, signals: &[Signal], folder: &Path) -> (Option<i32>, String, String) {
    let length = if phase == "graceful" { "1s" } else { "1h" };
    let env = [format!("PHASE={phase}"), format!("GRACE={grace}"), format!("LENGTH={length}")];
    let env: Vec<_> = env.iter().flat_map(|pair| ["-e", pair]).collect();
    let files = ["--out", "json=samples.json", "--record", "run.record", "--summary-export", "summary.json"];
    let mut going = Going::script(STAYS, &[&env[..], &files[..]].concat(), folder);
    match phase {
        "handleSummary" => going.thread(phase),
        phase => going.says(&format!("in {phase}")),
    };
    for (signal, heard) in signals.iter().zip(["Ctrl-C again", "stopping now"]) {
        going.tell(*signal);
        if phase != "handleSummary" {
            going.says(heard);
        }
    }
    going.end()
}

/// Every file that was asked for is there, and ends with a whole line.
fn files_are_whole(folder: &Path, what: &str) {
    for name in ["samples.json", "run.record"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.ends_with('\n'), "{what}: {name} is cut off");
        for line in text.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{what}: {name}: {line}"));
        }
    }
    let summary = fs::read(folder.join("summary.json")).unwrap();
    serde_json::from_slice::<serde_json::Value>(&summary).unwrap_or_else(|_| panic!("{what}: summary.json"));
}

#[test]
fn one_signal_ends_every_phase_in_order() {
    for (phase, signal) in [
        ("setup", Signal::INT),
        ("load", Signal::TERM),
        ("graceful", Signal::HUP),
        ("teardown", Signal::INT),
        ("handleSummary", Signal::TERM),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (exit, stdout, said) = told_in(phase, "2s", &[signal], folder.path());
        assert_eq!(exit, Some(105), "{phase}: {said}");
        files_are_whole(folder.path(), phase);
        // Who was stopped in setup has nothing to tear down.
        assert_eq!(said.contains("torn down"), phase != "setup", "{phase}: {said}");
        let handled = fs::read_to_string(folder.path().join("summary.txt")).is_ok();
        assert_eq!(handled, phase != "handleSummary", "{phase}: {said}");
        assert!(handled || stdout.contains("iterations"), "{phase}: {stdout}");
    }
}

#[test]
fn two_signals_end_every_phase_now() {
    for (phase, signals) in [
        ("setup", [Signal::INT, Signal::INT]),
        ("load", [Signal::INT, Signal::TERM]),
        ("graceful", [Signal::TERM, Signal::INT]),
        ("teardown", [Signal::HUP, Signal::TERM]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // In setup the first signal ends everything already.
        let signals = if phase == "setup" { &signals[..1] } else { &signals[..] };
        let (exit, _, said) = told_in(phase, "1h", signals, folder.path());
        assert_eq!(exit, Some(105), "{phase}: {said}");
        files_are_whole(folder.path(), phase);
        assert_eq!(said.contains("torn down"), phase == "teardown", "{phase}: {said}");
    }
}

/// The main thread is stuck: nobody reads what it prints.
#[test]
fn the_third_signal_ends_whatever_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export const options = { iterations: 1 };
                  export default function () {}
                  export function handleSummary() { return { 'first.txt': 'x', stdout: 'x'.repeat(1e6) }; }";
    let mut going = Going::script(script, &[], folder.path());
    going.until("the first file", |_| folder.path().join("first.txt").exists());
    let signals = [Signal::INT, Signal::TERM].into_iter().cycle();
    for signal in signals.take(3000) {
        if let Some(status) = going.child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(105));
            return;
        }
        going.tell(signal);
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let _ = going.child.kill();
    panic!("signals do not end it");
}

/// An output whose server does not answer holds up the end, until the second signal.
#[test]
fn the_second_signal_ends_the_wait_for_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let output = format!("influxdb=http://{}/db", server.local_addr().unwrap());
    let script = "export const options = { iterations: 1 };
                  export default function () {}
                  export function teardown() { console.log('torn down'); }";
    let mut going = Going::script(script, &["--out", &output], folder.path());
    let _silent = server.accept().unwrap();
    going.says("torn down").tell(Signal::INT).tell(Signal::TERM);
    let (exit, stdout, said) = going.end();
    assert_eq!(exit, Some(105), "{said}");
    assert!(said.contains("outputs were not ended in order") || said.contains("lost"), "{said}");
    assert!(stdout.contains("iterations"), "{stdout}");
}

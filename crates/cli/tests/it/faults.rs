//! What goes wrong around a run: a target that is not there, users whose script never ends or takes all memory, disks
//! that are full. The run goes on, says what was wrong, and ends.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::service::{Service, plimsoll};
use crate::signals::Going;

/// Runs a script to its end: exit code, standard output, standard error.
fn run(folder: &Path, script: &str, words: &[&str]) -> (i32, String, String) {
    fs::write(folder.join("script.js"), script).unwrap();
    let output = plimsoll().args(["run", "script.js"]).args(words).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// An address of this machine at which nothing listens.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// A line of the summary, its columns joined by single spaces.
fn line(stdout: &str, name: &str) -> String {
    let line = stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn who_takes_all_memory_is_stopped_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
        export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 4, iterations: 3 } } };
        const kept = [];
        export default function () { while (__VU === 2) kept.push({}); }";
    let (exit, stdout, said) = run(folder.path(), script, &["--memory-per-user", "16", "--workers", "2"]);
    assert_eq!(exit, 0, "{said}");
    assert!(line(&stdout, "iterations").contains(": 12 "), "{stdout}");
    assert!(stdout.contains("3  out of memory: this user's script holds more than 16 MB"), "{stdout}");
    assert!(said.contains("begins anew"), "{said}");
    let (exit, ..) = run(folder.path(), script, &["--memory-per-user", "16", "--fail-on-exceptions"]);
    assert_eq!(exit, 107);
}

/// Each user of one run never ends in its own way; the last one works.
#[test]
fn who_never_ends_is_cut_off_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
        import { sleep } from 'k6';
        const ways = [
            () => { while (true) {} },
            () => { while (true) try { throw 1; } catch {} },
            () => { for (;;) try { null.x; } finally { continue; } },
            () => { const f = () => Promise.resolve().then(f); return f(); },
            () => { const f = () => setTimeout(f, 0); f(); },
            async () => { while (true) try { await null; throw 1; } catch {} },
            () => { const f = () => { try { f(); } catch {} f(); }; f(); },
            () => { const f = () => { try { f(); } finally { f(); } }; while (true) try { f(); } catch {} },
            () => { while (true) /(a+)+$/.test('a'.repeat(40) + 'b'); },
            () => { while (true) [3, 1, 2].sort(() => { while (true) {} }); },
            () => { while (true) new Array(100).join('a'); },
            () => { function* f() { while (true) try { yield 1; } finally { continue; } } for (const _ of f()) {} },
        ];
        export const options = { scenarios: { s: { executor: 'constant-vus', vus: 13, duration: '2s', gracefulStop: '500ms' } } };
        export default function () { if (__VU <= 12) { console.log(`begins ${__VU}`); return ways[__VU - 1](); } sleep(0.1); }";
    let (exit, stdout, said) = run(folder.path(), script, &["--workers", "2"]);
    assert_eq!(exit, 0, "{said}");
    for vu in 1..=12 {
        assert_eq!(said.matches(&format!("begins {vu}\n")).count(), 1, "{vu}: {said}");
    }
    let done = line(&stdout, "iterations");
    assert!(!done.is_empty() && !stdout.contains("did not stop"), "{stdout}");
    assert!(!stdout.contains("EXCEPTIONS"), "{stdout}");
}

/// Nothing ends one long operation of the engine itself; the run ends all the same, and says so.
#[test]
fn who_cannot_be_cut_off_does_not_keep_the_run_from_ending() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };
        export default function () {
            if (__VU === 2) 'a'.repeat(2e7).indexOf(`${'a'.repeat(1e7)}b`);
            sleep(0.1);
        }";
    let (exit, stdout, said) = run(folder.path(), script, &["--workers", "2"]);
    assert_eq!(exit, 0, "{said}");
    let flat = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("1 user did not stop: the script is busy in one long operation on 1 of 2 threads"),
        "{stdout}"
    );
    assert!(!line(&stdout, "iterations").is_empty(), "{stdout}");
}

#[test]
fn more_log_than_can_be_kept_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export const options = { iterations: 1 };
        export default function () { const text = 'x'.repeat(1e6); for (let i = 0; i < 40; i++) console.log(i + text); }";
    let (exit, _, said) = run(folder.path(), script, &["--log-output", "file=log.txt"]);
    assert_eq!(exit, 0, "{said}");
    let log = fs::read_to_string(folder.path().join("log.txt")).unwrap();
    assert!(log.len() < 20_000_000 && log.contains("lines of the script are left out here"), "{}", log.len());
}

#[test]
fn a_target_that_is_down_fails_requests_and_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
        import http from 'k6/http';
        export const options = { iterations: 5 };
        export default function () {
            const down = http.get(`http://${__ENV.TARGET}/`);
            const unknown = http.get('http://nowhere.invalid/');
            console.log(`codes ${down.error_code} ${unknown.error_code}`);
        }";
    let (exit, stdout, said) = run(folder.path(), script, &["-e", &format!("TARGET={}", free_address())]);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("codes 1212 1101"), "{said}");
    assert!(line(&stdout, "http_reqs").contains(": 10 "), "{stdout}");
    assert!(line(&stdout, "http_req_failed").contains("100.00%"), "{stdout}");
    let target = format!("http://{}/", free_address());
    let find = plimsoll().args(["find", &target, "--quick"]).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&find.stderr);
    assert!(find.status.code() == Some(255) && said.contains(&target[7..target.len() - 1]), "{said}");
}

#[test]
fn a_target_that_goes_away_and_comes_back_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("laptop --no-database --listen {}", free_address());
    let mut service = Service::start(&listen);
    let script = "
        import http from 'k6/http';
        import { sleep } from 'k6';
        export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 1, iterations: 1 } } };
        function until(holds) { let n = 0; for (;;) { const r = http.get(`${__ENV.TARGET}/healthz`); n++; if (holds(r)) return n; sleep(0.02); } }
        export default function () {
            until((r) => r.status === 200); console.log('here');
            until((r) => r.status === 0); console.log('gone');
            until((r) => r.status === 200); console.log('back');
            for (let i = 0; i < 10; i++) if (http.get(`${__ENV.TARGET}/healthz`).status !== 200) throw new Error('not all the way');
        }";
    fs::write(folder.path().join("script.js"), script).unwrap();
    let target = format!("TARGET={}", service.url);
    let mut going = Going::start(&["run", "script.js", "-e", &target, "--summary-export", "s.json"], folder.path());
    going.says("here");
    service.kill();
    going.says("gone");
    let _back = Service::start(&listen);
    going.says("back");
    let (exit, stdout, said) = going.end();
    assert!(exit == Some(0) && !stdout.contains("EXCEPTIONS"), "{exit:?}: {said}");
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("s.json")).unwrap()).unwrap();
    let count = |metric: &str, key: &str| summary["metrics"][metric][key].as_u64().unwrap();
    // Of a rate, k6 calls those passes that are true: here the failed ones.
    let (failed, fine) = (count("http_req_failed", "passes"), count("http_req_failed", "fails"));
    assert!(failed >= 1 && fine >= 12 && failed + fine == count("http_reqs", "count"), "{summary}");
    assert_eq!(stdout.matches("1212").count(), 1, "one line and one example for all refused connections: {stdout}");
}

#[test]
fn too_few_open_files_fail_requests_and_not_the_run() {
    let service = Service::start("laptop --no-database --floor 300ms");
    let folder = tempfile::tempdir().unwrap();
    let script = "import http from 'k6/http';
        export const options = { vus: 120, iterations: 120 };
        export default function () { http.get(`${__ENV.TARGET}/age?birthdate=1990-02-28`); }";
    fs::write(folder.path().join("script.js"), script).unwrap();
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_plimsoll"), "run", "script.js"])
        .args(["-e", &format!("TARGET={}", service.url)])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (stdout, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(line(&stdout, "iterations").contains(": 120 "), "{stdout}");
    assert!(said.contains("Too many open files"), "{said}");
    assert!(!line(&stdout, "http_req_failed").contains(" 100.00%"), "some requests are answered: {stdout}");
}

const WRITER: &str = "
    export const options = { iterations: 1 };
    export default function () { console.log('a line'); }
    export function handleSummary(data) { return __ENV.FILES ? { 'full': 'x', 'fine.txt': 'kept', stdout: 'done' } : null; }";

#[test]
fn a_full_disk_costs_one_file_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["full", "full.json.gz", "full.csv"] {
        symlink("/dev/full", folder.path().join(name)).unwrap();
    }
    let full = |words: &[&str]| run(folder.path(), WRITER, words);
    for (words, sentence, expected) in [
        (&["--record", "full"][..], "writing the record full failed", 255),
        (&["--summary-export", "full"], "cannot write full", 255),
        (&["--out", "json=full.json.gz"], "writing samples to full.json.gz failed", 255),
        (&["--out", "csv=full.csv"], "writing samples to full.csv failed", 255),
        // As in k6, what a script's own files come to is no matter of the exit code.
        (&["-e", "FILES=1"], "cannot write full, which handleSummary() returned", 0),
        (&["--console-output", "full"], "writing log lines to full failed", 0),
        (&["--log-output", "file=full"], "writing log lines to full failed", 0),
    ] {
        let (exit, stdout, said) = full(words);
        assert_eq!(exit, expected, "{words:?}: {said}");
        assert!(said.contains(sentence) && said.contains("No space left on device"), "{words:?}: {said}");
        assert!(stdout.contains("iterations") || stdout.contains("done"), "{words:?}: {stdout}");
        assert!(said.contains("a line"), "{words:?}: {said}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("fine.txt")).unwrap(), "kept");
}

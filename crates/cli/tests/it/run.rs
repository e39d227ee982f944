//! `plimsoll run` against a real service: k6's results and exit codes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::service::{Service, plimsoll};

const JOURNEY: &str = "
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import { age } from './lib/age.js';
const ages = new Trend('ages');
const leaps = new Counter('leaps');
export const options = { vus: 2, iterations: 10, thresholds: {
  checks: ['rate>0.99'], 'http_req_duration{name:age}': ['p(95)<5000'], ages: ['min>10'] } };
export function setup() { return { births: ['1990-02-28', '2000-02-29'] }; }
export default function (data) {
  group('ages', () => {
    const birth = data.births[__ITER % 2];
    const response = http.get(`${__ENV.TARGET}/age?birthdate=${birth}`, { tags: { name: 'age' } });
    check(response, { 'status is 200': (r) => r.status === 200, 'has an age': (r) => age(r) > 20 });
    ages.add(age(response));
    if (birth.endsWith('02-29')) leaps.add(1);
  });
  sleep(0.01);
}
export function teardown(data) { console.log(`done with ${data.births.length}`); }
";

fn journey(folder: &Path) {
    fs::create_dir(folder.join("lib")).unwrap();
    fs::write(folder.join("lib/age.js"), "export const age = (response) => response.json('age');\n").unwrap();
    fs::write(folder.join("journey.js"), JOURNEY).unwrap();
}

#[test]
fn a_script_runs_as_in_k6() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    journey(folder.path());
    let target = format!("TARGET={}", service.url);
    let words = ["run", "journey.js", "-e", &target, "--summary-export", "summary.json", "--record", "run.record"];
    let output = plimsoll().args(words).current_dir(folder.path()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    for part in ["checks_succeeded", "100.00%", "has an age", "iterations", "http_req_duration", "ages", "leaps"] {
        assert!(stdout.contains(part), "lacks {part}:\n{stdout}");
    }
    assert!(stderr.contains("done with 2"), "{stderr}");
    let summary: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["metrics"]["iterations"]["count"], 10.0);
    assert_eq!(summary["metrics"]["http_reqs"]["count"], 10.0);
    assert_eq!(summary["metrics"]["checks"]["passes"], 20);
    assert_eq!(summary["metrics"]["ages"]["thresholds"]["min>10"], false, "k6 writes true for a broken one");
    assert_eq!(summary["root_group"]["groups"]["ages"]["checks"]["has an age"]["passes"], 10);
    let report = plimsoll().args(["report", "run.record"]).current_dir(folder.path()).output().unwrap();
    assert!(String::from_utf8(report.stdout).unwrap().contains("has an age"));
}

fn code(folder: &Path, script: &str, words: &[&str]) -> (i32, String) {
    fs::write(folder.join("script.js"), script).unwrap();
    let output = plimsoll().args(["run", "script.js"]).args(words).current_dir(folder).output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
    )
}

/// What `plimsoll run` with these words and variables says, with this on standard input.
fn typed(folder: &Path, words: &[&str], variables: &[(&str, &str)], stdin: &str) -> (i32, String, String) {
    let mut command = plimsoll();
    command.arg("run").args(words).current_dir(folder).envs(variables.iter().copied()).write_stdin(stdin);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn options_come_from_file_script_environment_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import exec from 'k6/execution';
        export const options = { vus: 2, iterations: 2, userAgent: 'script', tags: { from: 'script' } };
        export default function () {
          const o = exec.test.options;
          console.log(JSON.stringify([options.iterations, options.throw, o.scenarios.default.iterations, o.userAgent, o.tags, o.vus]));
          try { 'use strict'; o.scenarios.default.x = 1; } catch (e) {}
          console.log(`${Object.isFrozen(o)} ${o.scenarios.default.x} ${exec.vu.idInTest}`);
        }";
    fs::write(folder.path().join("script.js"), script).unwrap();
    fs::write(folder.path().join("config.json"), r#"{ "iterations": 50, "throw": true, "userAgent": "file" }"#)
        .unwrap();
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let (code, _, said) = typed(folder.path(), &[&["script.js"], words].concat(), variables, "");
        assert_eq!(code, 0, "{said}");
        said
    };
    let said = run(&["-c", "config.json"], &[]);
    assert!(said.contains(r#"[2,true,2,"script",{"from":"script"},null]"#), "{said}");
    assert!(said.contains("true undefined 1") || said.contains("true undefined 2"), "{said}");
    let variables =
        [("K6_CONFIG", "config.json"), ("K6_USER_AGENT", "env"), ("K6_ITERATIONS", "3"), ("K6_TAGS", "a:b")];
    let said = run(&["-i", "4"], &variables);
    assert!(said.contains(r#"[4,true,4,"env",{"a":"b"},null]"#), "{said}");
}

#[test]
fn scripts_may_come_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("names.txt"), "Ann").unwrap();
    fs::write(folder.path().join("lib.js"), "export const greet = (name) => console.log(`hello ${name}`);").unwrap();
    let script =
        "import { greet } from './lib.js';\nconst name = open('./names.txt');\nexport default () => greet(name);";
    let (code, _, said) = typed(folder.path(), &["-"], &[], script);
    assert!(code == 0 && said.contains("hello Ann"), "{code}: {said}");
    let (code, _, said) = typed(folder.path(), &["-"], &[], "const x = ;");
    assert!(code == 107 && said.contains("-:1:"), "{code}: {said}");
}

#[test]
fn archives_of_k6_are_run_without_being_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let metadata = r#"{ "type": "js", "filename": "file:///gone/tests/main.js", "env": { "WHO": "Ann" },
        "options": { "iterations": 2, "vus": null, "scenarios": null, "throw": true } }"#;
    let script = "import { greet } from './lib/greet.js'; const text = open('../data/text.txt');
        export const options = { duration: '1h' };
        export default () => greet(`${text} ${__ENV.WHO} ${options.throw}`);";
    let mut archive = tar::Builder::new(fs::File::create(folder.path().join("a.tar")).unwrap());
    let mut add = |name: &str, text: &str, kind| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        if kind == tar::EntryType::Link {
            header.set_link_name("data").unwrap();
        }
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    };
    add("metadata.json", metadata, tar::EntryType::Regular);
    add("data", script, tar::EntryType::Regular);
    add("file/gone/tests/lib/greet.js", "export const greet = (it) => console.log(it);", tar::EntryType::Regular);
    add("file/gone/data/text.txt", "hello", tar::EntryType::Regular);
    add("file/gone/tests/main.js", "", tar::EntryType::Link);
    archive.finish().unwrap();
    for words in [&["a.tar"][..], &["--type", "archive", "a.tar"]] {
        let (code, _, said) = typed(folder.path(), words, &[], "");
        assert_eq!((code, said.matches("hello Ann true").count()), (0, 2), "{said}");
    }
    let (_, _, said) = typed(folder.path(), &["a.tar", "-i", "1", "-e", "WHO=Bob"], &[], "");
    assert_eq!(said.matches("hello Bob true").count(), 1, "{said}");
}

#[test]
fn log_lines_go_where_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export default function () { console.log('hello'); console.error('oh'); }";
    fs::write(folder.path().join("script.js"), script).unwrap();
    let run = |words: &[&str]| {
        let (code, stdout, stderr) = typed(folder.path(), &[&["script.js", "-q", "-i", "4"], words].concat(), &[], "");
        assert_eq!(code, 0, "{stderr}");
        (stdout, stderr)
    };
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let (_, said) = run(&["--console-output", "console.txt"]);
    assert!(!said.contains("hello"), "{said}");
    assert_eq!(read("console.txt"), "INFO  hello\nERROR oh\n".repeat(4), "every line, uncounted");
    let (_, said) = run(&["--log-output=file=log.txt", "--log-format", "raw"]);
    assert!(!said.contains("hello"), "{said}");
    assert_eq!(read("log.txt"), "hello\noh\n".repeat(4));
    let (stdout, _) = run(&["--log-output", "stdout"]);
    assert!(stdout.starts_with("INFO  hello\nERROR oh\n"), "{stdout}");
    let (_, said) = run(&["--log-format=json"]);
    let line: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!((&line["level"], &line["msg"], &line["source"]), (&"info".into(), &"hello".into(), &"console".into()));
    assert!(line["time"].as_str().unwrap().contains('T'), "{said}");
    let (_, said) = run(&["--log-output", "none"]);
    assert!(!said.contains("hello"), "{said}");
}

#[test]
fn the_environment_is_part_of_env_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export default () => console.log(`${__ENV.MINE} ${__ENV.TYPED} ${__ENV.TAKEN}`);";
    fs::write(folder.path().join("script.js"), script).unwrap();
    let run = |words: &[&str]| {
        let words = [&["script.js", "-e", "TYPED=b", "-e", "TAKEN", "-e", "NOBODYS"], words].concat();
        typed(folder.path(), &words, &[("MINE", "a"), ("TAKEN", "c")], "").2
    };
    assert!(run(&[]).contains("a b c"));
    assert!(run(&["--include-system-env-vars=false"]).contains("undefined b c"));
}

#[test]
fn one_scenario_and_one_iteration_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export const options = { scenarios: {
            a: { executor: 'constant-vus', vus: 9, duration: '1h', exec: 'a' },
            b: { executor: 'per-vu-iterations', vus: 2, iterations: 3, startTime: '1h', exec: 'b' } } };
        export function a() { console.log(`a${__VU}`); } export function b() { console.log(`b${__ITER}`); }";
    fs::write(folder.path().join("script.js"), script).unwrap();
    let run = |words: &[&str]| typed(folder.path(), &[&["script.js"], words].concat(), &[], "").2;
    let said = run(&["--scenario", "b"]);
    assert!(said.contains("b2") && !said.contains("a1"), "{said}");
    let said = run(&["--once"]);
    assert!(said.contains("a1") && said.contains("b0") && !said.contains("b1"), "{said}");
}

#[test]
fn a_service_is_found_under_the_name_that_hosts_gives_it() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    let address = service.url.strip_prefix("http://").unwrap();
    let config = format!(r#"{{ "hosts": {{ "shop.test": "{address}", "far.test": "93.184.216.34" }} }}"#);
    fs::write(folder.path().join("config.json"), config).unwrap();
    let (code, said, error) =
        typed(folder.path(), &["http://shop.test/healthz", "-i", "1", "-c", "config.json"], &[], "");
    assert!(code == 0 && said.contains("0 out of 1"), "{code}: {said}{error}");
    let script = "import http from 'k6/http'; export default () => http.get('http://far.test/');";
    fs::write(folder.path().join("script.js"), script).unwrap();
    for target in ["http://far.test/", "script.js"] {
        let (code, _, said) = typed(folder.path(), &[target, "-i", "1", "-c", "config.json"], &[], "");
        assert!(code == 122 && said.contains("far.test (93.184.216.34)"), "{code}: {said}");
    }
}

#[test]
fn quiet_keeps_what_the_script_says() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export default function () { console.log('hello'); console.debug('secretly'); }";
    let (exit, said) = code(folder.path(), script, &["--quiet"]);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("hello") && !said.contains("secretly") && !said.contains("running"), "{said}");
}

#[test]
fn deeply_nested_text_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let sum = format!("export default function () {{ console.log({}1); }}", "1+".repeat(200_000));
    let (exit, said) = code(folder.path(), &sum, &["-i", "1"]);
    assert!(exit == 0 && said.contains("200001"), "{exit}: {said}");
    let script = format!("export default function () {{ return {}1{}; }}", "(".repeat(20_000), ")".repeat(20_000));
    let (exit, said) = code(folder.path(), &script, &["-i", "1"]);
    assert!(exit == 107 && said.contains("RangeError"), "{exit}: {said}");
}

#[test]
fn passwords_in_urls_are_neither_shown_nor_recorded() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    let target = service.url.replace("//", "//me:s3cret@") + "/healthz";
    let words = ["run", &target, "-i", "1", "--record", "a.record"];
    let output = plimsoll().args(words).current_dir(folder.path()).output().unwrap();
    let record = fs::read(folder.path().join("a.record")).unwrap();
    let script = "import http from 'k6/http'; export default () => { http.get('http://me:s3cret@127.0.0.1:1/'); };";
    let (exit, failed) = code(folder.path(), script, &["-i", "1"]);
    assert!(exit == 0 && failed.contains("request failed: GET http://me:***@127.0.0.1:1/"), "{failed}");
    let example = "1212 dial: connection refused (1 request), e.g. GET http://****:****@127.0.0.1:1/";
    assert!(failed.contains("ERRORS") && failed.contains(example), "{failed}");
    for text in [output.stdout, output.stderr, record, failed.into_bytes()] {
        let text = String::from_utf8_lossy(&text);
        assert!(!text.is_empty() && !text.contains("s3cret"), "{text}");
    }
}

#[test]
fn connections_are_made_and_used_as_the_flags_say() {
    let service = Service::start("laptop --no-database");
    let folder = tempfile::tempdir().unwrap();
    let script = "import http from 'k6/http'; import { check } from 'k6';
      export default function () {
        const all = [1, 2, 3].map(() => http.get(`${__ENV.TARGET}/healthz`));
        check(all, { 'all are new': (all) => all.every((r) => r.timings.connecting > 0),
                     'HTTP/1.1': (all) => all.every((r) => r.proto === 'HTTP/1.1') });
      }";
    let target = format!("TARGET={}", service.url);
    let run = |words: &[&str]| code(folder.path(), script, &[&["-i", "1", "-e", &target], words].concat());
    let (exit, said) = run(&["--connection-max-requests", "1"]);
    assert!(exit == 0 && said.contains("✓ all are new") && said.contains("✓ HTTP/1.1"), "{said}");
    let (exit, said) = run(&["--http-version", "1.1", "--connection-max-age", "10m"]);
    assert!(exit == 0 && said.contains("✗ all are new") && said.contains("✓ HTTP/1.1"), "{said}");
    let (exit, said) = run(&["--http-version", "2"]);
    assert!(exit == 0 && said.contains("✗ HTTP/1.1"), "{said}");
    let (exit, said) = run(&["--http-version", "3"]);
    assert!(exit == 255 && said.contains("1.1, 2"), "{said}");
}

#[test]
fn a_unix_socket_is_a_target() {
    use std::io::{Read, Write};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("service.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let count = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    let url = format!("http+unix://{}/health", path.to_str().unwrap().replace('/', "%2F"));
    let output = plimsoll().args(["run", &url, "-i", "1"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("http_reqs"), "{said}");
    assert!(server.join().unwrap().starts_with("GET /health HTTP/1.1\r\nHost: localhost\r\n"));
}

#[test]
fn the_usual_limit_of_open_files_is_not_that_of_the_users() {
    let service = Service::start("laptop --no-database --floor 200ms");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -Sn 100 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_plimsoll"), "run"]);
    let output = shell.args([&format!("{}/age?birthdate=1990-02-28", service.url), "-u", "150", "-i", "150"]).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("0 out of 150"), "{said}");
}

#[test]
fn exit_codes_are_those_of_k6() {
    let folder = tempfile::tempdir().unwrap();
    let check = |script: &str| code(folder.path(), script, &[]);
    let (exit, said) = check(
        "import { check } from 'k6'; export const options = { thresholds: { checks: ['rate>0.5'] } };\nexport default function () { check(1, { no: () => false }); }",
    );
    assert_eq!(exit, 99, "{said}");
    assert!(said.contains("checks") && said.contains("rate>0.5"));
    let (exit, said) = check("export default function () { throw new Error('boom'); }");
    assert_eq!(exit, 0, "an exception in an iteration does not fail a run: {said}");
    assert!(said.contains("boom"), "{said}");
    let (exit, said) = check("export function setup() { throw new Error('no setup'); }\nexport default function () {}");
    assert_eq!(exit, 107, "{said}");
    assert!(said.contains("no setup"));
    let (exit, said) =
        check("export function teardown() { throw new Error('no end'); }\nexport default function () {}");
    assert_eq!(exit, 107, "{said}");
}

#[test]
fn what_is_not_supported_ends_the_run_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import http from 'k6/http';\nexport default function () {\n  try { http.get('http://127.0.0.1:1/', { auth: 'digest' }); } catch (e) {}\n}";
    let (exit, said) = code(folder.path(), script, &["-u", "3", "-d", "1h"]);
    assert_eq!(exit, 107, "{said}");
    let sentence = "the request parameter auth: 'digest' is not supported yet: 'basic' is";
    assert_eq!(said.matches("not supported yet").count(), 1, "{said}");
    assert!(said.contains("error: ") && said.contains("script.js:3:") && said.contains(sentence), "{said}");
}

#[test]
fn exceptions_and_lines_that_come_again_and_again_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export default function () { console.log('hello'); console.log(`number ${__ITER}`); null.x; }";
    let (exit, said) = code(folder.path(), script, &["-i", "1234"]);
    assert_eq!(exit, 0, "{said}");
    assert_eq!(said.matches("TypeError: cannot read property 'x' of null").count(), 8, "{said}");
    assert_eq!(said.matches(" times so far: hello\n").count(), 3, "{said}");
    assert!(said.contains("1,234 times in all: TypeError: ") && said.contains("1,234 times in all: hello"), "{said}");
    assert!((0..1234).all(|number| said.contains(&format!("number {number}\n"))), "{said}");
}

#[test]
fn what_is_not_ours_is_refused_before_it_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import http from 'k6/http'; export default function () { http.get('http://93.184.216.34/'); }";
    let (exit, said) = code(folder.path(), script, &[]);
    assert_eq!(exit, 122, "{said}");
    assert!(said.contains("--allow 93.184.216.34"), "{said}");
}

#[test]
fn a_full_disk_ends_the_record_and_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (exit, said) = code(folder.path(), "export default function () {}", &["-i", "5", "--record", "/dev/full"]);
    assert_eq!(exit, 255, "{said}");
    assert!(said.contains("writing the record /dev/full failed") && said.contains("iterations"), "{said}");
}

#[test]
fn a_summary_that_cannot_be_written_hides_no_broken_threshold() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import { check } from 'k6'; export const options = { thresholds: { checks: ['rate>0.5'] } };
                  export default function () { check(1, { no: () => false }); }";
    let (exit, said) = code(folder.path(), script, &["--summary-export", "/dev/full"]);
    assert_eq!(exit, 99, "{said}");
    assert!(said.contains("cannot write /dev/full") && said.contains("have been broken"), "{said}");
    let (exit, said) = code(folder.path(), "export default function () {}", &["--summary-export", "/dev/full"]);
    assert!(exit == 255 && said.contains("cannot write /dev/full"), "{exit}: {said}");
}

#[test]
fn what_was_asked_to_be_watched_and_cannot_be_is_a_warning_even_if_quiet() {
    let service = Service::start("laptop --no-database");
    let target = service.url.clone() + "/healthz";
    let words = ["run", &target, "-i", "1", "--quiet", "--watch", "pid:4194305"];
    let output = plimsoll().args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("WARN  pid:4194305 is not watched: there is no such process"), "{said}");
}

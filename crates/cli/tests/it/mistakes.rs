//! Every input gets an answer: one clear sentence that names what was attempted, and the right exit code.

use std::fs;

use crate::service::plimsoll;

/// A record that was cut off behind its first line.
const HEADER: &str = "{\"header\":{\"version\":1,\"program\":\"0.1.0\",\"command\":\"find\",\"began_at\":\"\",\"machine\":{\"kernel\":\"\",\"cpu\":\"\",\"cores\":2,\"memory_bytes\":1}}}\n{\"pl";

/// What `plimsoll` with these words says on standard error, and its exit code. Standard output must stay empty.
fn check(words: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "syntax.js",
            "import http from 'k6/http';\nexport default function () {\n  http.get('http://127.0.0.1:1/';\n}\n",
        ),
        ("imports.js", "import x from './gone.js';\nexport default function () {}\n"),
        ("throws.js", "const x = null;\nx.y;\nexport default function () {}\n"),
        ("nothing.js", "export const options = {};\n"),
        (
            "own.js",
            "export const options = { stages: [{ duration: '9s', target: 5 }], thresholds: { checks: ['rate>0.5'] } };\nexport default function () {}\n",
        ),
        ("pages.js", "import { browser } from 'k6/browser';\nexport default function () {}\n"),
        ("hosts.js", "export const options = { hosts: { 'a.b': '1.2.3.x' } };\nexport default function () {}\n"),
        ("fine.js", "export default function () {}\n"),
        ("config.json", "{ \"vus\": 5, \"iterations\": 3 }"),
        ("list.json", "[]"),
        ("broken.json", "{nope"),
        ("vus.js", "export const options = { vus: 'many' };\nexport default function () {}\n"),
        ("rule.js", "export const options = { thresholds: { nope: ['rate<1'] } };\nexport default function () {}\n"),
        (
            "two.js",
            "export const options = { scenarios: {\n a: { executor: 'constant-vus', duration: '1s', exec: 'one' },\n b: { executor: 'constant-vus', duration: '1s', exec: 'two' } } };\nexport function one() {}\nexport function two() {}\n",
        ),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::write(folder.path().join("not-a-record"), "hello\n").unwrap();
    fs::write(folder.path().join("header-only"), HEADER).unwrap();
    let output =
        plimsoll().args(words).current_dir(folder.path()).timeout(std::time::Duration::from_secs(60)).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{words:?}");
    (stderr, output.status.code().unwrap())
}

#[test]
fn each_mistake_has_its_sentence_and_code() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unused = format!("http://{unused}/");
    let cases: &[Case<'_>] = &[
        (&["find", &unused], 255, &["nothing answers at 127.0.0.1", "refused", "start the service"]),
        (&["find", "http://93.184.216.34/"], 122, &["refused to load 93.184.216.34", "--allow 93.184.216.34"]),
        (&["find", &unused, "--watch", "postgres://me:s3cret@db:x"], 104, &["me:***@db:x", "no host and port"]),
        (&["find", "ftp://a/"], 104, &["only http:// and https://"]),
        (&["find", "nowhere.js"], 255, &["nowhere.js", "no such script"]),
        (&["find", &unused, "--slo", "p(90)<500"], 104, &["names no metric"]),
        (&["find", &unused, "--slo", "http_req_duration: avg<5"], 104, &["percentile"]),
        (
            &["find", &unused, "--slo", "http_req_duration: p(90)500", "--watch", "pid:x"],
            104,
            &["no comparison", "--watch"],
        ),
        (&["find", &unused, "--mode", "rate"], 104, &["--mode rate is not supported yet"]),
        (&["find", &unused, "--report", "x.html"], 104, &["--report is not supported yet"]),
        (&["find", &unused, "--rate-max", "5"], 104, &["--rate-max is not supported yet"]),
        (&["find", &unused, "--budget", "5s"], 104, &["at least 30s"]),
        (&["find", &unused, "--budget", "40"], 104, &["means 40 ms", "at least 30s", "did you mean 40s?"]),
        (&["find", &unused, "--json", "no/such/folder.json"], 255, &["cannot write no/such/folder.json"]),
        (
            &["find", "own.js", "--slo", "nope: rate<1"],
            104,
            &[
                "not used of own.js: stages and thresholds; find sets the number of users itself",
                "--slo replaces both default promises",
                "--slo 'http_req_failed: rate<0.01'",
                "no metric nope",
            ],
        ),
        (&["find", &unused, "--think", "-5s"], 255, &["--think"]),
        (&["find", "two.js"], 104, &["one, two"]),
        (&["run", "syntax.js"], 107, &["syntax.js:3", "http.get('http://127.0.0.1:1/';", "^"]),
        (&["run", "throws.js"], 107, &["throws.js:2", "property 'y' of null"]),
        (
            &["run", "imports.js"],
            107,
            &["cannot read gone.js: No such file", ", imported at imports.js:1:15\nimport x", "^\n"],
        ),
        (&["run", "vus.js", "-u", "-1"], 255, &["invalid value '-1' for '--vus"]),
        (&["run", "nothing.js"], 255, &["export"]),
        (&["run", "pages.js"], 104, &["k6/browser", "not supported"]),
        (&["run", "vus.js"], 104, &["vus", "many"]),
        (&["run", "rule.js"], 104, &["nope"]),
        (&["run", "gone.js"], 255, &["gone.js"]),
        (&["run", "own.js", "--summary-export", "no/such/folder.json"], 255, &["cannot write no/such/folder.json"]),
        (&["run", "two.js", "--out", "cloud"], 104, &["error: --out: the output `cloud` is not supported: "]),
        (&["run", "-o", "nonsense", "two.js"], 104, &["there is no output `nonsense`; there are json"]),
        (&["--quiet", "run", "--summary-mode=none", "two.js"], 104, &["--summary-mode: compact, full"]),
        (&["find", &unused, "--out", "json"], 255, &["--out"]),
        (&["run", "nothing.js", "--no-usage-report"], 255, &["export"]),
        (&["run", "vus.js", "--frobnicate"], 255, &["--frobnicate"]),
        (&["report", "not-a-record"], 255, &["not-a-record", "no plimsoll record"]),
        (&["report", "gone"], 255, &["cannot open the record gone"]),
        (&["report", "header-only"], 255, &["the record header-only was cut off before any load"]),
        (&["compare", "a", "b"], 104, &["`plimsoll compare` is not supported yet"]),
        (&["lab", "signin"], 104, &["not supported yet"]),
    ];
    check_all(cases);
}

#[test]
fn each_mistake_in_options_has_its_sentence_and_code() {
    check_all(&[
        (&["run", "hosts.js"], 104, &["hosts", "`1.2.3.x` is no IP address"]),
        (&["run", "fine.js", "-c", "gone.json"], 104, &["cannot read the config file gone.json: No such file"]),
        (&["run", "fine.js", "-c", "list.json"], 104, &["list.json: an object with options is expected"]),
        (&["run", "fine.js", "--config=broken.json"], 104, &["broken.json: this is no JSON"]),
        (&["run", "fine.js", "-c", "config.json"], 104, &["3 iterations are too few for 5 users"]),
        (&["run", "fine.js", "-i", "1", "-s", "1s:1"], 104, &["`iterations` and `stages` contradict each other"]),
        (&["run", "fine.js", "-s", "x"], 255, &["--stage: `10s:5,20s:10` is the form"]),
        (&["run", "fine.js", "--tag", "a"], 255, &["--tag: `a` is not of the form NAME=VALUE"]),
        (&["run", "fine.js", "--tag", "a="], 255, &["--tag: `a` has no value"]),
        (&["run", "fine.js", "--dns", "nope=1"], 255, &["--dns", "`nope=1` was given"]),
        (&["run", "fine.js", "--local-ips", "x"], 255, &["localIPs", "`x` is none of an address"]),
        (&["run", "fine.js", "--blacklist-ip", "x"], 255, &["blacklistIPs", "`x` is no network"]),
        (&["run", "fine.js", "--block-hostnames", "a*b"], 255, &["blockHostnames", "`a*b`"]),
        (&["run", "fine.js", "--execution-segment", "2:1"], 255, &["executionSegment", "`2` is no part"]),
        (&["run", "fine.js", "--rps", "x"], 255, &["invalid value 'x' for '--rps"]),
        (&["run", "fine.js", "--summary-time-unit", "h"], 255, &["`h` is none of s, ms and us"]),
        (&["run", "fine.js", "--summary-trend-stats", "p95"], 255, &["`p95` is none of"]),
        (&["run", "fine.js", "--http-debug=x"], 255, &["`x` is none of headers and full"]),
        (
            &["run", "fine.js", "--log-output", "loki"],
            255,
            &["--log-output: `loki` is none of", "loki is not supported"],
        ),
        (&["run", "fine.js", "--log-format", "xml"], 255, &["--log-format: `xml` is none of text, raw and json"]),
        (&["run", "fine.js", "--console-output", "no/such/file"], 255, &["cannot write log lines to no/such/file"]),
        (&["run", "fine.js", "--compatibility-mode", "es3"], 255, &["`es3` is none of extended and base"]),
        (&["run", "fine.js", "--type", "py"], 255, &["--type: `py` is none of js and archive"]),
        (&["run", "fine.js", "--type", "archive"], 255, &["fine.js", "is no k6 archive"]),
        (&["run", "fine.js", "--scenario", "x"], 104, &["there is no scenario `x`, only default"]),
        (&["run", "fine.js", "--linger"], 104, &["--linger is not supported", "no REST server"]),
        (&["run", "fine.js", "-p"], 104, &["--paused is not supported", "no REST server"]),
        (&["run", "fine.js", "--profiling-enabled"], 104, &["--profiling-enabled is not supported"]),
        (&["run", "fine.js", "--traces-output", "otel"], 104, &["--traces-output is not supported"]),
        (&["run", "fine.js", "--features", "freeze-env"], 104, &["`freeze-env` is not supported"]),
    ]);
}

/// Words, exit code, and what must be said.
type Case<'a> = (&'a [&'a str], i32, &'a [&'a str]);

fn check_all(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (words, code, parts) in cases {
        let (said, exit) = check(words);
        let missing: Vec<_> = parts.iter().filter(|part| !said.contains(*part)).collect();
        if exit != *code || !missing.is_empty() {
            wrong.push(format!("{words:?}: exit {exit} (wanted {code}), lacks {missing:?}, said:\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn help_and_version_are_results() {
    for (words, part) in
        [(vec!["--help"], "plimsoll find http://"), (vec!["find", "--help"], "--slo"), (vec!["--version"], "plimsoll ")]
    {
        let output = plimsoll().args(words).output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains(part));
    }
}

/// What is refused says so before it is tried.
#[test]
fn help_marks_what_is_not_supported_yet() {
    let help = plimsoll().args(["find", "--help"]).env("COLUMNS", "200").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for flag in ["--mode <MODE>", "--rate-max <N>", "--report <FILE>"] {
        let (_, rest) = help.split_once(flag).unwrap_or_else(|| panic!("{flag} is gone"));
        let about = rest.split(" --").next().unwrap();
        assert!(about.contains("not supported yet"), "{flag}: {about}");
    }
}

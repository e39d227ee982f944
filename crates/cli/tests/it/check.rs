//! `plimsoll check`: what a script uses of k6, and one pass with everything shown and nothing secret in it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use crate::service::plimsoll;

/// A service that answers by path until the test is over: gives where.
fn service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || answer(stream.unwrap()));
        }
    });
    url
}

fn answer(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut first, mut line) = (String::new(), String::new());
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        while reader.read_line(&mut line).unwrap_or(0) > 2 {
            line.clear();
        }
        let head = match first.split([' ', '?']).nth(1).unwrap() {
            "/login" => "200 OK\r\nSet-Cookie: sid=c00kie; Path=/\r\nSet-Cookie: lang=en",
            "/old" => "302 Found\r\nLocation: /new",
            "/gone" => "404 Not Found",
            _ => "200 OK",
        };
        if stream.write_all(format!("HTTP/1.1 {head}\r\nContent-Length: 2\r\n\r\nok").as_bytes()).is_err() {
            return;
        }
    }
}

/// Checks the first of the files; gives the exit code and what was printed, results first.
fn check(files: &[(&str, &str)], words: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = plimsoll();
    command.arg("check").arg(files[0].0).args(words).current_dir(folder.path());
    let output = command.timeout(std::time::Duration::from_secs(60)).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

/// Whether all parts are there, in this order.
fn has(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("lacks `{part}` (in order):\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_supported_script_is_listed_and_shown_in_order() {
    let script = "import http from 'k6/http';\nimport { check, group } from 'k6';\n\
        export const options = { vus: 50, duration: '1h', thresholds: { checks: ['rate>2'] } };\n\
        export function setup() { console.log('prepared'); return 1; }\n\
        export default function (data) {\n\
          const r = http.get(`${__ENV.URL}/login`);\n\
          group('inner', () => check(r, { 'is ok': (r) => r.status === 200, 'is odd': () => false }));\n\
          console.log(`got ${data}`);\n\
          http.get(`${__ENV.URL}/gone`); http.get(`${__ENV.URL}/old`);\n\
          http.batch([`${__ENV.URL}/a`, `${__ENV.URL}/b`]);\n\
        }\n\
        export function teardown() { console.log('cleared'); }\n\
        export function handleSummary() { return { stdout: 'my summary\\n' }; }\n";
    let url = service();
    let (code, text) = check(&[("s.js", script)], &["-e", &format!("URL={url}")]);
    assert_eq!(code, 0, "{text}");
    has(&text, &["s.js: 1 file, 4 APIs of k6, all supported", "k6 check", "s.js:2", "k6/http get", "s.js:6 (3 uses)"]);
    let login = format!("[default] GET {url}/login: 200 in ");
    let gone = format!("[default] GET {url}/gone: 404 in ");
    let batch = format!("[default] GET {url}/b: 200 in ");
    has(
        &text,
        &[
            "[setup] prepared",
            &login,
            ", 2 bytes, sets cookies sid, lang\n",
            "[default] check `inner > is ok` passed",
            "[default] check `inner > is odd` failed",
            &gone,
            "/old: 200 in ",
            "redirected to",
            "/new",
            &batch,
            "[teardown] cleared",
            "my summary",
            "one pass: requests 6, checks passed 1, checks failed 1, exceptions 0",
        ],
    );
    assert!(text.contains("[default] got 1") && !text.contains("c00kie"), "{text}");
}

#[test]
fn what_is_not_supported_is_listed_and_nothing_runs() {
    let files = [
        (
            "s.js",
            "import { browser } from 'k6/browser';\nimport './lib.js';\nexport default function () { console.log('ran'); }\n",
        ),
        (
            "lib.js",
            "import sql from 'k6/x/sql';\nimport http from 'k6/http';\nhttp.get('x');\nhttp.frobnicate();\nsql.open();\n",
        ),
    ];
    let (code, text) = check(&files, &[]);
    assert_eq!(code, 104, "{text}");
    has(
        &text,
        &["2 files, 4 APIs of k6, not all of them supported", "k6/browser browser", "s.js:1", "it drives a browser"],
    );
    has(&text, &["k6/http frobnicate", "lib.js:4", "k6/http has no `frobnicate` here", "k6/x/sql open", "lib.js:5"]);
    has(&text, &["the script was not run, since 3 of what it uses are not supported"]);
    assert!(!text.contains("] ran"), "{text}");
}

#[test]
fn an_exception_is_shown_with_its_place_and_ends_with_107() {
    let (code, text) = check(&[("s.js", "export default function () {\n  throw new Error('boom');\n}\n")], &[]);
    assert_eq!(code, 107, "{text}");
    has(&text, &["[default] Error: boom", "s.js:2", "exceptions 1", "the script threw an exception"]);
    let (code, text) = check(&[("s.js", "const x = null;\nx.y;\nexport default function () {}\n")], &[]);
    assert_eq!(code, 107, "{text}");
    has(&text, &["s.js:2", "property 'y' of null"]);
}

#[test]
fn secrets_are_masked_wherever_they_come_from() {
    let script = "import http from 'k6/http';\nimport secrets from 'k6/secrets';\n\
        export default async function () {\n\
          const pin = await secrets.get('pin');\n\
          const u = __ENV.URL.replace('://', '://me:hunter2@');\n\
          http.get(`${u}/x?access_token=t0ken1&page=2`, { headers: { Authorization: 'Bearer t0ken2', Cookie: 'sid=t0ken3' } });\n\
          console.log('Authorization: Bearer t0ken2', JSON.stringify({ password: 't0ken4' }), pin);\n\
          throw new Error(`no luck with ${u}/?apiKey=t0ken5 and ${pin}`);\n\
        }\n";
    let url = service();
    let (code, text) = check(&[("s.js", script)], &["-e", &format!("URL={url}"), "--secret-source", "mock=pin=98765"]);
    assert_eq!(code, 107, "{text}");
    has(
        &text,
        &[
            "http://me:***@127.0.0.1:",
            "/x?access_token=***&page=2: 200",
            "Authorization: ***",
            "no luck with http://me:***@",
        ],
    );
    for secret in ["hunter2", "t0ken", "98765"] {
        assert!(!text.contains(secret), "shows {secret}:\n{text}");
    }
}

#[test]
fn typescript_and_its_imports_are_read_and_list_runs_nothing() {
    let files = [
        (
            "s.ts",
            "import { open } from './lib';\nimport data from './data.json';\ninterface A { n: number }\nexport default function (): void { const a: A = data; open(a.n); }\n",
        ),
        (
            "lib.ts",
            "import { sleep } from 'k6';\nexport const open = (n: number): void => { sleep(0); console.log(`n is ${n}`) };\n",
        ),
        ("data.json", "{\"n\": 7}"),
    ];
    let (code, text) = check(&files, &[]);
    assert_eq!(code, 0, "{text}");
    has(&text, &["s.ts: 3 files, 1 APIs of k6, all supported", "k6 sleep", "lib.ts:1", "[default] n is 7"]);
    let (code, text) = check(&files, &["--list"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("k6 sleep") && !text.contains("n is 7"), "{text}");
}

#[test]
fn scripts_that_cannot_be_read_say_why() {
    let (code, text) = check(&[("s.js", "import './gone.js';\nimport './bad.js';\n"), ("bad.js", "let = ;\n")], &[]);
    assert_eq!(code, 107, "{text}");
    has(&text, &["s.js: 2 files", "bad.js:1", "cannot read gone.js"]);
    let mut words = plimsoll();
    let output = words.args(["check", "nowhere.js"]).output().unwrap();
    assert_eq!(output.status.code(), Some(255));
    let output = plimsoll().args(["check", "http://127.0.0.1:1/"]).output().unwrap();
    assert_eq!(output.status.code(), Some(104));
    let remote = "import 'https://nowhere.invalid/a.js';\nexport default function () {}\n";
    let (code, text) = check(&[("s.js", remote)], &["--offline"]);
    assert_eq!(code, 107, "{text}");
    has(&text, &["https://nowhere.invalid/a.js  must be fetched", "the run is offline"]);
}

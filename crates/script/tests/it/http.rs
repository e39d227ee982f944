//! `k6/http`: what reaches the engine, and what scripts see of the answer.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]

use std::time::Duration;

use engine::coding::Coding;
use engine::user::{Ending, ExpectedStatuses, Failure, Response};
use http::{HeaderValue, Method, header};
use script::LoadSettings;

use crate::driver::{answer_to, iterate, stage, stage_with};

/// The requests that a piece of code makes.
fn requests(code: &str) -> Vec<engine::user::Request> {
    let mut stage = stage(&format!("import http from 'k6/http'; export default function () {{ {code} }}"));
    let course = stage.run();
    assert_eq!(course.ending, Ending::Completed, "{:?}", stage.errors());
    course.requests
}

/// What code logs that looks at a response `r`.
fn seen(code: &str, respond: impl Fn(&mut Response)) -> Vec<String> {
    let code = format!("const r = http.get('http://h/x'); {code}");
    let mut stage = stage(&format!("import http from 'k6/http'; export default function () {{ {code} }}"));
    let mut user = stage.nursery.user(1).unwrap();
    let course = iterate(&mut *user, &stage.assignment, 0, &mut |request| {
        let mut response = answer_to(request, 200, r#"{"a":[{"b":"c"}],"n":null}"#);
        respond(&mut response);
        response
    });
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    assert_eq!(course.ending, Ending::Completed, "{log:?}");
    log
}

#[test]
fn each_function_has_its_method_and_body() {
    let made = requests(
        "for (const m of ['get', 'head']) http[m]('http://h/1');
         for (const m of ['post', 'put', 'patch', 'del', 'options']) http[m]('http://h/2', 'text');
         http.request('PURGE', 'http://h/3'); http.post('http://h/4');",
    );
    let methods: Vec<_> = made.iter().map(|request| request.method.as_str().to_owned()).collect();
    assert_eq!(methods, ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "POST"]);
    let bodies: Vec<_> = made.iter().map(|request| request.body.len()).collect();
    assert_eq!(bodies, [0, 0, 4, 4, 4, 4, 4, 0, 0]);
}

#[test]
fn bodies_are_text_bytes_or_forms() {
    let made = requests(
        "http.post('http://h/', { b: 'x y', a: [1, true], c: 'ä&' });
         http.post('http://h/', { a: 1 }, { headers: { 'Content-Type': 'own' } });
         http.post('http://h/', new Uint8Array([1, 2]).buffer); http.post('http://h/', new Uint8Array([0, 9, 8]).subarray(1));
         http.post('http://h/', JSON.stringify({ a: 1 }));",
    );
    assert_eq!(made[0].body, "a=1&a=true&b=x+y&c=%C3%A4%26");
    assert_eq!(made[0].headers[header::CONTENT_TYPE], "application/x-www-form-urlencoded");
    assert_eq!(made[1].headers[header::CONTENT_TYPE], "own");
    assert_eq!((&made[2].body[..], &made[3].body[..]), (&[1, 2][..], &[9, 8][..]));
    assert_eq!((made[4].body.as_ref(), made[4].headers.len()), (&br#"{"a":1}"#[..], 0));
}

#[test]
fn params_reach_the_request() {
    let made = requests(
        "http.get('http://h/', { headers: { 'X-A': 1 }, tags: { name: 'home', kind: 2 }, timeout: '1m30s', redirects: 3,
            cookies: { a: 'b', c: { value: 'd', replace: true } }, responseType: 'none', responseCallback: null });
         http.get('http://h/', { timeout: 1500, responseCallback: http.expectedStatuses(404, { min: 500, max: 503 }) });
         http.get(http.url`http://h/items/${7}`); http.get('http://h/', null); http.get('http://u:p@h/', { auth: 'basic' });",
    );
    assert_eq!(made[4].url, "http://u:p@h/");
    let first = &made[0];
    assert_eq!(first.headers["x-a"], "1");
    assert_eq!(first.name.as_deref(), Some("home"));
    assert_eq!((first.timeout, first.redirects), (Some(Duration::from_secs(90)), Some(3)));
    assert_eq!(first.cookies, [("a".into(), "b".into(), false), ("c".into(), "d".into(), true)]);
    assert!(!first.keep_body && first.expected.is_none());
    assert_eq!(made[1].timeout, Some(Duration::from_millis(1500)));
    assert_eq!(made[1].expected, Some(ExpectedStatuses([(404, 404), (500, 503)].into())));
    assert_eq!((made[2].url.as_str(), made[2].name.as_deref()), ("http://h/items/7", Some("http://h/items/${}")));
    assert_eq!(made[3].expected, Some(ExpectedStatuses::default()));
}

#[test]
fn requests_carry_the_tags_of_their_group() {
    let mut stage = stage(
        "import http from 'k6/http'; import { group } from 'k6';
         export default function () {
             group('a', () => { http.get('http://h/'); http.get('http://h/', { tags: { kind: 'x' } }); });
             http.get('http://h/');
         }",
    );
    let made = stage.run().requests;
    let tag = |index: usize, key: &str| stage.meter.tag(made[index].tags, key).map(|value| value.to_string());
    assert_eq!((tag(0, "group"), tag(1, "group"), tag(2, "group")), (Some("::a".into()), Some("::a".into()), None));
    assert_eq!((tag(0, "kind"), tag(1, "kind")), (None, Some("x".into())));
}

#[test]
fn a_response_shows_its_fields() {
    let code = "console.log(r.status, r.status_text, r.url, r.proto, r.remote_ip, r.remote_port, r.error_code, r.error === '');
        console.log(r.headers['Content-Type'], r.headers['X-Two'], r.cookies.sid[0].value, r.timings.duration, r.timings.waiting);
        console.log(r.headers === r.headers, r.body.length, r.request.method, r.request.url);
        r.body = 'mine'; r.extra = 1; console.log(r.body, r.extra);";
    let log = seen(code, |response| {
        response.headers.insert("content-type", HeaderValue::from_static("text/plain"));
        response.headers.append("x-two", HeaderValue::from_static("1"));
        response.headers.append("x-two", HeaderValue::from_static("2"));
        response.headers.append("set-cookie", HeaderValue::from_static("sid=s3; Path=/; Max-Age=60; HttpOnly"));
    });
    assert_eq!(log[0], "200 200 OK http://h/x HTTP/1.1 127.0.0.1 8080 0 true");
    assert_eq!(log[1], "text/plain 1, 2 s3 6 2");
    assert_eq!(log[2], "true 26 GET http://h/x");
    assert_eq!(log[3], "mine 1");
}

#[test]
fn a_response_is_json_as_a_whole_and_in_parts() {
    let code = "console.log(r.json().a[0].b, r.json() === r.json(), r.json('a.0.b'), r.json('a.#'), r.json('a.7.b'), r.json('n'), r.json('a.#(b==c)#.b'), r.json('@keys'));
        const plain = JSON.parse(JSON.stringify(r)); console.log(plain.status, plain.body === r.body, plain.request.method);";
    let log = seen(code, |_| {});
    assert_eq!(log[0], r#"c true c 1 undefined null ["c"] ["a","n"]"#);
    assert_eq!(log[1..], ["200 true GET"]);
    let log = seen("try { r.json(); } catch (e) { console.log(e.name); } console.log(r.json('a'));", |response| {
        response.body = Some("<html>".into());
    });
    assert_eq!(log, ["SyntaxError", "undefined"]);
}

#[test]
fn a_failed_request_is_a_response_without_status() {
    let fail = |response: &mut Response| {
        response.status = 0;
        response.proto = "";
        response.body = None;
        response.error = Some(Failure { code: 1212, text: "dial: connection refused".into() });
    };
    let log = seen("console.log(r.status, r.body, r.error, r.error_code, r.headers, r.status_text === '');", fail);
    assert_eq!(log[0], "request failed: GET http://h/x: dial: connection refused");
    assert_eq!(log[1], "0 null dial: connection refused 1212 {} true");
    let text = "import http from 'k6/http'; export default function () { http.get('http://h/'); }";
    let mut stage = stage_with(text, LoadSettings::default(), |plan| plan.http.throw = true);
    let mut user = stage.nursery.user(1).unwrap();
    let course = iterate(&mut *user, &stage.assignment, 0, &mut |request| {
        let mut response = answer_to(request, 0, "");
        fail(&mut response);
        response
    });
    assert_eq!(course.ending, Ending::Threw("Error: dial: connection refused".into()));
}

#[test]
fn bodies_can_be_bytes_or_dropped() {
    let text = "import http from 'k6/http'; export default function () {
        const bytes = http.get('http://h/', { responseType: 'binary' }).body;
        console.log(bytes instanceof ArrayBuffer, bytes.byteLength, http.get('http://h/', { responseType: 'none' }).body);
        console.log(http.get('http://h/').body, http.get('http://h/', { responseType: 'text' }).body);
    }";
    let log = stage_with(text, LoadSettings::default(), |plan| plan.http.discard_response_bodies = true).log_of_run();
    assert_eq!(log, ["true 2 null", "null ok"]);
}

#[test]
fn a_batch_keeps_its_shape() {
    let text = "import http from 'k6/http'; export default function () {
        const list = http.batch(['http://h/1', ['POST', 'http://h/2', 'body'], { method: 'get', url: 'http://h/3', body: 'no' }]);
        const named = http.batch({ a: 'http://h/4', b: { method: 'PUT', url: 'http://h/5', body: 'yes', params: { tags: { name: 'n' } } } });
        console.log(list.map((r) => r.url), named.a.url, named.b.status, http.batch([]).length);
    }";
    let mut stage = stage(text);
    let course = stage.run();
    assert_eq!(stage.meter.take_log()[0].text, r#"["http://h/1","http://h/2","http://h/3"] http://h/4 200 0"#);
    let sent: Vec<_> = course.requests.iter().map(|request| (request.method.clone(), request.body.len())).collect();
    let wanted = [(Method::GET, 0), (Method::POST, 4), (Method::GET, 0), (Method::GET, 0), (Method::PUT, 3)];
    assert_eq!(sent, wanted);
    assert_eq!(course.requests[4].name.as_deref(), Some("n"));
}

#[test]
fn bodies_are_packed_as_the_script_wishes() {
    let made = requests(
        "const body = 'hello hello hello'; const post = (compression, headers = {}) => http.post('http://h/', body, { headers, compression });
         post('gzip'); post('deflate, br'); post(['zstd']); post(''); post('gzip', { 'Content-Encoding': 'own' });
         http.post('http://h/', null, { compression: 'gzip' }); http.get('http://h/', { compression: 'br' });",
    );
    let plain = b"hello hello hello";
    let seen: Vec<_> = made
        .iter()
        .map(|request| {
            (request.headers.get(header::CONTENT_ENCODING).map(|names| names.to_str().unwrap()), &request.body[..])
        })
        .collect();
    let [gzip, zstd] = [Coding::Gzip, Coding::Zstd].map(|coding| coding.pack(plain));
    let both = Coding::Brotli.pack(&Coding::Deflate.pack(plain));
    assert_eq!(seen[..3], [(Some("gzip"), &gzip[..]), (Some("deflate, br"), &both[..]), (Some("zstd"), &zstd[..])]);
    assert_eq!(seen[3..], [(None, &plain[..]), (Some("own"), &gzip[..]), (None, &[]), (None, &[])]);
    let text = "import http from 'k6/http'; export default function () {
        const r = http.post('http://h/', 'abc', { compression: 'gzip', headers: { 'Content-Encoding': 'x' } });
        console.log(r.request.body);
    }";
    let log = stage(text).log_of_run();
    assert_eq!(log[0], "the body is packed as 'gzip', but the script's header Content-Encoding says 'x'");
    assert_eq!(log[1], "abc");
}

#[test]
fn what_is_not_supported_ends_the_run_whatever_the_script_catches() {
    let ending = |code: &str| {
        let code =
            format!("try {{ {code} }} catch (e) {{ console.log('caught'); }} finally {{ console.log('finally'); }}");
        let text = format!(
            "import http from 'k6/http'; import exec from 'k6/execution';\nexport default async function () {{ await null;\n{code} }}"
        );
        let mut stage = stage(&text);
        let ending = stage.run().ending;
        assert_eq!(stage.meter.take_log(), [], "{code}");
        let Ending::Unsupported(text) = ending else { panic!("{code}: {ending:?}") };
        let (place, sentence) = text.split_once(": ").unwrap();
        assert!(place.contains("script.js:3:"), "{text}");
        sentence.to_owned()
    };
    let ntlm = "the request parameter auth: 'ntlm' is not supported: 'basic' and 'digest' are";
    assert_eq!(ending("http.get('http://h/', { auth: 'ntlm' })"), ntlm);
}

#[test]
fn what_is_wrong_throws_a_sentence() {
    let thrown = |code: &str| {
        let mut stage = stage(&format!("import http from 'k6/http'; export default function () {{ {code} }}"));
        let ending = stage.run().ending;
        let Ending::Threw(text) = ending else { panic!("{ending:?}") };
        text
    };
    assert_eq!(
        thrown("http.post('http://h/', 'x', { compression: 'gzip, lzw' })"),
        "TypeError: unknown compression algorithm 'lzw', supported are gzip, deflate, br, zstd"
    );
    assert!(thrown("http.get('http://h/', { timeout: 'soon' })").contains("timeout: a duration such as"));
    assert!(thrown("http.get()").contains("a URL is expected"));
    assert!(thrown("http.post('http://h/', 5)").contains("the body of a request must be"));
    assert!(thrown("http.post('http://h/', new Float64Array(1))").contains("the body of a request must be"));
    assert!(thrown("http.get('http://h/', { headers: { 'a b': 1 } })").contains("header 'a b: 1' is not valid"));
}

#[test]
fn jars_are_objects_of_scripts() {
    let made = requests(
        "const jar = http.cookieJar(), own = new http.CookieJar();
         jar.set('http://h/a', 'k', 'v', { path: '/a' }); own.set('http://h/', 'mine', 1);
         console.log(jar.cookiesForURL('http://h/a/b').k[0]); jar.delete('http://h/', 'k');
         http.get('http://h/'); http.get('http://h/', { jar: own, auth: 'digest' }); http.get('http://h/', { jar: null });",
    );
    let url = url::Url::parse("http://h/a").unwrap();
    let held = |index: usize| made[index].jar.as_ref().unwrap().matching(&url);
    assert_eq!(held(0), [("k".to_owned(), "v".to_owned())]);
    assert_eq!((held(1), held(2)), (vec![("mine".to_owned(), "1".to_owned())], Vec::new()));
    assert!(made[1].digest && !made[0].digest);
}

#[test]
fn a_form_with_a_file_is_multipart() {
    let made = requests(
        "http.post('http://h/', { a: http.file('data', 'n\"\\n.txt', 'text/plain'), n: 5, l: ['x', 'y'] });
         http.post('http://h/', { n: null, o: { b: 1, a: [1, 2] }, f: 1e21, i: 1e6, nan: NaN });",
    );
    let kind = made[0].headers[header::CONTENT_TYPE].to_str().unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let field = |name: &str, value: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let file = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"; filename=\"n\\\"%0A.txt\"\r\nContent-Type: text/plain\r\n\r\ndata\r\n"
    );
    let all = [file, field("n", "5"), field("l", "x"), field("l", "y"), format!("--{boundary}--\r\n")].concat();
    assert_eq!(made[0].body, all);
    assert_eq!(made[1].body, "f=1e%2B21&i=1000000&n=%3Cnil%3E&nan=NaN&o=map%5Ba%3A%5B1+2%5D+b%3A1%5D");
}

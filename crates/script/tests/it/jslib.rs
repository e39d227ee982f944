//! The built-in equivalents of libraries: what their documentation promises, against expected values.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]

use engine::user::Ending;
use model::record::Level;
use script::LoadSettings;

use crate::driver::{load_error, load_text, stage};

/// Runs these statements in the init code, with these names imported, and compares what they log.
#[track_caller]
fn check(import: &str, body: &str, expected: &[&str]) {
    let text = format!("{import}\n{body}\nexport default function () {{}}");
    let loaded = load_text(&text, LoadSettings::default()).map_err(|error| error.to_string()).unwrap();
    let log: Vec<String> = loaded.log.into_iter().map(|line| line.text).collect();
    assert_eq!(log, expected);
}

#[test]
fn k6_utils() {
    check(
        "import { randomIntBetween, randomItem, randomString, uuidv4, findBetween, parseDuration, normalDistributionStages, check } from 'https://jslib.k6.io/k6-utils/1.2.0/index.js';",
        "const ints = Array.from({ length: 300 }, () => randomIntBetween(1, 3));\n\
         console.log(Math.min(...ints), Math.max(...ints), ints.every(Number.isInteger), ['a', 'b'].includes(randomItem(['a', 'b'])));\n\
         console.log(/^[a-z]{8}$/.test(randomString(8)), /^[xy]{5}$/.test(randomString(5, 'xy')), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuidv4()));\n\
         console.log(findBetween('<b>x</b><b>y</b>', '<b>', '</b>'), findBetween('<b>x</b><b>y</b>', '<b>', '</b>', true), findBetween('a', 'b', 'c'));\n\
         console.log(parseDuration('1h2m3.5s4ms'), parseDuration('500ms'), parseDuration('1d'), typeof check);\n\
         try { parseDuration('soon') } catch (e) { console.log(e.message) }\n\
         const stages = normalDistributionStages(10, 120, 3); console.log(stages.length, stages[0].target, stages[2].target, stages[4].target, stages[0].duration);",
        &[
            "1 3 true true",
            "true true true",
            r#"x ["x","y"] null"#,
            "3723504 500 86400000 function",
            "\"soon\" is not a duration: write numbers with units, such as 1h30m or 500ms",
            "5 0 10 0 24s",
        ],
    );
    let mut stage = stage(
        "import { check } from 'https://jslib.k6.io/k6-utils/1.5.0/index.js';
         export default async function () {
            console.log(check(1, { sync: (v) => v === 1 }), await check(Promise.resolve(2), { later: async (v) => v === 2 }));
         }",
    );
    assert_eq!(stage.log_of_run(), ["true true"]);
    let names: Vec<String> = stage.meter.summary().root.checks.iter().map(|check| check.name.to_string()).collect();
    assert_eq!(names, ["sync", "later"]);
}

/// What handleSummary gets.
const DATA: &str = r#"{"root_group": {"name": "", "path": "", "checks": [{"name": "root check", "path": "::root check", "passes": 3, "fails": 0}],
    "groups": [{"name": "outer", "path": "::outer", "groups": [], "checks": [{"name": "is <two>", "path": "::outer::is two", "passes": 1, "fails": 2}]}]},
    "options": {"summaryTimeUnit": "", "summaryTrendStats": ["avg", "max", "p(95)", "count"]},
    "metrics": {
        "data_sent": {"type": "counter", "contains": "data", "values": {"count": 12345, "rate": 7}},
        "wait": {"type": "trend", "contains": "time", "values": {"avg": 617.5335, "max": 1234.567, "p(95)": 0.0005, "count": 2}, "thresholds": {"p(95)<1": {"ok": false}, "avg<2000": {"ok": true}}},
        "long": {"type": "trend", "contains": "time", "values": {"avg": 3723500, "max": 0.25, "p(95)": 0, "count": 3}},
        "rate": {"type": "rate", "contains": "default", "values": {"rate": 0.33333, "passes": 1, "fails": 2}},
        "rate{a:b}": {"type": "rate", "contains": "default", "values": {"rate": 1, "passes": 1, "fails": 0}, "thresholds": {"rate>0.5": {"ok": true}}},
        "gauge": {"type": "gauge", "contains": "default", "values": {"value": 7.5, "min": 1, "max": 10.1234567}}
    }}"#;

#[test]
fn k6_summary() {
    let import = "import { textSummary, jUnit, humanizeValue } from 'https://jslib.k6.io/k6-summary/0.0.4/index.js';";
    let data = format!("const data = {DATA};");
    let text = format!(
        "{import}{data} console.log(textSummary(data, {{ indent: ' ', enableColors: false }}).replace(/ $/gm, '|'));\n\
         console.log(jUnit(data, {{ name: 'n', classname: 'c' }}), humanizeValue(1500, {{ type: 'trend', contains: 'time' }}, 's'), textSummary(data).includes('\\x1b[32m'));\n\
         export default function () {{}}"
    );
    let loaded = load_text(&text, LoadSettings::default()).map_err(|error| error.to_string()).unwrap();
    insta::assert_snapshot!(loaded.log[0].text, @r"
      ✓ root check

      █ outer

        ✗ is <two>
         ↳  33% — ✓ 1 / ✗ 2

      data_sent...: 12 kB   7 B/s
      gauge.......: 7.5     min=1      max=10.123457
      long........: avg=1h2m3s   max=250µs p(95)=0s    count=3
      rate........: 33.33%  1 out of 3
      ✓ { a:b }...: 100.00% 1 out of 1
    ✗ wait........: avg=617.53ms max=1.23s p(95)=500ns count=2
    ");
    insta::assert_snapshot!(loaded.log[1].text, @r#"
    <?xml version="1.0"?>
    <testsuites tests="3" failures="1">
    <testsuite name="n" tests="3" failures="1">
    <testcase name="wait - p(95)&lt;1" classname="c"><failure message="avg value: 617.5335, max value: 1234.567, p(95) value: 0.0005, count value: 2" /></testcase>
    <testcase name="wait - avg&lt;2000" classname="c" />
    <testcase name="rate{a:b} - rate&gt;0.5" classname="c" />
    </testsuite >
    </testsuites > 1.50s true
    "#);
}

#[test]
fn k6_reporter() {
    check(
        "import { htmlReport } from 'https://raw.githubusercontent.com/benc-uk/k6-reporter/latest/dist/bundle.js';",
        &format!(
            "const page = htmlReport({DATA}, {{ title: 'A & B' }});\n\
             console.log(page.startsWith('<!DOCTYPE html>'), page.includes('<h1>A &amp; B</h1>'), page.includes('is &lt;two&gt;'), page.includes('617.53'), page.includes('1 of 3'), /<script|https?:/.test(page));"
        ),
        &["true true true true true false"],
    );
}

#[test]
fn papaparse() {
    let import = "import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js'; const show = (text, config) => { const { data, errors, meta } = papaparse.parse(text, config); console.log(JSON.stringify(data), errors.map((e) => e.code).join(), meta.delimiter); };";
    check(
        import,
        "show('a,b\\n1,\"x, \"\"y\"\"\"\\n', {}); show('name;age\\r\\nAda;36\\r\\n\\r\\n', { header: true, skipEmptyLines: true, dynamicTyping: true });\n\
         show('a\\tb\\n\"multi\\nline\"\\tc', {}); show('#c\\na,b\\n1,2\\n3,4', { comments: '#', header: true, preview: 1 });\n\
         show('a,b\\n1\\n1,2,3', { header: true }); show('\"open,1', { delimiter: ',' }); show('x', {}); show('', { delimiter: ',' });\n\
         show('a,a\\n1,true', { header: true, dynamicTyping: { a_1: true }, transform: (v) => v + '' });\n\
         const rows = []; papaparse.parse('a\\nb\\nc', { delimiter: ',', step: (row, parser) => { rows.push(row.data[0]); if (rows.length === 2) parser.abort(); }, complete: () => console.log(rows) });\n\
         console.log(JSON.stringify(papaparse.unparse([{ a: 1, b: 'x,y' }, { a: null, b: 'say \"hi\"' }])), JSON.stringify(papaparse.unparse([['a', ' b']], { delimiter: ';', quotes: true })), papaparse.unparse({ fields: ['a'], data: [[1]] }, { newline: '|' }));\n\
         try { papaparse.parse('http://x/', { download: true }) } catch (e) { console.log(e.message) }",
        &[
            r#"[["a","b"],["1","x, \"y\""],[""]]  ,"#,
            r#"[{"name":"Ada","age":36}]  ;"#,
            "[[\"a\",\"b\"],[\"multi\\nline\",\"c\"]]  \t",
            r#"[{"a":"1","b":"2"}]  ,"#,
            r#"[{"a":"1"},{"a":"1","b":"2","__parsed_extra":["3"]}] TooFewFields,TooManyFields ,"#,
            r#"[["open,1"]] MissingQuotes ,"#,
            r#"[["x"]] UndetectableDelimiter ,"#,
            "[]  ,",
            r#"[{"a":"1","a_1":true}]  ,"#,
            r#"["a","b"]"#,
            r#""a,b\r\n1,\"x,y\"\r\n,\"say \"\"hi\"\"\"" "\"a\";\" b\"" a|1"#,
            "papaparse: the setting 'download' is not supported here: read the text with open() or http.get() first",
        ],
    );
}

#[test]
fn url() {
    check(
        "import { URL, URLSearchParams } from 'https://jslib.k6.io/url/1.0.0/index.js';",
        "const url = new URL('HTTPS://user:p%40ss@Example.org:8443/a/./b/../c d?x=1&y=ü#h ash');\n\
         console.log(url.href, url.origin, url.host, url.port, url.pathname, url.search, url.hash, url.username, url.password);\n\
         url.searchParams.append('z', 'a b&c'); url.port = 443; url.pathname = 'new'; console.log(String(url), JSON.stringify(url));\n\
         for (const part of ['../x', '/x', '?q', '#f', '//other/y', 'z/', '']) console.log(new URL(part, 'http://h:80/a/b/c?d#e').href);\n\
         const params = new URLSearchParams('?a=1&b=2&a=%203+4'); params.set('b', 'é'); params.append('c', '~*'); params.delete('x');\n\
         console.log(params.toString(), params.getAll('a'), params.get('nope'), params.has('c'), params.size, [...params.keys()]);\n\
         params.sort(); console.log(new URLSearchParams({ k: 'v', n: 1 }).toString(), new URLSearchParams([['a', 'b']]).toString());\n\
         for (const wrong of ['nope', 'http://', 'http://h:99999', 'http://bücher.de']) try { new URL(wrong); console.log('fine') } catch (e) { console.log(e.name) }\n\
         console.log(new URL('mailto:a@b.c').pathname, new URL('http://[::1]:80/').host, URL.canParse('x'), new URL('file:///a/b').href);",
        &[
            "https://user:p%40ss@example.org:8443/a/c%20d?x=1&y=%C3%BC#h%20ash https://example.org:8443 example.org:8443 8443 /a/c%20d ?x=1&y=%C3%BC #h%20ash user p%40ss",
            "https://user:p%40ss@example.org/new?x=1&y=%C3%BC&z=a+b%26c#h%20ash \"https://user:p%40ss@example.org/new?x=1&y=%C3%BC&z=a+b%26c#h%20ash\"",
            "http://h/a/x",
            "http://h/x",
            "http://h/a/b/c?q",
            "http://h/a/b/c?d#f",
            "http://other/y",
            "http://h/a/b/z/",
            "http://h/a/b/c?d",
            r#"a=1&b=%C3%A9&a=+3+4&c=%7E* ["1"," 3 4"] null true 4 ["a","b","a","c"]"#,
            "k=v&n=1 a=b",
            "TypeError",
            "TypeError",
            "TypeError",
            "TypeError",
            "a@b.c [::1] false file:///a/b",
        ],
    );
}

#[test]
fn uuid() {
    check(
        "import { v1, v4 as uuidv4, v7, validate, version, parse, stringify, NIL } from 'https://unpkg.com/uuid@9.0.0/dist/esm-browser/index.js'; import uuid from 'https://jslib.k6.io/uuid/1/index.js';",
        "for (const [make, number] of [[v1, 1], [uuidv4, 4], [v7, 7], [uuid, 4]]) { const id = make(); console.log(validate(id), version(id) === number, stringify(parse(id)) === id) }\n\
         console.log(uuidv4({ random: new Array(16).fill(255) }), v7({ msecs: 0x17f22e279b0, random: new Array(16).fill(0) }), v1({ msecs: 1320105600000, nsecs: 5678, clockseq: 0x1234, node: [1, 35, 69, 103, 137, 171] }));\n\
         console.log(validate('x'), validate(NIL), uuidv4() === uuidv4()); try { uuid.v5('a', NIL) } catch (e) { console.log(e.message) }",
        &[
            "true true true",
            "true true true",
            "true true true",
            "true true true",
            "ffffffff-ffff-4fff-bfff-ffffffffffff 017f22e2-79b0-7000-8000-000000000000 710b962e-041c-11e1-9234-0123456789ab",
            "false true false",
            "uuid: v5() is not there: it is not supported by the built-in equivalent of this library; v1, v4 and v7 are",
        ],
    );
}

#[test]
fn formdata() {
    check(
        "import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';",
        "const fd = new FormData(); fd.boundary = 'B'; fd.append('text', 'é€😀'); fd.append('fi\"le', { data: 'abc', filename: 'a.txt', content_type: 'text/plain' }); fd.append('raw', new Uint8Array([65]).buffer, 'r.bin');\n\
         const body = fd.body(); console.log(body instanceof ArrayBuffer, JSON.stringify(decodeURIComponent(Array.from(new Uint8Array(body), (b) => '%' + b.toString(16).padStart(2, '0')).join(''))));\n\
         console.log(new FormData().boundary !== new FormData().boundary);",
        &[
            r#"true "--B\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\né€😀\r\n--B\r\nContent-Disposition: form-data; name=\"fi%22le\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nabc\r\n--B\r\nContent-Disposition: form-data; name=\"raw\"; filename=\"r.bin\"\r\nContent-Type: application/octet-stream\r\n\r\nA\r\n--B--\r\n""#,
            "true",
        ],
    );
}

#[test]
fn httpx() {
    let text = "
        import { Httpx, Get, Request } from 'https://jslib.k6.io/httpx/0.1.0/index.js';
        const session = new Httpx({ baseURL: 'http://h', headers: { a: '1' }, tags: { t: 'x' }, timeout: 5000 });
        export default function () {
            session.addHeader('b', '2'); session.clearHeader('nope'); session.addTag('u', 'y');
            console.log(session.get('/one', null, { headers: { a: '3' } }).status, session.post('/two', 'body').status, session.get('http://other/three', { headers: { c: '4' } }).status);
            session.setBaseUrl('http://k');
            console.log(session.batch([new Get('/four'), new Request('PUT', '/five', 'x')], { tags: { z: '1' } }).map((r) => r.status));
        }";
    let text = text.replace("new Get(", "Get(");
    let mut stage = stage(&text);
    let course = stage.run();
    assert_eq!(course.ending, Ending::Completed);
    let seen: Vec<String> = course
        .requests
        .iter()
        .map(|request| {
            let header = |name: &str| request.headers.get(name).map_or("-", |value| value.to_str().unwrap());
            format!("{} {} {}{}{}", request.method, request.url, header("a"), header("b"), header("c"))
        })
        .collect();
    let expected = [
        "GET http://h/one 32-",
        "POST http://h/two 12-",
        "GET http://other/three 124",
        "GET http://k/four 12-",
        "PUT http://k/five 12-",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn k6chaijs() {
    let text = "
        import { describe, expect, chai } from 'https://jslib.k6.io/k6chaijs/4.3.4.3/index.js';
        chai.config.logFailures = true;
        export default function () {
            console.log(describe('fine', () => {
                expect(200, 'response status').to.equal(200);
                expect([1, { a: 2 }]).to.have.lengthOf(2).and.deep.include({ a: 2 });
                expect({ a: { b: [1, 2] }, c: 3 }).to.have.nested.property('a.b[1]', 2);
                expect({ a: 1, b: 2 }).to.have.all.keys('a', 'b'); expect({ a: 1, b: 2 }).to.contain.any.keys('a', 'z');
                expect('text').to.be.a('string').that.includes('ex').and.not.match(/z/); expect([]).to.be.an('array').that.is.empty;
                expect(5).to.be.above(4).and.below(6).and.within(5, 5); expect([1, 2, 3]).to.include.members([3, 1]); expect('abc').to.have.length.above(2);
                expect(() => { throw new RangeError('bad thing') }).to.throw(RangeError, 'bad'); expect({ a: [1] }).to.eql({ a: [1] }); expect(null).to.be.null; expect(1).to.be.oneOf([1, 2]);
                expect({ body: '{}' }).to.have.validJsonBody(); expect(2, 'x').to.be.closeTo(2.1, 0.2);
            }));
            console.log(describe('wrong', () => { expect(500, 'status').to.equal(200); console.log('never'); }));
            console.log(describe('throws', () => { null.x; }));
            console.log(describe('unknown', () => { expect(1).to.be.nonsense(); }));
        }";
    let mut stage = stage(text);
    assert_eq!(stage.run().ending, Ending::Completed);
    let log = stage.meter.take_log();
    let lines: Vec<String> =
        log.iter().filter(|line| line.level == Level::Info).map(|line| line.text.clone()).collect();
    let rest: Vec<&str> =
        log.iter().filter(|line| line.level != Level::Info).map(|line| line.text.lines().next().unwrap()).collect();
    assert_eq!(lines, ["true", "false", "false", "false"], "{rest:?}");
    assert_eq!(rest[0], "wrong: expected status to equal 200, it is 500");
    assert!(rest[2].contains("'nonsense' is not supported"), "{rest:?}");
    let mut root = stage.meter.summary().root;
    let fine = root.at("::fine");
    assert_eq!(&*fine.checks[0].name, "expected response status to equal 200");
    assert!(fine.checks.iter().all(|check| check.fails == 0));
    let wrong = root.at("::wrong");
    assert_eq!((&*wrong.checks[0].name, wrong.checks[0].fails), ("expected status to equal 200", 1));
}

#[test]
fn what_an_equivalent_lacks_is_named() {
    let error =
        load_error("import { nope } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js'; export default function () {}");
    assert!(error.contains("has no export `nope`: it exports check, findBetween"), "{error}");
}

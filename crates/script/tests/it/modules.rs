//! The modules of k6 beside `k6/http`: checks, groups, metrics, shared data, console.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::user::Ending;
use model::summary::Total;
use script::LoadSettings;

use crate::driver::{stage, stage_with};

#[test]
fn checks_count_each_key_and_a_throw_stops_them() {
    let text = "
        import { check } from 'k6';
        export default function () {
            console.log(check(5, { five: (v) => v === 5, 'as it is': 1, empty: (v) => '' }), check(1, { ok: true }));
            try { check(1, { first: true, throws: () => { throw new Error('x'); }, never: true }); }
            catch (e) { console.log('rethrown', e.message); }
        }";
    let mut stage = stage(text);
    assert_eq!(stage.log_of_run(), ["false true", "rethrown x"]);
    let checks = stage.meter.summary().root.checks;
    let counted: Vec<_> = checks.iter().map(|check| (check.name.as_str(), check.passes, check.fails)).collect();
    let wanted = [("five", 1, 0), ("as it is", 1, 0), ("empty", 0, 1), ("ok", 1, 0), ("first", 1, 0), ("throws", 0, 1)];
    assert_eq!(counted, wanted);
    assert_eq!(stage.total("checks"), Total::Rate { passes: 4, total: 6 });
}

#[test]
fn checks_refuse_what_k6_refuses() {
    let run = |code: &str| {
        let mut stage = stage(&format!("import {{ check, group }} from 'k6'; export default function () {{ {code} }}"));
        let ending = stage.run().ending;
        let Ending::Threw(text) = ending else { panic!("{ending:?}") };
        text
    };
    assert!(run("check(1, { 'a::b': true })").contains("may not contain '::'"));
    assert!(run("check(1, { a: async () => true })").contains("check 'a' is an async function"));
    assert!(run("check(1)").contains("check() needs an object of checks"));
    assert!(run("group('a::b', () => {})").contains("may not contain '::'"));
    assert!(run("group('a', async () => {})").contains("group 'a' is an async function"));
}

#[test]
fn groups_nest_return_and_are_timed() {
    let text = "
        import { check, group } from 'k6';
        export default function () {
            const value = group('outer', () => { group('inner', () => check(1, { in: true })); return 7; });
            try { group('throws', () => { throw 1; }); } catch (e) {}
            check(value, { seven: (v) => v === 7 });
        }";
    let ticks = AtomicU64::new(0);
    let clock = move || Duration::from_millis(ticks.fetch_add(10, Ordering::Relaxed));
    let settings = LoadSettings { clock: Some(Arc::new(clock)), ..LoadSettings::default() };
    let mut stage = stage_with(text, settings, |_| {});
    stage.log_of_run();
    let mut root = stage.meter.summary().root;
    assert_eq!(root.checks[0].name, "seven");
    assert_eq!(root.at("::outer::inner").checks[0].name, "in");
    let Total::Trend(durations) = stage.total("group_duration") else { panic!("it is a trend") };
    assert_eq!((durations.count(), durations.max()), (3, 30.0));
}

#[test]
fn metrics_take_numbers_and_warn_of_the_rest() {
    let text = "
        import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
        const [counter, gauge, rate, trend] = [new Counter('cc'), new Gauge('gg'), new Rate('rr'), new Trend('tt')];
        export default function () {
            counter.add(2); counter.add('3', { tag: 'x' }); gauge.add(7); rate.add(true); rate.add(0); trend.add(1.5);
            console.log(counter.add(NaN), counter.add(null), counter.add(), counter.name);
        }";
    let mut stage = stage(text);
    let log = stage.log_of_run();
    assert_eq!(log.len(), 4, "{log:?}");
    assert_eq!(log[0], "'NaN' is not a number: it was not added to metric 'cc'");
    assert_eq!(log[3], "false false false cc");
    assert_eq!(stage.total("cc"), Total::Counter(5.0));
    assert_eq!(stage.total("rr"), Total::Rate { passes: 1, total: 2 });
    assert!(matches!(stage.total("gg"), Total::Gauge { value: 7.0, samples: 1, .. }));
    let mut throwing = stage_with(text, LoadSettings::default(), |plan| plan.http.throw = true);
    assert!(matches!(throwing.run().ending, Ending::Threw(text) if text.contains("is not a number")));
}

#[test]
fn shared_arrays_are_made_once_and_cannot_be_changed() {
    let text = "
        import { SharedArray } from 'k6/data';
        const users = new SharedArray('users', () => { console.log('made'); return [{ name: 'a', tags: [1] }, { name: 'b' }]; });
        export default function () {
            console.log(users.length, users[1].name, users[2], users.map((u) => u.name), [...users].length, Array.isArray(users));
            for (const change of [() => { users[0] = 1; }, () => { users[0].name = 1; }, () => { users[0].tags[0] = 2; }]) {
                try { change(); console.log('changed'); } catch (e) { console.log(e.name); }
            }
        }";
    let mut stage = stage(text);
    let log = stage.log_of_run();
    let first = r#"2 b undefined ["a","b"] 2 true"#;
    assert_eq!(log, [first, "TypeError", "TypeError", "TypeError"], "and 'made' was logged while loading");
}

#[test]
fn the_console_shows_objects_as_json() {
    let text = "export default function () {
        console.log('a', 1, true, null, undefined, { b: [1] }, [2]); console.log(new TypeError('bad')); console.log(); console.log('half', '\\ud800');
        const o = { x: {} }; o.o = o; o.x.up = o; o.twice = [o.x.y = {}, o.x.y]; console.log(o);
        console.log({ e: new Error('inner'), m: new Map([[1, { a: 2 }]]), s: new Set([3]), b: 10n, f() {}, u: undefined, d: new Date(0) }, Symbol('s'));
        console.log({ toJSON() { throw new Error('no'); } }, [new RangeError('r')], Object.create(null), NaN, 1e21);
    }";
    let log = stage(text).log_of_run();
    assert!(log[1].starts_with("TypeError: bad\n    at ") && log[1].contains("script.js:"), "{}", log[1]);
    let others: Vec<_> =
        log.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, line)| line.as_str()).collect();
    let wanted = [
        r#"a 1 true null undefined {"b":[1]} [2]"#,
        "",
        "half \u{fffd}",
        r#"{"x":{"up":"[Circular]","y":{}},"o":"[Circular]","twice":[{},{}]}"#,
        r#"{"e":"Error: inner","m":[[1,{"a":2}]],"s":[3],"b":"10n","d":"1970-01-01T00:00:00.000Z"} Symbol(s)"#,
        r#"[object Object] ["RangeError: r"] {} NaN 1e+21"#,
    ];
    assert_eq!(others, wanted);
}

#[test]
fn a_seed_is_of_one_user_alone() {
    let text = "
        import { randomSeed } from 'k6';
        if (__VU < 3) randomSeed(42);
        export default function () { console.log(Math.random(), Math.floor(1.5)); }";
    let stage = &mut stage(text);
    let mut users: Vec<_> = (1..=3).map(|vu| stage.nursery.user(vu).unwrap()).collect();
    for user in &mut users {
        stage.iterate(&mut **user);
    }
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    assert_eq!(log[0], log[1]);
    assert_ne!(log[1], log[2]);
}

#[test]
fn modules_belong_to_each_user_and_may_be_patched() {
    let text = "
        import http, { get } from 'k6/http'; import * as all from 'k6/http';
        export default function () {
            console.log(typeof http.get, get === http.get, all.default === http, Object.keys(http).includes('post'));
            if (__VU === 1) http.get = () => ({ status: 299 });
            console.log(http.get('http://h/').status);
        }";
    let stage = &mut stage(text);
    let mut users = [1, 2].map(|vu| stage.nursery.user(vu).unwrap());
    for user in &mut users {
        stage.iterate(&mut **user);
    }
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    assert_eq!(log, ["function true true true", "299", "function true true true", "200"]);
}

#[test]
fn sleeping_takes_seconds() {
    let mut stage = stage(
        "import { sleep } from 'k6'; export default function () { sleep(1.5); sleep(-1); sleep('2'); sleep(NaN);
         sleep(); sleep(undefined); sleep(null); sleep('x'); sleep({}); sleep(true); sleep(1, 2); }",
    );
    let sleeps = stage.run().sleeps;
    assert_eq!(sleeps, [1500, 0, 2000, 0, 0, 0, 0, 0, 0, 1000, 1000].map(Duration::from_millis));
}

#[test]
fn base64_in_four_variants() {
    let text = "
        import { b64encode, b64decode } from 'k6/encoding';
        export default function () {
            const bytes = new Uint8Array([251, 255, 254, 0]);
            for (const variant of [undefined, 'std', 'rawstd', 'url', 'rawurl', 'else']) {
                const packed = b64encode(bytes.buffer, variant);
                const back = new Uint8Array(b64decode(packed, variant));
                console.log(variant, packed, back.join());
            }
            console.log(new Uint8Array(b64decode('YR==')).join(), b64decode().byteLength, b64decode('').byteLength, b64encode('\\ud800'));
            console.log(b64encode('h\u{e9}llo'), b64decode('aMOpbGxv', 'std', 's'), b64decode('aMOp\\nbGxv\\r\\n', 'std', 's'));
            for (const wrong of [() => b64encode(5), () => b64decode('a'), () => b64decode('+/+/', 'url')]) {
                try { wrong(); } catch (e) { console.log(e.message); }
            }
        }";
    insta::assert_snapshot!(stage(text).log_of_run().join("\n"), @"
    undefined +//+AA== 251,255,254,0
    std +//+AA== 251,255,254,0
    rawstd +//+AA 251,255,254,0
    url -__-AA== 251,255,254,0
    rawurl -__-AA 251,255,254,0
    else +//+AA== 251,255,254,0
    97 0 0 77+9
    aMOpbGxv héllo héllo
    b64encode() takes a text, an ArrayBuffer or a Uint8Array
    b64decode(): Invalid input length: 1
    b64decode(): Invalid symbol 43, offset 0.
    ");
}

#[test]
fn shared_arrays_say_what_they_need_and_act_as_arrays() {
    let error = |make: &str| {
        crate::driver::load_error(&format!(
            "import {{ SharedArray }} from 'k6/data'; new SharedArray({make}); export default function () {{}}"
        ))
    };
    assert!(error("'x'").contains("new SharedArray() needs a name and a function"));
    assert!(error("'', () => []").contains("a SharedArray needs a name"));
    assert!(error("'x', () => 5").contains("only an array can be made into a SharedArray"));
    assert!(error("'x', async () => []").contains("cannot be async"));
    let text = "
        import { SharedArray } from 'k6/data';
        const a = new SharedArray('a', () => [{ n: { b: [1, 2] } }, 'text', 5, null, undefined, new Date(0), NaN]);
        const again = new SharedArray('a', () => [1]);
        const t = (f) => { try { console.log(f()); } catch (e) { console.log(e.name); } };
        export default function () {
            t(() => [a[0], a[1], a[3], a[4], a[5], a[6], a[9], a[-1], a.x, a[1.5], a.length, again.length]);
            t(() => [a.indexOf(5), a.includes('text'), Object.keys(a), 0 in a, 99 in a, a.slice(1, 3), [...a].length, a.find((x) => x && x.n), a.at(1), [...a.entries()].length]);
            t(() => [a instanceof Array, Array.isArray(a), a.constructor === Array, a[0] === a[0], JSON.stringify(a) === JSON.stringify([...a])]);
            for (const change of [() => a.push(1), () => a.sort(), () => { a.length = 0; }, () => { delete a[0]; }, () => a[0].n.b.push(3), () => new SharedArray('late', () => [])]) t(change);
        }";
    insta::assert_snapshot!(stage(text).log_of_run().join("\n"));
}

#[test]
fn files_are_opened_from_this_machine_alone() {
    let error = |path: &str| crate::driver::load_error(&format!("open({path}); export default function () {{}}"));
    assert!(error("'http://h/x'").contains("cannot open http://h/x: open() reads files of this machine"));
    assert!(error("'.'").contains("cannot open"));
    assert!(error("'nope.txt'").contains("nope.txt"));
    assert!(error("''").contains("open() needs the path of a file"));
    assert!(error("'script.js', 'x'").contains("open() knows the mode 'b'"));
    let mut stage = stage(
        "const mine = open('file://script.js'); export default function () { console.log(mine.startsWith('const mine')); }",
    );
    assert_eq!(stage.log_of_run(), ["true"]);
}

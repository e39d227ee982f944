//! Timers, requests that nobody waits for, promises: in simulated time, in both isolations.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]

use engine::user::{Answer, Ask, Ending};
use script::LoadSettings;

use crate::driver::{Course, ISOLATIONS, Stage, load_error, stage, stage_with};

const IMPORTS: &str =
    "import http from 'k6/http'; import { sleep, group, check, fail } from 'k6'; import exec from 'k6/execution';
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));\n";

/// What this body of a default function logs, and how it went.
fn went(body: &str) -> (Vec<String>, Course) {
    let text = format!("{IMPORTS} export default async function () {{ {body} }}");
    let mut seen: Vec<(Vec<String>, Course)> = Vec::new();
    for isolation in ISOLATIONS {
        let mut stage = stage_with(&text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let course = stage.run();
        seen.push((log(&stage), course));
    }
    let (last, first) = (seen.pop().unwrap(), seen.pop().unwrap());
    let facts =
        |(log, course): &(Vec<String>, Course)| (log.len(), course.ended_ms, course.left, course.requests.len());
    assert_eq!(facts(&first), facts(&last), "{first:?} {last:?}");
    first
}

fn log(stage: &Stage) -> Vec<String> {
    stage.meter.take_log().into_iter().map(|line| line.text).collect()
}

/// What a body logs that ends well with nothing left, and how long it took.
fn logged(body: &str) -> (Vec<String>, u128) {
    let (log, course) = went(body);
    assert_eq!((&course.ending, course.left), (&Ending::Completed, 0), "{log:?}");
    (log, course.ended_ms)
}

#[test]
fn timers_ring_by_their_moment_and_then_by_their_age() {
    let (log, ended_ms) = logged(
        "const log = (x) => console.log(x);
         setTimeout(log, 20, 'c'); setTimeout(log, 10, 'a'); setTimeout(log, 10, 'b'); setTimeout(log, -5, 'negative');
         setTimeout(log, 'x', 'no number'); setTimeout(() => log('no delay')); setTimeout(log, 0.5, 'half');
         queueMicrotask(() => log('microtask')); Promise.resolve().then(() => log('job')); log('sync');",
    );
    assert_eq!(log, ["sync", "microtask", "job", "negative", "no number", "no delay", "half", "a", "b", "c"]);
    assert_eq!(ended_ms, 20);
}

#[test]
fn timers_pass_on_arguments_and_nest() {
    let (log, ended_ms) = logged(
        "setTimeout((...all) => console.log(all.length, ...all), 1, 1, 'two', null);
         setTimeout(() => { console.log('outer'); setTimeout(() => console.log('inner'), 0); Promise.resolve().then(() => console.log('job')); }, 5);
         setTimeout(() => console.log('beside'), 5);
         const id = setTimeout(() => {}, 0); console.log(typeof id, id > 0);",
    );
    assert_eq!(log, ["number true", "3 1 two null", "outer", "job", "beside", "inner"]);
    assert_eq!(ended_ms, 5);
}

#[test]
fn an_interval_rings_until_it_is_cleared() {
    let (log, ended_ms) = logged(
        "let n = 0; const id = setInterval((x) => { console.log(x, ++n); if (n === 2) sleep(0.05); if (n === 3) clearTimeout(id); }, 20, 'i');",
    );
    assert_eq!(log, ["i 1", "i 2", "i 3"]);
    // As in k6, a wait begins when the call before is over.
    assert_eq!(ended_ms, 110);
    let (log, ended_ms) = logged(
        "const id = setInterval(() => console.log('never'), 10); const other = setTimeout(() => console.log('nor this'), 30);
         setTimeout(() => { clearInterval(id); clearInterval(other); }, 5);
         for (const none of [undefined, null, 'x', 999, {}, 1.5, -1]) clearTimeout(none);",
    );
    assert_eq!((log.len(), ended_ms), (0, 5));
}

#[test]
fn only_timers_can_be_cleared_and_only_functions_called() {
    let (log, _) = logged(
        "http.asyncRequest('GET', 'http://h/5').then((r) => console.log(r.status)); clearTimeout(1); clearInterval(1);",
    );
    assert_eq!(log, ["200"]);
    let (log, _) = logged(
        "for (const set of [setTimeout, setInterval, queueMicrotask]) try { set('code', 1); } catch (e) { console.log(`${e}`); }",
    );
    let sentences = ["setTimeout", "setInterval", "queueMicrotask"]
        .map(|name| format!("TypeError: {name}() needs a function to call"));
    assert_eq!(log, sentences);
}

#[test]
fn the_module_holds_the_globals() {
    let text = "import timers, { setTimeout as later } from 'k6/timers'; import * as all from 'k6/timers';
        export default function () { later(() => console.log('rang'), 1);
            console.log(Object.keys(timers).sort(), timers.setInterval === all.setInterval, later.name); }";
    let log = stage(text).log_of_run();
    assert_eq!(log, [r#"["clearInterval","clearTimeout","setInterval","setTimeout"] true setTimeout"#, "rang"]);
}

#[test]
fn a_promise_can_wait_for_a_timer() {
    let (log, ended_ms) = logged(
        "console.log('begin'); await wait(100); console.log('then'); await Promise.all([wait(30), wait(50)]); sleep(1); console.log('end');",
    );
    assert_eq!((log, ended_ms), (vec!["begin".into(), "then".into(), "end".into()], 1150));
}

#[test]
fn blocking_calls_let_timers_be_late_but_lose_none() {
    let (log, ended_ms) = logged(
        "setTimeout(() => console.log('second'), 20); setTimeout(() => { sleep(0.2); console.log('first'); }, 10);
         setTimeout(() => console.log('last'), 150); sleep(0.1); console.log('sync');",
    );
    assert_eq!((log, ended_ms), (["sync", "first", "second", "last"].map(String::from).to_vec(), 300));
}

#[test]
fn an_iteration_ends_when_nothing_is_pending() {
    let (log, ended_ms) = logged("setTimeout(() => console.log('late'), 500); return 1;");
    assert_eq!((log, ended_ms), (vec!["late".to_owned()], 500));
    // A promise that nothing settles does not keep it, as in k6.
    let (log, ended_ms) =
        logged("setTimeout(() => console.log('rang'), 5); await new Promise(() => {}); console.log('never');");
    assert_eq!((log, ended_ms), (vec!["rang".to_owned()], 5));
}

#[test]
fn what_is_thrown_in_a_timer_ends_the_iteration_and_all_that_is_pending() {
    let check = |body: &str, headline: &str| {
        let (log, course) = went(body);
        assert_eq!(course.ending, Ending::Threw(headline.into()), "{body}");
        assert_eq!((log.len(), course.left), (1, 1), "{body}: {log:?}");
    };
    let rest = "setTimeout(() => console.log('later'), 50);";
    check(&format!("{rest} setTimeout(() => {{ throw new Error('in a timer'); }}, 5);"), "Error: in a timer");
    check(&format!("{rest} await null; throw new Error('own');"), "Error: own");
    check(&format!("{rest} await wait(5); fail('mine');"), "Error: mine");
    let lost = "uncaught in a promise: Error: lost";
    let lost_with_stack = |body: &str| {
        let (_, course) = went(body);
        assert!(matches!(&course.ending, Ending::Threw(text) if text.starts_with(lost)), "{:?}", course.ending);
        assert_eq!(course.left, 1, "{body}");
    };
    lost_with_stack(&format!("{rest} Promise.reject(new Error('lost')); await new Promise(() => {{}});"));
    lost_with_stack(&format!("{rest} setTimeout(async () => {{ throw new Error('lost'); }}, 5);"));
    lost_with_stack(&format!("{rest} queueMicrotask(() => {{ throw new Error('lost'); }});"));
    let (_, course) = went(
        "setTimeout(() => { try { exec.test.abort('stop'); } catch (e) { console.log('caught'); } }, 5); await wait(50);",
    );
    assert_eq!(course.ending, Ending::Aborted("stop".into()));
}

#[test]
fn the_next_iteration_begins_with_nothing_pending() {
    let text = "export default function () {
        if (__ITER === 0) { setInterval(() => console.log('leaked'), 1); setTimeout(() => { throw 1; }, 2.5); Promise.reject(7); }
        else console.log('clean', setTimeout(() => {}, 1)); }";
    for isolation in ISOLATIONS {
        let stage = &mut stage_with(text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let mut user = stage.nursery.user(1).unwrap();
        assert!(matches!(stage.iterate(&mut *user).ending, Ending::Threw(_)));
        assert_eq!(log(stage).len(), 1);
        assert_eq!(stage.iterate(&mut *user).left, 0);
        assert_eq!(log(stage), ["clean 1"]);
    }
}

#[test]
fn a_cancelled_user_hears_no_more_of_its_timers() {
    let text = "export default async function () {
        try { await new Promise((resolve) => setTimeout(resolve, 10)); } finally { console.log('finally'); } }";
    for isolation in ISOLATIONS {
        let stage = &mut stage_with(text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let mut user = stage.nursery.user(1).unwrap();
        for _ in 0..2 {
            let begun = user.resume(Answer::Begin(stage.assignment.clone(), 0));
            assert!(matches!(begun, Ask::Start(..)), "{begun:?}");
            assert!(matches!(user.resume(Answer::Noted), Ask::Next));
            assert!(matches!(user.resume(Answer::Cancel), Ask::Done(Ending::Interrupted)));
        }
        // One is dropped while it waits: everything it holds is given back in order, or the engine asserts.
        user.resume(Answer::Begin(stage.assignment.clone(), 0));
        drop(user);
        assert_eq!(log(stage), [] as [&str; 0]);
    }
}

#[test]
fn a_thousand_timers_ring_in_order() {
    let (log, ended_ms) = logged(
        "let last = -1, rang = 0; const cleared = new Set();
         for (let i = 0; i < 1000; i++) {
             const due = (i * 7919) % 1000;
             const id = setTimeout(() => { if (due < last) fail(`${due} behind ${last}`); last = due; rang++; }, due);
             if (i % 10 === 0) clearTimeout(id);
         }
         await wait(2000); console.log(rang, last);",
    );
    assert_eq!((log, ended_ms), (vec!["900 999".to_owned()], 2000));
}

#[test]
fn requests_go_on_beside_each_other() {
    let (log, ended_ms) = logged(
        "const get = (ms) => http.asyncRequest('GET', `http://h/${ms}`).then((r) => { console.log(ms, r.status, r.body, r instanceof Promise); return r; });
         const all = await Promise.all([get(30), get(10), get(20)]); console.log(all.map((r) => r.url.slice(-2)));
         const posted = await http.asyncRequest('POST', 'http://h/5', { a: 1 }, { headers: { x: 'y' } });
         console.log(posted.request.method, posted.request.body);",
    );
    let lines = ["10 200 ok false", "20 200 ok false", "30 200 ok false", r#"["30","10","20"]"#, "POST a=1"];
    assert_eq!((log, ended_ms), (lines.map(String::from).to_vec(), 35));
}

#[test]
fn wrong_requests_reject_their_promise() {
    let (log, _) = logged(
        "for (const wrong of [() => http.asyncRequest(), () => http.asyncRequest('GET'), () => http.asyncRequest('GET', 'http://h/', null, { timeout: 'soon' })])
             try { await wrong().catch((e) => { console.log(e.name); throw e; }); } catch (e) { console.log(e instanceof TypeError); }",
    );
    assert_eq!(log, ["TypeError", "true", "TypeError", "true", "TypeError", "true"]);
    let (_, course) =
        went("http.asyncRequest('GET', 'http://h/', null, { auth: 'ntlm' }).catch(() => console.log('caught'));");
    assert!(matches!(course.ending, Ending::Unsupported(_)), "{:?}", course.ending);
}

#[test]
fn a_request_has_the_group_of_its_beginning_and_what_comes_later_has_none() {
    let text = format!(
        "{IMPORTS} export default async function () {{
            let inside;
            group('g', () => {{
                inside = http.asyncRequest('GET', 'http://h/20').then(() => http.get('http://h/then'));
                setTimeout(() => http.get('http://h/timer'), 10);
            }});
            http.get('http://h/outside');
            await http.asyncRequest('GET', 'http://h/5'); await inside; await wait(5); http.get('http://h/after');
        }}"
    );
    let mut stage = stage(&text);
    let course = stage.run();
    assert_eq!(course.ending, Ending::Completed);
    let name = |url: &str| url.rsplit('/').next().unwrap().to_owned();
    let group = |tags| stage.meter.tag(tags, "group").unwrap_or_default().to_string();
    let groups: Vec<_> = course.requests.iter().map(|request| (name(&request.url), group(request.tags))).collect();
    let wanted = [("20", "::g"), ("outside", ""), ("5", ""), ("timer", ""), ("then", ""), ("after", "")];
    assert_eq!(groups, wanted.map(|(name, group)| (name.to_owned(), group.to_owned())));
}

#[test]
fn setup_and_teardown_may_wait() {
    let text = format!(
        "{IMPORTS} export async function setup() {{ await wait(20); const r = await http.asyncRequest('GET', 'http://h/10'); return {{ status: r.status }}; }}
         export default function (data) {{ console.log(data.status); }}
         export async function teardown(data) {{ await wait(5); console.log('over', data.status); }}"
    );
    let mut stage = stage(&text);
    let mut setup = stage.nursery.setup().unwrap();
    let course = stage.iterate(&mut *setup);
    assert_eq!((course.ending, course.ended_ms), (Ending::Completed, 30));
    stage.run();
    let mut teardown = stage.nursery.teardown().unwrap();
    assert_eq!(stage.iterate(&mut *teardown).ended_ms, 5);
    assert_eq!(log(&stage), ["200", "over 200"]);
}

#[test]
fn timers_of_the_init_code_ring_before_the_first_iteration() {
    let text = "const order = []; const id = setInterval(() => { order.push('i'); if (order.length > 3) clearInterval(id); }, 10);
        setTimeout(() => order.push('late'), 1e6); setTimeout((x) => order.push(x), 15, 'arg'); const gone = setTimeout(() => order.push('gone'), 1);
        clearTimeout(gone); export default function () { console.log(order); }";
    assert_eq!(stage(text).log_of_run(), [r#"["i","arg","i","i","late"]"#]);
    let error = load_error("setInterval(() => {}, 1000); export default function () {}");
    assert!(error.contains("timers of the init code rang 10000 times") && error.contains("nothing clears"), "{error}");
    let error = load_error("setTimeout(() => {\n throw new Error('early'); }, 5); export default function () {}");
    assert!(error.contains("script.js:2:") && error.contains("Error: early"), "{error}");
}

//! What happens in iterations: state, endings, promises, setup data, cancellation.

use std::rc::Rc;
use std::time::Duration;

use engine::user::{Answer, Ask, Assignment, Ending};
use script::LoadSettings;

use crate::driver::{ISOLATIONS, answer_to, assignment, iterate, stage, stage_with};

#[test]
fn users_have_their_own_state() {
    let text = "
        let n = 0; let seen = [];
        class Account { static made = 0; #money = 1; spend() { Account.made++; return this.#money++; } }
        const account = new Account();
        export default function () {
            n++; globalThis.count = (globalThis.count || 0) + 10;
            __ENV.MINE = (__ENV.MINE || '') + __VU;
            console.log(__VU, __ITER, n, count, account.spend(), Account.made, __ENV.MINE);
        }";
    for isolation in ISOLATIONS {
        let stage = &mut stage_with(text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let mut users = [1, 2].map(|vu| stage.nursery.user(vu).unwrap());
        for _ in 0..2 {
            for user in &mut users {
                stage.iterate(&mut **user);
            }
        }
        let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
        assert_eq!(log, ["1 0 1 10 1 1 1", "2 0 1 10 1 1 2", "1 1 2 20 2 2 11", "2 1 2 20 2 2 22"], "{isolation:?}");
    }
}

#[test]
fn a_call_that_waits_blocks_its_user_alone() {
    let text = "
        import http from 'k6/http'; import { sleep } from 'k6';
        export default function () {
            const all = ['a', 'b'].map((x) => { const r = http.get('http://h/' + x + __VU); sleep(0.5); return r.status; });
            console.log(__VU, all);
        }";
    for isolation in ISOLATIONS {
        let stage = &mut stage_with(text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let mut users: Vec<_> = (1..=3).map(|vu| stage.nursery.user(vu).unwrap()).collect();
        let begin = || Answer::Begin(stage.assignment.clone(), 0);
        let mut asks: Vec<_> = users.iter_mut().map(|user| user.resume(begin())).collect();
        let mut done = 0;
        while done < users.len() {
            // Always the last first, so that users go on in another order than they came.
            for (user, ask) in users.iter_mut().zip(&mut asks).rev() {
                let answer = match &*ask {
                    Ask::Http(request) => Answer::Response(Box::new(answer_to(request, 200, ""))),
                    Ask::Sleep(duration) => {
                        assert_eq!(*duration, Duration::from_millis(500));
                        Answer::Slept
                    }
                    Ask::Done(ending) => {
                        assert_eq!(*ending, Ending::Completed);
                        continue;
                    }
                    other => panic!("{other:?}"),
                };
                *ask = user.resume(answer);
                done += usize::from(matches!(ask, Ask::Done(_)));
            }
        }
        let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
        assert_eq!(log, ["3 [200,200]", "2 [200,200]", "1 [200,200]"], "{isolation:?}");
    }
}

#[test]
fn a_throw_ends_the_iteration_and_is_logged_with_its_stack() {
    let mut stage = stage("function inner() { null.x; }\nexport default function main() {\n  inner();\n}");
    let course = stage.run();
    assert_eq!(course.ending, Ending::Threw("TypeError: cannot read property 'x' of null".into()));
    let errors = stage.errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("script.js:1:") && errors[0].contains("script.js:3:"), "{errors:?}");
    assert!(!errors[0].contains("plimsoll:"), "{errors:?}");
}

#[test]
fn what_is_thrown_may_be_anything() {
    let run = |code: &str| {
        let mut stage = stage(&format!("import {{ fail }} from 'k6'; export default function () {{ {code} }}"));
        stage.run().ending
    };
    assert_eq!(run("throw 'text'"), Ending::Threw("text".into()));
    assert_eq!(run("throw { a: 1 }"), Ending::Threw(r#"{"a":1}"#.into()));
    assert_eq!(run("throw undefined"), Ending::Threw("undefined".into()));
    assert_eq!(run("throw { toJSON() { throw 1 }, toString() { throw 2 } }"), Ending::Threw("object".into()));
    assert_eq!(run("fail('because')"), Ending::Threw("Error: because".into()));
}

#[test]
fn async_functions_run_to_their_end() {
    let text = "
        import { sleep } from 'k6';
        export default async function () {
            await null; sleep(1); const x = await Promise.resolve(2);
            Promise.resolve().then(() => console.log('later', x));
            await new Promise((resolve) => Promise.resolve().then(resolve)); console.log('end');
        }";
    assert_eq!(stage(text).log_of_run(), ["later 2", "end"]);
    let mut rejecting = stage("export default async function () { await null; throw new Error('no'); }");
    assert_eq!(rejecting.run().ending, Ending::Threw("Error: no".into()));
    assert_eq!(rejecting.errors().len(), 1);
    let mut lost = stage("export default function () { (async () => { throw new Error('lost'); })(); }");
    assert!(matches!(lost.run().ending, Ending::Threw(text) if text.contains("uncaught in a promise: Error: lost")));
    let mut handled = stage("export default function () { const p = Promise.reject(1); p.catch(() => {}); }");
    assert_eq!(handled.run().ending, Ending::Completed);
    let mut never = stage("export default async function () { await new Promise(() => {}); }");
    assert_eq!(never.run().ending, Ending::Completed);
}

#[test]
fn a_cancelled_user_runs_no_more_of_the_script() {
    let text = "
        import http from 'k6/http'; import { sleep, group } from 'k6';
        async function chain() { for (;;) { await null; console.log('job'); } }
        export default async function () {
            if (__ITER > 0) { console.log('again'); return; }
            Promise.resolve().then(() => console.log('a job'));
            try { try { group('g', () => [1].map(() => http.get('http://h/'))); } finally { console.log('finally'); } }
            catch (e) { console.log('catch'); }
            sleep(1); console.log('after');
        }";
    for isolation in ISOLATIONS {
        let stage = &mut stage_with(text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let mut user = stage.nursery.user(1).unwrap();
        assert!(matches!(user.resume(Answer::Begin(stage.assignment.clone(), 0)), Ask::Http(_)));
        assert!(matches!(user.resume(Answer::Cancel), Ask::Done(Ending::Interrupted)));
        assert!(matches!(user.resume(Answer::Cancel), Ask::Done(Ending::Interrupted)));
        assert_eq!(stage.meter.take_log(), [], "{isolation:?}");
        stage.iterate(&mut *user);
        assert_eq!(stage.meter.take_log()[0].text, "again", "{isolation:?}");
        assert_eq!(stage.meter.take_log(), [], "jobs of the cancelled iteration ran: {isolation:?}");
    }
}

#[test]
fn a_user_dropped_in_the_middle_gives_everything_back() {
    let text = "import { sleep } from 'k6'; export default function () { try { sleep(1); } finally { sleep(2); } }";
    for isolation in ISOLATIONS {
        let stage = &mut stage_with(text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let mut user = stage.nursery.user(1).unwrap();
        assert!(matches!(user.resume(Answer::Begin(stage.assignment.clone(), 0)), Ask::Sleep(_)));
        // The engine asserts that nothing is left when it is freed.
        drop(user);
    }
}

#[test]
fn a_script_that_computes_lets_others_run_and_can_be_cancelled() {
    for isolation in ISOLATIONS {
        let settings = LoadSettings { isolation, ..LoadSettings::default() };
        let text = "export default function () { try { for (;;) {} } catch (e) { console.log('caught'); } }";
        let stage = &mut stage_with(text, settings, |_| {});
        let mut user = stage.nursery.user(1).unwrap();
        assert!(matches!(user.resume(Answer::Begin(stage.assignment.clone(), 0)), Ask::Yield));
        assert!(matches!(user.resume(Answer::Slept), Ask::Yield));
        assert!(matches!(user.resume(Answer::Cancel), Ask::Done(Ending::Interrupted)));
        assert_eq!(stage.meter.take_log(), []);
    }
}

#[test]
fn deep_recursion_is_an_exception_that_names_the_setting() {
    for isolation in ISOLATIONS {
        let settings = LoadSettings { isolation, ..LoadSettings::default() };
        let text = "
            import { sleep } from 'k6';
            const deep = (n) => n === 0 ? (sleep(0), 0) : 1 + deep(n - 1); const endless = () => 1 + endless();
            export default function () { console.log(deep(300)); endless(); }";
        let stage = &mut stage_with(text, settings, |_| {});
        let ending = stage.run().ending;
        assert!(matches!(&ending, Ending::Threw(text) if text.contains("raise the stack size")), "{ending:?}");
        assert_eq!(stage.meter.take_log()[0].text, "300");
    }
}

#[test]
fn setup_data_is_decoded_once_for_each_user() {
    let text = "
        export function setup() { return { list: [1, undefined], at: new Date(0), gone: undefined }; }
        export default function (data) { data.list.push(__VU); console.log(data); }
        export function teardown(data) { console.log(data.list.length); }";
    let mut stage = stage(text);
    let mut setup = stage.nursery.setup().unwrap();
    assert_eq!(stage.iterate(&mut *setup).ending, Ending::Completed);
    // Users of another worker get it too.
    let mut other = stage.factory.nursery(1, stage.meter.clone()).unwrap();
    let mut users = [stage.nursery.user(1).unwrap(), other.user(2).unwrap()];
    for user in &mut users {
        stage.iterate(&mut **user);
    }
    stage.iterate(&mut *users[0]);
    let mut teardown = stage.nursery.teardown().unwrap();
    stage.iterate(&mut *teardown);
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    let date = r#""at":"1970-01-01T00:00:00.000Z","gone":null"#;
    let lines = [("1,null,1", ""), ("1,null,2", ""), ("1,null,1,1", "")];
    let mut expected: Vec<_> = lines.iter().map(|(list, _)| format!(r#"{{"list":[{list}],{date}}}"#)).collect();
    expected.push("2".to_owned());
    assert_eq!(log, expected);
}

#[test]
fn setup_data_must_be_data() {
    let mut stage = stage("export function setup() { return { f() {} }; } export default function () {}");
    let mut setup = stage.nursery.setup().unwrap();
    let ending = stage.iterate(&mut *setup).ending;
    assert!(
        matches!(&ending, Ending::Threw(text) if text.contains("setup() returned a function in 'f'")),
        "{ending:?}"
    );
}

#[test]
fn scenarios_choose_function_and_environment() {
    let env = [("A".to_owned(), "base".to_owned())].into();
    let text = "
        export default function () { console.log('default', __ENV.A, __ENV.B); }
        export function other() { console.log('other', __ENV.A, __ENV.B); }";
    let mut stage = stage_with(text, LoadSettings { env, ..LoadSettings::default() }, |_| {});
    let mut user = stage.nursery.user(1).unwrap();
    let pairs = vec![("A".to_owned(), "over".to_owned()), ("B".to_owned(), "new".to_owned())];
    let other = Rc::new(Assignment { env: pairs, ..(*assignment("other")).clone() });
    for assignment in [assignment("default"), other, assignment("default")] {
        let course = iterate(&mut *user, &assignment, 0, &mut |_| unreachable!());
        assert_eq!(course.ending, Ending::Completed);
    }
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    assert_eq!(log, ["default base undefined", "other over new", "default base undefined"]);
    let course = iterate(&mut *user, &assignment("absent"), 0, &mut |_| unreachable!());
    assert_eq!(course.ending, Ending::Threw("TypeError: the script exports no function 'absent'".into()));
}

#[test]
fn execution_knows_who_runs() {
    let text = "
        import exec from 'k6/execution';
        export default function () {
            console.log(exec.vu.idInTest, exec.vu.iterationInInstance, exec.vu.iterationInScenario,
                exec.scenario.name, exec.scenario.iterationInTest);
            if (exec.vu.iterationInInstance === 1) { try { exec.test.abort('enough'); } finally { console.log('x'); } }
        }";
    let mut stage = stage(text);
    let mut user = stage.nursery.user(7).unwrap();
    let run = |user: &mut dyn engine::user::User, number| {
        iterate(user, &stage.assignment, number, &mut |_| unreachable!()).ending
    };
    assert_eq!(run(&mut *user, 41), Ending::Completed);
    assert_eq!(run(&mut *user, 50), Ending::Aborted("enough".into()));
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    assert_eq!(log, ["7 0 0 main 41", "7 1 1 main 50"]);
}

#[test]
fn a_stack_that_is_used_up_is_an_exception_whatever_used_it() {
    let text = "
        import http from 'k6/http'; import { check, group } from 'k6';
        const ways = {
            json: () => JSON.parse('['.repeat(1e6)),
            nested() { let x = []; for (let i = 0; i < 1e5; i++) x = [x]; JSON.stringify(x); },
            proxy() { let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x; },
            getter() { const o = { get x() { return o.x; } }; return o.x; },
            sort() { const f = () => [2, 1].sort(f); f(); },
            text() { const o = { toString: () => `${o}` }; return `${o}`; },
            evaluate() { const f = () => (0, eval)('f()'); globalThis.f = f; f(); },
            generator() { function* g() { yield* g(); } [...g()]; },
            check() { const f = () => check(1, { f }); f(); },
            group() { const f = () => group('g', f); f(); },
            request() {
                const f = () => { try { f(); } catch (e) { http.post('http://h/', { a: 'b' }, { headers: { x: 'y' }, tags: { a: 'b' } }); throw e; } };
                f();
            },
        };
        export default function () {
            for (const way in ways) try { ways[way](); console.log(way, 'came back'); } catch (e) { console.log(way, e.name); }
        }";
    for isolation in ISOLATIONS {
        let settings = LoadSettings { isolation, stack_bytes: 128 * 1024, ..LoadSettings::default() };
        let stage = &mut stage_with(text, settings, |_| {});
        assert_eq!(stage.run().ending, Ending::Completed);
        for line in stage.meter.take_log() {
            let is_limit = ["RangeError", "InternalError", "SyntaxError"].iter().any(|name| line.text.ends_with(name));
            assert!(is_limit, "{}", line.text);
        }
    }
}

#[test]
fn a_user_whose_init_code_throws_is_not_made() {
    let text = "if (__VU === 2)\n  throw new Error('not me');\nexport default function () { console.log(__VU); }";
    let stage = &mut stage(text);
    let message = stage.nursery.user(2).err().unwrap().message;
    assert!(message.contains("script.js:2:") && message.contains("Error: not me"), "{message}");
    // The others are none the worse for it.
    assert_eq!(stage.log_of_run(), ["1"]);
}

//! What one user may hold is bounded, however it gets hold of it; the others in its engine notice nothing.

use engine::user::Ending;
use script::LoadSettings;

use crate::driver::{ISOLATIONS, answer_to, iterate, load_error, load_text, stage_with};

const BOUND: usize = 8 * 1024 * 1024;

/// Ways to take memory without end, in the second iteration of user 1.
const WAYS: &[(&str, &str)] = &[
    ("in one array", "while (true) kept.push({});"),
    ("in spite of exceptions", "while (true) try { kept.push(new Array(1e4).fill(0)); } catch {}"),
    (
        "again and again in finally",
        "while (true) try { kept.push(`${kept.length} and more`.repeat(50)); } finally { continue; }",
    ),
    ("in cycles", "while (true) { const o = {}; o.self = o; kept.push(o); }"),
    ("in a map", "const map = new Map(); kept.push(map); while (true) map.set({}, {});"),
    ("in closures", "while (true) { const many = [1, 2, 3]; kept.push(() => many); }"),
    ("in binary arrays", "while (true) try { kept.push(new Uint8Array(1e5)); } catch {}"),
    ("in promises", "const f = (v) => { kept.push(v); return Promise.resolve({}).then(f); }; return f();"),
    ("in an async function", "return (async () => { while (true) try { kept.push(await {}); } catch {} })();"),
    ("in timers", "while (true) try { setTimeout(() => {}, 1e6); } catch {}"),
    ("in requests that nobody waits for", "while (true) try { http.asyncRequest('GET', 'http://h/9') } catch {}"),
    ("in responses", "while (true) try { kept.push(http.get('http://h/')); } catch {}"),
    ("in a deep chain", "let last = null; while (true) { last = { last }; }"),
];

fn script(way: &str) -> String {
    format!(
        "import http from 'k6/http';
        const kept = []; let calls = 0;
        export default function () {{
            calls++;
            if (__VU !== 1 || __ITER !== 1) {{ kept.push(calls); console.log(`${{__VU}} ${{__ITER}} ${{calls}}`); return; }}
            {way}
        }}"
    )
}

#[test]
fn who_takes_memory_without_end_is_stopped_and_goes_on_anew() {
    for isolation in ISOLATIONS {
        for (name, way) in WAYS {
            let settings = LoadSettings { isolation, memory_per_user_bytes: BOUND, ..LoadSettings::default() };
            let stage = &mut stage_with(&script(way), settings, |_| {});
            let (mut hog, mut other) = (stage.nursery.user(1).unwrap(), stage.nursery.user(2).unwrap());
            let large = "x".repeat(100_000);
            let endings: Vec<_> = (0..3)
                .flat_map(|_| {
                    [&mut hog, &mut other].map(|user| {
                        iterate(&mut **user, &stage.assignment, 0, &mut |request| answer_to(request, 200, &large))
                            .ending
                    })
                })
                .collect();
            let (threw, completed): (Vec<_>, Vec<_>) = endings.into_iter().partition(|e| *e != Ending::Completed);
            let [Ending::Threw(text)] = &threw[..] else { panic!("{name} ({isolation:?}): {threw:?}") };
            assert!(text.starts_with("out of memory: this user's script holds more than 8 MB"), "{name}: {text}");
            assert_eq!(completed.len(), 5, "{name}");
            let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
            for line in ["1 0 1", "2 0 1", "2 1 2", "2 2 3"] {
                assert!(log.iter().any(|known| known == line), "{name} ({isolation:?}): no {line} in {log:?}");
            }
            // Either nothing of it was kept, or the user has begun anew.
            let last = log.iter().find(|line| line.starts_with("1 2 ")).unwrap();
            let anew = log.iter().any(|line| line.contains("begins anew"));
            assert_eq!(last, if anew { "1 2 1" } else { "1 2 3" }, "{name} ({isolation:?}): {log:?}");
        }
    }
}

#[test]
fn one_allocation_that_is_too_large_is_an_exception() {
    // Where small parts have filled the memory, not even an error fits in: null is thrown.
    let text = "
        const ways = [
            () => 'x'.repeat(2 ** 29), () => new ArrayBuffer(4e9), () => new Array(1e9).fill(0),
            () => new Uint8Array(1e9), () => [...'x'.repeat(1e7)], () => JSON.stringify('x'.repeat(7e6)).repeat(9),
            () => new Array(1e8).join('ab'), () => 'x'.padEnd(2 ** 29), () => new Float64Array(1e8).map(() => 1),
        ];
        export default function () {
            for (const way of ways) try { way(); console.log(way, 'came back'); } catch (e) { console.log(e === null ? 'InternalError' : e.name); }
        }";
    for isolation in ISOLATIONS {
        let settings = LoadSettings { isolation, memory_per_user_bytes: BOUND, ..LoadSettings::default() };
        let stage = &mut stage_with(text, settings, |_| {});
        assert_eq!(stage.run().ending, Ending::Completed);
        let log = stage.meter.take_log();
        assert_eq!(log.len(), 9);
        for line in log {
            assert!(["RangeError", "InternalError"].contains(&line.text.as_str()), "{}", line.text);
        }
    }
}

#[test]
fn an_allocation_that_nobody_catches_names_the_flag() {
    let settings = LoadSettings { memory_per_user_bytes: BOUND, ..LoadSettings::default() };
    let stage = &mut stage_with("export default () => new ArrayBuffer(1e8);", settings.clone(), |_| {});
    let ending = stage.run().ending;
    assert!(matches!(&ending, Ending::Threw(text) if text.contains("--memory-per-user")), "{ending:?}");
    // In the init code as well.
    let text = "const kept = []; while (true) kept.push('x'.repeat(1e5) + kept.length);\nexport default () => {};";
    let error = load_text(text, settings).err().map(|error| error.to_string()).unwrap();
    assert!(error.contains("out of memory") && error.contains("--memory-per-user"), "{error}");
    assert!(load_error("new Array(1e9).fill(0);\nexport default () => {};").contains("out of memory"));
}

#[test]
fn garbage_of_others_is_held_against_nobody() {
    // Half of what is made is garbage in cycles that is collected while others run.
    let text = "
        export default function () {
            for (let i = 0; i < 3000; i++) { const o = { text: `${i}`.repeat(40) }; o.self = o; }
        }";
    let settings = LoadSettings { memory_per_user_bytes: BOUND, ..LoadSettings::default() };
    let stage = &mut stage_with(text, settings, |_| {});
    let mut users: Vec<_> = (1..=10).map(|vu| stage.nursery.user(vu).unwrap()).collect();
    for _ in 0..20 {
        for user in &mut users {
            assert_eq!(stage.iterate(&mut **user).ending, Ending::Completed);
        }
    }
}

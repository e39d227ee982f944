//! `k6/execution`: what users learn of themselves and of the run, and the tags they set.

use engine::user::Ending;
use model::plan::{Executor, Scenario};
use model::summary::Total;
use script::LoadSettings;
use std::time::Duration;

use crate::driver::{Stage, load_error, stage, stage_with};

const T: &str = "const t = (f) => { try { const v = f(); console.log(typeof v === 'object' ? JSON.stringify(v) : v); } catch (e) { console.log(`${e.name}: ${e.message}`); } };";

fn in_scenario(body: &str) -> Stage {
    let text = format!(
        "import exec from 'k6/execution'; import {{ group }} from 'k6'; import {{ Counter }} from 'k6/metrics';
        const cc = new Counter('cc'); {T} export default function () {{ {body} }}"
    );
    stage_with(&text, LoadSettings::default(), |plan| {
        plan.scenarios.push(Scenario {
            name: "main".into(),
            executor: Executor::SharedIterations { vus: 1, iterations: 4, max_duration: Duration::from_secs(60) },
            exec: "default".into(),
            start_time: Duration::ZERO,
            graceful_stop: Duration::ZERO,
            env: Default::default(),
            tags: Default::default(),
        });
        plan.tags = [("run".to_owned(), "r".to_owned())].into();
    })
}

#[test]
fn all_properties_are_there_and_cannot_be_changed() {
    let body = "
        t(() => [Object.keys(exec), Object.keys(exec.vu), Object.keys(exec.vu.metrics), Object.keys(exec.scenario), Object.keys(exec.instance), Object.keys(exec.test)]);
        t(() => exec.vu); t(() => ({ ...exec.scenario, startTime: Math.abs(exec.scenario.startTime - Date.now()) < 5000 })); t(() => exec.instance);
        t(() => { exec.vu.idInTest = 9; }); t(() => { exec.vu.metrics.tags = {}; });";
    insta::assert_snapshot!(in_scenario(body).log_of_run().join("\n"));
}

#[test]
fn tags_and_metadata_are_live() {
    let body = "
        const { tags, metadata } = exec.vu.metrics;
        tags.a = 'x'; tags.b = 5.25; tags.c = true; exec.vu.tags.d = 'alias';
        t(() => [tags.a, tags.b, tags.c, tags.d, 'a' in tags, 'z' in tags, Object.keys(tags), tags]);
        for (const value of [null, undefined, {}, [1], () => 1, 10n]) t(() => { tags.z = value; });
        t(() => [delete tags.a, delete tags.nothing, tags.a, Object.keys(tags).includes('a')]);
        metadata.m = 1; metadata.n = 'x'; delete metadata.n; t(() => [metadata, Object.keys(metadata), metadata.m]); t(() => { metadata.o = {}; });";
    insta::assert_snapshot!(in_scenario(body).log_of_run().join("\n"));
}

#[test]
fn tags_reach_all_samples_and_outlive_groups_and_iterations() {
    let body = "
        if (exec.vu.iterationInScenario === 0) group('g', () => { exec.vu.metrics.tags.mine = 'yes'; cc.add(1); });
        cc.add(10); console.log(exec.vu.metrics.tags.mine, exec.vu.metrics.tags.group);";
    let mut stage = in_scenario(body);
    let mut user = stage.nursery.user(1).unwrap();
    let before = user.tags();
    for _ in 0..2 {
        stage.iterate(&mut *user);
    }
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    assert_eq!(log, ["yes ", "yes "]);
    assert_eq!(before, None);
    let tags = stage.meter.all_tags(user.tags().unwrap());
    assert!(tags.iter().any(|(key, value)| &**key == "mine" && &**value == "yes"), "{tags:?}");
    assert_eq!(stage.total("cc"), Total::Counter(21.0));
}

#[test]
fn a_test_can_be_marked_as_failed_and_goes_on() {
    let mut stage = in_scenario("exec.test.fail('bad'); exec.test.fail(); console.log('on');");
    assert!(!stage.meter.progress().is_failed());
    assert_eq!(stage.log_of_run(), ["test marked as failed: bad", "test marked as failed", "on"]);
    assert!(stage.meter.progress().is_failed());
    let error = load_error("import exec from 'k6/execution'; exec.test.fail('x'); export default function () {}");
    assert!(error.contains("test.fail() of k6/execution is not possible in the init code"), "{error}");
}

#[test]
fn what_belongs_to_iterations_is_refused_in_the_init_code() {
    for code in [
        "exec.vu.idInTest",
        "exec.vu.metrics.tags.x",
        "exec.scenario.name",
        "exec.instance.vusActive",
        "exec.test.options",
    ] {
        let error = load_error(&format!("import exec from 'k6/execution'; {code}; export default function () {{}}"));
        assert!(error.contains("is not possible in the init code"), "{code}: {error}");
    }
}

#[test]
fn setup_belongs_to_no_scenario() {
    let text = format!("import exec from 'k6/execution'; {T}
        export function setup() {{ t(() => exec.scenario.name); t(() => exec.vu.idInTest); t(() => exec.vu.metrics.tags.group); t(() => exec.vu.iterationInScenario); }}
        export default function () {{}}");
    let mut stage = stage(&text);
    let mut user = stage.nursery.setup().unwrap();
    let assignment = std::rc::Rc::new(engine::user::Assignment {
        scenario: String::new(),
        number: usize::MAX,
        ..(*stage.assignment).clone()
    });
    let course = crate::driver::iterate(&mut *user, &assignment, 0, &mut |_| unreachable!("it sends nothing"));
    assert_eq!(course.ending, Ending::Completed);
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    let first = "TypeError: scenario.name of k6/execution: setup() and teardown() belong to no scenario";
    assert_eq!(log, [first, "0", "::setup", "0"]);
}

//! What scripts decide of a run without any network: how it ends, what they learn of it, what they keep secret.

use std::fs;

use crate::service::plimsoll;

/// Runs a script; gives exit code and everything that was printed.
fn run(script: &str, words: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.js"), script).unwrap();
    let output = plimsoll().args(["run", "s.js"]).args(words).current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text)
}

#[test]
fn a_test_that_is_marked_as_failed_goes_on_and_ends_with_110() {
    let script = "
        import exec from 'k6/execution';
        export const options = { iterations: 3, thresholds: { iterations: ['count>100'] } };
        export default function () { if (__ITER === 0) exec.test.fail('bad data'); console.log(`on ${__ITER}`); }";
    let (code, text) = run(script, &[]);
    assert_eq!(code, Some(110), "{text}");
    for part in ["test marked as failed: bad data", "on 2", "the script marked the test as failed"] {
        assert!(text.contains(part), "lacks {part}:\n{text}");
    }
    let abort = script.replace("console.log(`", "exec.test.abort('enough'); console.log(`");
    assert_eq!(run(&abort, &[]).0, Some(108), "an abort comes first");
}

#[test]
fn scripts_learn_how_far_the_run_is() {
    let script = "
        import exec from 'k6/execution'; import { sleep } from 'k6'; import { Counter } from 'k6/metrics';
        const mine = new Counter('mine');
        export const options = {
          scenarios: { s: { executor: 'shared-iterations', vus: 1, iterations: 4 } },
          thresholds: { 'iterations{who:me}': ['count==4'], 'iteration_duration{who:me}': ['max>0'], 'mine{who:me}': ['count==4'] } };
        export function setup() { console.log(`setup ${exec.instance.vusInitialized} ${exec.instance.iterationsCompleted}`); }
        export default function () {
          exec.vu.metrics.tags.who = 'me'; mine.add(1); sleep(0.01);
          const { instance, scenario, test } = exec;
          console.log(`at ${scenario.progress} ${instance.iterationsCompleted} ${instance.vusActive} ${instance.vusInitialized} ${instance.iterationsInterrupted} ${instance.currentTestRunDuration > 0} ${Math.abs(Date.now() - scenario.startTime) < 60000} ${test.options.scenarios.s.iterations}`);
        }";
    let (code, text) = run(script, &["--workers", "1"]);
    assert_eq!(code, Some(0), "{text}");
    let parts = ["setup 1 0", "at 0 0 1 1 0 true true 4", "at 0.25 1 1 1 0 true true 4", "at 0.75 3 1 1 0 true true 4"];
    for part in parts {
        assert!(text.contains(part), "lacks {part}:\n{text}");
    }
}

#[test]
fn secrets_are_read_and_never_shown() {
    let script = "
        import secrets from 'k6/secrets';
        export default async function () {
          const token = await secrets.get('token');
          console.log(`token ${token} of ${token.length}`); throw new Error(`refused ${token}`);
        }";
    let (code, text) = run(script, &["--secret-source", "mock=token=hush-hush"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("token ***SECRET_REDACTED*** of 9") && text.contains("refused ***SECRET_REDACTED***"),
        "{text}"
    );
    assert!(!text.contains("hush"), "{text}");
    let setup = script
        .replace("export default async function () {", "export default function () {} export async function setup() {");
    let (code, text) = run(&setup, &["--secret-source", "mock=token=hush-hush"]);
    assert_eq!(code, Some(107), "{text}");
    assert!(!text.contains("hush") && text.contains("refused ***SECRET_REDACTED***"), "{text}");
    let (code, text) = run(script, &["--secret-source", "vault=x"]);
    assert_eq!(code, Some(255), "{text}");
    assert!(text.contains("--secret-source: there is no kind 'vault'"), "{text}");
}

#[test]
fn modules_that_are_elsewhere_say_where() {
    for (module, part, exit) in [
        ("k6/browser", "it drives a browser", 104),
        ("k6/experimental/redis", "removed it in 2.0", 104),
        ("k6/experimental/webcrypto", "use the global `crypto`", 107),
        ("k6/experimental/timers", "k6/timers", 107),
        ("k6/experimental/grpc", "import k6/net/grpc", 107),
        ("k6/experimental/tracing", "http-instrumentation-tempo", 107),
        ("k6/experimental/browser", "k6/browser now", 107),
    ] {
        let (code, text) = run(&format!("import x from '{module}'; export default function () {{}}"), &[]);
        assert_eq!(code, Some(exit), "{text}");
        assert!(text.contains(part), "{text}");
    }
}

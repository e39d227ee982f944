//! What a run says at its end: `handleSummary()`, modes of the summary, exceptions.

use std::fs;
use std::path::Path;

use crate::service::plimsoll;

/// Runs a script; its exit code, standard output and standard error.
fn run(folder: &Path, script: &str, words: &[&str]) -> (i32, String, String) {
    fs::write(folder.join("script.js"), script).unwrap();
    let output = plimsoll().args(["run", "-q", "script.js"]).args(words).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_script_writes_its_own_summary() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
import { check } from 'k6';
export const options = { thresholds: { checks: ['rate>0.9'] } };
export function setup() { return { users: 3 }; }
export default function () { check(1, { yes: () => true, no: () => false }); }
export async function handleSummary(data) {
  await Promise.resolve();
  console.log(`seen ${data.metrics.iterations.values.count}`);
  return { stdout: 'mine\\n', stderr: 'aside\\n', 'data.json': JSON.stringify(data),
           'raw.bin': new Uint8Array([1, 255]).buffer };
}";
    let (exit, stdout, stderr) = run(folder.path(), script, &[]);
    assert_eq!((exit, stdout.as_str()), (99, "mine\n"), "the rule is still judged: {stderr}");
    assert!(stderr.contains("seen 1") && stderr.contains("aside"), "{stderr}");
    assert_eq!(fs::read(folder.path().join("raw.bin")).unwrap(), [1, 255]);
    let data: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("data.json")).unwrap()).unwrap();
    assert_eq!(data["setup_data"]["users"], 3);
    assert_eq!(data["root_group"]["checks"][1]["name"], "no");
    assert_eq!(data["metrics"]["checks"]["values"]["rate"], 0.5);
    assert_eq!(data["metrics"]["checks"]["thresholds"]["rate>0.9"]["ok"], false);
    assert_eq!(data["state"]["isStdOutTTY"], false);
}

#[test]
fn a_handler_that_fails_or_returns_nothing_leaves_the_usual_summary() {
    let folder = tempfile::tempdir().unwrap();
    for (body, said) in [
        ("throw new Error('oops')", "oops"),
        ("return 5", "must return"),
        ("return { stdout: 5 }", "`stdout`"),
        ("for (;;) {}", "took longer"),
        ("", ""),
    ] {
        let script = format!(
            "export const options = {{ handleSummaryTimeout: '1s' }};
             export default function () {{}}
             export function handleSummary() {{ {body} }}"
        );
        let (exit, stdout, stderr) = run(folder.path(), &script, &[]);
        assert!(exit == 0 && stdout.contains("TOTAL RESULTS"), "{body}: {exit}\n{stdout}{stderr}");
        assert!(stderr.contains(said), "{body}: {stderr}");
    }
}

#[test]
fn the_handler_is_called_after_an_abort_and_not_without_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
import exec from 'k6/execution';
export default function () { exec.test.abort('enough'); }
export function handleSummary() { return { stdout: 'called' }; }";
    let (exit, stdout, _) = run(folder.path(), script, &[]);
    assert_eq!((exit, stdout.as_str()), (108, "called"));
    for words in [&["--no-summary"][..], &["--summary-mode=disabled"]] {
        let (exit, stdout, _) = run(folder.path(), script, words);
        assert_eq!((exit, stdout.as_str()), (108, ""));
    }
    let failing = script
        .replace("exec.test.abort('enough')", "")
        .replace("export default", "export function setup() { throw 1 }\nexport default");
    let (exit, stdout, _) = run(folder.path(), &failing, &[]);
    assert_eq!((exit, stdout.as_str()), (107, "called"));
}

#[test]
fn exceptions_are_counted_with_their_place_and_fail_the_run_if_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let script = "export default function () {\n  if (__ITER % 2) throw new Error('odd');\n}";
    let (exit, stdout, _) = run(folder.path(), script, &["-i", "4"]);
    assert!(exit == 0 && stdout.contains("2  Error: odd (script.js:2:"), "{exit}: {stdout}");
    let (exit, _, stderr) = run(folder.path(), script, &["-i", "4", "--fail-on-exceptions"]);
    assert!(exit == 107 && stderr.contains("2 iterations ended by an exception"), "{exit}: {stderr}");
}

#[test]
fn the_mode_of_the_summary_comes_from_flag_or_environment() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import { group, check } from 'k6';
export default function () { group('cart', () => { check(1, { ok: () => true }); }); }";
    let (_, stdout, _) = run(folder.path(), script, &["--summary-mode=full"]);
    assert!(stdout.contains("GROUP: cart"), "{stdout}");
    let mut output = plimsoll();
    output.args(["run", "-q", "script.js"]).env("K6_SUMMARY_MODE", "legacy");
    let output = output.env("K6_SUMMARY_EXPORT", "out.json").current_dir(folder.path()).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("█ cart") && !stdout.contains("TOTAL RESULTS"), "{stdout}");
    assert!(folder.path().join("out.json").exists());
    let (exit, _, stderr) = run(folder.path(), script, &["--summary-mode=nonsense"]);
    assert!(exit == 104 && stderr.contains("nonsense"), "{exit}: {stderr}");
}

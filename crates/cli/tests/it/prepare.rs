//! What the scripts need is looked for before they begin, and what is missing has its command.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// What `need_rust` says, and its exit code, on a machine with nothing but these programs: name and first line of answer.
fn need_rust(programs: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, answer) in programs {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\necho '{answer}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let words = ["-c", "set -euo pipefail; . script/need; need_rust; echo ready"];
    let output = Command::new("/bin/bash").args(words).current_dir(root).env("PATH", folder.path()).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn a_missing_or_old_rust_has_its_command() {
    let rustup = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh";
    let cargo = ("cargo", "cargo 1.2.3");
    let (exit, said) = need_rust(&[]);
    assert!(exit == Some(1) && said.contains("missing: Rust") && said.contains(rustup), "{said}");
    let (exit, said) = need_rust(&[cargo]);
    assert!(exit == Some(1) && said.contains("missing: Rust"), "{said}");
    let old = ("rustc", "rustc 1.9.0 (a 2016-05-18)");
    let (exit, said) = need_rust(&[cargo, old]);
    assert!(exit == Some(1) && said.contains("Rust 1.9.0 is too old") && said.contains(rustup), "{said}");
    let (exit, said) = need_rust(&[cargo, old, ("rustup", "")]);
    assert!(exit == Some(1) && said.contains("rustup update stable") && !said.contains(rustup), "{said}");
    for new in ["rustc 1.100.0 (a 2027-01-01)", "rustc 2.0.0-nightly (a 2027-01-01)"] {
        assert_eq!(need_rust(&[cargo, ("rustc", new)]), (Some(0), "ready\n".to_owned()), "{new}");
    }
}

//! The documents as a reader follows them: commands exist, links lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::service::plimsoll;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.extend(["README.md", "ARCHITECTURE.md", "STYLE.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    found.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Each `plimsoll …` line in a code block must at least parse: `--help` behind it shows the help of its command.
#[test]
fn commands_in_documents_exist() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, text) in documents() {
        for line in text.lines().map(|line| line.trim().trim_start_matches("$ ").trim_start_matches("target/release/"))
        {
            let Some(rest) = line.strip_prefix("plimsoll ") else { continue };
            let Some(command) =
                rest.split_whitespace().next().filter(|word| word.chars().all(|c| c.is_ascii_lowercase()))
            else {
                continue;
            };
            let help = plimsoll().args([command, "--help"]).output().unwrap();
            let help = String::from_utf8_lossy(&help.stdout).into_owned();
            let flags = rest
                .split_whitespace()
                .filter(|word| word.starts_with("--"))
                .map(|word| word.split('=').next().unwrap_or(word));
            let unknown: Vec<_> = flags.filter(|flag| !help.contains(*flag)).collect();
            seen += 1;
            if help.is_empty() || !unknown.is_empty() {
                wrong.push(format!("{}: `{line}`: {unknown:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty() && seen > 3, "{seen} seen\n{}", wrong.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or("");
            if !file.is_empty() && !file.contains("://") && !path.parent().unwrap().join(file).exists() {
                wrong.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

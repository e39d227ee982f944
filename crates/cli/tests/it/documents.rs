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

/// Whoever reads only one of the two must not be surprised.
#[test]
fn readme_and_k6_page_name_the_same_missing_things() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = fs::read_to_string(root().join("docs/k6.md")).unwrap();
    let (_, missing) = page.split_once("## Not yet\n\n").unwrap();
    let missing = words(missing.split("\n\n").next().unwrap());
    assert!(words(&fs::read_to_string(root().join("README.md")).unwrap()).contains(&missing), "{missing}");
}

/// A page that names a bottleneck without a page says that it has no rule.
#[test]
fn bottlenecks_without_a_page_say_so() {
    let folder = root().join("docs/bottlenecks");
    let mut wrong = Vec::new();
    for id in ["db.held", "db.lock", "db.io", "svc.lock", "svc.oom", "net.reader", "net.loss", "net.rtt"] {
        assert!(!folder.join(format!("{id}.md")).exists(), "{id} has a page now: take it from this list");
        for page in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let text = fs::read_to_string(&page).unwrap();
            let named = text.lines().filter(|line| line.contains(id));
            let silent = named.filter(|line| !line.contains("no rule yet") && !line.contains("looks like"));
            wrong.extend(silent.map(|line| format!("{}: {line}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

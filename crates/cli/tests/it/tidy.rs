//! The rules of STYLE.md that no lint knows. Each check collects everything that is wrong before it fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which rooms a room may use. `lab` sees none, so that it cannot agree by accident.
const EDGES: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("engine", &["model"]),
    ("script", &["engine", "model"]),
    ("probe", &["model"]),
    ("analysis", &["model"]),
    ("view", &["model"]),
    ("sink", &["model"]),
    ("cli", &["analysis", "engine", "model", "probe", "script", "sink", "view"]),
    ("lab", &[]),
];

/// Outside crates that stop in one room (or two, where both are said).
const STOPS: &[(&str, &[&str])] = &[
    ("h2", &["engine"]),
    ("httparse", &["engine"]),
    ("rustls", &["engine"]),
    ("flate2", &["engine", "lab", "sink"]),
    ("ureq", &["cli", "sink"]),
    ("prost", &["lab", "script", "sink"]),
    ("brotli", &["engine", "lab"]),
    ("ruzstd", &["engine", "lab"]),
    ("rquickjs-sys", &["script"]),
    ("corosensei", &["script"]),
    ("oxc_parser", &["script"]),
    ("tokio-postgres", &["probe", "lab"]),
    ("axum", &["lab"]),
    ("clap", &["cli", "lab"]),
    ("anyhow", &["cli", "lab"]),
    ("tokio", &["engine", "probe", "cli", "lab"]),
];

/// The only files with `unsafe`.
const UNSAFE: &[&str] = &[
    "crates/lab/src/os.rs",
    "crates/script/src/native.rs",
    "crates/script/src/native/bytes.rs",
    "crates/script/src/native/engine.rs",
    "crates/script/src/native/fiber.rs",
    "crates/script/src/native/fields.rs",
    "crates/script/src/native/memory.rs",
];

/// The only files that read a clock.
const CLOCKS: &[&str] = &[
    "crates/engine/src/clock.rs",
    "crates/probe/src/watch.rs",
    "crates/cli/src/session.rs",
    "crates/cli/src/machine.rs",
];

/// The only files that print.
const PRINTERS: &[&str] = &["crates/lab/src/out.rs", "crates/cli/src/output.rs"];

const LINES_MAX: usize = 800;
/// Only a decision record raises this.
const LOCKED_PACKAGES_MAX: usize = 520;
const BANNED_NAMES: &[&str] = &["mod.rs", "imp.rs", "utils.rs", "helpers.rs", "common.rs", "manager.rs", "types.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            walk(&path, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}

/// All Rust files: path from the root, text.
fn sources() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    walk(&root().join("crates"), &mut paths);
    let rust = paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let text = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("sources are UTF-8"))
    };
    rust.map(text).collect()
}

fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The part of a file before its in-file tests.
fn own_part(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text)
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = sources().into_iter().filter(|(_, text)| !text.starts_with("//!"));
    none(&silent.map(|(name, _)| format!("{name}: opens without //!")).collect::<Vec<_>>());
}

#[test]
fn files_are_short_and_well_named() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let lines = own_part(&text).lines().count();
        if lines > LINES_MAX {
            wrong.push(format!("{name}: {lines} lines, the wall is {LINES_MAX}"));
        }
        if BANNED_NAMES.iter().any(|banned| name.ends_with(&format!("/{banned}"))) {
            wrong.push(format!("{name}: a name that says nothing"));
        }
    }
    none(&wrong);
}

#[test]
fn unsafe_code_clocks_and_prints_stay_where_they_are_named() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let tests = ["/tests/", "/examples/"].iter().any(|part| name.contains(part)) || name.ends_with("tests.rs");
        let mut only = |marks: &[&str], places: &[&str], what: &str| {
            if marks.iter().any(|mark| text.contains(mark)) && !places.contains(&name.as_str()) && !tests {
                wrong.push(format!("{name}: {what}, which only {places:?} may"));
            }
        };
        if name != "crates/cli/tests/it/tidy.rs" && !name.starts_with("crates/lab/") {
            only(&["clippy::disallowed_methods"], CLOCKS, "reads a clock");
        }
        only(&["expect(unsafe_code", "allow(unsafe_code"], UNSAFE, "has unsafe code");
        only(&["expect(clippy::print_", "allow(clippy::print_"], PRINTERS, "prints");
    }
    none(&wrong);
}

#[test]
fn no_test_is_ignored_and_each_room_has_one_integration_binary() {
    let mut wrong: Vec<String> = Vec::new();
    for (name, text) in sources() {
        let ignored = text.lines().any(|line| line.trim_start().starts_with("#[ignore"));
        if ignored {
            wrong.push(format!("{name}: an ignored test"));
        }
        let inside = name.split_once("/tests/").map(|(_, inside)| inside);
        if inside.is_some_and(|inside| !inside.starts_with("it/") && !inside.contains('/')) && !name.contains("/src/") {
            wrong.push(format!("{name}: a second integration binary"));
        }
    }
    none(&wrong);
}

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo answers");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let mut rooms = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name").trim_start_matches("plimsoll-").to_owned();
        let normal =
            package["dependencies"].as_array().expect("dependencies").iter().filter(|one| one["kind"].is_null());
        let names = normal.map(|one| one["name"].as_str().expect("a name").to_owned());
        rooms.insert(name, names.collect());
    }
    rooms
}

#[test]
fn rooms_use_only_what_they_may() {
    let rooms = dependencies();
    let mut wrong = Vec::new();
    let known: BTreeSet<&str> = EDGES.iter().map(|(room, _)| *room).collect();
    for (room, uses) in &rooms {
        if !known.contains(room.as_str()) {
            wrong.push(format!("{room}: a room that ARCHITECTURE.md and tidy do not know"));
        }
        let may = EDGES.iter().find(|(name, _)| name == room).map_or(&[][..], |(_, may)| may);
        for used in uses {
            if let Some(other) = used.strip_prefix("plimsoll-")
                && !may.contains(&other)
            {
                wrong.push(format!("{room} uses {other}, which it must not know"));
            }
            if let Some((_, places)) = STOPS.iter().find(|(name, _)| name == used)
                && !places.contains(&room.as_str())
            {
                wrong.push(format!("{room} uses {used}, which stops in {places:?}"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn versions_stand_in_the_root_and_the_lock_file_stays_small() {
    let mut wrong = Vec::new();
    for (room, _) in EDGES {
        let manifest = fs::read_to_string(root().join("crates").join(room).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.split_once("[dependencies]").map_or("", |(_, rest)| rest);
        for line in dependencies.lines().filter(|line| line.contains('=') && !line.contains("workspace = true")) {
            wrong.push(format!("crates/{room}/Cargo.toml: `{line}` belongs into the root"));
        }
    }
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("a lock file");
    let packages = lock.matches("[[package]]").count();
    if packages > LOCKED_PACKAGES_MAX {
        wrong.push(format!("Cargo.lock: {packages} packages, the ceiling is {LOCKED_PACKAGES_MAX}"));
    }
    none(&wrong);
}

#[test]
fn documents_stay_short_and_rules_have_pages() {
    let mut wrong = Vec::new();
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    if architecture.lines().count() > 200 {
        wrong.push("ARCHITECTURE.md: more than 200 lines".to_owned());
    }
    for (room, _) in EDGES {
        if !architecture.contains(&format!("`{room}`")) {
            wrong.push(format!("ARCHITECTURE.md: does not name the room `{room}`"));
        }
    }
    let rules = fs::read_to_string(root().join("crates/analysis/src/rule.rs")).expect("the list of rules");
    let pages: Vec<_> = fs::read_dir(root().join("docs/bottlenecks")).expect("pages").flatten().collect();
    for page in &pages {
        let id = page.file_name().to_string_lossy().trim_end_matches(".md").to_owned();
        if id != "README"
            && !sources()
                .iter()
                .any(|(name, text)| name.starts_with("crates/analysis/") && text.contains(&format!("\"{id}\"")))
        {
            wrong.push(format!("docs/bottlenecks/{id}.md: no rule of that id"));
        }
    }
    if pages.is_empty() || rules.is_empty() {
        wrong.push("docs/bottlenecks: no pages".to_owned());
    }
    none(&wrong);
}

/// Nothing that is committed names the machine it was made on, or a place that only its makers can reach.
#[test]
fn documents_speak_of_the_project_alone() {
    let mut paths = Vec::new();
    for folder in ["docs", "crates", "script", ".ci"] {
        walk(&root().join(folder), &mut paths);
    }
    paths.extend(
        ["README.md", "ARCHITECTURE.md", "STYLE.md", "CONTRIBUTING.md", "Cargo.toml"].map(|name| root().join(name)),
    );
    let places = ["/work", "/root/", "/home/"].map(|place| place.to_owned() + if place == "/work" { "/" } else { "" });
    let mut wrong = Vec::new();
    for path in paths.iter().filter(|path| !path.ends_with("tests/it/tidy.rs")) {
        let text = fs::read_to_string(path).unwrap_or_default();
        wrong.extend(
            places
                .iter()
                .filter(|place| text.contains(*place))
                .map(|place| format!("{}: names {place}", path.display())),
        );
    }
    none(&wrong);
}

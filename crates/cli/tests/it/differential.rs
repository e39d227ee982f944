//! The differential test: every script of `tests/corpus` is run by the real k6 and by Plimsoll, each against a service of
//! its own that records what it is asked, and what both did is compared. A script that is listed in `pending.txt` must
//! still fail, so that the list only shrinks; a difference that is meant stands in the script's header and in
//! docs/k6-differences.md. Must never pass because something was not there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::service::Service;

mod compare;
mod contestant;
mod mask;
mod script;

use contestant::{Contestant, Program};
use script::Script;

/// Scripts that the corpus must have at least.
const SCRIPTS_MIN: usize = 120;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Scripts that are known to fail, with what is missing.
fn pending() -> BTreeMap<String, String> {
    let text = fs::read_to_string(corpus().join("pending.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, reason) = line.split_once(" — ").unwrap_or_else(|| panic!("`{line}` lacks ` — reason`"));
        (name.trim().to_owned(), reason.to_owned())
    };
    lines.map(pair).collect()
}

/// Runs all scripts of a folder and says everything that is wrong at once.
fn area(name: &str) {
    let pending = pending();
    let contestants =
        [Program::K6, Program::Plimsoll].map(|program| Contestant::new(program, Service::start("httpbin")));
    let mut wrong = Vec::new();
    let only = std::env::var("SCRIPT").unwrap_or_default();
    for script in script::all().into_iter().filter(|script| script.area() == name && script.name.contains(&only)) {
        let differences = compare::all(&script, &contestants);
        match (differences.is_empty(), pending.get(&script.name)) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(reason)) => {
                wrong.push(format!("{}: passes; take it out of pending.txt ({reason})", script.name));
            }
            (false, None) => wrong.push(format!("{}:\n    {}", script.name, differences.join("\n    "))),
        }
    }
    assert!(wrong.is_empty(), "{} of the area {name}:\n{}", wrong.len(), wrong.join("\n"));
}

macro_rules! areas {
    ($($name:ident),* $(,)?) => {
        const AREAS: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                area(stringify!($name));
            }
        )*
    };
}

areas!(
    auth, checks, console, cookies, core, crypto, data, encoding, errors, execution, executors, files, forms, grpc,
    html, http, json, life, metrics, modules, options, redirects, secrets, summary, thresholds, timers, tls, webcrypto,
    websockets,
);

#[test]
fn every_script_belongs_to_an_area_and_there_are_enough() {
    let scripts = script::all();
    let mut wrong: Vec<String> = Vec::new();
    wrong.extend(
        scripts
            .iter()
            .filter(|script| !AREAS.contains(&script.area()))
            .map(|script| format!("{}: its folder is not in the list of areas", script.name)),
    );
    wrong.extend(
        AREAS
            .iter()
            .filter(|area| !scripts.iter().any(|script| script.area() == **area))
            .map(|area| format!("{area}: an area without a script")),
    );
    let known = |name: &str| scripts.iter().any(|script| script.name == name);
    wrong.extend(pending().keys().filter(|name| !known(name)).map(|name| format!("pending.txt: there is no {name}")));
    if scripts.len() < SCRIPTS_MIN {
        wrong.push(format!("{} scripts, at least {SCRIPTS_MIN} are wanted", scripts.len()));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_difference_that_is_meant_is_documented() {
    let page = fs::read_to_string(root().join("docs/k6-differences.md")).unwrap();
    let silent = |script: &Script| !script.differs.is_empty() && !page.contains(&format!("`{}`", script.name));
    let wrong: Vec<String> = script::all().into_iter().filter(silent).map(|script| script.name).collect();
    assert!(wrong.is_empty(), "docs/k6-differences.md does not name {wrong:?}");
}

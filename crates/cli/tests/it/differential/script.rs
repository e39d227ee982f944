//! The scripts of the corpus and what their headers say. A header is the comment lines at the top; those that this file
//! knows are read, others are for people:
//!
//! - `// exit: 99` – k6's exit code, 0 if nothing is said
//! - `// args: --vus 2` – more arguments; `$DIR` is the script's folder
//! - `// env: NAME=VALUE …` – variables of the script (`-e`)
//! - `// environment: NAME=VALUE …` – variables of the process
//! - `// order: any` – requests and console lines of several users may come in any order
//! - `// stdout: same` – what is printed to standard output is compared, too
//! - `// differs ASPECT: reason` – a difference that is meant
//!
//! Must never run anything.

use std::fs;
use std::path::{Path, PathBuf};

use super::corpus;

/// A script and what is expected of its runs.
#[derive(Debug)]
pub(crate) struct Script {
    /// Path from the corpus' root.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) exit: i32,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) any_order: bool,
    pub(crate) same_stdout: bool,
    /// Aspects that differ on purpose.
    pub(crate) differs: Vec<String>,
}

impl Script {
    /// The folder it stands in.
    pub(crate) fn area(&self) -> &str {
        self.name.split('/').next().unwrap()
    }

    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let folder = path.parent().unwrap().to_str().unwrap().to_owned();
        let name = path.strip_prefix(corpus()).unwrap().to_str().unwrap().to_owned();
        let header: Vec<_> = text.lines().map_while(|line| line.strip_prefix("// ")).collect();
        let said = |key: &str| {
            let lines = header.iter().filter_map(move |line| line.strip_prefix(key)?.strip_prefix(": "));
            lines.flat_map(str::split_whitespace).map(|word| word.replace("$DIR", &folder)).collect::<Vec<_>>()
        };
        let pair = |word: String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let differs = header.iter().filter_map(|line| line.strip_prefix("differs ")?.split_once(": "));
        Self {
            exit: said("exit").first().map_or(0, |code| code.parse().unwrap()),
            args: said("args"),
            env: said("env"),
            environment: said("environment").into_iter().map(|word| pair(word).unwrap()).collect(),
            any_order: said("order") == ["any"],
            same_stdout: said("stdout") == ["same"],
            differs: differs.map(|(aspect, _)| aspect.to_owned()).collect(),
            name,
            path,
        }
    }
}

/// All scripts, sorted by name. What they load lies in folders named `with`.
pub(crate) fn all() -> Vec<Script> {
    let mut paths = Vec::new();
    walk(&corpus(), &mut paths);
    paths.sort();
    paths.into_iter().map(Script::read).collect()
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            if !path.ends_with("with") {
                walk(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "js" || ending == "ts") {
            found.push(path);
        }
    }
}

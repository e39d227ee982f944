//! Where a script comes from: a file, standard input, or a k6 archive.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use script::archive::Archive;
use serde_json::{Map, Value};

use crate::exit::{Exit, Failure};
use crate::target::Target;

/// What is to be run.
pub(in crate::command) struct Source {
    pub(in crate::command) target: Target,
    /// Files that are not read from disk.
    pub(in crate::command) files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Variables that an archive brings.
    pub(in crate::command) env: BTreeMap<String, String>,
    /// Options that an archive brings.
    pub(in crate::command) options: Map<String, Value>,
}

impl Default for Source {
    fn default() -> Self {
        let target = Target::Script(PathBuf::new());
        Self { target, files: BTreeMap::new(), env: BTreeMap::new(), options: Map::new() }
    }
}

fn looks_like_an_archive(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut beginning));
    read.is_ok() && script::archive::looks_like_one(&beginning)
}

impl Source {
    /// Reads what was typed.
    ///
    /// # Errors
    /// If there is no such thing.
    pub(in crate::command) fn parse(text: &str, kind: Option<&str>) -> Result<Self, Failure> {
        let kind = kind.filter(|kind| !kind.is_empty());
        if let Some(kind) = kind.filter(|kind| !["js", "archive"].contains(kind)) {
            return Err(Failure::new(Exit::Other, format!("--type: `{kind}` is none of js and archive")));
        }
        let mut source = Self { target: Target::Script(PathBuf::from(text)), ..Self::default() };
        if text == "-" {
            let mut script = Vec::new();
            std::io::stdin().lock().read_to_end(&mut script).context("cannot read the script from standard input")?;
            source.files.insert(PathBuf::from("-"), script.into());
            return Ok(source);
        }
        source.target = Target::parse(text)?;
        if let Target::Script(path) = &source.target
            && kind != Some("js")
            && (kind.is_some() || looks_like_an_archive(path))
        {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read {text}"))?;
            let archive = script::archive::read(&bytes).with_context(|| format!("{text} is no k6 archive"))?;
            let Archive { entry, files, options, env } = archive;
            source = Self { target: Target::Script(entry), files, env, options };
        }
        Ok(source)
    }
}

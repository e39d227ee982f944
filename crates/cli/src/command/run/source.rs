//! Where a script comes from: a file, standard input, or a k6 archive.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use crate::exit::{Exit, Failure};
use crate::target::Target;

/// What is to be run.
pub(super) struct Source {
    pub(super) target: Target,
    /// Files that are not read from disk.
    pub(super) files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Variables that an archive brings.
    pub(super) env: BTreeMap<String, String>,
}

impl Source {
    /// Reads what was typed.
    ///
    /// # Errors
    /// If there is no such thing.
    pub(super) fn parse(text: &str, kind: Option<&str>) -> Result<Self, Failure> {
        let kind = kind.filter(|kind| !kind.is_empty());
        if let Some(kind) = kind.filter(|kind| !["js", "archive"].contains(kind)) {
            return Err(Failure::new(Exit::Other, format!("--type: `{kind}` is none of js and archive")));
        }
        let (mut files, mut env) = (BTreeMap::new(), BTreeMap::new());
        let target = if text == "-" {
            let mut script = Vec::new();
            std::io::stdin().lock().read_to_end(&mut script).context("cannot read the script from standard input")?;
            files.insert(PathBuf::from("-"), script.into());
            Target::Script(PathBuf::from("-"))
        } else {
            Target::parse(text)?
        };
        Ok(Self { target, files, env: std::mem::take(&mut env) })
    }
}

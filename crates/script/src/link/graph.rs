//! All files of a script, loaded, and where each of their imports leads.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use url::Url;

use super::BuiltinCheck;
use super::error::{LinkError, Spot};
use super::parse::{Parsed, Request, parse};

/// A file and where its requests lead.
pub(super) struct Loaded {
    pub(super) parsed: Parsed,
    pub(super) targets: Vec<Target>,
}

/// Where a request leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An index into [`Graph::files`].
    File(usize),
    /// A module of k6.
    Builtin(String),
}

/// All files, in the order in which they were met; the entry is the first.
pub(super) struct Graph {
    pub(super) files: Vec<Loaded>,
    /// Indices of files in the order of evaluation.
    pub(super) order: Vec<usize>,
    /// Named exports of the builtins that are imported.
    pub(super) builtins: BTreeMap<String, &'static [&'static str]>,
}

/// Loads `entry` and all that it imports.
pub(super) fn load(
    entry: &Path,
    read: &dyn Fn(&Path) -> io::Result<String>,
    builtins: &dyn Fn(&str) -> BuiltinCheck,
) -> Result<Graph, LinkError> {
    let graph = Graph { files: Vec::new(), order: Vec::new(), builtins: BTreeMap::new() };
    let mut loader = Loader { read, check: builtins, known: HashMap::new(), graph };
    let path = normal(entry);
    if let Some(message) = unsupported_file(&path) {
        return Err(LinkError::Unsupported { spot: Spot::file(&path.to_string_lossy()), message });
    }
    loader.file(&path, None)?;
    Ok(loader.graph)
}

struct Loader<'f> {
    read: &'f dyn Fn(&Path) -> io::Result<String>,
    check: &'f dyn Fn(&str) -> BuiltinCheck,
    known: HashMap<PathBuf, usize>,
    graph: Graph,
}

impl Loader<'_> {
    fn file(&mut self, path: &Path, importer: Option<Spot>) -> Result<usize, LinkError> {
        if let Some(&known) = self.known.get(path) {
            return Ok(known);
        }
        let source = (self.read)(path).map_err(|reason| LinkError::FileMissing {
            path: path.to_owned(),
            importer: importer.map(Box::new),
            reason,
        })?;
        let parsed = parse(&path.to_string_lossy(), source)?;
        let at = self.graph.files.len();
        self.known.insert(path.to_owned(), at);
        self.graph.files.push(Loaded { parsed, targets: Vec::new() });
        for index in 0..self.graph.files[at].parsed.requests.len() {
            let target = self.target(path, at, index)?;
            self.graph.files[at].targets.push(target);
        }
        self.graph.order.push(at);
        Ok(at)
    }

    fn target(&mut self, importer: &Path, at: usize, index: usize) -> Result<Target, LinkError> {
        let parsed = &self.graph.files[at].parsed;
        let Request { specifier, offset } = &parsed.requests[index];
        let specifier = specifier.clone();
        let spot = Spot::new(&parsed.path, &parsed.source, *offset);
        if specifier == "k6" || specifier.starts_with("k6/") {
            return match (self.check)(&specifier) {
                BuiltinCheck::Known(names) => {
                    self.graph.builtins.insert(specifier.clone(), names);
                    Ok(Target::Builtin(specifier))
                }
                BuiltinCheck::Unsupported(message) => Err(LinkError::Unsupported { spot, message }),
                BuiltinCheck::Unknown => {
                    Err(LinkError::Import { spot, message: format!("k6 has no module `{specifier}`") })
                }
            };
        }
        if specifier.starts_with("https://") || specifier.starts_with("http://") {
            let message = "remote imports are not supported yet: save the file beside the script and import it by path";
            return Err(LinkError::Unsupported { spot, message: message.to_owned() });
        }
        let Some(path) = local_path(importer, &specifier) else {
            let message = format!(
                "`{specifier}` is neither a module of k6 nor a path: a path begins with `./`, `../`, `/` or `file://`"
            );
            return Err(LinkError::Import { spot, message });
        };
        if let Some(message) = unsupported_file(&path) {
            return Err(LinkError::Unsupported { spot, message });
        }
        self.file(&path, Some(spot)).map(Target::File)
    }
}

/// The file that a specifier means, if it is a path.
fn local_path(importer: &Path, specifier: &str) -> Option<PathBuf> {
    if specifier.starts_with("file://") {
        let path = Url::parse(specifier).ok()?.to_file_path().ok()?;
        return Some(normal(&path));
    }
    if !specifier.starts_with(['.', '/']) {
        return None;
    }
    // An absolute path replaces the folder.
    Some(normal(&importer.parent().unwrap_or(Path::new("")).join(specifier)))
}

fn unsupported_file(path: &Path) -> Option<String> {
    match path.extension().and_then(OsStr::to_str) {
        Some("ts" | "mts" | "cts" | "tsx") => Some("TypeScript is not supported yet".to_owned()),
        Some("json") => Some("JSON files cannot be imported: use `JSON.parse(open('…'))`".to_owned()),
        _ => None,
    }
}

/// Without `.` and `..`, by the letters of the path alone: the same file must not be loaded twice.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match clean.components().next_back() {
                Some(Component::Normal(_)) => {
                    clean.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => clean.push(part),
            },
            _ => clean.push(part),
        }
    }
    clean
}

//! All files of a script, loaded, and where each of their imports leads.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::error::LinkError;
use super::locate::{Finder, Place};
use super::parse::{Parsed, Request, Way, parse};
use super::{BuiltinCheck, Sources, jslib};

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
    /// Nowhere, for the reason in this sentence; only what is asked for by a call.
    Missing(String),
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
pub(super) fn load(entry: &Path, sources: &Sources<'_>) -> Result<Graph, LinkError> {
    let graph = Graph { files: Vec::new(), order: Vec::new(), builtins: BTreeMap::new() };
    let mut loader = Loader { sources, finder: Finder::new(sources.read), known: HashMap::new(), graph };
    let (path, text) = sources.entry(entry)?;
    loader.file(&Place::File(path), text)?;
    Ok(loader.graph)
}

struct Loader<'f> {
    sources: &'f Sources<'f>,
    finder: Finder<'f>,
    known: HashMap<String, usize>,
    graph: Graph,
}

impl Loader<'_> {
    fn file(&mut self, place: &Place, text: String) -> Result<usize, LinkError> {
        let name = place.name();
        let parsed = parse(&name, text)?;
        let at = self.graph.files.len();
        self.known.insert(name, at);
        self.graph.files.push(Loaded { parsed, targets: Vec::new() });
        for index in 0..self.graph.files[at].parsed.requests.len() {
            let target = match self.target(place, at, index) {
                // A file that asks in a call may catch the error: whether the call is reached, the run will show.
                Err(error) if self.may_fail(at, index, &error) => Target::Missing(sentence(&error)),
                other => other?,
            };
            self.graph.files[at].targets.push(target);
        }
        self.graph.order.push(at);
        Ok(at)
    }

    fn may_fail(&self, at: usize, index: usize, error: &LinkError) -> bool {
        let parsed = &self.graph.files[at].parsed;
        let is_here = match error {
            LinkError::FileMissing { importer, .. } => importer.as_ref().is_some_and(|spot| spot.path == parsed.path),
            LinkError::Import { spot, .. } | LinkError::Unsupported { spot, .. } => spot.path == parsed.path,
            LinkError::Syntax { .. } => false,
        };
        is_here && parsed.requests[index].way != Way::Import
    }

    fn target(&mut self, importer: &Place, at: usize, index: usize) -> Result<Target, LinkError> {
        let parsed = &self.graph.files[at].parsed;
        let Request { specifier, offset, way } = &parsed.requests[index];
        let (specifier, spot, way) = (specifier.clone(), parsed.spot(*offset), *way);
        if specifier == "k6" || specifier.starts_with("k6/") {
            return match (self.sources.builtins)(&specifier) {
                BuiltinCheck::Known(names) => {
                    self.graph.builtins.insert(specifier.clone(), names);
                    Ok(Target::Builtin(specifier))
                }
                BuiltinCheck::Unsupported(message) => Err(LinkError::Unsupported { spot, message }),
                BuiltinCheck::Gone(message) => Err(LinkError::Import { spot, message }),
                BuiltinCheck::Unknown => {
                    Err(LinkError::Import { spot, message: format!("k6 has no module `{specifier}`") })
                }
            };
        }
        let place = self.finder.place(importer, &specifier, way, &spot)?;
        if let Some(&known) = self.known.get(&place.name()) {
            return Ok(Target::File(known));
        }
        let text = match &place {
            Place::File(path) => self.finder.text(path).map_err(|reason| LinkError::FileMissing {
                path: path.clone(),
                importer: Some(Box::new(spot)),
                reason,
            })?,
            Place::Url(url) => match jslib::find(url) {
                Some(own) => own.to_owned(),
                None => (self.sources.fetch)(url).map_err(|message| LinkError::Import { spot, message })?,
            },
        };
        self.file(&place, text).map(Target::File)
    }
}

/// What is wrong, without the place: the call that throws it has one.
fn sentence(error: &LinkError) -> String {
    match error {
        LinkError::Import { message, .. } | LinkError::Unsupported { message, .. } => message.clone(),
        LinkError::FileMissing { path, reason, .. } => format!("cannot read {}: {reason}", path.display()),
        LinkError::Syntax { .. } => error.to_string(),
    }
}

//! ES modules become function factories: text that every user of an engine can run for itself, so that each has its
//! own module state and all share the compiled code. Knows files only through a function, and no JavaScript engine.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use url::Url;

mod edit;
mod emit;
mod error;
mod graph;
mod jslib;
mod locate;
mod package;
mod parse;
mod resolve;
pub(crate) mod survey;
mod typescript;
mod uses;

pub use error::{LinkError, Spot};
pub(crate) use locate::normal;
pub use survey::{Api, RemoteModule, RemoteState, Survey};

/// All modules of a script, linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// In the order of evaluation: what a module imports stands before it (but in cycles).
    pub modules: Vec<Module>,
    /// Index of the script itself: its namespace has `default`, `options`, `setup`, …
    pub entry: usize,
}

/// One file as a factory.
///
/// The protocol of a user's start:
///
/// 1. Make one empty namespace object per module, prototype `null`.
/// 2. Call every factory with `this` undefined and the three functions below; it is a *generator function*, so nothing
///    of the module runs yet.
/// 3. Call `next()` once on every generator, in any order: its exports are defined and its functions are hoisted.
///    Then `Object.preventExtensions` every namespace object: nobody but the module may give it members.
/// 4. Call `next()` once more on the generator of the script, but first on those that it needs ([`Module::needs`]), and
///    so on; once on each: the module's own code runs. Where no file asks for another with `require` or `import()`,
///    this is the order of [`Bundle::modules`].
///
/// The two rounds are what the language does too (link, then evaluate): in a cycle a module may call a function of one
/// that has not been evaluated, and reading a `const` of it is a ReferenceError.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// File name for stack traces.
    pub path: String,
    /// One JavaScript expression, to be evaluated as a script, not as a module:
    /// `(function*(__import,__export,__meta){"use strict"; … yield; … })`. Lines are those of the file; columns too, but
    /// on the first line and behind the use of something imported from another file.
    ///
    /// - `__import(i)` gives the namespace object of import `i`: the object of step 1 for a module; for a builtin an
    ///   object with `default` and its named exports, read once.
    /// - `__export(name, getter)` defines an export on the module's own namespace: an enumerable accessor. Called for
    ///   every export that another file or the host can see, in the order that the language gives the names of a
    ///   namespace. The host sees the namespace of the script itself.
    /// - `__meta` is what `import.meta` is: `{url, resolve}`.
    ///
    /// A file that uses `import()` or `require` gets functions for them behind these: `(…, __dynamic, require)`. The
    /// factory of a CommonJS module takes `(require, module, exports)`, then `__dynamic`, with `exports`
    /// as `this`; when it has run, its namespace gets what it exports.
    pub source: String,
    /// What `__import(i)` must give.
    pub imports: Vec<Import>,
    /// What its factory is.
    pub kind: ModuleKind,
    /// Modules that run before it, as indices into [`Bundle::modules`].
    pub needs: Vec<usize>,
    /// Where the names lead that it gives to `require` and `import()`.
    pub leads: BTreeMap<String, Lead>,
}

/// What sort of factory a module has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// A generator function.
    Script,
    /// An async generator function: its second `next()` gives a promise.
    Awaiting,
    /// The generator function of a CommonJS module.
    CommonJs,
}

/// Where a name leads that a file gives to `require` or `import()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lead {
    /// To a module.
    Import(Import),
    /// To nothing; the call throws this sentence.
    Nowhere(String),
}

/// What a module imports.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Import {
    /// An index into [`Bundle::modules`].
    Module(usize),
    /// A module of k6: `k6`, `k6/http`, …
    Builtin(String),
}

/// What is known of a `k6…` specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltinCheck {
    /// It exists and exports `default` and these names.
    Known(&'static [&'static str]),
    /// It is a module of k6 that is not supported yet; the sentence says so.
    Unsupported(String),
    /// k6 itself has it no more; the sentence says where it went.
    Gone(String),
    /// k6 has no such module.
    Unknown,
}

/// Where the text of modules comes from.
pub struct Sources<'f> {
    /// Reads a file.
    pub read: &'f dyn Fn(&Path) -> io::Result<String>,
    /// Gives the text behind an address, or says in a sentence why not.
    pub fetch: &'f dyn Fn(&Url) -> Result<String, String>,
    /// Knows the modules of k6.
    pub builtins: &'f dyn Fn(&str) -> BuiltinCheck,
}

impl Sources<'_> {
    /// The script itself: its path in its plain form, and its text.
    fn entry(&self, entry: &Path) -> Result<(PathBuf, String), LinkError> {
        let path = normal(entry);
        match (self.read)(&path) {
            Ok(text) => Ok((path, text)),
            Err(reason) => Err(LinkError::FileMissing { path, importer: None, reason }),
        }
    }
}

/// Reads `entry` and all that it imports, and makes factories of them. What they do is what the language says of the
/// modules, with two exceptions: text given to a direct `eval` does not see imported names, and a function called as
/// `namespace.function()` finds in `this` a namespace that has only those members that the script names.
///
/// # Errors
/// The first mistake found, in the order of evaluation.
pub fn link(entry: &Path, sources: &Sources<'_>) -> Result<Bundle, LinkError> {
    let graph = graph::load(entry, sources)?;
    let mut positions = vec![0; graph.files.len()];
    for (position, &file) in graph.order.iter().enumerate() {
        positions[file] = position;
    }
    let seen = graph.seen(0);
    let modules =
        graph.order.iter().map(|&file| emit::emit(&graph, file, &positions, &seen)).collect::<Result<Vec<_>, _>>()?;
    Ok(Bundle { modules, entry: positions[0] })
}

impl Bundle {
    /// Where a name leads that a module gives to `require` when the script runs: to what some file names in its text.
    pub fn locate(&self, from: usize, name: &str) -> Option<Import> {
        let named = |module: &Module| match module.leads.get(name) {
            Some(Lead::Import(import)) => Some(import.clone()),
            _ => None,
        };
        if !name.starts_with(['.', '/']) {
            let builtin = Import::Builtin(name.to_owned());
            let is_known = self.modules.iter().any(|module| module.imports.contains(&builtin));
            return self.modules.iter().find_map(named).or(is_known.then_some(builtin));
        }
        let base = &self.modules[from].path;
        let paths: Vec<PathBuf> = locate::candidates(&locate::normal(&locate::beside(Path::new(base), name)));
        let at = |path: &PathBuf| self.modules.iter().position(|module| Path::new(&module.path) == path);
        paths.iter().find_map(at).map(Import::Module)
    }
}

#[cfg(test)]
mod tests;

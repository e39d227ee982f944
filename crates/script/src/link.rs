//! ES modules become function factories: text that every user of an engine can run for itself, so that each has its
//! own module state and all share the compiled code. Knows files only through a function, and no JavaScript engine.

use std::io;
use std::path::Path;

mod edit;
mod emit;
mod error;
mod graph;
mod parse;
mod resolve;
mod uses;

pub use error::{LinkError, Spot};
pub(crate) use graph::normal;

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
/// 4. Call `next()` once more on every generator, in the order of [`Bundle::modules`]: the module's own code runs.
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
    pub source: String,
    /// What `__import(i)` must give.
    pub imports: Vec<Import>,
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
    /// k6 has no such module.
    Unknown,
}

/// Reads `entry` and all that it imports, and makes factories of them. What they do is what the language says of the
/// modules, with two exceptions: text given to a direct `eval` does not see imported names, and a function called as
/// `namespace.function()` finds in `this` a namespace that has only those members that the script names.
///
/// # Errors
/// The first mistake found, in the order of evaluation.
pub fn link(
    entry: &Path,
    read: &dyn Fn(&Path) -> io::Result<String>,
    builtins: &dyn Fn(&str) -> BuiltinCheck,
) -> Result<Bundle, LinkError> {
    let graph = graph::load(entry, read, builtins)?;
    let mut positions = vec![0; graph.files.len()];
    for (position, &file) in graph.order.iter().enumerate() {
        positions[file] = position;
    }
    let seen = graph.seen(0);
    let modules =
        graph.order.iter().map(|&file| emit::emit(&graph, file, &positions, &seen)).collect::<Result<Vec<_>, _>>()?;
    Ok(Bundle { modules, entry: positions[0] })
}

#[cfg(test)]
mod tests;

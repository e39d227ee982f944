//! Where the name of a module leads: to a file, to an address, or into the packages of `node_modules`. Reads files only
//! to see whether they are there.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use url::Url;

use super::error::{LinkError, Spot};
use super::package;
use super::parse::Way;

/// Where a module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file.
    File(PathBuf),
    /// An address.
    Url(Url),
}

impl Place {
    /// Its name in messages and stacks.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Url(url) => url.to_string(),
        }
    }
}

/// Endings that need not be written.
const ENDINGS: [&str; 7] = ["js", "mjs", "cjs", "ts", "mts", "cts", "json"];

/// Modules of Node.js: names that no script means to find in a folder.
const OF_NODE: [&str; 37] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "timers",
    "tls",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "zlib",
];

/// Finds files, and keeps the text of those that it had to read for it.
pub(super) struct Finder<'f> {
    read: &'f dyn Fn(&Path) -> io::Result<String>,
    texts: RefCell<HashMap<PathBuf, Option<String>>>,
}

impl<'f> Finder<'f> {
    pub(super) fn new(read: &'f dyn Fn(&Path) -> io::Result<String>) -> Self {
        Self { read, texts: RefCell::default() }
    }

    /// The text of a file.
    pub(super) fn text(&self, path: &Path) -> io::Result<String> {
        match self.texts.borrow_mut().remove(path) {
            Some(Some(text)) => Ok(text),
            _ => (self.read)(path),
        }
    }

    /// The text of a file, if there is one.
    pub(super) fn peek(&self, path: &Path) -> Option<String> {
        let mut texts = self.texts.borrow_mut();
        texts.entry(path.to_owned()).or_insert_with(|| (self.read)(path).ok()).clone()
    }

    /// The first of the files that a path without ending may mean.
    pub(super) fn existing(&self, path: &Path) -> Option<PathBuf> {
        candidates(path).into_iter().find(|one| self.peek(one).is_some())
    }

    /// Where `specifier` leads from `importer`.
    pub(super) fn place(&self, importer: &Place, specifier: &str, way: Way, spot: &Spot) -> Result<Place, LinkError> {
        let wrong = |message: String| LinkError::Import { spot: spot.clone(), message };
        if specifier.starts_with("https://") || specifier.starts_with("http://") {
            let url = Url::parse(specifier).map_err(|error| wrong(format!("`{specifier}` is no address: {error}")))?;
            return Ok(Place::Url(url));
        }
        if let Some(name) = specifier.strip_prefix("node:") {
            return Err(wrong(of_node(name)));
        }
        let base = match importer {
            Place::File(base) => base,
            Place::Url(base) if specifier.starts_with(['.', '/']) => {
                return base
                    .join(specifier)
                    .map(Place::Url)
                    .map_err(|error| wrong(format!("`{specifier}` leads nowhere from {base}: {error}")));
            }
            Place::Url(base) => {
                return Err(wrong(format!(
                    "`{specifier}` is imported by {base}: a remote module can import only addresses, paths and modules of k6"
                )));
            }
        };
        if specifier.starts_with("file://") {
            let path = Url::parse(specifier).ok().and_then(|url| url.to_file_path().ok());
            let path = path.ok_or_else(|| wrong(format!("`{specifier}` names no file of this machine")))?;
            return Ok(Place::File(normal(&path)));
        }
        if specifier.starts_with('.') || specifier.starts_with('/') {
            let path = normal(&beside(base, specifier));
            // If nothing is there, the path as it is written is what cannot be read.
            return Ok(Place::File(self.existing(&path).unwrap_or(path)));
        }
        match package::find(self, base, specifier, way) {
            Ok(Some(path)) => Ok(Place::File(path)),
            Ok(None) if OF_NODE.contains(&specifier.split('/').next().unwrap_or_default()) => {
                Err(wrong(of_node(specifier)))
            }
            Ok(None) => Err(wrong(format!(
                "`{specifier}` is neither a module of k6 nor a path (those begin with `./`, `../`, `/` or `file://`), \
                 and no folder `node_modules` here or above has it: install it with `npm install {}`",
                package::name_of(specifier)
            ))),
            Err(message) => Err(wrong(message)),
        }
    }
}

fn of_node(name: &str) -> String {
    format!("`{name}` is a module of Node.js, which scripts do not have: use the modules of k6")
}

/// A path as a file names it: an absolute one replaces the folder.
pub(super) fn beside(importer: &Path, specifier: &str) -> PathBuf {
    importer.parent().unwrap_or(Path::new("")).join(specifier)
}

/// What a path may mean, likeliest first: itself, itself with an ending, the index of the folder.
pub(super) fn candidates(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![path.to_owned()];
    let with = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    all.extend(ENDINGS.map(with));
    // TypeScript names the file that it would become.
    match path.extension().and_then(std::ffi::OsStr::to_str) {
        Some("js") => all.push(path.with_extension("ts")),
        Some("mjs") => all.push(path.with_extension("mts")),
        Some("cjs") => all.push(path.with_extension("cts")),
        _ => {}
    }
    all.extend(ENDINGS.map(|ending| path.join(format!("index.{ending}"))));
    all
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

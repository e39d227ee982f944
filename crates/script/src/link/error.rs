//! What can be wrong with the modules of a script, each with the place where it is.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A place in a source file, with the line it is on. Displays as `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file, as the script names it.
    pub path: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// The source line and, below it, a caret under the column; no line break at the end.
    pub excerpt: String,
}

/// Longest piece of a source line that an excerpt shows, in characters: minified files have one line.
const EXCERPT_WIDTH: usize = 100;

impl Spot {
    /// The place `offset` bytes into `source`.
    pub(super) fn new(path: &str, source: &str, offset: usize) -> Self {
        let offset = source.floor_char_boundary(offset);
        let before = &source[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = source[start..].lines().next().unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = source[start..offset].chars().count();
        let skipped = (column + EXCERPT_WIDTH / 4).saturating_sub(EXCERPT_WIDTH);
        let shown: String = text.chars().skip(skipped).take(EXCERPT_WIDTH).collect();
        // Tabs stay tabs in front of the caret, so that it stands below its character in every terminal.
        let indent: String = shown.chars().take(column - skipped).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        Self {
            path: path.to_owned(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
            excerpt: format!("{shown}\n{indent}^"),
        }
    }
}

impl Spot {
    /// A file as a whole: its beginning, without an excerpt.
    pub(super) fn file(path: &str) -> Self {
        Self { path: path.to_owned(), line: 1, column: 1, excerpt: String::new() }
    }

    /// The same place in the text that people know, of which `source` was made line by line.
    pub(super) fn shown_in(mut self, original: &str) -> Self {
        let line = original.lines().nth(self.line as usize - 1).unwrap_or_default();
        let start = line.as_ptr() as usize - original.as_ptr() as usize;
        let column = line.char_indices().nth(self.column as usize - 1).map_or(line.len(), |(at, _)| at);
        if !line.is_empty() {
            self.excerpt = Self::new(&self.path, original, start + column).excerpt;
        }
        self
    }

    /// The excerpt on lines of its own, for the end of a message.
    fn below(&self) -> String {
        if self.excerpt.is_empty() { String::new() } else { format!("\n{}", self.excerpt) }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

/// Why a script cannot be linked. k6's exit codes: 255 if the script itself is missing, 107 for all else.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A file cannot be read.
    #[error("{}", cannot_read(path, importer.as_deref(), reason))]
    FileMissing {
        /// The file.
        path: PathBuf,
        /// Where it is imported; `None` for the script itself.
        importer: Option<Box<Spot>>,
        /// What the system said; part of the sentence, so that an excerpt can end it.
        reason: io::Error,
    },
    /// The text is not JavaScript.
    #[error("{spot}: syntax error: {message}{}", spot.below())]
    Syntax {
        /// Where.
        spot: Spot,
        /// The parser's sentence.
        message: String,
    },
    /// An import that leads nowhere: an unknown module, a bare name, a name that the module does not export.
    #[error("{spot}: {message}{}", spot.below())]
    Import {
        /// Where.
        spot: Spot,
        /// What was imported, and what could be.
        message: String,
    },
    /// JavaScript, but a part of it or of k6 that is not supported yet.
    #[error("{spot}: {message}{}", spot.below())]
    Unsupported {
        /// Where.
        spot: Spot,
        /// What is not supported, and what to do instead.
        message: String,
    },
}

fn cannot_read(path: &Path, importer: Option<&Spot>, reason: &io::Error) -> String {
    let hint = if path.extension().is_none() && importer.is_some() {
        " (nor with .js, .mjs, .cjs, .ts, .mts, .cts or .json behind it, nor an index file in it)"
    } else {
        ""
    };
    let from = importer.map_or(String::new(), |spot| format!(", imported at {spot}{}", spot.below()));
    format!("cannot read {}{hint}: {reason}{from}", path.display())
}

//! Writes the record while the run goes on. A full disk ends the writing, never the run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use model::record::Entry;

/// A record that is being written.
pub(crate) struct RecordFile {
    path: PathBuf,
    writer: Option<BufWriter<File>>,
}

impl RecordFile {
    /// Begins a record.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write the record {}", path.display()))?;
        Ok(Self { path: path.to_owned(), writer: Some(BufWriter::new(file)) })
    }

    /// Appends an entry; whole lines reach the file, so that a killed run leaves a readable record.
    ///
    /// # Errors
    /// A sentence, once: afterwards nothing is written any more.
    pub(crate) fn append(&mut self, entry: &Entry) -> Result<(), String> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let written = entry.write(&mut *writer).and_then(|()| writer.flush());
        written.map_err(|error| {
            // What is still buffered would be tried again when the writer goes away.
            let _ = self.writer.take().map(BufWriter::into_parts);
            let path = self.path.display();
            format!("writing the record {path} failed ({error}): the run goes on, the record ends here")
        })
    }

    /// Whether everything was written.
    pub(crate) fn complete(&self) -> bool {
        self.writer.is_some()
    }
}

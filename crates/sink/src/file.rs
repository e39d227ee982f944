//! The file that an output writes: plain, packed with gzip if its name says so, or standard output. The first error
//! ends the writing, never the run.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::output::{Context, Ending};

/// What is written to.
enum Target {
    Plain(BufWriter<File>),
    Packed(Box<GzEncoder<BufWriter<File>>>),
    Screen(io::Stdout),
}

/// See the module.
pub(crate) struct Writer {
    name: String,
    target: Option<Target>,
    trouble: Option<String>,
}

impl Writer {
    /// Opens `path`; `-` is standard output.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let name = path.display().to_string();
        let target = if name == "-" {
            Target::Screen(io::stdout())
        } else {
            let file = BufWriter::new(File::create(path)?);
            match path.extension().is_some_and(|ending| ending == "gz") {
                true => Target::Packed(Box::new(GzEncoder::new(file, Compression::default()))),
                false => Target::Plain(file),
            }
        };
        Ok(Self { name, target: Some(target), trouble: None })
    }

    /// Writes; an error is said once, and nothing is written any more.
    pub(crate) fn write(&mut self, bytes: &[u8], context: &Context) {
        let written = match &mut self.target {
            Some(Target::Plain(file)) => file.write_all(bytes),
            Some(Target::Packed(file)) => file.write_all(bytes),
            Some(Target::Screen(screen)) => screen.write_all(bytes),
            None => return,
        };
        self.judge(written, context);
    }

    /// Hands over what is buffered.
    pub(crate) fn flush(&mut self, context: &Context) {
        let flushed = match &mut self.target {
            Some(Target::Plain(file)) => file.flush(),
            Some(Target::Screen(screen)) => screen.flush(),
            Some(Target::Packed(_)) | None => return,
        };
        self.judge(flushed, context);
    }

    /// Closes the file.
    pub(crate) fn close(mut self, context: &Context) -> Ending {
        self.flush(context);
        if let Some(Target::Packed(file)) = self.target.take() {
            let closed = file.finish().and_then(|mut file| file.flush());
            self.judge(closed, context);
        }
        Ending { is_incomplete: self.trouble.is_some(), trouble: self.trouble }
    }

    fn judge(&mut self, result: io::Result<()>, context: &Context) {
        let Err(error) = result else { return };
        match self.target.take() {
            // What is still buffered would be tried again when the writer goes away.
            Some(Target::Plain(file)) => drop(file.into_parts()),
            Some(Target::Packed(_) | Target::Screen(_)) | None => {}
        }
        let sentence = format!("writing samples to {} failed ({error}): they end there", self.name);
        (context.say)(format!("{sentence}, and the run goes on"));
        self.trouble = Some(sentence);
    }
}

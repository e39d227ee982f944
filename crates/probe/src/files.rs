//! Reads the small text files of `/proc` and `/sys` below roots that are parameters, so that collectors can be tested
//! from recorded trees. Never parses: that is the business of `proc`.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A buffer this size takes most files of `/proc` in one read.
const BUFFER_BYTES: usize = 16 * 1024;

/// The roots, and a buffer that all reads share.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) proc_root: PathBuf,
    pub(crate) sys_root: PathBuf,
    buffer: Vec<u8>,
}

impl Files {
    pub(crate) fn new(proc_root: PathBuf, sys_root: PathBuf) -> Self {
        Self { proc_root, sys_root, buffer: vec![0; BUFFER_BYTES] }
    }

    /// The content of a file below `/proc`; `None` if it is gone or may not be read.
    pub(crate) fn proc(&mut self, name: impl AsRef<Path>) -> Option<&[u8]> {
        let path = self.proc_root.join(name);
        self.read(&path)
    }

    /// The content of a file of a process.
    pub(crate) fn process(&mut self, pid: u32, name: &str) -> Option<&[u8]> {
        self.proc(format!("{pid}/{name}"))
    }

    /// The content of the file at `path`.
    pub(crate) fn read(&mut self, path: &Path) -> Option<&[u8]> {
        let mut file = File::open(path).ok()?;
        let mut length = 0;
        loop {
            match file.read(&mut self.buffer[length..]).ok()? {
                0 => return Some(&self.buffer[..length]),
                count => length += count,
            }
            if length == self.buffer.len() {
                self.buffer.resize(length * 2, 0);
            }
        }
    }

    /// Where a file of a process is.
    pub(crate) fn path(&self, pid: u32, name: &str) -> PathBuf {
        self.proc_root.join(format!("{pid}/{name}"))
    }

    /// What a symbolic link of a process points to.
    pub(crate) fn link(&self, pid: u32, name: &str) -> Option<PathBuf> {
        fs::read_link(self.path(pid, name)).ok()
    }

    /// The entries of a folder whose names are numbers: processes, threads, descriptors.
    pub(crate) fn numbers(path: &Path) -> Option<impl Iterator<Item = u32> + use<>> {
        let entries = fs::read_dir(path).ok()?;
        Some(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
    }
}

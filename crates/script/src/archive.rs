//! k6's archives: a script with all its files, its options and its variables in one tar file. Nothing is unpacked to disk.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

/// What an archive holds.
#[derive(Debug)]
pub struct Archive {
    /// Path of the script, among [`Self::files`].
    pub entry: PathBuf,
    /// All files, by the paths they had.
    pub files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Options of the run that it was made of.
    pub options: Map<String, Value>,
    /// Variables of the run that it was made of.
    pub env: BTreeMap<String, String>,
}

/// Why a file is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is no tar file, or a broken one.
    #[error("it is no tar file, or not all of one")]
    Tar(#[from] std::io::Error),
    /// No `metadata.json`, or one that cannot be read.
    #[error("its metadata.json is missing or wrong: {0}")]
    Metadata(String),
    /// No script.
    #[error("the script {0} is not in it")]
    Script(String),
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    filename: String,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Whether a file that begins like this is a tar file.
pub fn looks_like_one(beginning: &[u8]) -> bool {
    beginning.get(257..262) == Some(b"ustar")
}

/// Reads an archive.
///
/// # Errors
/// If it is none.
pub fn read(bytes: &[u8]) -> Result<Archive, ArchiveError> {
    let (mut files, mut metadata, mut data) = (BTreeMap::new(), None, None);
    for entry in tar::Archive::new(bytes).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            // The script itself lies in `data`; under its own name there is only a link to it.
            continue;
        }
        let path = entry.path()?.into_owned();
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents)?;
        if path == Path::new("metadata.json") {
            metadata = Some(contents);
        } else if path == Path::new("data") {
            data = Some(contents);
        } else if let Ok(path) = path.strip_prefix("file") {
            files.insert(Path::new("/").join(path), contents.into());
        }
    }
    let metadata = metadata.ok_or_else(|| ArchiveError::Metadata("there is none".to_owned()))?;
    let metadata = serde_json::from_slice(&metadata).map_err(|error| ArchiveError::Metadata(error.to_string()))?;
    let Metadata { filename, options, env } = metadata;
    let entry = url::Url::parse(&filename).ok().and_then(|url| url.to_file_path().ok());
    let entry = entry.unwrap_or_else(|| PathBuf::from(&filename));
    if let Some(data) = data {
        files.insert(entry.clone(), data.into());
    }
    if !files.contains_key(&entry) {
        return Err(ArchiveError::Script(filename));
    }
    Ok(Archive { entry, files, options, env })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tar file of these files.
    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, contents) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(contents.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append_data(&mut header, name, contents.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn the_files_of_a_script_are_found_under_their_paths() {
        let metadata = r#"{ "filename": "file:///a/b.js", "options": { "vus": 3 }, "env": { "A": "b" } }"#;
        let bytes = packed(&[("metadata.json", metadata), ("data", "script"), ("file/a/lib/c.js", "library")]);
        assert!(looks_like_one(&bytes) && !looks_like_one(b"import http from 'k6/http';"));
        let archive = read(&bytes).unwrap();
        assert_eq!(archive.entry, Path::new("/a/b.js"));
        assert_eq!(&*archive.files[Path::new("/a/b.js")], b"script");
        assert_eq!(&*archive.files[Path::new("/a/lib/c.js")], b"library");
        assert_eq!((&archive.options["vus"], archive.env["A"].as_str()), (&Value::from(3), "b"));
    }

    #[test]
    fn what_is_no_archive_is_named() {
        let refused = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert!(refused(b"export default function () {}").contains("no tar file"));
        assert!(refused(&packed(&[("x", "y")])).contains("metadata.json is missing"));
        assert!(refused(&packed(&[("metadata.json", "{")])).contains("metadata.json is missing or wrong"));
        assert!(refused(&packed(&[("metadata.json", r#"{ "filename": "/a.js" }"#)])).contains("/a.js is not in it"));
    }
}

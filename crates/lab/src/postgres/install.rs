//! Finds PostgreSQL's programs on this machine. Must never install anything; the message says how to.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Environment variable that names the folder with `initdb` and `postgres`; nothing else is searched then.
pub const OVERRIDE: &str = "PLIMSOLL_PG_BIN";

const DEBIAN: &str = "/usr/lib/postgresql";

/// The two programs that a private cluster needs, of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// Makes a cluster.
    pub initdb: PathBuf,
    /// Is the server.
    pub postgres: PathBuf,
}

/// No folder holds both programs.
#[derive(Debug, Error)]
#[error(
    "could not start a private PostgreSQL cluster: looked for 'initdb' and 'postgres' in {looked_in}, and no folder \
     has both; install them with 'apt-get install postgresql', name their folder in {OVERRIDE}, use a server of yours \
     with --postgres URL, or do without with --no-database"
)]
pub struct NotInstalled {
    looked_in: String,
}

impl Binaries {
    /// The folder named by [`OVERRIDE`], or else the newest of Debian's, or else what `PATH` offers.
    pub fn find() -> Result<Self, NotInstalled> {
        let (folders, looked_in) = match env::var_os(OVERRIDE) {
            Some(folder) => (vec![PathBuf::from(&folder)], folder.to_string_lossy().into_owned()),
            None => (candidates(Path::new(DEBIAN), env::var_os("PATH").as_deref()), format!("{DEBIAN}/*/bin and PATH")),
        };
        folders.iter().find_map(|folder| Self::within(folder)).ok_or(NotInstalled { looked_in })
    }

    fn within(folder: &Path) -> Option<Self> {
        let found = Self { initdb: folder.join("initdb"), postgres: folder.join("postgres") };
        (found.initdb.is_file() && found.postgres.is_file()).then_some(found)
    }
}

fn candidates(debian: &Path, path: Option<&OsStr>) -> Vec<PathBuf> {
    let entries = fs::read_dir(debian).into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort_unstable_by(|left, right| right.cmp(left));
    let on_path = path.into_iter().flat_map(|path| env::split_paths(path).collect::<Vec<_>>());
    versions.into_iter().map(|(_, folder)| folder).chain(on_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_and_path_last() {
        let debian = tempfile::tempdir().unwrap();
        for version in ["9", "15", "13", "common"] {
            fs::create_dir_all(debian.path().join(version).join("bin")).unwrap();
        }
        let found = candidates(debian.path(), Some(OsStr::new("/opt/a:/opt/b")));
        let expected: Vec<PathBuf> = ["15", "13", "9"].iter().map(|v| debian.path().join(v).join("bin")).collect();
        assert_eq!(found[..3], expected);
        assert_eq!(found[3..], [PathBuf::from("/opt/a"), PathBuf::from("/opt/b")]);
    }

    #[test]
    fn a_folder_with_one_of_the_two_is_not_enough() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("postgres"), "").unwrap();
        assert_eq!(Binaries::within(folder.path()), None);
        fs::write(folder.path().join("initdb"), "").unwrap();
        assert!(Binaries::within(folder.path()).is_some());
    }
}

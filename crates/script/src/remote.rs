//! Remote modules: kept on disk by the hash of their text, and pinned beside the script, so that a run needs no network
//! and a text that changed is noticed. Opens no sockets: whoever calls gives the function that does.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use url::{Host, Url};

/// Fetches what is behind an address; says in a sentence why that was not possible.
pub type Fetch = Arc<dyn Fn(&Url) -> Result<Vec<u8>, String> + Send + Sync>;

/// Where remote modules come from.
#[derive(Clone, Default)]
pub struct ModuleSettings {
    /// Fetches them; without it only those that are kept can be had.
    pub fetch: Option<Fetch>,
    /// The folder where they are kept; without it they are not.
    pub cache: Option<PathBuf>,
    /// When the network is used.
    pub network: Network,
}

/// When the network is used for modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// For what is not kept.
    #[default]
    WhenNeeded,
    /// Never.
    Never,
    /// For all modules, and a text that changed is accepted.
    Refresh,
}

/// Why a remote module cannot be had.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RemoteError {
    /// Anybody on the way could change it.
    #[error("cannot import {0}: remote modules must come by https:// (http:// is for this machine alone)")]
    Plain(String),
    /// There is no network.
    #[error(
        "cannot import {0}: it is not in the cache, and the run is offline; run once without --offline to fetch it"
    )]
    Offline(String),
    /// No answer, or a wrong one.
    #[error("cannot import {url}: {reason}")]
    Failed {
        /// The address.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// The text is not the one that was pinned.
    #[error(
        "cannot import {url}: its text has changed (sha256 is {found}, {lock} says {pinned}); \
         if the change is wanted, run with --refresh-modules"
    )]
    Changed {
        /// The address.
        url: String,
        /// The lock file.
        lock: String,
        /// Hash that it was pinned to.
        pinned: String,
        /// Hash of what came.
        found: String,
    },
}

/// Name of the lock file.
const LOCK: &str = "plimsoll.lock";
const LOCK_HEAD: &str = "# The texts of remote modules that scripts in this folder run: sha256, address.\n\
    # Written by plimsoll; keep it with the scripts. `--refresh-modules` accepts new texts.\n";

/// The remote modules of one script.
pub(crate) struct Remote<'s> {
    settings: &'s ModuleSettings,
    lock_path: PathBuf,
    /// Hashes by address, as the lock file has them.
    pinned: Option<BTreeMap<String, String>>,
    /// Those of this run.
    used: BTreeMap<String, String>,
}

impl<'s> Remote<'s> {
    pub(crate) fn new(entry: &Path, settings: &'s ModuleSettings) -> Self {
        let lock_path = entry.parent().unwrap_or(Path::new("")).join(LOCK);
        Self { settings, lock_path, pinned: None, used: BTreeMap::new() }
    }

    /// The text of a module.
    pub(crate) fn text(&mut self, url: &Url) -> Result<String, RemoteError> {
        let is_own = match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        if url.scheme() != "https" && !is_own {
            return Err(RemoteError::Plain(url.to_string()));
        }
        let failed = |reason: String| RemoteError::Failed { url: url.to_string(), reason };
        let lock_path = self.lock_path.clone();
        if self.pinned.is_none() {
            self.pinned = Some(read_lock(&lock_path).map_err(&failed)?);
        }
        let pinned = self.pinned.as_ref().and_then(|all| all.get(url.as_str())).cloned();
        if self.settings.network != Network::Refresh
            && let Some(text) = self.kept(url, pinned.as_deref())
        {
            self.used.insert(url.to_string(), hash(text.as_bytes()));
            return Ok(text);
        }
        let fetch = match (&self.settings.fetch, self.settings.network) {
            (Some(fetch), Network::WhenNeeded | Network::Refresh) => fetch,
            _ => return Err(RemoteError::Offline(url.to_string())),
        };
        let bytes = fetch(url).map_err(&failed)?;
        let found = hash(&bytes);
        if let Some(pinned) = pinned.filter(|pinned| *pinned != found)
            && self.settings.network != Network::Refresh
        {
            let lock = lock_path.display().to_string();
            return Err(RemoteError::Changed { url: url.to_string(), lock, pinned, found });
        }
        let text = String::from_utf8(bytes).map_err(|_| failed("it is no text in UTF-8".to_owned()))?;
        if text.trim_start().starts_with('<') {
            let line: String = text.trim_start().lines().next().unwrap_or_default().chars().take(60).collect();
            return Err(failed(format!("it is not JavaScript: it begins with `{line}`")));
        }
        self.keep(url, &found, &text).map_err(|error| failed(error.to_string()))?;
        self.used.insert(url.to_string(), found);
        Ok(text)
    }

    /// Whether the text of a module can be had without the network. A lock file that cannot be read is told by
    /// [`Self::text`].
    pub(crate) fn keeps(&self, url: &Url) -> bool {
        let pinned = read_lock(&self.lock_path).ok().and_then(|mut all| all.remove(url.as_str()));
        self.settings.network != Network::Refresh && self.kept(url, pinned.as_deref()).is_some()
    }

    /// Pins what was used. Says in a sentence if that is not possible: the run goes on without.
    pub(crate) fn finish(self) -> Option<String> {
        let mut all = self.pinned.unwrap_or_default();
        let before = all.clone();
        all.extend(self.used);
        if all == before {
            return None;
        }
        let mut text = LOCK_HEAD.to_owned();
        for (url, hash) in all {
            writeln!(text, "{hash} {url}").expect("a String takes all");
        }
        let path = self.lock_path;
        replace(&path, &text)
            .err()
            .map(|error| format!("remote modules are not pinned: cannot write {}: {error}", path.display()))
    }

    /// The text that is kept for an address, if it still has its hash.
    fn kept(&self, url: &Url, pinned: Option<&str>) -> Option<String> {
        let cache = self.settings.cache.as_ref()?;
        let known = match pinned {
            Some(pinned) => pinned.to_owned(),
            None => std::fs::read_to_string(address_path(cache, url)).ok()?.trim().to_owned(),
        };
        let is_hash = known.len() == 64 && known.bytes().all(|byte| byte.is_ascii_hexdigit());
        let text = std::fs::read_to_string(cache.join(&known)).ok().filter(|_| is_hash)?;
        (hash(text.as_bytes()) == known).then_some(text)
    }

    fn keep(&self, url: &Url, hash: &str, text: &str) -> io::Result<()> {
        let Some(cache) = &self.settings.cache else { return Ok(()) };
        let address = address_path(cache, url);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot write to {}: {error}", cache.display()));
        std::fs::create_dir_all(address.parent().expect("it is in a folder")).map_err(named)?;
        replace(&cache.join(hash), text).and_then(|()| replace(&address, hash)).map_err(named)
    }
}

/// Where the hash is kept of what an address last gave.
fn address_path(cache: &Path, url: &Url) -> PathBuf {
    cache.join("by-address").join(hash(url.as_str().as_bytes()))
}

/// Writes a file as a whole or not at all: other runs may read it meanwhile.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let new = PathBuf::from(name);
    std::fs::write(&new, text)?;
    std::fs::rename(&new, path).inspect_err(|_| drop(std::fs::remove_file(&new)))
}

fn read_lock(path: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let entry = |(number, line): (usize, &str)| match line.split_once(' ') {
        Some((hash, url)) if hash.len() == 64 => Ok((url.trim().to_owned(), hash.to_owned())),
        _ => Err(format!("{}:{}: not a line of a hash and an address: `{line}`", path.display(), number + 1)),
    };
    lines.map(entry).collect()
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes all");
        text
    })
}

#[cfg(test)]
mod tests;

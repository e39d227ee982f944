//! Secrets: where they come from, and how they are kept out of whatever is shown. A secret that a script has read is
//! masked in all its log lines and in the sentences that end its run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is shown in place of a secret.
const MASK: &str = "***SECRET_REDACTED***";

/// A source of secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretSource {
    /// Its name.
    pub name: String,
    /// Whether `secrets.get` asks it.
    pub is_default: bool,
    /// Its secrets.
    pub values: BTreeMap<String, String>,
}

/// All sources, and which secrets have been read.
#[derive(Default)]
pub(crate) struct Secrets {
    sources: Vec<SecretSource>,
    read: Mutex<Vec<String>>,
    any: AtomicBool,
}

impl Secrets {
    pub(crate) fn new(sources: Vec<SecretSource>) -> Self {
        Self { sources, ..Self::default() }
    }

    /// A secret of the source with this name, or of the default one. It is masked from now on.
    ///
    /// # Errors
    /// A sentence that says what is missing.
    pub(crate) fn get(&self, source: Option<&str>, key: &str) -> Result<String, String> {
        if self.sources.is_empty() {
            return Err("there are no secrets: name a source of them with --secret-source".to_owned());
        }
        let found = match source {
            Some(name) => self.sources.iter().find(|known| known.name == name),
            // One source needs no mark.
            None => self.sources.iter().find(|known| known.is_default || self.sources.len() == 1),
        };
        let shown = source.unwrap_or("default");
        let found = found.ok_or_else(|| format!("there is no source of secrets '{shown}'"))?;
        let value = found.values.get(key).ok_or_else(|| format!("the source of secrets '{shown}' has no '{key}'"))?;
        let mut read = self.read.lock().expect("no panic while the lock is held");
        if !value.is_empty() && !read.contains(value) {
            read.push(value.clone());
            // The longest first: one secret may hold another.
            read.sort_by_key(|value| std::cmp::Reverse(value.len()));
            self.any.store(true, Ordering::Release);
        }
        Ok(value.clone())
    }

    /// A text without the secrets that have been read.
    pub(crate) fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.any.load(Ordering::Acquire) {
            return Cow::Borrowed(text);
        }
        let read = self.read.lock().expect("no panic while the lock is held");
        read.iter().fold(Cow::Borrowed(text), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), MASK).into() } else { text }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, is_default: bool, pairs: &[(&str, &str)]) -> SecretSource {
        let values = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        SecretSource { name: name.into(), is_default, values }
    }

    #[test]
    fn what_was_read_is_masked_and_nothing_else() {
        let secrets = Secrets::new(vec![
            source("a", true, &[("k", "abc"), ("l", "abcdef"), ("m", "")]),
            source("b", false, &[("k", "zz")]),
        ]);
        assert_eq!(secrets.mask("abcdef"), "abcdef");
        assert_eq!(secrets.get(None, "k"), Ok("abc".into()));
        assert_eq!(secrets.mask("xabcx zz"), format!("x{MASK}x zz"));
        secrets.get(None, "l").unwrap();
        secrets.get(None, "m").unwrap();
        assert_eq!(secrets.mask("abcdef abc"), format!("{MASK} {MASK}"));
        assert_eq!(secrets.get(Some("b"), "k"), Ok("zz".into()));
        assert_eq!(secrets.get(Some("c"), "k"), Err("there is no source of secrets 'c'".into()));
        assert_eq!(secrets.get(None, "q"), Err("the source of secrets 'default' has no 'q'".into()));
        assert!(Secrets::default().get(None, "k").unwrap_err().contains("--secret-source"));
    }
}

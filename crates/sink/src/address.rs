//! Where an output sends to, with what it says of itself there. Passwords never reach a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// An address and the headers of every request to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// Without user and password.
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    /// Whether certificates are taken unseen.
    pub(crate) insecure: bool,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Address {
    /// An address of HTTP; a user and a password in it become a header.
    ///
    /// # Errors
    /// A sentence if it is none.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        if !["http", "https"].contains(&scheme) {
            return Err(format!("`{scheme}` is no scheme to send samples with: http or https is expected"));
        }
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (login, host) = authority.rsplit_once('@').map_or((None, authority), |(login, host)| (Some(login), host));
        if host.is_empty() {
            return Err("the address has no host: http://HOST:PORT is expected".to_owned());
        }
        let mut address = Self { url: format!("{scheme}://{host}{path}"), headers: Vec::new(), insecure: false };
        if let Some((user, password)) = login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
            address.log_in(user, password);
        }
        Ok(address)
    }

    /// Adds user and password.
    pub(crate) fn log_in(&mut self, user: &str, password: &str) {
        let login = STANDARD.encode(format!("{user}:{password}"));
        self.headers.push(("Authorization".to_owned(), format!("Basic {login}")));
    }
}

//! Every address is asked for before the first connection to it, so that neither a name nor a redirect can lead the
//! load to a host that it must not touch.

use std::cell::RefCell;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use model::network::NetworkSettings;

use super::dns::Resolver;
use super::failure;
use super::target::Origin;
use crate::clock::Clock;
use crate::user::Failure;

/// Says whether a host, found at this address, may be loaded, or in a sentence why not.
#[derive(Clone)]
pub struct Permit(Arc<Ask>);

type Ask = dyn Fn(&str, IpAddr) -> Result<(), String> + Send + Sync;

impl Permit {
    /// Asks `ask` for each new address.
    pub fn new(ask: impl Fn(&str, IpAddr) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// Permits everything.
    pub fn all() -> Self {
        Self::new(|_, _| Ok(()))
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}

/// What a gate tells.
pub(crate) enum Passage {
    /// The first connection to an address that is permitted.
    Contacted { host: String, address: SocketAddr },
    /// An address that is not permitted was asked for: why.
    Refused(String),
}

/// The gate of one worker.
pub(crate) struct Gate {
    permit: Permit,
    known: RefCell<Vec<(String, SocketAddr)>>,
    tell: Box<dyn Fn(Passage)>,
}

impl Gate {
    pub(crate) fn new(permit: Permit, tell: Box<dyn Fn(Passage)>) -> Self {
        Self { permit, known: RefCell::default(), tell }
    }

    /// Passes if `host` at `address` may be loaded.
    pub(crate) fn pass(&self, host: &str, address: SocketAddr) -> Result<(), Failure> {
        if self.known.borrow().iter().any(|(name, known)| *known == address && name == host) {
            return Ok(());
        }
        if let Err(sentence) = (self.permit.0)(host, address.ip()) {
            (self.tell)(Passage::Refused(sentence));
            return Err(failure::refused());
        }
        self.known.borrow_mut().push((host.to_owned(), address));
        (self.tell)(Passage::Contacted { host: host.to_owned(), address });
        Ok(())
    }

    /// Passes if what a proxy is asked to connect to may be loaded. A name that only the proxy can look up must be
    /// permitted as a name.
    pub(crate) async fn pass_by_proxy(
        &self,
        origin: &Origin,
        resolver: &Resolver,
        clock: Clock,
        settings: &NetworkSettings,
    ) -> Result<(), Failure> {
        let host = origin.host.to_string();
        let refused = match resolver.address(origin, clock, settings).await {
            Ok(address) => (self.permit.0)(&host, address.ip()).err(),
            // An address that nobody has (RFC 5737), so that nobody permits it.
            Err(_) => (self.permit.0)(&host, IpAddr::from([192, 0, 2, 1])).err().map(|_| {
                format!(
                    "refused to load {host} through the proxy: its name cannot be looked up here, so that it may be \
                     anywhere; if it is yours to load, say so with --allow {host}"
                )
            }),
        };
        let Some(sentence) = refused else { return Ok(()) };
        (self.tell)(Passage::Refused(sentence));
        Err(failure::refused())
    }
}

//! Host names to addresses: the system's resolver, with a cache of five minutes, and IPv4 before IPv6, as k6 does.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use foldhash::fast::FixedState;
use model::unit::Moment;
use url::Host;

use super::failure;
use super::target::Origin;
use crate::clock::Clock;
use crate::user::Failure;

const TTL: Duration = Duration::from_secs(300);
const NAMES_MAX: usize = 10_000;

/// Until when, and what.
type Known = (Moment, Rc<[IpAddr]>);

/// The resolver of one worker.
#[derive(Default)]
pub(crate) struct Resolver {
    known: RefCell<HashMap<String, Known, FixedState>>,
    turn: Cell<usize>,
}

impl Resolver {
    /// One address of `origin`; the addresses of a name take turns.
    pub(crate) async fn address(&self, origin: &Origin, clock: Clock) -> Result<SocketAddr, Failure> {
        let name = match &origin.host {
            Host::Ipv4(address) => return Ok(SocketAddr::new((*address).into(), origin.port)),
            Host::Ipv6(address) => return Ok(SocketAddr::new((*address).into(), origin.port)),
            Host::Domain(name) => name,
        };
        let fresh = |(until, _): &&(Moment, _)| clock.now() < *until;
        let known = self.known.borrow().get(name).filter(fresh).map(|(_, addresses)| addresses.clone());
        let addresses = match known {
            Some(addresses) => addresses,
            None => self.look_up(name, clock).await?,
        };
        let turn = self.turn.replace(self.turn.get().wrapping_add(1));
        Ok(SocketAddr::new(addresses[turn % addresses.len()], origin.port))
    }

    async fn look_up(&self, name: &str, clock: Clock) -> Result<Rc<[IpAddr]>, Failure> {
        let found = tokio::net::lookup_host((name, 0)).await.map_err(|error| failure::lookup(&error))?;
        let found: Vec<IpAddr> = found.map(|address| address.ip()).collect();
        let preferred = found.iter().any(IpAddr::is_ipv4);
        let addresses: Rc<[IpAddr]> = found.into_iter().filter(|address| address.is_ipv4() == preferred).collect();
        if addresses.is_empty() {
            return Err(failure::no_address());
        }
        let mut known = self.known.borrow_mut();
        if known.len() >= NAMES_MAX {
            known.clear();
        }
        known.insert(name.to_owned(), (clock.now() + TTL, addresses.clone()));
        Ok(addresses)
    }
}

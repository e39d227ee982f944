//! Host names to addresses: the plan's own table first, then the system's resolver, whose answers are kept for a time.
//! What the plan blocks is never asked for.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use foldhash::fast::FixedState;
use model::network::{DnsPolicy, DnsSelect, NetworkSettings};
use model::unit::Moment;
use url::Host;

use super::failure;
use super::target::Origin;
use crate::alarm::NEVER;
use crate::clock::Clock;
use crate::user::Failure;

const NAMES_MAX: usize = 10_000;

/// Until when, and what.
type Known = (Moment, Rc<[IpAddr]>);

/// The resolver of one worker.
#[derive(Default)]
pub(crate) struct Resolver {
    known: RefCell<HashMap<String, Known, FixedState>>,
    turn: Cell<usize>,
    dice: RandomState,
}

impl Resolver {
    /// One address of `origin`.
    pub(crate) async fn address(
        &self,
        origin: &Origin,
        clock: Clock,
        settings: &NetworkSettings,
    ) -> Result<SocketAddr, Failure> {
        let written = match &origin.host {
            Host::Ipv4(address) => Ok(IpAddr::from(*address)),
            Host::Ipv6(address) => Ok(IpAddr::from(*address)),
            Host::Domain(name) => Err(name),
        };
        if written.is_err_and(|name| settings.blocks_host(name)) {
            return Err(failure::refused());
        }
        let mapped = match (&written, settings.hosts.is_empty()) {
            (_, true) => None,
            (Ok(address), _) => settings.mapped(&address.to_string(), origin.port),
            (Err(name), _) => settings.mapped(name, origin.port),
        };
        let found = match (mapped, written) {
            (Some(address), _) => address,
            (None, Ok(address)) => SocketAddr::new(address, origin.port),
            (None, Err(name)) => SocketAddr::new(self.look_up(name, clock, settings).await?, origin.port),
        };
        if settings.blocks_address(found.ip()) {
            return Err(failure::blocked_address());
        }
        Ok(found)
    }

    async fn look_up(&self, name: &str, clock: Clock, settings: &NetworkSettings) -> Result<IpAddr, Failure> {
        let known = self.remembered(name, clock.now());
        let addresses = match known {
            Some(addresses) => addresses,
            None => {
                let found = tokio::net::lookup_host((name, 0)).await.map_err(|error| failure::lookup(&error))?;
                self.remember(name, found.map(|address| address.ip()).collect(), clock.now(), settings)?
            }
        };
        Ok(addresses[self.choose(addresses.len(), settings.dns.select)])
    }

    fn remembered(&self, name: &str, now: Moment) -> Option<Rc<[IpAddr]>> {
        self.known.borrow().get(name).filter(|(until, _)| now < *until).map(|(_, addresses)| addresses.clone())
    }

    /// Those addresses that the policy takes, kept for as long as the plan says.
    fn remember(
        &self,
        name: &str,
        found: Vec<IpAddr>,
        now: Moment,
        settings: &NetworkSettings,
    ) -> Result<Rc<[IpAddr]>, Failure> {
        let addresses: Rc<[IpAddr]> = taken(found, settings.dns.policy).into();
        if addresses.is_empty() {
            return Err(failure::no_address());
        }
        let mut known = self.known.borrow_mut();
        if known.len() >= NAMES_MAX {
            known.clear();
        }
        let until = settings.dns.ttl.map_or(NEVER, |ttl| now + ttl);
        known.insert(name.to_owned(), (until, addresses.clone()));
        Ok(addresses)
    }

    fn choose(&self, count: usize, select: DnsSelect) -> usize {
        let turn = self.turn.replace(self.turn.get().wrapping_add(1));
        match select {
            DnsSelect::First => 0,
            DnsSelect::RoundRobin => turn % count,
            // The remainder of a hash under a random key is as good as a die.
            DnsSelect::Random => (self.dice.hash_one(turn) % count as u64) as usize,
        }
    }
}

/// The addresses that a policy takes.
fn taken(mut found: Vec<IpAddr>, policy: DnsPolicy) -> Vec<IpAddr> {
    let wants_v4 = match policy {
        DnsPolicy::Any => return found,
        DnsPolicy::OnlyIpv4 => true,
        DnsPolicy::OnlyIpv6 => false,
        DnsPolicy::PreferIpv4 => found.iter().any(IpAddr::is_ipv4),
        DnsPolicy::PreferIpv6 => !found.iter().any(IpAddr::is_ipv6),
    };
    found.retain(|address| address.is_ipv4() == wants_v4);
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::network::DnsSettings;

    use super::*;

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn policies_take_their_kind_of_address() {
        let both = || addresses(&["::1", "127.0.0.1", "127.0.0.2"]);
        assert_eq!(taken(both(), DnsPolicy::PreferIpv4), addresses(&["127.0.0.1", "127.0.0.2"]));
        assert_eq!(taken(both(), DnsPolicy::OnlyIpv4), addresses(&["127.0.0.1", "127.0.0.2"]));
        assert_eq!(taken(both(), DnsPolicy::PreferIpv6), addresses(&["::1"]));
        assert_eq!(taken(both(), DnsPolicy::OnlyIpv6), addresses(&["::1"]));
        assert_eq!(taken(both(), DnsPolicy::Any), both());
        assert_eq!(taken(addresses(&["::1"]), DnsPolicy::PreferIpv4), addresses(&["::1"]));
        assert!(taken(addresses(&["::1"]), DnsPolicy::OnlyIpv4).is_empty());
        assert_eq!(taken(addresses(&["127.0.0.1"]), DnsPolicy::PreferIpv6), addresses(&["127.0.0.1"]));
    }

    #[test]
    fn answers_are_kept_as_long_as_the_plan_says() {
        let kept = |ttl: Option<Duration>, later: Duration| {
            let dns = DnsSettings { ttl, ..DnsSettings::default() };
            let (resolver, settings) = (Resolver::default(), NetworkSettings { dns, ..NetworkSettings::default() });
            resolver.remember("a", addresses(&["127.0.0.1"]), Moment::START, &settings).unwrap();
            resolver.remembered("a", Moment::START + later).is_some()
        };
        let second = Duration::from_secs(1);
        assert!(kept(Some(second * 5), second * 4) && !kept(Some(second * 5), second * 5));
        assert!(!kept(Some(Duration::ZERO), Duration::ZERO) && kept(None, second * 1_000_000));
    }

    #[test]
    fn one_of_several_addresses_is_chosen() {
        let chosen = |select| {
            let resolver = Resolver::default();
            (0..100).map(|_| resolver.choose(3, select)).collect::<Vec<_>>()
        };
        assert!(chosen(DnsSelect::First).iter().all(|index| *index == 0));
        assert_eq!(chosen(DnsSelect::RoundRobin)[..6], [0, 1, 2, 0, 1, 2]);
        let random = chosen(DnsSelect::Random);
        assert!((0..3).all(|index| random.contains(&index)) && random != chosen(DnsSelect::RoundRobin), "{random:?}");
    }
}

//! Where clients reach a service inside its own network namespace. The address that the load goes to, if anybody listens
//! there: a proxy in front of the service counts, since its connections are those of the clients. Otherwise the road
//! leads through another namespace, and what the service's own processes listen on is the nearest to it.

use std::collections::HashSet;
use std::net::SocketAddr;

use super::owner;
use crate::files::Files;
use crate::proc::descriptors;
use crate::socket::diag::Diag;
use crate::socket::{Ports, Socket};

/// The addresses of the service with these processes; none if nobody is seen to listen.
pub(crate) fn of_service(files: &Files, diag: &mut Diag, target: Option<SocketAddr>, pids: &[u32]) -> Vec<SocketAddr> {
    let listening = owner::listening(diag, Ports::Any);
    if let Some(target) = target.filter(|target| listening.iter().any(|socket| socket.accepts(*target))) {
        return vec![target];
    }
    let owned: HashSet<u32> = pids.iter().filter_map(|&pid| descriptors::sockets(files, pid)).flatten().collect();
    owned_by(&listening, &owned)
}

/// The addresses of the listening sockets among these inodes, each once.
fn owned_by(listening: &[Socket], owned: &HashSet<u32>) -> Vec<SocketAddr> {
    let mut addresses: Vec<SocketAddr> =
        listening.iter().filter(|socket| owned.contains(&socket.inode)).map(|socket| socket.local).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn look(target: SocketAddr) -> Vec<SocketAddr> {
        let files = Files::new("/proc".into(), "/sys".into());
        of_service(&files, &mut Diag::open().unwrap(), Some(target), &[std::process::id()])
    }

    #[test]
    fn the_target_counts_whoever_listens_there() {
        let (ours, other) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        let address = ours.local_addr().unwrap();
        assert_eq!(look(address), [address]);
        let files = Files::new("/proc".into(), "/sys".into());
        let seen = of_service(&files, &mut Diag::open().unwrap(), Some(address), &[]);
        assert_eq!(seen, [address], "no process of the service has to own it");
        drop(other);
    }

    #[test]
    fn a_target_that_is_elsewhere_leaves_what_the_service_listens_on() {
        let ours = TcpListener::bind("127.0.0.1:0").unwrap();
        let seen = look(SocketAddr::from(([192, 0, 2, 1], 1)));
        assert!(seen.contains(&ours.local_addr().unwrap()), "{seen:?}");
        assert!(seen.is_sorted() && seen.iter().all(|address| address.port() != 1), "{seen:?}");
    }
}

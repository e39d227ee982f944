//! Follows the service's own connections to what they reach on this machine: its database, its cache, other services.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;

use model::series::Role;

use super::owner::{self, Owner};
use crate::collect::group::Source;
use crate::collect::stores;
use crate::report::Report;
use crate::scene::Scene;
use crate::socket::{Family, Ports, Query, Socket, state};

/// What is known about the other ends of the service's connections.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    /// The subject behind an address; none if it is not on this machine or cannot be told.
    known: HashMap<SocketAddr, Option<String>>,
    /// Sockets that were asked about: whose they are does not change.
    seen: HashSet<u64>,
    found: bool,
    round: u32,
}

/// Once something was found, every how many-th second is looked for more.
const ROUNDS: u32 = 5;

/// Looks for peers that are new; cheap enough for once a second.
pub(crate) fn look(scene: &mut Scene) -> Vec<Report> {
    scene.peers.round += 1;
    if scene.peers.found && !scene.peers.round.is_multiple_of(ROUNDS) {
        return Vec::new();
    }
    let remotes = remotes(scene);
    remotes.into_iter().flat_map(|(remote, family)| meet(scene, remote, family)).collect()
}

/// The other ends of connections that the service opened and that nothing is known about.
fn remotes(scene: &mut Scene) -> BTreeMap<SocketAddr, Family> {
    let Some(pids) = scene.service_pids() else { return BTreeMap::new() };
    let user = pids.first().and_then(|&pid| owner::user(&scene.files, pid));
    let Some(service) = &mut scene.service else { return BTreeMap::new() };
    let Some(diag) = service.diag.as_mut() else { return BTreeMap::new() };
    let ports = service.listener.ports().next().map_or(Ports::Any, Ports::Without);
    let query = Query { family: Family::V4, states: state::ESTABLISHED, ports, info: false };
    let mut sockets = diag.all(&Family::BOTH, query);
    let cookies = sockets.iter().map(|socket| socket.cookie).collect();
    let seen = std::mem::replace(&mut scene.peers.seen, cookies);
    sockets.retain(|socket| !seen.contains(&socket.cookie) && !scene.peers.known.contains_key(&socket.remote));
    if sockets.is_empty() {
        return BTreeMap::new();
    }
    service.databases.owned.look(&scene.files, &pids, user);
    sockets.retain(|socket| service.databases.owned.owns(socket));
    let listening = owner::listening(diag, Ports::Any);
    let is_inbound = |socket: &Socket| listening.iter().any(|listener| listener.accepts(socket.local));
    sockets.iter().filter(|socket| !is_inbound(socket)).map(|socket| (socket.remote, socket.family)).collect()
}

/// Finds out what lives at `remote`.
fn meet(scene: &mut Scene, remote: SocketAddr, family: Family) -> Vec<Report> {
    let (subject, reports) = match owner_of(scene, remote) {
        Owner::Nobody => (None, Vec::new()),
        Owner::Hidden(user) => (
            None,
            vec![Report::Notice(format!(
                "what the service talks to at {remote} belongs to user id {user} and cannot be seen: run as root, or name \
                 it with --watch pid:N"
            ))],
        ),
        Owner::Processes(roots) => join(scene, remote, family, roots),
    };
    scene.peers.known.insert(remote, subject);
    reports
}

fn owner_of(scene: &mut Scene, remote: SocketAddr) -> Owner {
    let Scene { files, table, diag, service, .. } = scene;
    let near = service.as_mut().and_then(|service| service.diag.as_mut());
    match near.map_or(Owner::Nobody, |diag| owner::of_address(files, table, diag, remote)) {
        // In a network namespace of its own the service may reach what lives in ours.
        Owner::Nobody if !remote.ip().is_loopback() => {
            diag.as_mut().map_or(Owner::Nobody, |diag| owner::of_address(files, table, diag, remote))
        }
        owner => owner,
    }
}

/// Makes the processes behind `remote` a subject, unless they are one already.
fn join(scene: &mut Scene, remote: SocketAddr, family: Family, roots: Vec<u32>) -> (Option<String>, Vec<Report>) {
    let main = roots[0];
    let known = scene.groups.iter().find(|group| group.pids().any(|pid| pid == main) || group.roots().contains(&main));
    let known = known.map(|group| group.subject.clone());
    let name = owner::name(&scene.files, &scene.table, main);
    let mut reports = Vec::new();
    let subject = known.unwrap_or_else(|| {
        let role = stores::role(&name).unwrap_or(Role::Upstream);
        let shown = format!("{} {remote}", name.strip_suffix("-server").unwrap_or(&name));
        let subject = scene.add(role, None, shown, Source::Tree(roots), Some(remote));
        reports.push(Report::Subject(subject.clone()));
        subject
    });
    if let (Role::Database, Some(service)) = (subject.role, &mut scene.service) {
        service.databases.add(remote, family);
    }
    scene.peers.found |= matches!(subject.role, Role::Database | Role::Cache);
    (Some(subject.id), reports)
}

impl Peers {
    /// Looks at all peers anew: the service was started anew, or one of them was.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.seen.clear();
        self.found = false;
    }
}

//! Who listens on an address. Without the right to read the descriptors of other users' processes only the user is
//! known, which is enough for a database that is the only one of its kind this user runs.

use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;

use crate::collect::stores;
use crate::files::Files;
use crate::proc::descriptors;
use crate::proc::table::Table;
use crate::socket::diag::Diag;
use crate::socket::{Family, Ports, Query, Socket, state};

/// Who listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Nobody on this machine, as far as this network namespace can tell.
    Nobody,
    /// A process of this user, which cannot be told.
    Hidden(u32),
    /// These processes and what they began; the first stands for all.
    Processes(Vec<u32>),
}

/// Finds who listens on `address`.
pub(crate) fn of_address(files: &Files, table: &Table, diag: &mut Diag, address: SocketAddr) -> Owner {
    let ports = Ports::Local(address.port());
    let mut sockets = listening(diag, ports);
    sockets.retain(|socket| socket.accepts(address));
    of_sockets(files, table, &sockets)
}

/// Finds who owns these listening sockets.
pub(crate) fn of_sockets(files: &Files, table: &Table, sockets: &[Socket]) -> Owner {
    let Some(first) = sockets.first() else { return Owner::Nobody };
    let inodes: HashSet<u32> = sockets.iter().map(|socket| socket.inode).collect();
    let owns = |pid: &u32| descriptors::sockets(files, *pid).is_some_and(|owned| !owned.is_disjoint(&inodes));
    let mut pids: Vec<u32> = table.pids().filter(owns).collect();
    // A supervisor that opened the socket and handed it down holds it too.
    if pids.len() > 1 {
        pids.retain(|&pid| pid != 1);
    }
    if pids.is_empty() {
        pids = stores_of(files, table, first.uid);
    }
    match table.topmost(&pids) {
        none if none.is_empty() => Owner::Hidden(first.uid),
        roots => Owner::Processes(roots),
    }
}

/// Listening sockets.
pub(crate) fn listening(diag: &mut Diag, ports: Ports) -> Vec<Socket> {
    diag.all(&Family::BOTH, Query { family: Family::V4, states: state::LISTEN, ports, info: false })
}

/// What people call a process: the file name of its program, unless it gave itself another name.
pub(crate) fn name(files: &Files, table: &Table, pid: u32) -> String {
    let short = table.get(pid).map_or_else(|| format!("pid {pid}"), |process| process.name.clone());
    let program = files.link(pid, "exe").and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    program.filter(|program| program.starts_with(&short)).unwrap_or(short)
}

/// The user that a process runs as.
pub(crate) fn user(files: &Files, pid: u32) -> Option<u32> {
    fs::metadata(files.path(pid, "stat")).ok().map(|metadata| metadata.uid())
}

/// The one database or cache that a user runs; none if there are several.
fn stores_of(files: &Files, table: &Table, uid: u32) -> Vec<u32> {
    let is_store = |pid: &u32| table.get(*pid).is_some_and(|process| stores::role(&process.name).is_some());
    let pids: Vec<u32> = table.pids().filter(|pid| is_store(pid) && user(files, *pid) == Some(uid)).collect();
    let topmost = table.topmost(&pids);
    if topmost.len() == 1 { topmost } else { Vec::new() }
}

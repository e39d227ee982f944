//! Databases and caches by the names of their programs, and how many sockets the service has open to its databases.
//! Never speaks to them.

use std::collections::HashSet;
use std::net::SocketAddr;

use model::series::Role;
use model::signal;

use crate::files::Files;
use crate::proc::descriptors;
use crate::report::Sheet;
use crate::socket::diag::Diag;
use crate::socket::{Family, Ports, Query, Socket, state};

/// Processes of the service whose descriptors are looked through.
const PROCESSES_MAX: usize = 64;

/// Names of programs that are databases and of those that are caches.
const DATABASES: [&str; 7] = ["postgres", "postmaster", "mysqld", "mariadbd", "mongod", "cockroach", "clickhouse-serv"];
const CACHES: [&str; 4] = ["redis-server", "valkey-server", "keydb-server", "memcached"];

/// What part of the stack a program of this name is, if its name says it.
pub(crate) fn role(name: &str) -> Option<Role> {
    if DATABASES.contains(&name) {
        Some(Role::Database)
    } else if CACHES.contains(&name) {
        Some(Role::Cache)
    } else {
        None
    }
}

/// Whether a program of this name is PostgreSQL.
pub(crate) fn is_postgres(name: &str) -> bool {
    matches!(name, "postgres" | "postmaster")
}

/// Whose sockets are whose: by inode where the service's descriptors may be read, by user otherwise.
#[derive(Debug, Default)]
pub(crate) struct Owned {
    ours: HashSet<u32>,
    others: HashSet<u32>,
    /// The service's user, if its descriptors may not be read.
    uid: Option<u32>,
}

impl Owned {
    /// Looks through the descriptors of `pids` anew; `uid` is the service's user. Says whether they could be read.
    pub(crate) fn look(&mut self, files: &Files, pids: &[u32], uid: Option<u32>) -> bool {
        self.others.clear();
        let sockets: Vec<_> =
            pids.iter().take(PROCESSES_MAX).filter_map(|&pid| descriptors::sockets(files, pid)).collect();
        let readable = !sockets.is_empty();
        self.ours = sockets.into_iter().flatten().collect();
        self.uid = if readable { None } else { uid };
        readable
    }

    /// Whether the service owns `socket`.
    pub(crate) fn owns(&self, socket: &Socket) -> bool {
        self.ours.contains(&socket.inode) || self.uid == Some(socket.uid)
    }
}

/// Established connections from the service to its databases.
#[derive(Debug, Default)]
pub(crate) struct DatabaseSockets {
    pub(crate) owned: Owned,
    databases: Vec<(SocketAddr, Family)>,
}

impl DatabaseSockets {
    /// From now on counts connections to `database`, as the service addresses it with sockets of this family.
    pub(crate) fn add(&mut self, database: SocketAddr, family: Family) {
        if !self.databases.contains(&(database, family)) {
            self.databases.push((database, family));
        }
    }

    /// Counts them. Descriptors are looked through only when a socket turns up that nobody is known to own.
    pub(crate) fn collect(
        &mut self,
        service: &str,
        diag: &mut Diag,
        mut look: impl FnMut(&mut Owned),
        sheet: &mut Sheet,
    ) {
        if self.databases.is_empty() {
            return;
        }
        let mut sockets = Vec::new();
        for &(database, family) in &self.databases {
            let ports = Ports::Remote(database.port());
            let query = Query { family, states: state::ESTABLISHED, ports, info: false };
            let found = diag.all(&[family], query);
            sockets.extend(found.into_iter().filter(|socket| socket.remote == database));
        }
        let is_unknown = |socket: &Socket| !self.owned.owns(socket) && !self.owned.others.contains(&socket.inode);
        if sockets.iter().any(is_unknown) {
            look(&mut self.owned);
        }
        let count = sockets.iter().filter(|socket| self.owned.owns(socket)).count();
        let foreign = sockets.iter().filter(|socket| !self.owned.owns(socket)).map(|socket| socket.inode);
        self.owned.others = foreign.collect();
        sheet.put(service, signal::DB_SOCKETS, count as f64);
    }
}

//! Everything that is under watch, and one look at all of it. Knows no clock: it is told the moment.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::series::{Role, Subject};

use crate::collect::clients::Clients;
use crate::collect::generator::Generator;
use crate::collect::group::{Group, Source};
use crate::collect::host;
use crate::collect::listener::Listener;
use crate::collect::namespace::{self, Side};
use crate::collect::stores::{self, DatabaseSockets};
use crate::discover::doors;
use crate::discover::owner::{self, Owner};
use crate::discover::peers::{self, Peers};
use crate::files::Files;
use crate::postgres::titles::{self, Titles};
use crate::proc::table::Table;
use crate::report::{Report, Sheet};
use crate::socket::diag::Diag;

/// Identifiers of the subjects that there is one of.
pub(crate) const GENERATOR: &str = "gen";
pub(crate) const HOST: &str = "host";

/// Everything that is under watch.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) files: Files,
    pub(crate) table: Table,
    /// Sockets of our own network namespace.
    pub(crate) diag: Option<Diag>,
    pub(crate) own_pid: u32,
    pub(crate) groups: Vec<Group>,
    pub(crate) generator: Option<Generator>,
    pub(crate) service: Option<Service>,
    pub(crate) servers: Vec<Server>,
    pub(crate) peers: Peers,
    pub(crate) logins: Vec<Address>,
    pub(crate) scrapes: Vec<Scrape>,
    /// Where a group listens, to find it again when it was started anew.
    homes: Vec<(String, SocketAddr)>,
    host_cores: u32,
    /// Groups of which it was said that not all threads are read.
    sampled: HashSet<String>,
}

/// The service's sockets.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) subject: String,
    /// Where the load goes, or where it was found.
    pub(crate) address: Option<SocketAddr>,
    /// Sockets of its network namespace.
    pub(crate) diag: Option<Diag>,
    pub(crate) listener: Listener,
    pub(crate) clients: Clients,
    pub(crate) databases: DatabaseSockets,
}

/// A PostgreSQL server on this machine.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) subject: String,
    pub(crate) titles: Titles,
    /// Whether a login sees more than titles do.
    pub(crate) logged_in: Arc<AtomicBool>,
}

/// Where something about a subject can be asked.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) subject: String,
    pub(crate) url: String,
}

/// A metrics page.
#[derive(Clone, Debug)]
pub(crate) struct Scrape {
    pub(crate) address: Address,
    /// Whether somebody asked for it: then its absence is worth a notice.
    pub(crate) asked: bool,
}

impl Scene {
    pub(crate) fn new(files: Files, own_pid: u32) -> Self {
        Self {
            files,
            table: Table::default(),
            diag: None,
            own_pid,
            groups: Vec::new(),
            generator: None,
            service: None,
            servers: Vec::new(),
            peers: Peers::default(),
            logins: Vec::new(),
            scrapes: Vec::new(),
            homes: Vec::new(),
            host_cores: 1,
            sampled: HashSet::new(),
        }
    }

    /// Takes processes under watch.
    pub(crate) fn add(
        &mut self,
        role: Role,
        name: Option<String>,
        found_name: String,
        source: Source,
        home: Option<SocketAddr>,
    ) -> Subject {
        let main = match &source {
            Source::Alone(pid) => Some(*pid),
            Source::Tree(roots) => roots.first().copied(),
            Source::Cgroup(_) => None,
        };
        let subject = Subject { id: self.free_id(role), role, name: name.unwrap_or(found_name), pid: main };
        let program = main.and_then(|pid| self.table.get(pid));
        if role == Role::Database && program.is_some_and(|process| stores::is_postgres(&process.name)) {
            let (titles, logged_in) = (Titles::default(), Arc::default());
            self.servers.push(Server { subject: subject.id.clone(), titles, logged_in });
        }
        self.homes.extend(home.map(|home| (subject.id.clone(), home)));
        self.groups.push(Group::new(subject.clone(), source));
        self.regroup();
        self.group(&subject.id).map_or(subject, |group| group.subject.clone())
    }

    /// An identifier for the next subject of this role.
    pub(crate) fn free_id(&self, role: Role) -> String {
        let base = match role {
            Role::Generator => GENERATOR,
            Role::Host => HOST,
            Role::Service => "svc",
            Role::Database => "db",
            Role::Cache => "cache",
            Role::Upstream => "upstream",
        };
        let logins = self.logins.iter().map(|login| &login.subject);
        let taken: HashSet<&String> = self.groups.iter().map(|group| &group.subject.id).chain(logins).collect();
        let mut names = std::iter::once(base.to_owned()).chain((2..).map(|number: u32| format!("{base}{number}")));
        names.find(|name| !taken.contains(name)).unwrap_or_default()
    }

    pub(crate) fn group(&self, id: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.subject.id == id)
    }

    /// The service's processes, the main one first.
    pub(crate) fn service_pids(&self) -> Option<Vec<u32>> {
        let group = self.group(&self.service.as_ref()?.subject)?;
        let mut pids: Vec<u32> = group.pids().collect();
        pids.sort_unstable_by_key(|&pid| (Some(pid) != group.subject.pid, pid));
        Some(pids)
    }

    /// What changes within a second; called many times in one, counted by `turn`.
    pub(crate) fn sample(&mut self, turn: usize) {
        if let (Some(generator), Some(diag)) = (&mut self.generator, &mut self.diag) {
            generator.sample(diag);
        }
        if let Some(Service { listener, diag: Some(diag), .. }) = &mut self.service {
            listener.sample(diag);
        }
        if turn.is_multiple_of(2) {
            self.sample_titles();
        }
    }

    /// Everything else, once a second.
    pub(crate) fn collect(&mut self, sheet: &mut Sheet) -> Vec<Report> {
        self.table.refresh(&mut self.files);
        let mut reports = self.find_again();
        self.regroup();
        reports.extend(peers::look(self));
        self.host_cores = host::collect(&mut self.files, HOST, sheet).unwrap_or(self.host_cores);
        for group in &mut self.groups {
            group.collect(&mut self.files, self.host_cores, sheet);
        }
        reports.extend(self.notice_sampling());
        self.collect_sockets(sheet);
        self.collect_servers(sheet);
        reports
    }

    pub(crate) fn regroup(&mut self) {
        let roots: Vec<Vec<u32>> = self.groups.iter().map(|group| group.roots().to_vec()).collect();
        for (index, group) in self.groups.iter_mut().enumerate() {
            // What the generator is part of is not the generator, and what it began may be the service.
            let others = roots.iter().enumerate().filter(|(other, _)| *other != index).flat_map(|(_, roots)| roots);
            let others: HashSet<u32> = others.copied().filter(|pid| !group.roots().contains(pid)).collect();
            group.regroup(&self.table, &others);
        }
    }

    /// Looks for groups whose main process ended where they used to listen.
    fn find_again(&mut self) -> Vec<Report> {
        let mut reports = Vec::new();
        let Self { files, table, diag, service, groups, homes, peers, .. } = self;
        for (id, home) in homes {
            let Some(group) = groups.iter_mut().find(|group| group.subject.id == *id) else { continue };
            if group.lives(table) {
                continue;
            }
            let of_service = service.as_mut().and_then(|service| service.diag.as_mut());
            let Some(diag) = of_service.or(diag.as_mut()) else { continue };
            if let Owner::Processes(roots) = owner::of_address(files, table, diag, *home) {
                group.succeed(roots);
                peers.forget();
                reports.push(Report::Subject(group.subject.clone()));
            }
        }
        reports
    }

    fn notice_sampling(&mut self) -> Vec<Report> {
        let mut reports = Vec::new();
        for group in &self.groups {
            if let Some(threads) = group.sampled().filter(|_| self.sampled.insert(group.subject.id.clone())) {
                reports.push(Report::Notice(format!(
                    "{} has {threads} threads: only a share of them is read each second, and waiting times are scaled",
                    group.subject.name
                )));
            }
        }
        reports
    }

    fn collect_sockets(&mut self, sheet: &mut Sheet) {
        namespace::collect(&mut self.files, GENERATOR, self.own_pid, Side::Generator, sheet);
        if let (Some(generator), Some(diag)) = (&mut self.generator, &mut self.diag) {
            generator.collect(GENERATOR, &mut self.files, diag, sheet);
        }
        let Some(pids) = self.service_pids() else { return };
        let Self { files, service: Some(service), .. } = self else { return };
        let id = service.subject.as_str();
        if let Some(&main) = pids.first() {
            namespace::collect(files, id, main, Side::Service, sheet);
        }
        let Some(diag) = &mut service.diag else { return };
        if service.listener.is_lost() {
            // It may not have listened yet, or it listens elsewhere since it was started anew.
            let doors = doors::of_service(files, diag, service.address, &pids);
            service.listener = Listener::new(doors);
        }
        service.listener.collect(id, sheet);
        service.clients.collect(id, &service.listener, diag, sheet);
        let look = |owned: &mut stores::Owned| {
            let user = pids.first().and_then(|&pid| owner::user(files, pid));
            owned.look(files, &pids, user);
        };
        service.databases.collect(id, diag, look, sheet);
    }

    fn sample_titles(&mut self) {
        for server in &mut self.servers {
            let group = self.groups.iter().find(|group| group.subject.id == server.subject);
            let Some(group) = group.filter(|_| !server.logged_in.load(Ordering::Relaxed)) else { continue };
            server.titles.sample(&mut self.files, group.subject.pid, group.pids());
        }
    }

    fn collect_servers(&mut self, sheet: &mut Sheet) {
        for server in &mut self.servers {
            if server.logged_in.load(Ordering::Relaxed) {
                server.titles.forget();
                continue;
            }
            server.titles.collect(&server.subject, sheet);
            let main = self.groups.iter().find(|group| group.subject.id == server.subject);
            if let Some(postmaster) = main.and_then(|group| group.subject.pid) {
                titles::max_connections(&mut self.files, &server.subject, postmaster, sheet);
            }
        }
    }
}

//! One look around before the load: who listens where the load goes, what it is part of, what else was asked to be
//! watched. Never fails: what cannot be seen becomes a notice that says what would show it.

pub(crate) mod doors;
pub(crate) mod owner;
pub(crate) mod peers;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Instant;

use model::series::{Role, Subject};
use tokio::sync::mpsc::UnboundedSender;

use self::owner::Owner;
use crate::collect::clients::Clients;
use crate::collect::generator::Generator;
use crate::collect::group::Source;
use crate::collect::listener::Listener;
use crate::collect::stores::{self, DatabaseSockets};
use crate::files::Files;
use crate::proc::descriptors;
use crate::report::Report;
use crate::scene::{Address, GENERATOR, HOST, Scene, Scrape, Service};
use crate::socket::diag::Diag;
use crate::spec::{WatchSpec, What, host_and_port, masked};
use crate::watch::{self, Watching};

/// What to look for, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the load goes, if there is one.
    pub target: Option<SocketAddr>,
    /// What else was asked to be watched.
    pub specs: Vec<WatchSpec>,
    /// This process: the generator.
    pub own_pid: u32,
    /// `/proc`, or a recording of it.
    pub proc_root: PathBuf,
    /// `/sys`, or a recording of it.
    pub sys_root: PathBuf,
}

/// What was found.
#[derive(Debug)]
pub struct Discovered {
    /// Who will be watched. More may be found later: the service's database shows only with its connections.
    pub subjects: Vec<Subject>,
    /// What cannot be read, why, and what would give it; one sentence each.
    pub notices: Vec<String>,
    /// The same about what was asked to be watched.
    pub warnings: Vec<String>,
    scene: Scene,
}

impl Discovered {
    /// Watches on a thread of its own and reports to `out` until stopped, dropped, or until nobody listens. Readings
    /// count from `beginning`.
    pub fn watch(self, beginning: Instant, out: UnboundedSender<Report>) -> Watching {
        watch::begin(self.scene, beginning, out)
    }
}

/// Looks around once.
pub fn discover(settings: Settings) -> Discovered {
    let Settings { target, specs, own_pid, proc_root, sys_root } = settings;
    let mut search = Search {
        scene: Scene::new(Files::new(proc_root, sys_root), own_pid),
        subjects: Vec::new(),
        notices: Vec::new(),
        warnings: Vec::new(),
        candidates: Vec::new(),
    };
    search.scene.table.refresh(&mut search.scene.files);
    match Diag::open() {
        Ok(diag) => search.scene.diag = Some(diag),
        Err(error) => search.notices.push(format!(
            "no sockets can be read ({error}): a kernel with INET_DIAG would show queues, connections and what the \
             service talks to"
        )),
    }
    search.generator_and_host(target);
    search.processes(&specs);
    search.service(target);
    search.stores(&specs);
    search.metrics(&specs, target);
    for report in peers::look(&mut search.scene) {
        match report {
            Report::Subject(subject) => search.subjects.push(subject),
            Report::Notice(notice) => search.notices.push(notice),
            Report::Warning(warning) => search.warnings.push(warning),
            Report::Readings(_) => {}
        }
    }
    let Search { scene, subjects, notices, warnings, .. } = search;
    Discovered { subjects, notices, warnings, scene }
}

struct Search {
    scene: Scene,
    subjects: Vec<Subject>,
    notices: Vec<String>,
    warnings: Vec<String>,
    candidates: Vec<Candidate>,
}

/// Processes that somebody asked for.
struct Candidate {
    name: Option<String>,
    /// What people would call it.
    found_name: String,
    source: Source,
    home: Option<SocketAddr>,
    role: Option<Role>,
}

impl Search {
    fn generator_and_host(&mut self, target: Option<SocketAddr>) {
        let own_pid = self.scene.own_pid;
        let own_name = owner::name(&self.scene.files, &self.scene.table, own_pid);
        let own = self.scene.add(Role::Generator, None, own_name, Source::Alone(own_pid), None);
        debug_assert_eq!(own.id, GENERATOR);
        let hostname =
            self.scene.files.proc("sys/kernel/hostname").map(|name| String::from_utf8_lossy(name).trim().to_owned());
        let name = hostname.unwrap_or_else(|| "this machine".to_owned());
        self.subjects.extend([own, Subject { id: HOST.to_owned(), role: Role::Host, name, pid: None }]);
        self.scene.generator = target.map(Generator::new);
    }

    /// Turns what was asked for into processes.
    fn processes(&mut self, specs: &[WatchSpec]) {
        for spec in specs {
            let (source, home) = match &spec.what {
                What::Pid(pid) if self.scene.table.get(*pid).is_none() => {
                    self.warnings.push(format!("{spec} is not watched: there is no such process"));
                    continue;
                }
                What::Pid(pid) => (Source::Tree(vec![*pid]), None),
                What::Port(port) => {
                    let address = SocketAddr::from(([127, 0, 0, 1], *port));
                    match self.owner(address) {
                        Owner::Processes(roots) => (Source::Tree(roots), Some(address)),
                        missing => {
                            let why = explain(&missing);
                            self.warnings.push(format!("{spec} is not watched: {why}"));
                            continue;
                        }
                    }
                }
                What::Cgroup(path) => match self.cgroup_folder(path) {
                    Some(folder) => (Source::Cgroup(folder), None),
                    None => {
                        self.warnings.push(format!("{spec} is not watched: there is no such control group"));
                        continue;
                    }
                },
                What::Postgres(_) | What::Redis(_) | What::Metrics(_) => continue,
            };
            let main = if let Source::Tree(roots) = &source { roots.first().copied() } else { None };
            let program =
                main.and_then(|pid| self.scene.table.get(pid)).and_then(|process| stores::role(&process.name));
            let found_name = main
                .map_or_else(|| spec.what.to_string(), |pid| owner::name(&self.scene.files, &self.scene.table, pid));
            let named = named_role(spec.name.as_deref());
            // A role is no name for people: what the process is called says more.
            let name = spec.name.clone().filter(|_| named.is_none());
            self.candidates.push(Candidate { name, found_name, source, home, role: named.or(program) });
        }
    }

    /// Decides who the service is – what was named so, else who listens at the target, else what was asked for first –
    /// and takes it and all others that were asked for under watch.
    fn service(&mut self, target: Option<SocketAddr>) {
        let mut candidates = std::mem::take(&mut self.candidates);
        let named = candidates.iter().position(|candidate| candidate.role == Some(Role::Service));
        let listening = target.map_or(Owner::Nobody, |target| self.owner(target));
        let asked = || candidates.iter().position(|candidate| candidate.role.is_none());
        let service = match (named, &listening) {
            (Some(index), _) => Some(candidates.remove(index)),
            (None, Owner::Processes(roots)) if !self.is_forwarder(roots[0]) => {
                let same = candidates.iter().position(|candidate| candidate.source == Source::Tree(roots.clone()));
                let known = same.map(|index| candidates.remove(index));
                let found_name = owner::name(&self.scene.files, &self.scene.table, roots[0]);
                let name = known.and_then(|candidate| candidate.name);
                Some(Candidate { name, found_name, source: Source::Tree(roots.clone()), home: target, role: None })
            }
            _ => asked().map(|index| candidates.remove(index)),
        };
        match (service, target) {
            (Some(service), _) => self.add_service(service, target),
            (None, Some(target)) => self.notice_missing(target, &listening),
            (None, None) => {}
        }
        for candidate in candidates {
            let Candidate { name, found_name, source, home, role } = candidate;
            let subject = self.scene.add(role.unwrap_or(Role::Upstream), name, found_name, source, home);
            self.subjects.push(subject);
        }
    }

    fn add_service(&mut self, service: Candidate, target: Option<SocketAddr>) {
        let Candidate { name, found_name, source, home, .. } = service;
        let address = target.or(home);
        let subject = self.scene.add(Role::Service, name, found_name, source, home.or(target));
        let diag = subject.pid.and_then(|pid| self.diag_of(pid));
        if let Some(pid) = subject.pid.filter(|&pid| descriptors::sockets(&self.scene.files, pid).is_none()) {
            self.notices.push(format!(
                "the sockets of {} (process {pid}) cannot be told from others of its user, which makes its connections to \
                 a database less certain: run as root or as its user",
                subject.name
            ));
        }
        self.scene.service = Some(Service {
            subject: subject.id.clone(),
            address,
            diag,
            // Where it listens is looked for together with everything else.
            listener: Listener::new(Vec::new()),
            clients: Clients::default(),
            databases: DatabaseSockets::default(),
        });
        self.subjects.push(subject);
    }

    /// Sockets of the network namespace that a process lives in.
    fn diag_of(&mut self, pid: u32) -> Option<Diag> {
        let files = &self.scene.files;
        let own = files.link(self.scene.own_pid, "ns/net");
        let theirs = files.link(pid, "ns/net");
        // Whose namespace may not be read is taken to live in ours: most do.
        if theirs.is_none() || own == theirs {
            return Diag::open().ok();
        }
        match Diag::open_in(&files.path(pid, "ns/net")) {
            Ok(diag) => Some(diag),
            Err(error) => {
                self.notices.push(format!(
                    "the sockets of process {pid} cannot be read, since it lives in another network namespace ({error}): \
                     run as root"
                ));
                None
            }
        }
    }

    /// Logins, and the processes of the servers they lead to if those are on this machine.
    fn stores(&mut self, specs: &[WatchSpec]) {
        for spec in specs {
            let (role, url, program, port) = match &spec.what {
                What::Postgres(url) => (Role::Database, url, "postgres", 5432),
                What::Redis(url) => (Role::Cache, url, "redis", 6379),
                _ => continue,
            };
            let Some((host, port)) = host_and_port(url, port) else { continue };
            let name = spec.name.clone().unwrap_or_else(|| format!("{program} {host}:{port}"));
            let address = resolve(&host, port);
            let owner = address.map_or(Owner::Nobody, |address| self.owner(address));
            let subject = match owner {
                Owner::Processes(roots) => match self.known(&roots) {
                    Some(known) => known,
                    None => {
                        let subject = self.scene.add(role, spec.name.clone(), name, Source::Tree(roots), address);
                        self.subjects.push(subject.clone());
                        subject.id
                    }
                },
                Owner::Nobody | Owner::Hidden(_) if role == Role::Database => {
                    let subject = Subject { id: self.scene.free_id(role), role, name, pid: None };
                    self.subjects.push(subject.clone());
                    subject.id
                }
                missing => {
                    self.warnings.push(format!("{spec} is not watched: {}", explain(&missing)));
                    continue;
                }
            };
            if role == Role::Database {
                self.scene.logins.push(Address { subject, url: url.clone() });
            }
        }
    }

    fn metrics(&mut self, specs: &[WatchSpec], target: Option<SocketAddr>) {
        let subject = self.scene.service.as_ref().map(|service| service.subject.clone());
        for spec in specs {
            let What::Metrics(url) = &spec.what else { continue };
            let subject = subject.clone().unwrap_or_else(|| {
                let id = self.scene.free_id(Role::Service);
                if !self.subjects.iter().any(|subject| subject.id == id) {
                    let name = spec.name.clone().unwrap_or_else(|| masked(url));
                    self.subjects.push(Subject { id: id.clone(), role: Role::Service, name, pid: None });
                }
                id
            });
            self.scene.scrapes.push(Scrape { address: Address { subject, url: url.clone() }, asked: true });
        }
        if let (Some(subject), Some(target), true) = (subject, target, self.scene.scrapes.is_empty()) {
            let url = format!("http://{target}/metrics");
            self.scene.scrapes.push(Scrape { address: Address { subject, url }, asked: false });
        }
    }

    fn owner(&mut self, address: SocketAddr) -> Owner {
        let Scene { files, table, diag, .. } = &mut self.scene;
        if !is_ours(address.ip()) {
            return Owner::Nobody;
        }
        diag.as_mut().map_or(Owner::Nobody, |diag| owner::of_address(files, table, diag, address))
    }

    fn known(&self, roots: &[u32]) -> Option<String> {
        let is_known = |pid: &u32| roots.contains(pid);
        self.scene.groups.iter().find(|group| group.roots().iter().any(is_known)).map(|group| group.subject.id.clone())
    }

    /// Whether a process only hands connections on to a container.
    fn is_forwarder(&self, pid: u32) -> bool {
        let forwarders = ["docker-proxy", "rootlessport", "pasta", "slirp4netns"];
        self.scene.table.get(pid).is_some_and(|process| forwarders.contains(&process.name.as_str()))
    }

    fn notice_missing(&mut self, target: SocketAddr, listening: &Owner) {
        let text = match listening {
            Owner::Processes(_) => format!(
                "port {} leads into a container, whose process has to be named to be watched: --watch pid:N",
                target.port()
            ),
            Owner::Hidden(user) => format!(
                "the service at {target} belongs to user id {user} and cannot be seen: run as root or as that user, or name \
                 it with --watch pid:N"
            ),
            Owner::Nobody if is_ours(target.ip()) => format!(
                "nobody is seen to listen on {target}: if the service lives in another network namespace, name it with \
                 --watch pid:N"
            ),
            Owner::Nobody => format!(
                "{target} is not on this machine, so its processes cannot be watched: --watch metrics:URL and \
                 --watch postgres://… still show its pool and its database"
            ),
        };
        self.notices.push(text);
    }

    fn cgroup_folder(&self, path: &Path) -> Option<PathBuf> {
        let relative = path.strip_prefix("/").unwrap_or(path);
        let mount = self.scene.files.sys_root.join("fs/cgroup");
        let places = ["", "unified", "cpu", "memory"].map(|place| mount.join(place).join(relative));
        std::iter::once(path.to_path_buf()).chain(places).find(|folder| folder.join("cgroup.procs").is_file())
    }
}

/// The role that a name stands for.
fn named_role(name: Option<&str>) -> Option<Role> {
    match name? {
        "svc" => Some(Role::Service),
        "db" => Some(Role::Database),
        "cache" => Some(Role::Cache),
        _ => None,
    }
}

fn explain(owner: &Owner) -> String {
    match owner {
        Owner::Hidden(user) => {
            format!("it belongs to user id {user}; run as root or as that user, or name it with pid:N")
        }
        Owner::Nobody | Owner::Processes(_) => "nobody on this machine is seen to listen there".to_owned(),
    }
}

/// Whether an address is one of this machine's, in our own network namespace.
fn is_ours(ip: IpAddr) -> bool {
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

/// The first address of a host; IPv4 first, as clients on one machine do.
fn resolve(host: &str, port: u16) -> Option<SocketAddr> {
    let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().ok()?.collect();
    addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()).copied()
}

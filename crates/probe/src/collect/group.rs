//! A subject with processes: a process, what it began, and all their threads, as one. Sums never fall although
//! processes and threads come and go. Says nothing about sockets.

mod ledger;
mod threads;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use model::series::{Role, Subject};
use model::signal;
use model::unit::Moment;

use self::ledger::{Ledger, Use};
use self::threads::{Look, Sum, THREADS_MAX, Threads};
use super::stores;
use crate::files::Files;
use crate::proc::cgroup::Folders;
use crate::proc::stat::{self, Stat};
use crate::proc::table::Table;
use crate::proc::{descriptors, lines, number, status};
use crate::report::Sheet;

/// In groups larger than this, the memory of each process is read every [`MEMORY_ROUNDS`]-th second.
const MEMORY_EACH_SECOND: usize = 32;
const MEMORY_ROUNDS: u32 = 8;

/// Which processes belong to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// One process without its children.
    Alone(u32),
    /// Processes with everything they began.
    Tree(Vec<u32>),
    /// The processes of a control group, given as its folder.
    Cgroup(PathBuf),
}

/// A subject with processes.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) subject: Subject,
    source: Source,
    main: Option<Main>,
    members: HashMap<u32, Member>,
    run: Ledger,
    user: Ledger,
    system: Ledger,
    wait_ns: u64,
    slices: u64,
    threads: u32,
    looked: Option<Moment>,
    round: u32,
}

/// The process that stands for the group: it lives or the subject does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Main {
    pid: u32,
    started_ticks: u64,
}

#[derive(Debug, Default)]
struct Member {
    started_ticks: u64,
    threads: Threads,
    own_pages: Option<u64>,
}

/// What a look at all members found.
#[derive(Default)]
struct Totals {
    run: Vec<(u32, Use)>,
    user: Vec<(u32, Use)>,
    system: Vec<(u32, Use)>,
    threads: u32,
    own_pages: u64,
    sum: Sum,
}

impl Group {
    pub(crate) fn new(subject: Subject, source: Source) -> Self {
        Self {
            subject,
            source,
            main: None,
            members: HashMap::new(),
            run: Ledger::default(),
            user: Ledger::default(),
            system: Ledger::default(),
            wait_ns: 0,
            slices: 0,
            threads: 0,
            looked: None,
            round: 0,
        }
    }

    /// The processes that it consists of.
    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.keys().copied()
    }

    /// The processes that everything else in it descends from.
    pub(crate) fn roots(&self) -> &[u32] {
        match &self.source {
            Source::Tree(roots) => roots,
            Source::Alone(pid) => std::slice::from_ref(pid),
            Source::Cgroup(_) => &[],
        }
    }

    /// Whether every other thread is left out because there are too many.
    pub(crate) fn sampled(&self) -> Option<u32> {
        (self.stride() > 1).then_some(self.threads)
    }

    /// Whether its main process lives, as of `table`.
    pub(crate) fn lives(&self, table: &Table) -> bool {
        let lives = |main: Main| table.get(main.pid).is_some_and(|process| process.started_ticks == main.started_ticks);
        self.main.is_some_and(lives)
    }

    /// Goes on with other processes: the subject was started anew.
    pub(crate) fn succeed(&mut self, roots: Vec<u32>) {
        self.subject.pid = roots.first().copied();
        self.source = Source::Tree(roots);
        self.main = None;
    }

    /// Takes in which processes belong to it now. `others` are the roots of other groups.
    pub(crate) fn regroup(&mut self, table: &Table, others: &HashSet<u32>) {
        let is_store = matches!(self.subject.role, Role::Database | Role::Cache);
        let stop = |pid: u32, name: &str| others.contains(&pid) || (!is_store && stores::role(name).is_some());
        let pids = match &self.source {
            Source::Alone(pid) => vec![*pid],
            Source::Cgroup(folder) => processes_of(folder),
            Source::Tree(roots) => {
                // Whoever was a member stays one, also when its parent ended.
                let stays = |pid: &u32| table.get(*pid).is_some_and(|process| !stop(*pid, &process.name));
                let begun: Vec<u32> = roots.iter().copied().chain(self.pids().filter(stays)).collect();
                table.descendants(&begun, |pid, process| stop(pid, &process.name))
            }
        };
        let mut before = std::mem::take(&mut self.members);
        for pid in pids {
            let Some(process) = table.get(pid) else { continue };
            let known = before.remove(&pid).filter(|member| member.started_ticks == process.started_ticks);
            let started_ticks = process.started_ticks;
            self.members.insert(pid, known.unwrap_or_else(|| Member { started_ticks, ..Member::default() }));
        }
        if self.main.is_none() {
            let oldest = || self.pids().min_by_key(|pid| (self.members[pid].started_ticks, *pid));
            let pid = self.roots().first().copied().or_else(oldest);
            let started = |pid| Some(Main { pid, started_ticks: table.get(pid)?.started_ticks });
            self.main = pid.and_then(started);
            self.subject.pid = self.main.map(|main| main.pid).or(self.subject.pid);
        }
    }

    /// Looks at all members.
    pub(crate) fn collect(&mut self, files: &mut Files, host_cores: u32, sheet: &mut Sheet) {
        let elapsed = self.looked.map(|looked| sheet.at().since(looked));
        let elapsed_ns = elapsed.map_or(0, |elapsed| Moment::after(elapsed).0);
        self.round = self.round.wrapping_add(1);
        let totals = self.look(files, elapsed_ns);
        self.wait_ns += totals.sum.wait_ns;
        self.slices += totals.sum.slices;
        self.threads = totals.threads;
        self.looked = Some(sheet.at());

        let id = self.subject.id.as_str();
        sheet.put(id, signal::RUN, self.run.advance(totals.run));
        sheet.put(id, signal::CPU_USER, self.user.advance(totals.user));
        sheet.put(id, signal::CPU_SYSTEM, self.system.advance(totals.system));
        sheet.put(id, signal::RUN_WAIT, self.wait_ns as f64 / 1e9);
        sheet.put(id, signal::CONTEXT_SWITCHES, self.slices as f64);
        sheet.put(id, signal::THREADS, f64::from(totals.threads));
        sheet.put(id, signal::PROCESSES, self.members.len() as f64);
        sheet.put(id, signal::MEMORY_ANON, (totals.own_pages * page_bytes()) as f64);
        if elapsed_ns > 0 {
            let busiest = totals.sum.busiest;
            let share = |ns: u64| ns as f64 / elapsed_ns as f64;
            sheet.put(id, signal::THREADS_RUNNING, f64::from(totals.sum.running));
            sheet.put(id, signal::THREAD_BUSIEST_DEMAND, share(busiest.run_ns + busiest.wait_ns));
            sheet.put(id, signal::THREAD_BUSIEST_RUN, share(busiest.run_ns));
        }
        self.collect_main(files, host_cores, sheet);
    }

    fn look(&mut self, files: &mut Files, elapsed_ns: u64) -> Totals {
        let (stride, round, many) = (self.stride(), self.round, self.members.len() > MEMORY_EACH_SECOND);
        let mut totals = Totals::default();
        self.members.retain(|&pid, member| {
            let Some(stat) = files.process(pid, "stat").and_then(stat::parse) else { return false };
            if stat.started_ticks != member.started_ticks {
                return false;
            }
            let ticks = Ticks::of(&stat);
            let look = Look { pid, threads: stat.threads.max(1), stride, elapsed_ns };
            member.threads.advance(files, look, &mut totals.sum);
            let own = member.threads.run_ns(ticks.own_ns(), stride) as f64 / 1e9;
            totals.run.push((pid, Use { own, children: ticks.children_user + ticks.children_system }));
            totals.user.push((pid, Use { own: ticks.user, children: ticks.children_user }));
            totals.system.push((pid, Use { own: ticks.system, children: ticks.children_system }));
            totals.threads += look.threads;
            if member.own_pages.is_none() || !many || pid.wrapping_add(round).is_multiple_of(MEMORY_ROUNDS) {
                member.own_pages = files.process(pid, "statm").and_then(status::own_pages);
            }
            totals.own_pages += member.own_pages.unwrap_or(0);
            true
        });
        totals
    }

    fn collect_main(&self, files: &mut Files, host_cores: u32, sheet: &mut Sheet) {
        let id = self.subject.id.as_str();
        let Some(main) = self.main else { return sheet.put(id, signal::ALIVE, 0.0) };
        let stat = files.process(main.pid, "stat").and_then(stat::parse);
        let lives = stat.map(|stat| stat.alive() && stat.started_ticks == main.started_ticks);
        // What is there and cannot be read has not ended: it is we who have no file descriptor left.
        let gone = || (!files.path(main.pid, "stat").exists()).then_some(false);
        let Some(lives) = lives.or_else(gone) else { return };
        sheet.put(id, signal::ALIVE, f64::from(u8::from(lives)));
        sheet.put(id, signal::STARTED_AT, seconds(main.started_ticks));
        if !lives {
            return;
        }
        sheet.put_some(id, signal::FDS, descriptors::count(files, main.pid).map(|count| count as f64));
        let limit = files.process(main.pid, "limits").and_then(status::open_files_limit);
        sheet.put_some(id, signal::FDS_LIMIT, limit.map(|limit| limit as f64));
        let affinity = files.process(main.pid, "status").and_then(status::allowed_cores);
        let membership = files.process(main.pid, "cgroup").map(<[u8]>::to_vec).unwrap_or_default();
        let cgroup = Folders::find(&membership, &files.sys_root).read(files);
        let allowed = f64::from(affinity.unwrap_or(host_cores).min(host_cores));
        sheet.put(id, signal::CORES_ALLOWED, cgroup.quota_cores.map_or(allowed, |quota| quota.min(allowed)));
        if let Some(throttling) = cgroup.throttling {
            sheet.put(id, signal::CGROUP_PERIODS, throttling.periods as f64);
            sheet.put(id, signal::CGROUP_THROTTLED, throttling.throttled as f64);
            sheet.put(id, signal::CGROUP_THROTTLED_TIME, throttling.throttled_s);
        }
        sheet.put_some(id, signal::CGROUP_MEMORY, cgroup.memory_bytes.map(|bytes| bytes as f64));
        sheet.put_some(id, signal::CGROUP_MEMORY_LIMIT, cgroup.memory_limit_bytes.map(|bytes| bytes as f64));
        sheet.put_some(id, signal::CGROUP_OOM_KILLS, cgroup.oom_kills.map(|kills| kills as f64));
    }

    fn stride(&self) -> u32 {
        self.threads.div_ceil(THREADS_MAX).max(1)
    }
}

/// CPU times of a process in seconds.
struct Ticks {
    user: f64,
    system: f64,
    children_user: f64,
    children_system: f64,
}

impl Ticks {
    fn of(stat: &Stat<'_>) -> Self {
        Self {
            user: seconds(stat.user_ticks),
            system: seconds(stat.system_ticks),
            children_user: seconds(stat.children_user_ticks),
            children_system: seconds(stat.children_system_ticks),
        }
    }

    fn own_ns(&self) -> u64 {
        ((self.user + self.system) * 1e9) as u64
    }
}

pub(super) fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// The processes of a control group and of those below it.
fn processes_of(folder: &Path) -> Vec<u32> {
    let listed = fs::read(folder.join("cgroup.procs")).unwrap_or_default();
    let mut pids: Vec<u32> = lines(&listed).filter_map(number).collect();
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    for below in folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        pids.extend(processes_of(&below.path()));
    }
    pids
}

#[cfg(test)]
mod tests;

//! Which processes there are and who began whom. Reads a process's `stat` only while the process is young: a process
//! that was just forked still bears its parent's name, and gets its own when it executes its program.

use std::collections::{HashMap, HashSet};

use super::stat;
use crate::files::Files;

/// Refreshes after which a process's name counts as settled.
const YOUNG: u8 = 3;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) parent: u32,
    /// Its short name.
    pub(crate) name: String,
    pub(crate) started_ticks: u64,
    refreshes: u8,
}

/// All processes.
#[derive(Debug, Default)]
pub(crate) struct Table {
    processes: HashMap<u32, Process>,
    children: HashMap<u32, Vec<u32>>,
}

impl Table {
    /// Takes in what changed.
    pub(crate) fn refresh(&mut self, files: &mut Files) {
        let Some(pids) = Files::numbers(&files.proc_root) else { return };
        let mut before = std::mem::take(&mut self.processes);
        for pid in pids {
            let process = match before.remove(&pid) {
                Some(known) if known.refreshes >= YOUNG => Some(known),
                known => read(files, pid, known.map_or(0, |known| known.refreshes + 1)),
            };
            self.processes.extend(process.map(|process| (pid, process)));
        }
        self.children.clear();
        for (&pid, process) in &self.processes {
            self.children.entry(process.parent).or_default().push(pid);
        }
    }

    pub(crate) fn get(&self, pid: u32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.processes.keys().copied()
    }

    /// `roots` and everything below them, except what lies at or below a process that `stop` names.
    pub(crate) fn descendants(&self, roots: &[u32], stop: impl Fn(u32, &Process) -> bool) -> Vec<u32> {
        let mut seen = HashSet::new();
        let mut found = roots.to_vec();
        found.retain(|&pid| self.processes.contains_key(&pid) && seen.insert(pid));
        let mut next = 0;
        while let Some(parent) = found.get(next) {
            next += 1;
            let children = self.children.get(parent).into_iter().flatten();
            let wanted = |pid: &&u32| self.processes.get(pid).is_some_and(|process| !stop(**pid, process));
            found.extend(children.filter(wanted).copied().filter(|&pid| seen.insert(pid)));
        }
        found
    }

    /// The processes of `pids` that no other of them began.
    pub(crate) fn topmost(&self, pids: &[u32]) -> Vec<u32> {
        let mut topmost: Vec<u32> = pids.iter().copied().filter(|&pid| !self.is_below(pid, pids)).collect();
        topmost.sort_unstable_by_key(|pid| (self.get(*pid).map_or(0, |process| process.started_ticks), *pid));
        topmost.dedup();
        topmost
    }

    fn is_below(&self, pid: u32, others: &[u32]) -> bool {
        let parent = |pid: &u32| self.get(*pid).map(|process| process.parent);
        std::iter::successors(parent(&pid), parent).take(64).any(|above| others.contains(&above))
    }
}

fn read(files: &mut Files, pid: u32, refreshes: u8) -> Option<Process> {
    let stat = stat::parse(files.process(pid, "stat")?)?;
    Some(Process {
        parent: stat.parent,
        name: String::from_utf8_lossy(stat.name).into_owned(),
        started_ticks: stat.started_ticks,
        refreshes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(processes: &[(u32, u32, &str)]) -> Table {
        let mut table = Table::default();
        for &(pid, parent, name) in processes {
            let process = Process { parent, name: name.into(), started_ticks: u64::from(pid), refreshes: 0 };
            table.processes.insert(pid, process);
            table.children.entry(parent).or_default().push(pid);
        }
        table
    }

    #[test]
    fn descent_stops_at_foreign_processes() {
        let table =
            table(&[(1, 0, "init"), (10, 1, "app"), (11, 10, "worker"), (12, 10, "postgres"), (13, 12, "postgres")]);
        let mut found = table.descendants(&[10, 10], |_, process| process.name == "postgres");
        found.sort_unstable();
        assert_eq!(found, [10, 11]);
    }

    #[test]
    fn workers_that_share_a_listener_have_one_root() {
        let table =
            table(&[(1, 0, "init"), (10, 1, "master"), (11, 10, "worker"), (12, 10, "worker"), (9, 1, "other")]);
        assert_eq!(table.topmost(&[12, 10, 11]), [10]);
        assert_eq!(table.topmost(&[10, 9]), [9, 10]);
    }
}

//! Control groups, version 1 and 2: CPU quota, throttling and memory of the group that a process lives in. A limit holds
//! for everything below it, so each question climbs the path and takes the tightest answer.

use std::path::{Path, PathBuf};

use super::{keyed, lines, number, words};
use crate::files::Files;

/// Limits from here on mean that there is none: version 1 says "no limit" with a number near 2^63.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// What a process's control groups say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cgroup {
    /// Cores that the tightest quota allows.
    pub(crate) quota_cores: Option<f64>,
    /// What that quota did.
    pub(crate) throttling: Option<Throttling>,
    /// Memory of the group with the tightest limit, without pages that the kernel may drop at once.
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) memory_limit_bytes: Option<u64>,
    pub(crate) oom_kills: Option<u64>,
}

/// What a CPU quota did since the group began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Throttling {
    pub(crate) periods: u64,
    pub(crate) throttled: u64,
    pub(crate) throttled_s: f64,
}

/// The folders of a process's groups, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folders {
    cpu: Vec<PathBuf>,
    memory: Vec<PathBuf>,
}

impl Folders {
    /// Finds the groups that `/proc/PID/cgroup` names below `/sys/fs/cgroup`, or in the places where a group of a mixed
    /// system may be.
    pub(crate) fn find(membership: &[u8], sys_root: &Path) -> Self {
        let mount = sys_root.join("fs/cgroup");
        let mut folders = Self::default();
        for line in lines(membership) {
            let mut fields = line.splitn(3, |&byte| byte == b':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let (controllers, path) = (String::from_utf8_lossy(controllers), String::from_utf8_lossy(path));
            let has = |name: &str| controllers.split(',').any(|controller| controller == name);
            if has("cpu") {
                folders.cpu = climb(&mount, &[controllers.as_ref(), "cpu", "cpu,cpuacct"], &path);
            }
            if has("memory") {
                folders.memory = climb(&mount, &["memory"], &path);
            }
            if controllers.is_empty() {
                let unified = climb(&mount, &["", "unified"], &path);
                for known in [&mut folders.cpu, &mut folders.memory] {
                    if known.is_empty() {
                        known.clone_from(&unified);
                    }
                }
            }
        }
        folders
    }

    /// Reads everything.
    pub(crate) fn read(&self, files: &mut Files) -> Cgroup {
        let mut cgroup = Cgroup::default();
        let quotas = self.cpu.iter().filter_map(|folder| Some((quota_cores(files, folder)?, folder)));
        if let Some((cores, folder)) = quotas.min_by(|left, right| left.0.total_cmp(&right.0)) {
            cgroup.quota_cores = Some(cores);
            cgroup.throttling = files.read(&folder.join("cpu.stat")).and_then(throttling);
        }
        let limits = self.memory.iter().filter_map(|folder| Some((memory_limit(files, folder)?, folder)));
        let tightest = limits.min_by_key(|(limit, _)| *limit);
        cgroup.memory_limit_bytes = tightest.map(|(limit, _)| limit);
        if let Some(folder) = tightest.map(|(_, folder)| folder).or(self.memory.first()) {
            cgroup.memory_bytes = memory(files, folder);
            cgroup.oom_kills = oom_kills(files, folder);
        }
        cgroup
    }
}

/// The folder of a group and all above it, below the first of `mounts` that exists. A path that begins outside of our
/// own view (`/../…`) cannot be followed: its mount point stands for it.
fn climb(mount: &Path, mounts: &[&str], path: &str) -> Vec<PathBuf> {
    let Some(root) = mounts.iter().map(|name| mount.join(name)).find(|root| root.is_dir()) else { return Vec::new() };
    let inner = root.join(path.trim_start_matches('/'));
    let inner = if path.split('/').any(|part| part == "..") || !inner.is_dir() { root.clone() } else { inner };
    inner.ancestors().take_while(|folder| folder.starts_with(&root)).map(Path::to_path_buf).collect()
}

fn quota_cores(files: &mut Files, folder: &Path) -> Option<f64> {
    let (quota, period) = match files.read(&folder.join("cpu.max")) {
        Some(text) => {
            let mut fields = words(text);
            (number::<f64>(fields.next()?)?, number::<f64>(fields.next()?)?)
        }
        None => {
            let quota = number::<f64>(files.read(&folder.join("cpu.cfs_quota_us"))?)?;
            (quota, number::<f64>(files.read(&folder.join("cpu.cfs_period_us"))?)?)
        }
    };
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Version 1 counts nanoseconds, version 2 microseconds.
fn throttling(cpu_stat: &[u8]) -> Option<Throttling> {
    let nanoseconds = keyed(cpu_stat, "throttled_time");
    let microseconds = || keyed(cpu_stat, "throttled_usec");
    Some(Throttling {
        periods: keyed(cpu_stat, "nr_periods")?,
        throttled: keyed(cpu_stat, "nr_throttled")?,
        throttled_s: nanoseconds.map(|ns| ns as f64 / 1e9).or_else(|| Some(microseconds()? as f64 / 1e6))?,
    })
}

fn memory_limit(files: &mut Files, folder: &Path) -> Option<u64> {
    let limit = first_number(files, folder, &["memory.max", "memory.limit_in_bytes"])?;
    (limit < UNLIMITED_BYTES).then_some(limit)
}

/// Usage counts cached file pages, which go away under pressure: a group full of them is not in danger.
fn memory(files: &mut Files, folder: &Path) -> Option<u64> {
    let usage = first_number(files, folder, &["memory.current", "memory.usage_in_bytes"])?;
    let stat = files.read(&folder.join("memory.stat"));
    let cached = stat.and_then(|stat| keyed(stat, "total_inactive_file").or_else(|| keyed(stat, "inactive_file")));
    Some(usage.saturating_sub(cached.unwrap_or(0)))
}

fn oom_kills(files: &mut Files, folder: &Path) -> Option<u64> {
    let events = files.read(&folder.join("memory.events")).and_then(|text| keyed(text, "oom_kill"));
    events.or_else(|| keyed(files.read(&folder.join("memory.oom_control"))?, "oom_kill"))
}

fn first_number(files: &mut Files, folder: &Path, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| files.read(&folder.join(name)).and_then(number))
}

#[cfg(test)]
mod tests;

//! How each kind of leftover is removed: ask what runs in it to end, insist after a bound, then remove it.
//! Must never act on a name without the lab's prefix, and must not fail because something is gone already.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::clock;
use crate::link::NAME_PREFIX;
use crate::postgres::FOLDER_PREFIX;

/// A postmaster that got SIGQUIT needs milliseconds; after this long it is not going to obey.
const CLUSTER_PATIENCE: Duration = Duration::from_secs(6);
/// A service in a namespace may take its five seconds to finish requests, and a cluster its own time.
const NAMESPACE_PATIENCE: Duration = Duration::from_secs(13);
const POLL_EVERY: Duration = Duration::from_millis(10);

/// Stops the cluster in this folder and removes the folder.
pub fn cluster(folder: &Path) -> anyhow::Result<()> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.starts_with(FOLDER_PREFIX) {
        bail!("{} is not a folder of the lab; it was left alone", folder.display());
    }
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(metadata) if metadata.is_dir() => {}
        _ => bail!("{} is not a folder any more; it was left alone", folder.display()),
    }
    let folder_real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let inside = || processes_inside(&folder_real);
    match postmaster_pid(folder).filter(|pid| inside().contains(pid)) {
        // "Immediate": nothing in this cluster is worth a checkpoint, and PostgreSQL still returns its shared memory.
        Some(postmaster) => end_all(|| vec![postmaster], Signal::QUIT, CLUSTER_PATIENCE),
        None => end_all(inside, Signal::TERM, Duration::from_millis(200)),
    }
    end_all(inside, Signal::QUIT, CLUSTER_PATIENCE);
    remove_folder(folder).with_context(|| format!("could not remove the cluster's folder {}", folder.display()))
}

/// Ends what runs in the namespace and removes it.
pub(super) fn namespace(name: &str) -> anyhow::Result<()> {
    if !name.starts_with(NAME_PREFIX) {
        bail!("namespace {name} is not the lab's; it was left alone");
    }
    if !Path::new("/run/netns").join(name).exists() {
        return Ok(());
    }
    end_all(|| processes_in_namespace(name), Signal::TERM, NAMESPACE_PATIENCE);
    ip(&["netns", "del", name])
}

/// Removes the interface, its peer and their shapers.
pub(super) fn interface(name: &str) -> anyhow::Result<()> {
    if !name.starts_with(NAME_PREFIX) {
        bail!("interface {name} is not the lab's; it was left alone");
    }
    if !Path::new("/sys/class/net").join(name).exists() {
        return Ok(());
    }
    let outcome = ip(&["link", "del", name]);
    // Its peer's namespace may have ended in this moment and taken it along.
    if Path::new("/sys/class/net").join(name).exists() { outcome } else { Ok(()) }
}

/// Processes whose working directory is this folder or below; PostgreSQL's are all in their data folder.
pub fn processes_inside(folder: &Path) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| works_inside(*pid, folder)).collect()
}

fn works_inside(pid: i32, folder: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd: PathBuf| cwd.starts_with(folder))
}

fn postmaster_pid(folder: &Path) -> Option<i32> {
    let file = fs::read_to_string(folder.join("data/postmaster.pid")).ok()?;
    file.lines().next()?.trim().parse().ok()
}

fn processes_in_namespace(name: &str) -> Vec<i32> {
    let output = Command::new("ip").args(["netns", "pids", name]).stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Signals everyone once, waits until nobody is left, and kills whoever is left at the end of patience.
fn end_all(who: impl Fn() -> Vec<i32>, first: Signal, patience: Duration) {
    for pid in who() {
        send(pid, first);
    }
    let deadline = clock::now() + patience;
    while who().into_iter().any(alive) {
        if clock::now() >= deadline {
            who().into_iter().for_each(|pid| send(pid, Signal::KILL));
            return;
        }
        thread::sleep(POLL_EVERY);
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid).filter(|pid| pid.as_raw_pid() > 1) {
        // It may have ended by itself in the meantime.
        let _ = kill_process(pid, signal);
    }
}

/// Whether the process still runs; one that only waits to be reaped does not.
fn alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the command, which is in brackets and may itself contain brackets.
    stat.rsplit_once(')').is_some_and(|(_, rest)| !matches!(rest.trim_start().chars().next(), Some('Z' | 'X')))
}

/// Processes that were killed a moment ago may still be writing their last files.
fn remove_folder(folder: &Path) -> io::Result<()> {
    let deadline = clock::now() + Duration::from_secs(2);
    loop {
        match fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => return Ok(()),
            Err(error) if clock::now() >= deadline => return Err(error),
            Err(_) => thread::sleep(POLL_EVERY),
        }
    }
}

fn ip(arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("ip").args(arguments).stdin(Stdio::null()).output().context("could not run 'ip'")?;
    if output.status.success() {
        return Ok(());
    }
    bail!("'ip {}' failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
}

//! Leaves nothing behind, whatever happens. Before the lab makes something that would outlive it – a cluster, a
//! namespace, a link – it writes the name into a pipe to a child of its own, the janitor. The end of that pipe means
//! that the lab is gone, by whatever way, and the janitor removes the lot in reverse order. A graceful stop takes the
//! same way: close the pipe, wait for the janitor. It must never remove what was not handed to it.

use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::Context;

use crate::out;

mod cleanup;

pub use cleanup::{cluster as remove_cluster, processes_inside};

/// Something that outlives the process that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// The folder of a private PostgreSQL cluster, with whatever runs in it.
    Cluster(PathBuf),
    /// A named network namespace, with whatever runs in it.
    Namespace(String),
    /// A network interface; its peer goes with it.
    Interface(String),
}

impl Leftover {
    fn to_line(&self) -> String {
        match self {
            Leftover::Cluster(folder) => format!("cluster {}\n", folder.display()),
            Leftover::Namespace(name) => format!("namespace {name}\n"),
            Leftover::Interface(name) => format!("interface {name}\n"),
        }
    }

    fn from_line(line: &str) -> Option<Self> {
        match line.split_once(' ')? {
            ("cluster", folder) => Some(Leftover::Cluster(PathBuf::from(folder))),
            ("namespace", name) => Some(Leftover::Namespace(name.to_owned())),
            ("interface", name) => Some(Leftover::Interface(name.to_owned())),
            _ => None,
        }
    }

    fn remove(&self) -> anyhow::Result<()> {
        match self {
            Leftover::Cluster(folder) => cleanup::cluster(folder),
            Leftover::Namespace(name) => cleanup::namespace(name),
            Leftover::Interface(name) => cleanup::interface(name),
        }
    }
}

/// The lab's end of the pipe, and the child at the other end.
#[derive(Debug)]
pub struct Janitor {
    child: Child,
    pipe: Option<ChildStdin>,
    noted: Vec<Leftover>,
}

impl Janitor {
    /// Starts the child. It has a process group of its own, so that Ctrl-C on a terminal does not reach it.
    pub fn hire() -> anyhow::Result<Self> {
        let mut child = Command::new("/proc/self/exe")
            .arg0("plimsoll-lab")
            .arg("janitor")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .context("could not start the process that cleans up after the lab")?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe, noted: Vec::new() })
    }

    /// Hands something over; to be called *before* it is made.
    pub fn note(&mut self, leftover: Leftover) -> anyhow::Result<()> {
        let pipe = self.pipe.as_mut().expect("the pipe is open until `finish` takes the janitor");
        pipe.write_all(leftover.to_line().as_bytes())
            .context("the process that cleans up after the lab has ended too early")?;
        self.noted.push(leftover);
        Ok(())
    }

    /// Lets the janitor do its work and waits for it; does the work here if somebody killed the janitor.
    pub fn finish(mut self) -> anyhow::Result<()> {
        drop(self.pipe.take());
        let status = self.child.wait().context("could not wait for the process that cleans up after the lab")?;
        if status.success() { Ok(()) } else { remove_all(&self.noted) }
    }
}

/// The janitor's life: read names until the pipe ends, then remove what they name.
pub fn watch(pipe: impl BufRead) {
    crate::os::ignore_stop_signals();
    let noted: Vec<Leftover> =
        pipe.lines().map_while(Result::ok).filter_map(|line| Leftover::from_line(&line)).collect();
    if let Err(error) = remove_all(&noted) {
        out::error(&error);
    }
}

/// Removes everything, newest first, and goes on after a failure; the first failure is reported.
fn remove_all(noted: &[Leftover]) -> anyhow::Result<()> {
    let outcomes: Vec<_> = noted.iter().rev().map(Leftover::remove).collect();
    outcomes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_back() {
        let leftovers = [
            Leftover::Cluster(PathBuf::from("/tmp/with space/plimsoll-lab-1")),
            Leftover::Namespace("plab-1".into()),
            Leftover::Interface("plabh1".into()),
        ];
        for leftover in leftovers {
            assert_eq!(Leftover::from_line(leftover.to_line().trim_end()), Some(leftover));
        }
        assert_eq!(Leftover::from_line("everything /"), None);
    }

    #[test]
    fn a_cluster_folder_is_gone_after_the_pipe_ends() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("plimsoll-lab-cluster-test");
        std::fs::create_dir_all(folder.join("data/base")).unwrap();
        std::fs::write(folder.join("data/base/1"), "x").unwrap();
        watch(Leftover::Cluster(folder.clone()).to_line().as_bytes());
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_that_is_not_the_labs_stays() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("somebody-elses");
        std::fs::create_dir(&folder).unwrap();
        watch(Leftover::Cluster(folder.clone()).to_line().as_bytes());
        assert!(folder.exists());
    }
}

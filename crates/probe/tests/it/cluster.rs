//! A private PostgreSQL in a temporary folder, run by somebody who is not root.
#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getuid, kill_process};
use tempfile::TempDir;

use crate::service::free_port;

/// Somebody without rights, whom every system has.
const NOBODY: u32 = 65534;

pub(crate) struct Cluster {
    server: Child,
    pub(crate) port: u16,
    _folder: TempDir,
}

impl Cluster {
    /// Starts one; none if PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::tempdir().unwrap();
        if getuid().is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = folder.path().join("data");
        let made = command(&programs.join("initdb"), folder.path())
            .args(["--auth=trust", "--username=probe", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = free_port();
        let server = command(&programs.join("postgres"), folder.path())
            .args(["-c", "max_connections=23", "-c", "fsync=off", "-p", &port.to_string(), "-k"])
            .arg(folder.path())
            .arg("-D")
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let up = (0..400).any(|_| {
            let asked = command(&programs.join("pg_isready"), folder.path())
                .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
                .status();
            let up = asked.is_ok_and(|status| status.success());
            if !up {
                thread::park_timeout(Duration::from_millis(50));
            }
            up
        });
        assert!(up, "PostgreSQL did not come up");
        Some(Self { server, port, _folder: folder })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.id()
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://probe:s3cret@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let pid = i32::try_from(self.server.id()).ok().and_then(Pid::from_raw);
        // PostgreSQL's immediate shutdown: it ends its own processes and leaves nothing shared behind.
        let _ = pid.map(|pid| kill_process(pid, Signal::QUIT));
        let _ = self.server.wait();
    }
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    if getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Where PostgreSQL's programs are.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<PathBuf> = versions.filter_map(|version| Some(version.ok()?.path().join("bin"))).collect();
    folders.sort();
    folders.into_iter().rfind(|folder| folder.join("initdb").is_file())
}

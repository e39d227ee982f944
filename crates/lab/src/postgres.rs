//! A private PostgreSQL cluster for one run: made in a temporary folder, reached over loopback, gone afterwards.
//! Must never use, configure or look at a server that somebody else started.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use rustix::process::Signal;

use crate::janitor::{Janitor, Leftover};
use crate::{clock, os};

mod install;
mod owner;
mod settings;

pub use install::{Binaries, OVERRIDE as BINARIES_OVERRIDE};
use owner::Owner;

/// How the folders of the lab's clusters begin; the janitor removes no others.
pub const FOLDER_PREFIX: &str = "plimsoll-lab-";
/// The only role in the cluster, a superuser, so that an observer sees every session.
pub const USER: &str = "plimsoll";

const READY_WITHIN: Duration = Duration::from_secs(30);
const ATTEMPTS: u32 = 5;

/// A running private cluster. It ends with the janitor that was told about it.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    port: u16,
    postmaster: Child,
}

impl Cluster {
    /// Makes and starts a cluster. Must be called from a thread that lives as long as the cluster is wanted, since
    /// the postmaster is set to end with it.
    pub fn start(max_connections: u32, janitor: &mut Janitor) -> anyhow::Result<Self> {
        let binaries = Binaries::find()?;
        let owner = Owner::choose()?;
        let folder = std::env::temp_dir().join(format!("{FOLDER_PREFIX}{}", std::process::id()));
        // A folder of this name can only be left from an earlier process of the same number.
        crate::janitor::remove_cluster(&folder)?;
        janitor.note(Leftover::Cluster(folder.clone()))?;
        make_folder(&folder, owner)?;
        initdb(&binaries, &folder, owner)?;
        let mut attempt = 1;
        loop {
            let port = free_port().context("could not find a free loopback port for PostgreSQL")?;
            fs::write(folder.join("data/postgresql.conf"), settings::render(&folder, port, max_connections))
                .with_context(|| format!("could not write PostgreSQL's settings in {}", folder.display()))?;
            let mut postmaster = postmaster(&binaries, &folder, owner)?;
            match wait_until_ready(&mut postmaster, &folder) {
                Ok(()) => return Ok(Self { folder, port, postmaster }),
                // Somebody else may have taken the port between our look and PostgreSQL's.
                Err(_) if attempt < ATTEMPTS && log_tail(&folder).contains("could not bind") => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Where the service reaches it; over TCP, since that is what is common and what can be followed from outside.
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// Process id of the server's first process.
    pub fn postmaster_pid(&self) -> u32 {
        self.postmaster.id()
    }

    /// Collects the postmaster's end, once the janitor has stopped it; otherwise it would stay as a zombie wherever the
    /// first process of the machine reaps nobody.
    pub fn reap(mut self) {
        let _ = self.postmaster.wait();
    }

    /// The folder that holds everything of this cluster.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn make_folder(folder: &Path, owner: Owner) -> anyhow::Result<()> {
    let make = || -> io::Result<()> {
        fs::create_dir(folder)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        owner.ids().map_or(Ok(()), |(uid, gid)| chown(folder, Some(uid), Some(gid)))
    };
    make()
        .with_context(|| format!("could not make the cluster's folder {}; TMPDIR chooses its place", folder.display()))
}

fn initdb(binaries: &Binaries, folder: &Path, owner: Owner) -> anyhow::Result<()> {
    let mut command = Command::new(&binaries.initdb);
    command
        .args(["--no-sync", "--no-instructions", "--auth=trust", "--encoding=UTF8", "--locale=C"])
        .arg(format!("--username={USER}"))
        .arg("--pgdata=data")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    owner.become_in(&mut command);
    let child = in_background(&mut command, folder, Signal::KILL).spawn();
    let output = child
        .and_then(Child::wait_with_output)
        .with_context(|| format!("could not run {} in {}", binaries.initdb.display(), folder.display()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} could not make a cluster in {}: {}",
            binaries.initdb.display(),
            folder.display(),
            why.trim().replace('\n', " / ")
        );
    }
    fs::write(folder.join("data/pg_hba.conf"), settings::HOST_BASED_ACCESS)
        .with_context(|| format!("could not write PostgreSQL's access rules in {}", folder.display()))
}

fn postmaster(binaries: &Binaries, folder: &Path, owner: Owner) -> anyhow::Result<Child> {
    let log = File::create(folder.join("postgres.log"))
        .with_context(|| format!("could not make PostgreSQL's log in {}", folder.display()))?;
    let mut command = Command::new(&binaries.postgres);
    command.args(["-D", "data"]).stdout(Stdio::null()).stderr(log);
    owner.become_in(&mut command);
    in_background(&mut command, folder, Signal::QUIT)
        .spawn()
        .with_context(|| format!("could not start {}", binaries.postgres.display()))
}

/// Out of reach of the terminal's Ctrl-C, but not outliving us.
fn in_background<'a>(command: &'a mut Command, folder: &Path, at_our_death: Signal) -> &'a mut Command {
    command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null()).process_group(0);
    for name in ["PGDATA", "PGPORT", "PGHOST", "PGUSER", "PGOPTIONS"] {
        command.env_remove(name);
    }
    os::die_with_me(command, at_our_death);
    command
}

/// PostgreSQL writes its state into the eighth line of its pid file, which is what `pg_ctl` waits for, too.
fn wait_until_ready(postmaster: &mut Child, folder: &Path) -> anyhow::Result<()> {
    let deadline = clock::now() + READY_WITHIN;
    loop {
        let pid_file = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
        if pid_file.lines().nth(7).is_some_and(|state| state.trim() == "ready") {
            return Ok(());
        }
        if let Some(status) = postmaster.try_wait().context("could not watch PostgreSQL start")? {
            return Err(anyhow!("PostgreSQL ended while it started ({status}): {}", log_tail(folder)));
        }
        if clock::now() >= deadline {
            bail!("PostgreSQL was not ready within {READY_WITHIN:?}: {}", log_tail(folder));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn log_tail(folder: &Path) -> String {
    let log = fs::read_to_string(folder.join("postgres.log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().rev().take(4).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

//! An emulated link: the service lives in a network namespace of its own, joined to the caller's by a veth pair whose
//! ends are shaped to the rate asked for. This kernel family need not have `netem`, so the delay is added by a relay in
//! front of the service, inside its namespace: the caller's own connections cross the link. Must never touch an
//! interface, namespace or address that the lab did not make.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::args::LaptopArgs;
use crate::janitor::{Janitor, Leftover};
use crate::laptop::ReadyLine;
use crate::rate::LinkShape;
use crate::relay::RelayReady;
use crate::stop::{Ending, StopSignals};
use crate::{duration, os, out};

mod subnet;

/// How the lab's namespaces and interfaces begin; the janitor removes no others.
pub const NAME_PREFIX: &str = "plab";

/// Time that a full queue takes to drain; a common home router's order of magnitude.
const QUEUE_MS: u32 = 100;

/// The names and addresses of one link.
#[derive(Debug)]
struct Link {
    namespace: String,
    near: String,
    far: String,
    near_address: Ipv4Addr,
    far_address: Ipv4Addr,
}

/// Serves behind a link until a stop signal.
pub fn run(arguments: &LaptopArgs, shape: LinkShape) -> anyhow::Result<Ending> {
    refuse_without_root()?;
    os::raise_open_files();
    let link = Link::plan()?;
    let mut janitor = Janitor::hire()?;
    // The namespace is noted last and so removed first: the service in it may still have answers to send.
    let outcome = janitor
        .note(Leftover::Interface(link.near.clone()))
        .and_then(|()| janitor.note(Leftover::Namespace(link.namespace.clone())))
        .and_then(|()| link.make(shape))
        .and_then(|()| serve(arguments, shape, &link));
    let cleaned = janitor.finish();
    outcome.and_then(|ending| cleaned.map(|()| ending))
}

fn refuse_without_root() -> anyhow::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    bail!(
        "--behind-link needs root, since it makes a network namespace and shapes its link; run the lab as root, or \
         leave the flag out to serve without a link"
    )
}

impl Link {
    fn plan() -> anyhow::Result<Self> {
        let pid = std::process::id();
        let taken = [ip(&["-4", "-o", "addr", "show"])?, ip(&["-4", "route", "show", "table", "all"])?].join("\n");
        let (near_address, far_address) = subnet::choose(pid, &taken)
            .context("every address of 10.199.0.0/16 is in use here, so the link has none to take")?;
        Ok(Self {
            namespace: format!("{NAME_PREFIX}-{pid}"),
            near: format!("{NAME_PREFIX}n{pid}"),
            far: format!("{NAME_PREFIX}f{pid}"),
            near_address,
            far_address,
        })
    }

    fn make(&self, shape: LinkShape) -> anyhow::Result<()> {
        let Self { namespace, near, far, near_address, far_address } = self;
        let (near_cidr, far_cidr) = (format!("{near_address}/30"), format!("{far_address}/30"));
        ip(&["netns", "add", namespace])?;
        ip(&["link", "add", near, "type", "veth", "peer", "name", far, "netns", namespace])?;
        ip(&["addr", "add", &near_cidr, "dev", near])?;
        ip(&["link", "set", near, "up"])?;
        ip(&["-n", namespace, "addr", "add", &far_cidr, "dev", far])?;
        ip(&["-n", namespace, "link", "set", far, "up"])?;
        ip(&["-n", namespace, "link", "set", "lo", "up"])?;
        let rate = format!("{}bit", shape.bits_per_s);
        let burst = format!("{}b", shape.burst_bytes());
        let latency = format!("{QUEUE_MS}ms");
        let shaper = ["root", "tbf", "rate", &rate, "burst", &burst, "latency", &latency];
        run_tool("tc", &[&["qdisc", "add", "dev", near], &shaper[..]].concat())?;
        run_tool("tc", &[&["-n", namespace, "qdisc", "add", "dev", far], &shaper[..]].concat())?;
        Ok(())
    }
}

/// Starts the service at the far end, with the relay in front of it if there is a delay, and waits for a stop.
fn serve(arguments: &LaptopArgs, shape: LinkShape, link: &Link) -> anyhow::Result<Ending> {
    let door = SocketAddr::from((link.far_address, arguments.listen.port()));
    // Behind a relay the service itself is reached from its own namespace only.
    let own = if shape.delay.is_zero() { door } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) };
    let (service, ready) = start_service(link, own)?;
    let (relay, url) = if shape.delay.is_zero() {
        (None, ready.url.clone())
    } else {
        let (relay, listen) = start_relay(link, door, &ready, shape.delay)?;
        (Some(relay), format!("http://{listen}"))
    };
    let service_pid = service.id();
    let (service_end, relay_end) = (end_of(service), relay.map(end_of));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let signals = StopSignals::listen()?;
        let netns = Some(link.namespace.clone());
        out::json(&ReadyLine { url, pid: std::process::id(), service_pid: Some(service_pid), netns, ..ready })?;
        until_ended(service_pid, service_end, relay_end, signals).await
    });
    if outcome.is_err() {
        signal(service_pid, Signal::TERM);
    }
    outcome
}

type End = oneshot::Receiver<std::io::Result<ExitStatus>>;

/// Waits for a child on a thread of its own.
fn end_of(mut child: Child) -> End {
    let (ended, end) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = ended.send(child.wait());
    });
    end
}

/// Passes stop signals on, since the service has answers to finish, and waits for its end. The relay carries these
/// answers and so outlives the service: the janitor ends it with the namespace.
async fn until_ended(
    service_pid: u32,
    mut service_end: End,
    relay_end: Option<End>,
    mut signals: StopSignals,
) -> anyhow::Result<Ending> {
    let mut ending = None;
    let mut relay_end = relay_end;
    let mut relay_ended = std::pin::pin!(async move {
        match &mut relay_end {
            Some(end) => end.await,
            None => std::future::pending().await,
        }
    });
    loop {
        tokio::select! {
            status = &mut service_end => {
                let status = status.context("could not wait for the service behind the link")??;
                return ending.ok_or_else(|| anyhow!("the service behind the link ended by itself ({status})"));
            }
            status = &mut relay_ended => {
                let status = status.context("could not wait for the relay in front of the service")??;
                bail!("the relay in front of the service ended by itself ({status})");
            }
            stop = signals.next() => {
                signal(service_pid, Signal::TERM);
                ending = Some(if ending.is_none() { Ending::Graceful } else { Ending::Insisted(stop) });
            }
        }
    }
}

/// The same program with the same arguments, inside the namespace, listening at `own`.
fn start_service(link: &Link, own: SocketAddr) -> anyhow::Result<(Child, ReadyLine)> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    arguments.extend(["--inside-link".into(), own.to_string().into()]);
    start_inside(link, "the service behind the link", &arguments)
}

/// The relay, inside the namespace: the connections of the caller cross the link and end at it.
fn start_relay(link: &Link, door: SocketAddr, to: &ReadyLine, delay: Duration) -> anyhow::Result<(Child, SocketAddr)> {
    let to = to.url.strip_prefix("http://").unwrap_or_default();
    let delay = duration::show(delay);
    let arguments = ["relay", "--listen", &door.to_string(), "--to", to, "--delay", &delay].map(OsString::from);
    let (relay, ready) = start_inside::<RelayReady>(link, "the relay in front of the service", &arguments)?;
    Ok((relay, ready.listen))
}

/// This program inside the namespace, once it has said that it is ready.
fn start_inside<R: DeserializeOwned>(link: &Link, what: &str, arguments: &[OsString]) -> anyhow::Result<(Child, R)> {
    let path = format!("/run/netns/{}", link.namespace);
    let namespace = File::open(&path).with_context(|| format!("could not open the network namespace {path}"))?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("plimsoll-lab").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    os::enter_net_namespace(&mut command, namespace.into());
    os::die_with_me(&mut command, Signal::TERM);
    let mut child = command.spawn().with_context(|| format!("could not start {what}"))?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).with_context(|| format!("could not read from {what}"))?;
    }
    match serde_json::from_str(&line) {
        Ok(ready) => Ok((child, ready)),
        Err(_) => {
            signal(child.id(), Signal::TERM);
            let status = child.wait().with_context(|| format!("could not wait for {what}"))?;
            bail!("{what} did not start ({status}); it says why above");
        }
    }
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = kill_process(pid, signal);
    }
}

fn ip(arguments: &[&str]) -> anyhow::Result<String> {
    run_tool("ip", arguments)
}

fn run_tool(tool: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(tool).args(arguments).stdin(Stdio::null()).output().with_context(|| {
        format!("could not run '{tool}' to make the link; install it with 'apt-get install iproute2'")
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    bail!("could not make the link: '{tool} {}' failed: {}", arguments.join(" "), why.trim())
}

//! An emulated link: the service lives in a network namespace of its own, joined to the caller's by a veth pair whose
//! ends are shaped to the rate asked for. This kernel family need not have `netem`, so the delay is added by the relay
//! on the caller's side. Must never touch an interface, namespace or address that the lab did not make.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;

use crate::args::LaptopArgs;
use crate::janitor::{Janitor, Leftover};
use crate::laptop::ReadyLine;
use crate::rate::LinkShape;
use crate::stop::{Ending, StopSignals};
use crate::{os, out, relay};

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

/// Starts the service at the far end, the relay at the near end, and waits for a stop.
fn serve(arguments: &LaptopArgs, shape: LinkShape, link: &Link) -> anyhow::Result<Ending> {
    let (mut service, ready) = start_inside(link, arguments.listen.port())?;
    let far = far_address(&ready)?;
    let service_pid = service.id();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (ended, service_end) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = ended.send(service.wait());
    });
    let outcome = runtime.block_on(async {
        let signals = StopSignals::listen()?;
        let relayed = if shape.delay.is_zero() { None } else { Some(relay::listen(arguments.listen)?) };
        let near = match &relayed {
            Some(listener) => listener.local_addr().context("could not learn the address that the relay listens on")?,
            None => far,
        };
        if let Some(listener) = relayed {
            tokio::spawn(relay::pass_on(listener, far, shape.delay));
        }
        out::json(&ReadyLine {
            url: format!("http://{near}"),
            pid: std::process::id(),
            service_pid: Some(service_pid),
            netns: Some(link.namespace.clone()),
            ..ready
        })?;
        until_ended(service_pid, service_end, signals).await
    });
    if outcome.is_err() {
        signal(service_pid, Signal::TERM);
    }
    outcome
}

/// Passes stop signals on, since the service has answers to finish, and waits for its end.
async fn until_ended(
    service_pid: u32,
    mut service_end: oneshot::Receiver<std::io::Result<ExitStatus>>,
    mut signals: StopSignals,
) -> anyhow::Result<Ending> {
    let mut ending = None;
    loop {
        tokio::select! {
            status = &mut service_end => {
                let status = status.context("could not wait for the service behind the link")??;
                return ending.ok_or_else(|| anyhow!("the service behind the link ended by itself ({status})"));
            }
            stop = signals.next() => {
                signal(service_pid, Signal::TERM);
                ending = Some(if ending.is_none() { Ending::Graceful } else { Ending::Insisted(stop) });
            }
        }
    }
}

/// The same program with the same arguments, inside the namespace.
fn start_inside(link: &Link, port: u16) -> anyhow::Result<(Child, ReadyLine)> {
    let path = format!("/run/netns/{}", link.namespace);
    let namespace = File::open(&path).with_context(|| format!("could not open the network namespace {path}"))?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("plimsoll-lab")
        .args(std::env::args_os().skip(1))
        .arg("--inside-link")
        .arg(SocketAddr::from((link.far_address, port)).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0);
    os::enter_net_namespace(&mut command, namespace.into());
    os::die_with_me(&mut command, Signal::TERM);
    let mut service = command.spawn().context("could not start the service behind the link")?;
    let mut line = String::new();
    if let Some(stdout) = service.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).context("could not read from the service behind the link")?;
    }
    match serde_json::from_str(&line) {
        Ok(ready) => Ok((service, ready)),
        Err(_) => {
            signal(service.id(), Signal::TERM);
            let status = service.wait().context("could not wait for the service behind the link")?;
            bail!("the service behind the link did not start ({status}); it says why above");
        }
    }
}

fn far_address(ready: &ReadyLine) -> anyhow::Result<SocketAddr> {
    let address = ready.url.strip_prefix("http://").unwrap_or_default();
    address.parse().with_context(|| format!("the service behind the link listens at '{address}', which is no address"))
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

//! The laptop story's two services in one process: `/age` only computes, `/uuid/{key}` asks PostgreSQL.
//! This file starts what they need, in order, and takes it down again. Must never leave anything behind.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::serve::Listener;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::args::LaptopArgs;
use crate::cache::Cache;
use crate::janitor::Janitor;
use crate::metrics::Metrics;
use crate::postgres::Cluster;
use crate::serve::{self, ListenOptions, PacedListener};
use crate::stop::{Ending, StopSignals};
use crate::store::{Store, StoreOptions, redacted_url};
use crate::{link, os, out};

mod age;
mod routes;

pub use age::{AgeError, age_years};
pub use routes::{LogGate, Service, router};

/// Connections of the private cluster beyond the pool: the filler's, an observer's, PostgreSQL's reserve.
const CONNECTIONS_BESIDE_POOL: u32 = 20;

/// What a service prints once it answers: one line of JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadyLine {
    /// Always true.
    pub ready: bool,
    /// Where the caller reaches the service.
    pub url: String,
    /// The process to signal.
    pub pid: u32,
    /// The database, without its password.
    pub postgres: Option<String>,
    /// First process of the private cluster.
    pub postmaster_pid: Option<u32>,
    /// Behind a link: the service itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_pid: Option<u32>,
    /// Behind a link: its network namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub netns: Option<String>,
}

/// The database that was decided on.
struct Database {
    config: tokio_postgres::Config,
    postmaster_pid: Option<u32>,
}

/// Serves until a stop signal.
pub fn run(arguments: &LaptopArgs) -> anyhow::Result<Ending> {
    if arguments.with_parent {
        end_with_parent()?;
    }
    match arguments.behind_link {
        Some(shape) if arguments.inside_link.is_none() => link::run(arguments, shape),
        _ => serve_here(arguments),
    }
}

/// From now on the end of the thread that started us is a SIGTERM for us.
pub(crate) fn end_with_parent() -> anyhow::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
        .context("could not ask the kernel to end this process with its parent")
}

fn serve_here(arguments: &LaptopArgs) -> anyhow::Result<Ending> {
    os::raise_open_files();
    if arguments.no_database {
        return serve_with(arguments, None);
    }
    if let Some(url) = &arguments.postgres {
        let config = url.parse().context("could not read the address of the database given with --postgres")?;
        return serve_with(arguments, Some(Database { config, postmaster_pid: None }));
    }
    let mut janitor = Janitor::hire()?;
    let (cluster, outcome) = match start_cluster(arguments, &mut janitor) {
        Ok(cluster) => {
            let outcome = private(&cluster).and_then(|database| serve_with(arguments, Some(database)));
            (Some(cluster), outcome)
        }
        Err(error) => (None, Err(error)),
    };
    let cleaned = janitor.finish();
    if let Some(cluster) = cluster.filter(|_| cleaned.is_ok()) {
        cluster.reap();
    }
    outcome.and_then(|ending| cleaned.map(|()| ending))
}

fn start_cluster(arguments: &LaptopArgs, janitor: &mut Janitor) -> anyhow::Result<Cluster> {
    let max_connections = arguments.max_connections.unwrap_or(arguments.pool + CONNECTIONS_BESIDE_POOL);
    let cluster = Cluster::start(max_connections, janitor)?;
    if arguments.verbose {
        out::info("cluster_ready", &[("url", &cluster.url()), ("folder", &cluster.folder().display())]);
    }
    Ok(cluster)
}

fn private(cluster: &Cluster) -> anyhow::Result<Database> {
    let config = cluster.url().parse().context("could not read the private cluster's own address")?;
    Ok(Database { config, postmaster_pid: Some(cluster.postmaster_pid()) })
}

fn serve_with(arguments: &LaptopArgs, database: Option<Database>) -> anyhow::Result<Ending> {
    // After the cluster was started, so that the database may still use every core.
    if let Some(cores) = arguments.cores {
        os::keep_to_cores(cores as usize).context("could not restrict the service to the cores given with --cores")?;
    }
    let runtime = runtime(arguments).context("could not start the service's threads")?;
    let outcome = runtime.block_on(serve(arguments, database));
    // Requests that outlived the stop's bound are not waited for a second time.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

fn runtime(arguments: &LaptopArgs) -> std::io::Result<Runtime> {
    if arguments.single_thread {
        return tokio::runtime::Builder::new_current_thread().enable_all().build();
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(workers) = arguments.workers {
        builder.worker_threads(workers as usize);
    }
    builder.thread_name("lab-worker").enable_all().build()
}

async fn serve(arguments: &LaptopArgs, database: Option<Database>) -> anyhow::Result<Ending> {
    let signals = StopSignals::listen()?;
    let postgres = database.as_ref().map(|database| redacted_url(&database.config));
    let postmaster_pid = database.as_ref().and_then(|database| database.postmaster_pid);
    let service = service(arguments, database).await?;
    let listener = PacedListener::bind(ListenOptions {
        address: arguments.inside_link.unwrap_or(arguments.listen),
        backlog: arguments.backlog,
        accept_delay: arguments.accept_delay,
    })?;
    let address = listener.local_addr().context("could not learn the address that the service listens on")?;
    out::json(&ReadyLine {
        ready: true,
        url: format!("http://{}", reachable(address)),
        pid: std::process::id(),
        postgres,
        postmaster_pid,
        service_pid: None,
        netns: None,
    })?;
    let ending = serve::until_stopped(listener, router(Arc::new(service)), signals).await;
    if arguments.verbose {
        out::info("stopped", &[("ending", &format!("{ending:?}"))]);
    }
    ending
}

async fn service(arguments: &LaptopArgs, database: Option<Database>) -> anyhow::Result<Service> {
    let options = StoreOptions {
        pool: arguments.pool as usize,
        acquire_timeout: arguments.acquire_timeout,
        query_delay: arguments.query_delay,
        query_cpu: arguments.query_cpu,
    };
    let metrics = Metrics::default();
    let store = match database {
        Some(database) => Some(Store::open(database.config, options).await?),
        None => None,
    };
    let cache = match (&arguments.cache, &store) {
        (Some(url), Some(store)) => Some(Cache::open(url, &store.epoch().await?).await?),
        _ => None,
    };
    Ok(Service {
        store,
        cache,
        spin: arguments.spin,
        floor: arguments.floor,
        close: arguments.close,
        metrics,
        log_gate: LogGate::new(),
    })
}

/// An address that a client can use: "any" is no destination.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port())),
        _ => address,
    }
}

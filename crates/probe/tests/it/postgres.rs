//! A service with a real PostgreSQL behind it. This test plays the service: it listens, and opens the sessions.
#![expect(clippy::unwrap_used, reason = "tests, and what only they use")]

use std::net::TcpListener;
use std::thread;

use model::series::Role;
use model::signal::{self, Signal};
use tokio::sync::oneshot;
use tokio_postgres::{Client, NoTls};

use crate::cluster::Cluster;
use crate::service::sleeper;
use crate::watched::{Watched, settings};

/// Sessions of a service: one idle, one in an open transaction that locks a row, one that waits for this row, one that
/// sleeps in the server.
struct Sessions {
    /// The sessions end when this is dropped.
    _end: oneshot::Sender<()>,
}

impl Sessions {
    fn open(cluster: &Cluster) -> Self {
        let (end, ended) = oneshot::channel();
        let (opened, wait) = std::sync::mpsc::channel();
        let url = cluster.url();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let clients = open(&url).await;
                let asleep = clients[3].batch_execute("select pg_sleep(60)");
                let waiting = clients[2].batch_execute("update rows set id = 3");
                opened.send(()).unwrap();
                // Whichever comes first: only the end does.
                tokio::select! {
                    _ = ended => {}
                    _ = async { tokio::join!(asleep, waiting) } => {}
                }
            });
        });
        wait.recv().unwrap();
        Self { _end: end }
    }
}

async fn open(url: &str) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..4 {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        clients.push(client);
    }
    clients[0].batch_execute("create table rows (id int); insert into rows values (1)").await.unwrap();
    clients[1].batch_execute("begin; update rows set id = 2").await.unwrap();
    clients
}

const SEEN: [(Signal, f64); 7] = [
    (signal::PG_IDLE, 1.0),
    (signal::PG_IDLE_IN_TRANSACTION, 1.0),
    (signal::PG_ACTIVE_LOCK, 1.0),
    (signal::PG_ACTIVE_OTHER, 1.0),
    (signal::PG_ACTIVE_CPU, 0.0),
    (signal::PG_SESSIONS, 4.0),
    (signal::PG_MAX_CONNECTIONS, 23.0),
];

fn all_seen(watched: &Watched) -> bool {
    SEEN.iter().all(|&(signal, expected)| watched.value("db", signal) == Some(expected))
}

#[test]
fn the_database_behind_the_service_is_found_once_it_is_used_and_read_by_its_titles() {
    let Some(cluster) = Cluster::start() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut generator = sleeper();
    let mut watched = Watched::begin(settings(Some(listener.local_addr().unwrap()), &[], generator.id()));
    watched.seconds(1);
    assert!(watched.subject("db").is_none());

    let _sessions = Sessions::open(&cluster);
    watched.until("the sessions show", |watched| watched.subject("db").is_some() && all_seen(watched));
    let subject = watched.subject("db").unwrap();
    assert_eq!((subject.role, subject.pid), (Role::Database, Some(cluster.pid())));
    assert_eq!(subject.name, format!("postgres 127.0.0.1:{}", cluster.port));
    watched.until("the service's sockets show", |watched| watched.value("svc", signal::DB_SOCKETS) == Some(4.0));
    // The postmaster, its own processes and four sessions.
    assert!(watched.value("db", signal::PROCESSES).is_some_and(|count| count >= 8.0));
    // This test began the server, and yet the server is no part of the service.
    assert!(watched.value("svc", signal::PROCESSES).is_some_and(|count| count <= 2.0));
    watched.stop();
    generator.kill().unwrap();
    generator.wait().unwrap();
}

#[test]
fn a_login_tells_what_sessions_wait_for_and_leaves_itself_out() {
    let Some(cluster) = Cluster::start() else { return };
    let _sessions = Sessions::open(&cluster);
    let spec = format!("shop={}", cluster.url());
    let mut watched = Watched::begin(settings(None, &[&spec], std::process::id()));
    let subject = watched.subject("db").unwrap();
    assert_eq!((subject.name.as_str(), subject.pid), ("shop", Some(cluster.pid())));
    watched.until("the sessions show", all_seen);
    watched.stop();
}

#[test]
fn a_failed_login_is_said_without_the_password() {
    let spec = format!("postgres://probe:s3cret@127.0.0.1:{}/postgres", crate::service::free_port());
    let mut watched = Watched::begin(settings(None, &[&spec], std::process::id()));
    watched.until("it is said", |watched| {
        watched.warnings.iter().any(|warning| warning.contains("logging in to postgres://probe:***@"))
    });
    assert!(watched.warnings.iter().all(|warning| !warning.contains("s3cret")), "{:?}", watched.warnings);
    watched.stop();
}

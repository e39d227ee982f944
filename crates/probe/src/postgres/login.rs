//! PostgreSQL's sessions by login: `pg_stat_activity`, over one connection that is opened before the load and kept. A
//! second connection might be refused exactly when it is needed. Leaves itself out and reads no query's text.

use std::time::Duration;

use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, NoTls, Statement};

use super::Activity;
use crate::spec::masked;

/// How long opening a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

const SESSIONS: &str = "select coalesce(state, ''), coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*) \
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() group by 1, 2, 3";

/// An open login.
pub(crate) struct Login {
    client: Client,
    sessions: Statement,
    /// Sessions the server allows.
    pub(crate) max_connections: Option<f64>,
    /// What the user of the login may not see.
    pub(crate) notice: Option<String>,
}

/// Why there is no login: what was attempted, on which server, and what came back. Never holds a password.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    #[error("{0} is no PostgreSQL address")]
    Address(String, #[source] tokio_postgres::Error),
    #[error("logging in to {0} failed")]
    Connect(String, #[source] tokio_postgres::Error),
    #[error("logging in to {0} took longer than {wait} s", wait = CONNECT_TIMEOUT.as_secs())]
    TimedOut(String),
    #[error("asking {0} about its sessions failed")]
    Query(String, #[source] tokio_postgres::Error),
}

impl Login {
    /// Logs in. Must be called within a runtime: the connection is driven by a task of its own.
    pub(crate) async fn open(url: &str) -> Result<Self, LoginError> {
        let shown = || masked(url);
        let mut config: Config = url.parse().map_err(|error| LoginError::Address(shown(), error))?;
        config.application_name("plimsoll").connect_timeout(CONNECT_TIMEOUT).options("-c statement_timeout=2000");
        if config.get_hosts().iter().all(|host| matches!(host, Host::Tcp(name) if name.is_empty())) {
            config.host("localhost");
        }
        let opened = tokio::time::timeout(CONNECT_TIMEOUT, config.connect(NoTls)).await;
        let connected = opened.map_err(|_| LoginError::TimedOut(shown()))?;
        let (client, connection) = connected.map_err(|error| LoginError::Connect(shown(), error))?;
        // How the connection ends is seen by the next query.
        tokio::spawn(async move { drop(connection.await) });
        let failed = |error| LoginError::Query(shown(), error);
        let sessions = client.prepare(SESSIONS).await.map_err(failed)?;
        let row = client
            .query_one("select current_setting('max_connections')::int, pg_has_role('pg_read_all_stats', 'usage')", &[])
            .await
            .map_err(failed)?;
        let sees_all: bool = row.get(1);
        let notice = (!sees_all).then(|| {
            format!(
                "the user of {} sees only its own sessions: `grant pg_monitor` to it shows what the service's sessions \
                 wait for",
                shown()
            )
        });
        Ok(Self { client, sessions, max_connections: Some(f64::from(row.get::<_, i32>(0))), notice })
    }

    /// What the sessions do right now.
    pub(crate) async fn sessions(&self) -> Result<Vec<(Activity, f64)>, tokio_postgres::Error> {
        let rows = self.client.query(&self.sessions, &[]).await?;
        Ok(rows
            .iter()
            .filter_map(|row| {
                let activity = classify(row.get(0), row.get(1), row.get(2))?;
                Some((activity, row.get::<_, i64>(3) as f64))
            })
            .collect())
    }
}

/// What a session does, by its state and what it waits for. A session in transaction that waits for its client is held,
/// not active. Waiting for the log is waiting for disk, whichever kind of lock it goes by.
fn classify(state: &str, kind: &str, event: &str) -> Option<Activity> {
    match state {
        "idle" => Some(Activity::Idle),
        "idle in transaction" | "idle in transaction (aborted)" => Some(Activity::IdleInTransaction),
        "active" | "fastpath function call" => Some(match (kind, event) {
            ("", _) => Activity::Cpu,
            ("Lock", _) => Activity::Lock,
            ("IO", _) => Activity::Io,
            ("LWLock", event) if event.starts_with("WAL") => Activity::Io,
            ("IPC", event) if event.starts_with("SyncRep") => Activity::Io,
            _ => Activity::Other,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_apart() {
        assert_eq!(classify("active", "", ""), Some(Activity::Cpu));
        assert_eq!(classify("active", "Lock", "transactionid"), Some(Activity::Lock));
        assert_eq!(classify("active", "IO", "WALSync"), Some(Activity::Io));
        assert_eq!(classify("active", "LWLock", "WALWrite"), Some(Activity::Io));
        assert_eq!(classify("active", "LWLock", "LockManager"), Some(Activity::Other));
        assert_eq!(classify("active", "Timeout", "PgSleep"), Some(Activity::Other));
        assert_eq!(classify("idle", "Client", "ClientRead"), Some(Activity::Idle));
        assert_eq!(classify("idle in transaction", "Client", "ClientRead"), Some(Activity::IdleInTransaction));
        assert_eq!(classify("", "", ""), None);
    }
}

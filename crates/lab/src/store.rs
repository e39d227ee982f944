//! The table of keys and UUIDs in PostgreSQL, behind a connection pool. Must never retry or hide a failure:
//! what the pool and the database do is what the lab exists to show.

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime, Timeouts};
use thiserror::Error;
use tokio_postgres::{Config, NoTls};

use crate::metrics::{PoolState, PoolTimes};
use crate::{clock, duration};

/// The keys that exist.
pub const KEYS: std::ops::RangeInclusive<i32> = 1..=1000;

const FILL: &str = "
    CREATE TABLE IF NOT EXISTS plimsoll_lab_uuid (key integer PRIMARY KEY, value uuid NOT NULL);
    INSERT INTO plimsoll_lab_uuid SELECT key, gen_random_uuid() FROM generate_series(1, 1000) AS key
        ON CONFLICT (key) DO NOTHING;
    ANALYZE plimsoll_lab_uuid;";

/// What the pool and the query are to be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// Most connections.
    pub pool: usize,
    /// Longest wait for one of them.
    pub acquire_timeout: Duration,
    /// Time that each query sleeps in the database.
    pub query_delay: Duration,
    /// Square roots that each query computes in the database.
    pub query_cpu: u32,
}

/// Why there is no answer from the database.
#[derive(Debug, Error)]
pub enum StoreError {
    /// All connections stayed in use.
    #[error("no database connection became free within {waited}: all {pool} of the pool are in use")]
    NoneFree {
        /// How long was waited.
        waited: String,
        /// The pool's size.
        pool: usize,
    },
    /// The database took too long to let us in.
    #[error("the database did not open a connection within {waited}")]
    SlowConnect {
        /// How long was waited.
        waited: String,
    },
    /// The database did not let us in.
    #[error("could not connect to the database: {reason}")]
    Connect {
        /// The database's or the kernel's words.
        reason: String,
    },
    /// The query failed.
    #[error("the database could not answer: {reason}")]
    Query {
        /// The database's words.
        reason: String,
    },
}

/// The pool and the one query that it serves.
#[derive(Debug)]
pub struct Store {
    pool: Pool,
    query: String,
    options: StoreOptions,
}

impl Store {
    /// Fills the table if it is not there, and prepares a pool that opens connections as they are wanted.
    pub async fn open(config: Config, options: StoreOptions) -> anyhow::Result<Self> {
        let place = redacted_url(&config);
        fill(&config).await.with_context(|| format!("could not fill the table of UUIDs in {place}"))?;
        let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let pool = Pool::builder(manager)
            .max_size(options.pool)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(options.acquire_timeout),
                create: Some(options.acquire_timeout),
                recycle: None,
            })
            .build()
            .with_context(|| format!("could not set up a connection pool for {place}"))?;
        Ok(Self { pool, query: query(options), options })
    }

    /// The UUID of a key, or `None` if there is no such key.
    pub async fn uuid(&self, key: i32, times: &PoolTimes) -> Result<Option<String>, StoreError> {
        let asked = clock::now();
        let connection = match self.pool.get().await {
            Ok(connection) => connection,
            Err(error) => return Err(self.refused(&error, times)),
        };
        let had = clock::now();
        times.wait.add(had - asked);
        let row = match connection.prepare_cached(&self.query).await {
            Ok(statement) => connection.query_opt(&statement, &[&key]).await,
            Err(error) => Err(error),
        };
        drop(connection);
        times.held.add(clock::now() - had);
        let row = row.map_err(|error| StoreError::Query { reason: in_words(&error) })?;
        row.map(|row| row.try_get(0).map_err(|error| StoreError::Query { reason: in_words(&error) })).transpose()
    }

    /// A word that is the same for the same data and different for other data: the first key's UUID.
    pub async fn epoch(&self) -> anyhow::Result<String> {
        let connection = self.pool.get().await.context("could not connect to the database")?;
        let row = connection.query_one("SELECT value::text FROM plimsoll_lab_uuid WHERE key = 1", &[]).await;
        row.and_then(|row| row.try_get(0)).context("could not read the table of UUIDs")
    }

    /// The pool's state at this moment.
    pub fn pool_state(&self) -> PoolState {
        let status = self.pool.status();
        PoolState {
            used: status.size.saturating_sub(status.available),
            idle: status.available,
            max: status.max_size,
            pending: status.waiting,
        }
    }

    fn refused(&self, error: &PoolError, times: &PoolTimes) -> StoreError {
        let waited = duration::show(self.options.acquire_timeout);
        match error {
            PoolError::Timeout(kind) => {
                times.timeouts.fetch_add(1, Ordering::Relaxed);
                if matches!(kind, deadpool_postgres::TimeoutType::Wait) {
                    StoreError::NoneFree { waited, pool: self.options.pool }
                } else {
                    StoreError::SlowConnect { waited }
                }
            }
            PoolError::Backend(cause) => StoreError::Connect { reason: in_words(cause) },
            other => StoreError::Connect { reason: other.to_string() },
        }
    }
}

/// The server's address without its password, for messages and for whoever watches the database.
pub fn redacted_url(config: &Config) -> String {
    use tokio_postgres::config::Host;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string().replace('/', "%2F"),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or("postgres");
    format!("postgres://{user}@{host}:{port}/{}", config.get_dbname().unwrap_or(user))
}

fn query(options: StoreOptions) -> String {
    let mut columns = String::from("value::text");
    if !options.query_delay.is_zero() {
        columns.push_str(&format!(", pg_sleep({})", options.query_delay.as_secs_f64()));
    }
    if options.query_cpu > 0 {
        columns.push_str(&format!(", (SELECT sum(sqrt(g)) FROM generate_series(1, {}) AS g)", options.query_cpu));
    }
    format!("SELECT {columns} FROM plimsoll_lab_uuid WHERE key = $1")
}

async fn fill(config: &Config) -> anyhow::Result<()> {
    let (client, connection) = config.connect(NoTls).await?;
    let driver = tokio::spawn(connection);
    client.batch_execute(FILL).await?;
    drop(client);
    // The connection ends when its client is gone; what it says then is of no interest.
    let _ = driver.await;
    Ok(())
}

/// The error and its cause: the driver's own text is only "db error".
fn in_words(error: &tokio_postgres::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_costs_only_what_was_asked_for() {
        let options = StoreOptions {
            pool: 5,
            acquire_timeout: Duration::from_secs(5),
            query_delay: Duration::ZERO,
            query_cpu: 0,
        };
        assert_eq!(query(options), "SELECT value::text FROM plimsoll_lab_uuid WHERE key = $1");
        let slow = StoreOptions { query_delay: Duration::from_millis(20), query_cpu: 7, ..options };
        assert_eq!(
            query(slow),
            "SELECT value::text, pg_sleep(0.02), (SELECT sum(sqrt(g)) FROM generate_series(1, 7) AS g) \
             FROM plimsoll_lab_uuid WHERE key = $1"
        );
    }

    #[test]
    fn a_password_never_shows() {
        for text in ["postgres://me:secret@db:6000/shop", "host=db port=6000 user=me password=secret dbname=shop"] {
            assert_eq!(redacted_url(&text.parse().unwrap()), "postgres://me@db:6000/shop");
        }
    }
}

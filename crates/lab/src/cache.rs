//! An optional Redis in front of hot reads. Must never fail a request: without Redis the database answers.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, Client};

use crate::out;

const EXPIRE_AFTER_S: u64 = 300;
const REPLY_WITHIN: Duration = Duration::from_millis(500);

/// One pipelined connection to Redis, replaced when it breaks.
#[derive(Debug)]
pub struct Cache {
    client: Client,
    /// Read once per request and written only after a break, so the lock is free in practice.
    connection: RwLock<MultiplexedConnection>,
    reconnecting: AtomicBool,
    /// Keeps runs apart that share a Redis: the UUIDs are new in each.
    prefix: String,
}

impl Cache {
    /// Connects; `epoch` distinguishes this run's data from another's.
    pub async fn open(url: &str, epoch: &str) -> anyhow::Result<Self> {
        let client = Client::open(url).context("could not read the address of the cache given with --cache")?;
        let connection = connect(&client).await.with_context(|| {
            format!("could not reach the cache at {}; is Redis running there?", client.get_connection_info().addr())
        })?;
        Ok(Self {
            client,
            connection: RwLock::new(connection),
            reconnecting: AtomicBool::new(false),
            prefix: format!("plimsoll-lab:{epoch}:"),
        })
    }

    /// What the cache knows about a key; nothing if it does not answer.
    pub async fn get(&self, key: i32) -> Option<String> {
        let found = self.connection()?.get(self.name(key)).await;
        self.noticing(found).await.flatten()
    }

    /// Remembers a value.
    pub async fn put(&self, key: i32, value: &str) {
        let Some(mut connection) = self.connection() else { return };
        let outcome: redis::RedisResult<()> = connection.set_ex(self.name(key), value, EXPIRE_AFTER_S).await;
        self.noticing(outcome).await;
    }

    fn name(&self, key: i32) -> String {
        format!("{}{key}", self.prefix)
    }

    fn connection(&self) -> Option<MultiplexedConnection> {
        self.connection.read().ok().map(|connection| connection.clone())
    }

    /// After a failure one request, and only one at a time, tries to connect anew.
    async fn noticing<T>(&self, outcome: redis::RedisResult<T>) -> Option<T> {
        let error = match outcome {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        if !self.reconnecting.swap(true, Ordering::AcqRel) {
            out::warn("cache_failed", &[("reason", &error)]);
            if let Ok(fresh) = connect(&self.client).await
                && let Ok(mut connection) = self.connection.write()
            {
                *connection = fresh;
            }
            self.reconnecting.store(false, Ordering::Release);
        }
        None
    }
}

async fn connect(client: &Client) -> redis::RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(REPLY_WITHIN))
        .set_response_timeout(Some(REPLY_WITHIN));
    client.get_multiplexed_async_connection_with_config(&config).await
}

//! The signals: one list of everything that probes may report and rules may read, with unit and meaning. A probe that
//! reports something new adds a line here; a rule reads signals by these constants, never by text of its own.

use serde::{Deserialize, Serialize};

/// Whether values add up or stand for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Never falls while its owner lives; only differences mean something.
    Counter,
    /// A reading that stands for itself.
    Gauge,
}

/// One thing that can be read about a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its name in records.
    pub name: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// Whether values add up.
    pub kind: Kind,
    /// What it says, in words for evidence lists.
    pub says: &'static str,
}

macro_rules! signals {
    ($($constant:ident = $name:literal, $unit:literal, $kind:ident, $says:literal;)*) => {
        $(#[doc = concat!($says, " (", $unit, ").")]
        pub const $constant: Signal = Signal { name: $name, unit: $unit, kind: Kind::$kind, says: $says };)*
        /// All signals.
        pub const ALL: &[Signal] = &[$($constant,)*];
    };
}

signals! {
    // The machine. Sums over all cores.
    HOST_CORES = "host.cores", "cores", Gauge, "cores that are online";
    HOST_BUSY = "host.cpu.busy", "s", Counter, "CPU time of everybody, idle and waiting for disk left out";
    HOST_USER = "host.cpu.user", "s", Counter, "CPU time in programs";
    HOST_SYSTEM = "host.cpu.system", "s", Counter, "CPU time in the kernel, interrupts included";
    HOST_SOFTIRQ = "host.cpu.softirq", "s", Counter, "CPU time in soft interrupts: mostly network packets";
    HOST_IOWAIT = "host.cpu.iowait", "s", Counter, "time idle while a disk was awaited";
    HOST_STEAL = "host.cpu.steal", "s", Counter, "time that another virtual machine took";
    HOST_PRESSURE_CPU = "host.pressure.cpu", "s", Counter, "time in which somebody waited for a core (PSI some)";
    HOST_MEMORY_AVAILABLE = "host.memory.available", "bytes", Gauge, "memory that programs could still get";
    HOST_MEMORY_TOTAL = "host.memory.total", "bytes", Gauge, "memory of the machine";

    // A subject with processes: the process, its children and their threads together.
    CPU_USER = "cpu.user", "s", Counter, "CPU time in its own code";
    CPU_SYSTEM = "cpu.system", "s", Counter, "CPU time in the kernel on its behalf";
    RUN = "cpu.run", "s", Counter, "time its threads ran on a core";
    RUN_WAIT = "cpu.wait", "s", Counter, "time its threads were ready and waited for a core";
    CORES_ALLOWED = "cpu.allowed", "cores", Gauge, "cores it may use by affinity, quota and machine";
    THREADS = "threads", "threads", Gauge, "threads";
    THREADS_RUNNING = "threads.running", "threads", Gauge, "threads that used more than 1 % of the last second";
    THREAD_BUSIEST_DEMAND = "thread.busiest.demand", "share", Gauge, "run and wait share of its busiest thread";
    THREAD_BUSIEST_RUN = "thread.busiest.run", "share", Gauge, "run share of its busiest thread";
    PROCESSES = "processes", "processes", Gauge, "processes";
    MEMORY_ANON = "memory.anon", "bytes", Gauge, "memory of its own (anonymous resident set)";
    FDS = "fds", "descriptors", Gauge, "open file descriptors of its main process";
    FDS_LIMIT = "fds.limit", "descriptors", Gauge, "file descriptors its main process may open";
    STARTED_AT = "started", "s", Gauge, "when its main process began, in seconds since the machine booted";
    ALIVE = "alive", "0/1", Gauge, "whether its main process lives";
    CONTEXT_SWITCHES = "switches", "switches", Counter, "times its threads gave up or lost a core";

    // Its control group.
    CGROUP_PERIODS = "cgroup.periods", "periods", Counter, "periods in which its CPU quota was counted";
    CGROUP_THROTTLED = "cgroup.throttled", "periods", Counter, "periods in which it ran into its CPU quota";
    CGROUP_THROTTLED_TIME = "cgroup.throttled.time", "s", Counter, "time it was held back by its CPU quota";
    CGROUP_MEMORY = "cgroup.memory", "bytes", Gauge, "memory of its control group";
    CGROUP_MEMORY_LIMIT = "cgroup.memory.limit", "bytes", Gauge, "memory limit of its control group";
    CGROUP_OOM_KILLS = "cgroup.oom", "kills", Counter, "processes of its control group killed for memory";

    // Its listening socket and the network name space it lives in.
    LISTEN_QUEUE = "listen.queue", "connections", Gauge, "connections waiting to be accepted, mean of the second";
    LISTEN_QUEUE_MAX = "listen.queue.max", "connections", Gauge, "connections waiting to be accepted, most in the second";
    LISTEN_BACKLOG = "listen.backlog", "connections", Gauge, "connections that may wait to be accepted";
    LISTEN_OVERFLOWS = "net.listen.overflows", "events", Counter, "connections turned away at a full accept queue";
    LISTEN_DROPS = "net.listen.drops", "events", Counter, "connection attempts dropped at a listening socket";
    SEGMENTS_OUT = "net.segments.out", "segments", Counter, "TCP segments sent";
    SEGMENTS_RETRANSMITTED = "net.segments.retransmitted", "segments", Counter, "TCP segments sent again";
    SEGMENTS_REPEATED = "net.segments.repeated", "segments", Counter, "TCP segments received that had arrived before: what was lost went the other way";
    SYN_RETRANSMITTED = "net.syn.retransmitted", "segments", Counter, "connection attempts sent again";
    TIME_WAIT = "net.time_wait", "sockets", Gauge, "closed connections that still occupy a local port";
    CONNECTIONS = "connections", "connections", Gauge, "established connections to its listening port";

    // Its connections with the other side, seen by sock_diag: of the service those with its clients, of the generator
    // those with the target.
    SEND_BUSY_SHARE = "tcp.busy", "share", Gauge, "share of time its connections in use had unacknowledged or unsent data";
    SEND_QUEUE = "tcp.send_queue", "bytes", Gauge, "bytes unsent or unacknowledged towards the other side, all connections";
    RTT_MS = "tcp.rtt", "ms", Gauge, "smoothed round trip to the other side, median of connections in use";
    RTT_MIN_MS = "tcp.rtt.min", "ms", Gauge, "least round trip to the other side, median of connections in use";
    RWND_LIMITED_SHARE = "tcp.rwnd_limited", "share", Gauge, "share of the sending time in which the reader was too slow";
    LINK_BYTES_SENT = "net.bytes.sent", "bytes", Counter, "bytes acknowledged by the other side";
    DB_SOCKETS = "db.sockets", "connections", Gauge, "established connections from the service to its database";

    // The generator's own sockets.
    UNREAD_SHARE = "gen.unread", "share", Gauge, "share of its connections with an answer it had not read yet";
    PORTS_USED = "gen.ports.used", "ports", Gauge, "local ports in use towards the target, closed ones included";
    PORTS_LIMIT = "gen.ports.limit", "ports", Gauge, "local ports there are";
    SYN_SENT = "gen.syn_sent", "connections", Gauge, "connection attempts without an answer";

    // PostgreSQL, by pg_stat_activity (login) or by process titles; means of the second.
    PG_ACTIVE_CPU = "pg.active.cpu", "sessions", Gauge, "sessions that execute and wait for nothing but a core";
    PG_ACTIVE_LOCK = "pg.active.lock", "sessions", Gauge, "sessions that wait for a row or table lock";
    PG_ACTIVE_IO = "pg.active.io", "sessions", Gauge, "sessions that wait for disk or the log";
    PG_ACTIVE_OTHER = "pg.active.other", "sessions", Gauge, "sessions that execute and wait for something else";
    PG_IDLE_IN_TRANSACTION = "pg.idle_in_transaction", "sessions", Gauge, "sessions with an open transaction that wait for the service";
    PG_IDLE = "pg.idle", "sessions", Gauge, "sessions without work";
    PG_SESSIONS = "pg.sessions", "sessions", Gauge, "client sessions";
    PG_MAX_CONNECTIONS = "pg.max_connections", "sessions", Gauge, "sessions PostgreSQL allows";

    // Connection pool of the service, from its /metrics.
    POOL_MAX = "pool.max", "connections", Gauge, "connections the pool may open";
    POOL_USED = "pool.used", "connections", Gauge, "connections of the pool in use";
    POOL_IDLE = "pool.idle", "connections", Gauge, "connections of the pool that are free";
    POOL_PENDING = "pool.pending", "requests", Gauge, "requests that wait for a connection of the pool";
    POOL_WAIT = "pool.wait", "s", Counter, "time spent waiting for a connection of the pool";
    POOL_WAITS = "pool.waits", "waits", Counter, "times a connection of the pool was asked for";
    POOL_USE = "pool.use", "s", Counter, "time connections of the pool were held";
    POOL_USES = "pool.uses", "uses", Counter, "times a connection of the pool was given back";
    POOL_TIMEOUTS = "pool.timeouts", "events", Counter, "times no connection could be had in time";
    METRICS_SCRAPE = "metrics.scrape", "ms", Gauge, "time the service took to answer /metrics";
}

/// The signal of this name.
pub fn by_name(name: &str) -> Option<&'static Signal> {
    ALL.iter().find(|signal| signal.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().map(|signal| signal.name).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
    }
}

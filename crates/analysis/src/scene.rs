//! Everything that was seen during one step, by part of the stack: what rules read. Counters are rates per second, so
//! CPU time reads as cores. What was not recorded is `None`.

use model::record::{RunRecord, StepSpan};
use model::series::Role;
use model::signal::{self, Signal};

use crate::link::Link;
use crate::read::Reader;
use crate::step::{self, StepFacts};

/// Share of the machine's cores from which on it is full.
pub(crate) const MACHINE_FULL: f64 = 0.95;
/// The same if two parties wait for cores.
const MACHINE_STRAINED: f64 = 0.85;
/// Share of what a party may use from which on it is full.
pub(crate) const PARTY_FULL: f64 = 0.9;
/// Run demand of one thread from which on it never blocks.
pub(crate) const THREAD_FULL: f64 = 0.95;
/// Cores that a party must be refused to be starved at all: a share of next to nothing is nothing.
const STARVED_CORES: f64 = 0.05;
/// Cores that a party must want for a fight over them to be what it suffers from.
const WANTS_CORES: f64 = 0.5;
/// Share of its ready time that a party waits for a core from which on it is starved.
pub(crate) const STARVED: f64 = 0.2;

/// One step, all parts of the stack.
#[derive(Clone, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) step: StepFacts,
    pub(crate) host: Host,
    pub(crate) generator: Party,
    pub(crate) service: Party,
    pub(crate) database: Party,
    pub(crate) listen: Listen,
    pub(crate) link: Link,
    pub(crate) pool: Pool,
    pub(crate) sessions: Option<Sessions>,
    /// Established connections from the service to its database.
    pub(crate) db_sockets: Option<f64>,
    /// Share of connections with an answer that the generator had not read.
    pub(crate) unread: Option<f64>,
    /// Worker threads of the generator.
    pub(crate) workers: f64,
    /// The most answers per second that any step of the run had; this one included.
    pub(crate) peak_per_s: f64,
}

/// The machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Host {
    pub(crate) cores: Option<f64>,
    pub(crate) busy: Option<f64>,
}

/// A process with its children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Party {
    /// Empty if it is not watched.
    pub(crate) name: String,
    /// Cores it ran on.
    pub(crate) run: Option<f64>,
    /// Cores it was ready for and did not get; being held back by its own quota left out.
    pub(crate) wait: Option<f64>,
    pub(crate) user: Option<f64>,
    pub(crate) system: Option<f64>,
    /// Cores it may use.
    pub(crate) allowed: Option<f64>,
    pub(crate) busiest_demand: Option<f64>,
    pub(crate) busiest_run: Option<f64>,
    /// Run and wait, quota included: what it would use if it could.
    pub(crate) demand: Option<f64>,
}

/// The listening socket of the service.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Listen {
    pub(crate) queue: Option<f64>,
    pub(crate) queue_max: Option<f64>,
    pub(crate) backlog: Option<f64>,
    pub(crate) overflows_per_s: Option<f64>,
}

/// The connection pool, from the service's own metrics.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) max: Option<f64>,
    pub(crate) used: Option<f64>,
    pub(crate) pending: Option<f64>,
    /// Seconds of waiting per second.
    pub(crate) wait: Option<f64>,
    /// Seconds of use per second: connections in use, exactly.
    pub(crate) usage: Option<f64>,
    pub(crate) timeouts_per_s: Option<f64>,
}

/// PostgreSQL's sessions by what they do; means.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sessions {
    pub(crate) cpu: f64,
    pub(crate) lock: f64,
    pub(crate) io: f64,
    pub(crate) other: f64,
    pub(crate) idle_in_transaction: f64,
    /// Where this was read.
    pub(crate) source: &'static str,
}

impl Sessions {
    /// Sessions that execute or wait inside PostgreSQL.
    pub(crate) fn busy(&self) -> f64 {
        self.cpu + self.lock + self.io + self.other
    }

    /// Sessions that a request holds, working or not.
    pub(crate) fn held(&self) -> f64 {
        self.busy() + self.idle_in_transaction
    }
}

impl Party {
    fn read(reader: Reader<'_>, role: Role) -> Self {
        let Some(subject) = reader.subject(role) else { return Self::default() };
        let id = subject.id.as_str();
        let (user, system) = (reader.rate(id, signal::CPU_USER), reader.rate(id, signal::CPU_SYSTEM));
        let run = reader.rate(id, signal::RUN).or_else(|| Some(user? + system?));
        let wait = reader.rate(id, signal::RUN_WAIT);
        let throttled = reader.rate(id, signal::CGROUP_THROTTLED_TIME).unwrap_or(0.0);
        Self {
            name: subject.name.clone(),
            run,
            wait: wait.map(|wait| (wait - throttled).max(0.0)),
            user,
            system,
            allowed: reader.gauge(id, signal::CORES_ALLOWED),
            busiest_demand: reader.gauge(id, signal::THREAD_BUSIEST_DEMAND),
            busiest_run: reader.gauge(id, signal::THREAD_BUSIEST_RUN),
            demand: run.and_then(|run| Some(run + wait?)),
        }
    }

    /// Whether anything is known about it.
    pub(crate) fn is_seen(&self) -> bool {
        self.run.is_some()
    }

    /// Share of its ready time that it waits for a core.
    pub(crate) fn stolen(&self) -> Option<f64> {
        let (run, wait) = (self.run?, self.wait?);
        (run + wait > 0.02).then(|| wait / (run + wait))
    }

    /// Whether it waits for cores for a notable part of its time.
    pub(crate) fn is_starved(&self) -> bool {
        self.wait.is_some_and(|wait| wait >= STARVED_CORES) && self.stolen().is_some_and(|stolen| stolen >= STARVED)
    }

    /// Whether it wants so much that a fight over cores keeps it from its work; so of one whose wish was not seen.
    pub(crate) fn wants_cores(&self) -> bool {
        self.demand.is_none_or(|demand| demand >= WANTS_CORES)
    }

    /// Share of its CPU time that is spent in the kernel.
    pub(crate) fn kernel_share(&self) -> Option<f64> {
        let (user, system) = (self.user?, self.system?);
        (user + system > 0.0).then(|| system / (user + system))
    }

    /// Whether one thread never blocks and carries most of the process: an event loop, an interpreter lock.
    pub(crate) fn is_one_thread_full(&self) -> bool {
        let (Some(busiest), Some(run)) = (self.busiest_demand, self.run) else { return false };
        let demand = self.demand.unwrap_or(run);
        busiest >= THREAD_FULL && demand <= 1.5 * busiest
    }
}

impl<'a> Scene<'a> {
    /// Reads one step.
    pub(crate) fn new(record: &'a RunRecord, span: &StepSpan) -> Self {
        let reader = Reader::new(record, span.measured);
        let anybody = |signal: Signal| reader.whoever(signal).unwrap_or("");
        let gauge = |signal| reader.gauge(anybody(signal), signal);
        let rate = |signal| reader.rate(anybody(signal), signal);
        let windows: Vec<_> = step::within(&record.windows, span.measured);
        let generator_id = reader.subject(Role::Generator).map_or("", |subject| subject.id.as_str());
        Self {
            record,
            step: step::measure(record, span),
            host: Host {
                cores: gauge(signal::HOST_CORES).or_else(|| {
                    record.header.as_ref().map(|header| f64::from(header.machine.cores)).filter(|cores| *cores > 0.0)
                }),
                busy: rate(signal::HOST_BUSY),
            },
            generator: Party::read(reader, Role::Generator),
            service: Party::read(reader, Role::Service),
            database: Party::read(reader, Role::Database),
            listen: Listen {
                queue: gauge(signal::LISTEN_QUEUE),
                queue_max: reader.max(anybody(signal::LISTEN_QUEUE_MAX), signal::LISTEN_QUEUE_MAX),
                backlog: gauge(signal::LISTEN_BACKLOG),
                overflows_per_s: rate(signal::LISTEN_OVERFLOWS),
            },
            link: Link::read(record, reader, &windows),
            pool: Pool {
                max: gauge(signal::POOL_MAX),
                used: gauge(signal::POOL_USED),
                pending: gauge(signal::POOL_PENDING),
                wait: rate(signal::POOL_WAIT),
                usage: rate(signal::POOL_USE),
                timeouts_per_s: rate(signal::POOL_TIMEOUTS),
            },
            sessions: sessions(reader),
            db_sockets: gauge(signal::DB_SOCKETS).filter(|sockets| *sockets > 0.0),
            unread: step::gate::unread(&windows).or_else(|| reader.gauge(generator_id, signal::UNREAD_SHARE)),
            workers: f64::from(windows.iter().map(|window| window.generator.workers).max().unwrap_or(0)),
            peak_per_s: record
                .steps
                .iter()
                .chain([span])
                .map(|span| step::answered_per_s(record, span))
                .fold(0.0, f64::max),
        }
    }

    /// Requests per second; `None` if there were none.
    pub(crate) fn rate(&self) -> Option<f64> {
        Some(self.step.rate_per_s).filter(|rate| *rate > 0.0)
    }

    /// Milliseconds of a request that packets queue in front of a full link.
    pub(crate) fn link_wait_ms(&self) -> Option<f64> {
        self.link.wait_ms(self.rate()?)
    }

    /// Cores that a party may use: its own limit, else the machine.
    pub(crate) fn cores_of(&self, party: &Party) -> Option<f64> {
        match (party.allowed, self.host.cores) {
            (Some(allowed), Some(cores)) => Some(allowed.min(cores)),
            (allowed, cores) => allowed.or(cores),
        }
    }

    /// Whether a party may use less than the machine has.
    pub(crate) fn is_confined(&self, party: &Party) -> bool {
        matches!((party.allowed, self.host.cores), (Some(allowed), Some(cores)) if allowed < cores - 0.05)
    }

    /// Whether a party runs on all the cores it may use.
    pub(crate) fn fills_its_cores(&self, party: &Party) -> bool {
        matches!((party.run, self.cores_of(party)), (Some(run), Some(cores)) if run >= PARTY_FULL * cores)
    }

    /// Whether a party is never idle: it runs or waits for a core on all the cores it may use. Where waiting was not
    /// recorded, running must do.
    pub(crate) fn is_never_idle(&self, party: &Party) -> bool {
        match (party.demand, self.cores_of(party)) {
            (Some(demand), Some(cores)) => demand >= PARTY_FULL * cores,
            _ => self.fills_its_cores(party),
        }
    }

    /// Whether the machine has no core left: it is busy all the time, or nearly so while two of our parties wait for
    /// cores – what is idle then are the gaps between wake-ups.
    pub(crate) fn is_machine_full(&self) -> bool {
        let (Some(busy), Some(cores)) = (self.host.busy, self.host.cores) else { return false };
        busy >= MACHINE_FULL * cores || (busy >= MACHINE_STRAINED * cores && self.starved_parties() >= 2)
    }

    /// How many of generator, service and database wait for cores.
    pub(crate) fn starved_parties(&self) -> usize {
        [&self.generator, &self.service, &self.database].into_iter().filter(|party| party.is_starved()).count()
    }

    /// Cores in use by generator, service and database together.
    pub(crate) fn ours(&self) -> f64 {
        [&self.generator, &self.service, &self.database].iter().filter_map(|party| party.run).sum()
    }

    /// Cores in use by everybody else, the kernel's own work for packets included.
    pub(crate) fn others(&self) -> f64 {
        self.host.busy.map_or(0.0, |busy| (busy - self.ours()).max(0.0))
    }

    /// A party's share of the busy cores.
    pub(crate) fn share_of(&self, party: &Party) -> f64 {
        match (party.run, self.host.busy) {
            (Some(run), Some(busy)) if busy > 0.0 => (run / busy).min(1.0),
            _ => 0.0,
        }
    }

    /// Size of the connection pool: by its own metrics, else the sockets that the service holds to the database.
    pub(crate) fn pool_size(&self) -> Option<f64> {
        self.pool.max.filter(|max| *max > 0.0).or(self.db_sockets)
    }

    /// Mean number of pool connections in use, from the best source there is.
    pub(crate) fn pool_in_use(&self) -> Option<f64> {
        self.pool.usage.or(self.pool.used).or_else(|| self.sessions.map(|sessions| sessions.held()))
    }
}

fn sessions(reader: Reader<'_>) -> Option<Sessions> {
    let read = |signal: Signal| reader.gauge(reader.whoever(signal).unwrap_or(""), signal);
    let (cpu, other) = (read(signal::PG_ACTIVE_CPU), read(signal::PG_ACTIVE_OTHER));
    cpu.or(other)?;
    Some(Sessions {
        cpu: cpu.unwrap_or(0.0),
        lock: read(signal::PG_ACTIVE_LOCK).unwrap_or(0.0),
        io: read(signal::PG_ACTIVE_IO).unwrap_or(0.0),
        other: other.unwrap_or(0.0),
        idle_in_transaction: read(signal::PG_IDLE_IN_TRANSACTION).unwrap_or(0.0),
        // Only a login tells how many sessions PostgreSQL allows; process titles do not.
        source: if read(signal::PG_MAX_CONNECTIONS).is_some() { "pg_stat_activity" } else { "process titles" },
    })
}

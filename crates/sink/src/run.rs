//! Outputs while a run goes on: one thread passes batches to all of them, each works on a thread of its own.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use model::plan::Plan;
use model::sample::Sample;
use model::unit::Moment;

use crate::courier::Courier;
use crate::csv::Csv;
use crate::file::Writer;
use crate::influxdb::InfluxDb;
use crate::json::Json;
use crate::opentelemetry::OpenTelemetry;
use crate::output::{Context, Ending, Output};
use crate::prometheus::Prometheus;
use crate::wish::Wish;

/// Batches that may wait for one output.
const BATCHES_MAX: usize = 256;

/// What outputs are told when they start.
pub struct Setting {
    /// Metrics, thresholds and tags of the run.
    pub plan: Arc<Plan>,
    /// When the run begins, in nanoseconds since 1970.
    pub began_ns: u64,
    /// Says something while the run goes on.
    pub say: Arc<dyn Fn(String) + Send + Sync>,
}

/// Why an output could not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its file cannot be made.
    #[error("cannot write samples to {path}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system gave no thread.
    #[error("cannot start a thread for an output")]
    Thread(#[source] io::Error),
}

/// Outputs at work.
#[derive(Debug)]
pub struct Outputs {
    is_over: Arc<AtomicBool>,
    passing: JoinHandle<()>,
    lanes: Vec<Lane>,
}

/// One output.
#[derive(Debug)]
struct Lane {
    name: &'static str,
    lost: Arc<AtomicU64>,
    thread: JoinHandle<Ending>,
}

/// What came of the outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What went wrong, one sentence each.
    pub troubles: Vec<String>,
    /// Whether a file lacks samples since it could not be written.
    pub is_incomplete: bool,
}

/// Starts outputs. They end when `batches` does.
///
/// # Errors
/// If a file cannot be made, or the system gives no thread.
pub fn start(wishes: Vec<Wish>, setting: &Setting, batches: Receiver<Vec<Sample>>) -> Result<Outputs, OpenError> {
    let Setting { plan, began_ns, say } = setting;
    let context = Context { plan: plan.clone(), began_ns: *began_ns, say: say.clone() };
    let (mut lanes, mut ways) = (Vec::new(), Vec::new());
    for wish in wishes {
        let name = wish.name();
        let output = open(wish, &context)?;
        let (way, waiting) = sync_channel::<Arc<Vec<Sample>>>(BATCHES_MAX);
        let lost = Arc::new(AtomicU64::new(0));
        let thread = thread(name, move || work(output, &waiting))?;
        ways.push(Way { batches: way, lost: lost.clone() });
        lanes.push(Lane { name, lost, thread });
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    let passing = thread("outputs", move || pass(&batches, &ways, &over))?;
    Ok(Outputs { is_over, passing, lanes })
}

fn thread<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, OpenError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map_err(OpenError::Thread)
}

fn open(wish: Wish, context: &Context) -> Result<Box<dyn Output>, OpenError> {
    let file = |path: PathBuf| Writer::open(&path).map_err(|source| OpenError::File { path, source });
    let courier = |name, address| Courier::start(name, address, context).map_err(OpenError::Thread);
    let name = wish.name();
    let context = context.clone();
    Ok(match wish {
        Wish::Json(path) => Box::new(Json::new(file(path)?, context)),
        Wish::Csv(path, time_format) => Box::new(Csv::new(file(path)?, time_format, context)),
        Wish::InfluxDb(address, database) => Box::new(InfluxDb::new(database, courier(name, address)?, context)),
        Wish::Prometheus(address, style) => Box::new(Prometheus::new(style, courier(name, address)?, context)),
        Wish::OpenTelemetry(address, style) => Box::new(OpenTelemetry::new(style, courier(name, address)?, context)),
    })
}

/// The way to one output.
struct Way {
    batches: SyncSender<Arc<Vec<Sample>>>,
    lost: Arc<AtomicU64>,
}

/// How long the end may be waited for between two looks whether the run is over.
const PATIENCE: Duration = Duration::from_millis(100);

/// Gives every batch to every output that has room for it, until no more can come or the run is over.
fn pass(batches: &Receiver<Vec<Sample>>, ways: &[Way], is_over: &AtomicBool) {
    loop {
        let batch = match batches.recv_timeout(PATIENCE) {
            Ok(batch) => Arc::new(batch),
            // A thread of the load that is stuck in a script never says that it has no more.
            Err(RecvTimeoutError::Timeout) if !is_over.load(Ordering::Relaxed) => continue,
            Err(_) => return,
        };
        for way in ways {
            if way.batches.try_send(batch.clone()).is_err() {
                way.lost.fetch_add(batch.len() as u64, Ordering::Relaxed);
            }
        }
    }
}

fn work(mut output: Box<dyn Output>, batches: &Receiver<Arc<Vec<Sample>>>) -> Ending {
    let mut second = 0;
    for batch in batches {
        output.add(&batch);
        // Time is what the samples say: outputs need no clock, and a test can let an hour pass at once.
        let latest = batch.iter().map(|sample| sample.at).max().unwrap_or(Moment::START);
        if latest.0 / 1_000_000_000 > second {
            second = latest.0 / 1_000_000_000;
            output.tick(latest);
        }
    }
    output.finish()
}

impl Outputs {
    /// Waits until everything is written or given up. `lost` is how many samples never reached the outputs.
    pub fn finish(self, lost: u64) -> Report {
        let mut report = Report::default();
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.passing.join();
        for lane in self.lanes {
            let lost = lost + lane.lost.load(Ordering::Relaxed);
            if lost > 0 {
                let name = lane.name;
                report
                    .troubles
                    .push(format!("output {name}: {lost} samples were lost, since it was too slow for them"));
            }
            match lane.thread.join() {
                Ok(ending) => {
                    report.troubles.extend(ending.trouble);
                    report.is_incomplete |= ending.is_incomplete;
                }
                Err(_) => {
                    report.troubles.push(format!("output {}: its thread panicked", lane.name));
                    report.is_incomplete = true;
                }
            }
        }
        report
    }
}

//! The thread that looks, once a second and up to twenty times a second. The only file of this room that reads time.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use model::signal;
use model::unit::Moment;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval_at, sleep};

use crate::metrics::{pool, scrape, text};
use crate::postgres::Mean;
use crate::postgres::login::Login;
use crate::proc::schedstat;
use crate::report::{Report, Sheet};
use crate::scene::{Address, Scene, Scrape};

/// Time between two looks at what changes within a second.
const TICK: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);
/// Time between two samples of what sessions do.
const SESSIONS: Duration = Duration::from_millis(100);
/// Patience with a metrics page that may not exist, and with one that does.
const FIRST_SCRAPE: Duration = Duration::from_secs(1);
const SCRAPE: Duration = Duration::from_secs(5);

type Out = UnboundedSender<Report>;

/// Watching that goes on until it is stopped or dropped.
#[derive(Debug)]
pub struct Watching {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Option<Duration>>,
}

impl Watching {
    /// Ends watching and waits until it has ended, which takes a few milliseconds. Returns the CPU time that watching
    /// took, if the kernel tells.
    pub fn stop(self) -> Option<Duration> {
        // The thread has ended by itself if nobody listens to it.
        let _ = self.stop.send(());
        self.thread.join().ok().flatten()
    }
}

/// Begins to watch. `beginning` is the moment that all readings count from.
pub(crate) fn begin(scene: Scene, beginning: Instant, out: Out) -> Watching {
    let (stop, stopped) = oneshot::channel();
    let clock = Clock { beginning };
    let thread = thread::Builder::new().name("probe".into()).spawn(move || run(scene, clock, &out, stopped));
    Watching { stop, thread: thread.expect("the system has room for one more thread") }
}

/// Time since the run began.
#[derive(Clone, Copy)]
struct Clock {
    beginning: Instant,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the one place of this room that reads time")]
    fn now(self) -> Moment {
        Moment::after(Instant::now().saturating_duration_since(self.beginning))
    }

    /// Ticks every `period`, with one tick near each whole second of the run.
    fn ticks(self, period: Duration) -> tokio::time::Interval {
        let seconds = self.now().0.div_ceil(1_000_000_000);
        let first = self.beginning + SECOND * u32::try_from(seconds).unwrap_or(u32::MAX);
        let mut ticks = interval_at(first.into(), period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        ticks
    }
}

/// Tells when a whole second has passed.
struct Seconds(u64);

impl Seconds {
    fn since(at: Moment) -> Self {
        Self(at.0 / 1_000_000_000)
    }

    fn pass(&mut self, at: Moment) -> bool {
        let before = std::mem::replace(&mut self.0, at.0 / 1_000_000_000);
        self.0 > before
    }
}

fn run(mut scene: Scene, clock: Clock, out: &Out, stopped: oneshot::Receiver<()>) -> Option<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(async {
            for login in std::mem::take(&mut scene.logins) {
                let server = scene.servers.iter().find(|server| server.subject == login.subject);
                let logged_in = server.map(|server| Arc::clone(&server.logged_in)).unwrap_or_default();
                tokio::spawn(watch_sessions(login, logged_in, clock, out.clone()));
            }
            for scrape in std::mem::take(&mut scene.scrapes) {
                tokio::spawn(watch_metrics(scrape, clock, out.clone()));
            }
            watch_scene(&mut scene, clock, out, stopped).await;
        }),
        Err(error) => {
            // Nobody is left to tell if this fails.
            let _ = out.send(Report::Warning(format!("nothing can be watched: {error}")));
        }
    }
    let own = scene.files.proc("thread-self/schedstat").and_then(schedstat::parse)?;
    Some(Duration::from_nanos(own.run_ns))
}

async fn watch_scene(scene: &mut Scene, clock: Clock, out: &Out, mut stopped: oneshot::Receiver<()>) {
    if !look(scene, clock, out) {
        return;
    }
    let mut ticks = clock.ticks(TICK);
    let mut seconds = Seconds::since(clock.now());
    for turn in 0.. {
        tokio::select! {
            biased;
            _ = &mut stopped => return,
            _ = ticks.tick() => {}
        }
        if seconds.pass(clock.now()) && !look(scene, clock, out) {
            return;
        }
        scene.sample(turn);
    }
}

/// Looks once at everything; says whether anybody still listens.
fn look(scene: &mut Scene, clock: Clock, out: &Out) -> bool {
    let mut sheet = Sheet::new(clock.now());
    let reports = scene.collect(&mut sheet);
    let readings = Report::Readings(sheet.into_readings());
    reports.into_iter().chain([readings]).all(|report| out.send(report).is_ok())
}

/// Samples what sessions do for as long as the login lasts, and logs in again when it ends.
async fn watch_sessions(login: Address, logged_in: Arc<AtomicBool>, clock: Clock, out: Out) {
    let mut said = false;
    while !out.is_closed() {
        let ended = match Login::open(&login.url).await {
            Ok(open) => {
                said = false;
                logged_in.store(true, Ordering::Relaxed);
                let ended = sample_sessions(&open, &login.subject, clock, &out).await;
                logged_in.store(false, Ordering::Relaxed);
                ended.map_or_else(
                    |error| format!("asking PostgreSQL about its sessions failed{}", causes(&error)),
                    |()| String::new(),
                )
            }
            Err(error) => format!("{error}{}", causes(&error)),
        };
        if !said && !ended.is_empty() {
            said = true;
            let text = format!("{ended}: process titles, where they can be read, must do until it is back");
            let _ = out.send(Report::Warning(text));
        }
        sleep(SECOND).await;
    }
}

async fn sample_sessions(open: &Login, id: &str, clock: Clock, out: &Out) -> Result<(), tokio_postgres::Error> {
    if let Some(notice) = &open.notice {
        let _ = out.send(Report::Notice(notice.clone()));
    }
    let mut mean = Mean::default();
    let mut ticks = clock.ticks(SESSIONS);
    let mut seconds = Seconds::since(clock.now());
    loop {
        ticks.tick().await;
        if seconds.pass(clock.now()) {
            let mut sheet = Sheet::new(clock.now());
            mean.collect(id, &mut sheet);
            sheet.put_some(id, signal::PG_MAX_CONNECTIONS, open.max_connections);
            if out.send(Report::Readings(sheet.into_readings())).is_err() {
                return Ok(());
            }
        }
        mean.sample(open.sessions().await?);
    }
}

/// Fetches a metrics page every second. A page that nobody asked for may be missing.
async fn watch_metrics(scrape: Scrape, clock: Clock, out: Out) {
    let Address { subject, url } = &scrape.address;
    let mut patience = FIRST_SCRAPE;
    let (mut said, mut guessed) = (false, false);
    let mut ticks: Option<tokio::time::Interval> = None;
    loop {
        let asked = clock.now();
        let fetched = scrape::fetch(url, patience).await;
        let answered = clock.now();
        let page = fetched.map_err(|error| format!("{error}{}", causes(&error)));
        match page.and_then(|page| if text::is_metrics(&page) { Ok(page) } else { Err(no_metrics(url)) }) {
            Ok(page) => {
                patience = SCRAPE;
                said = false;
                let mut sheet = Sheet::new(answered);
                sheet.put(subject, signal::METRICS_SCRAPE, answered.since(asked).as_secs_f64() * 1e3);
                let pool = pool::read(&text::parse(&page));
                pool.figures.values().for_each(|&(signal, value)| sheet.put(subject, signal, value));
                if !pool.guesses.is_empty() && !std::mem::replace(&mut guessed, true) {
                    let text =
                        format!("pool figures of {url} are guessed from their names: {}", pool.guesses.join(", "));
                    let _ = out.send(Report::Notice(text));
                }
                if out.send(Report::Readings(sheet.into_readings())).is_err() {
                    return;
                }
            }
            // A first try that was nobody's wish.
            Err(_) if !scrape.asked && patience == FIRST_SCRAPE => return,
            Err(text) => {
                let report = if scrape.asked { Report::Warning(text) } else { Report::Notice(text) };
                if !std::mem::replace(&mut said, true) && out.send(report).is_err() {
                    return;
                }
            }
        }
        ticks.get_or_insert_with(|| clock.ticks(SECOND)).tick().await;
    }
}

fn no_metrics(url: &str) -> String {
    format!("{url} answered with something that is not Prometheus text")
}

/// What lies behind an error, as `: cause: cause`.
fn causes(error: &dyn Error) -> String {
    std::iter::successors(error.source(), |cause| (*cause).source()).map(|cause| format!(": {cause}")).collect()
}

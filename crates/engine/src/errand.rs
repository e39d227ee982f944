//! One iteration of one user outside of a run: what a script does with the results when the run is over. Its samples
//! count nowhere.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::plan::Plan;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use crate::clock::Clock;
use crate::crew::{Crew, Lone, Post};
use crate::meter::{LogLine, Meter};
use crate::net::Gate;
use crate::run::{EndReason, Options, StartError, runtime, thread};
use crate::tally::Tally;
use crate::user::UserFactory;

/// How the iteration ended, and what it logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alone {
    /// Why it did not come to its end; `None` if it did.
    pub failure: Option<String>,
    /// What it logged.
    pub log: Vec<LogLine>,
}

/// Makes user number 0 of `factory` on a thread of its own, and runs one iteration of it, named `exec`, for at most
/// `timeout`. Nobody has to wait for it: a receiver that is dropped leaves it to itself.
///
/// # Errors
/// If the system gives no thread.
pub fn alone(
    plan: Arc<Plan>,
    factory: Arc<dyn UserFactory>,
    options: Options,
    (exec, timeout): (&'static str, Duration),
) -> Result<oneshot::Receiver<Alone>, StartError> {
    let (hand, ended) = oneshot::channel();
    let work = move || {
        let runtime = runtime();
        let alone = LocalSet::new().block_on(&runtime, iterate(plan, factory.as_ref(), &options, exec, timeout));
        runtime.shutdown_background();
        // Nobody may be waiting any more.
        let _ = hand.send(alone);
    };
    thread(exec.to_owned(), work)?;
    Ok(ended)
}

async fn iterate(
    plan: Arc<Plan>,
    factory: &dyn UserFactory,
    options: &Options,
    exec: &str,
    timeout: Duration,
) -> Alone {
    let meter = Meter::new(plan);
    let failure = match factory.nursery(0, meter.clone()).and_then(|mut nursery| Ok((nursery.user(0)?, nursery))) {
        Err(error) => Some(error.message),
        Ok((user, nursery)) => {
            let tally = Tally::new(meter.clone(), Clock::new(options.beginning), Box::new(|_, _| {}));
            let gate = Gate::new(options.permit.clone(), Box::new(|_| {}));
            let post = Post { worker: 0, workers: 1, gate, pace: None, report: Box::new(|_| {}) };
            let crew: Rc<Crew> = Crew::new(tally, nursery, post);
            match crew.alone(user, exec, timeout).await {
                Lone::Completed => None,
                Lone::TimedOut | Lone::Stopped => Some(format!("it took longer than {timeout:?}")),
                Lone::Failed(text) | Lone::Aborted(EndReason::Aborted(text) | EndReason::Unsupported(text)) => {
                    Some(text)
                }
                Lone::Aborted(reason) => Some(format!("{reason:?}")),
            }
        }
    };
    Alone { failure, log: meter.take_log() }
}

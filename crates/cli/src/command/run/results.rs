//! What comes out of a run: thresholds are judged, the script or we show the summary, files are written, and all of it
//! becomes an exit code.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use model::plan::{Plan, SummaryMode};
use model::record::{Entry, Level};
use model::summary::{Summary, ThresholdState};
use script::{Destinations, ScriptUsers};

use super::Users;
use super::outputs::Outputs;
use crate::command::write_result;
use crate::exit::{Exit, Failure};
use crate::session::{Outcome, permit};
use crate::target::Guard;

/// What was asked for.
pub(super) struct Wishes {
    pub(super) plan: Arc<Plan>,
    pub(super) users: Users,
    pub(super) guard: Guard,
    /// Where the summary goes as JSON.
    pub(super) export: Option<PathBuf>,
    pub(super) fail_on_exceptions: bool,
}

/// How long a thread may take to notice that its time is over.
const PATIENCE: Duration = Duration::from_secs(2);

/// Judges and shows what came of a run.
pub(super) async fn finish(mut outcome: Outcome, outputs: Option<Outputs>, wishes: &Wishes) -> Result<Exit, Failure> {
    let mut summary = outcome.record.summary.take().unwrap_or_default();
    summary.thresholds = analysis::threshold::judge(&summary, &wishes.plan.thresholds);
    let broken: Vec<_> = summary
        .thresholds
        .iter()
        .filter(|result| matches!(result.state, ThresholdState::Failed(_)))
        .map(|result| format!("{} {}", result.selector, result.expression))
        .collect();
    let trouble = outcome.trouble();
    let incomplete = match outputs {
        Some(outputs) => outputs.finish(&mut outcome).await,
        None => false,
    };
    show(&mut outcome, &summary, wishes).await;
    let exported = export(&mut outcome, &summary, wishes);
    // What the run itself says comes first: it must not look like a mere trouble with files.
    if let Err(failure) = &exported
        && (trouble.is_some() || !broken.is_empty() || outcome.broken_early.is_some())
    {
        outcome.output.say(Level::Error, &format!("{:#}", failure.error));
    }
    let exceptions = summary.exceptions_count();
    if let Some(file) = &mut outcome.file
        && let Err(sentence) = file.append(&Entry::Summary(Box::new(summary)))
    {
        outcome.output.say(Level::Error, &sentence);
    }
    if let Some((exit, sentence)) = trouble {
        return sentence.map_or(Ok(exit), |sentence| Err(Failure::new(exit, sentence)));
    }
    if outcome.signals.count() > 0 {
        return Ok(Exit::Stopped);
    }
    if !broken.is_empty() || outcome.broken_early.is_some() {
        let sentence = format!("thresholds on metrics '{}' have been broken", broken.join("', '"));
        return Err(Failure::new(Exit::ThresholdsBroken, sentence));
    }
    if wishes.fail_on_exceptions && exceptions > 0 {
        let sentence = format!("{exceptions} iterations ended by an exception, and --fail-on-exceptions was given");
        return Err(Failure::new(Exit::ScriptException, sentence));
    }
    exported?;
    let incomplete = incomplete || outcome.file.as_ref().is_some_and(|file| !file.complete());
    Ok(if incomplete { Exit::Other } else { Exit::Ok })
}

fn export(outcome: &mut Outcome, summary: &Summary, wishes: &Wishes) -> Result<(), Failure> {
    let Some(path) = &wishes.export else { return Ok(()) };
    let setup_data = match &wishes.users {
        Users::Script(users) => users.setup_data(),
        Users::Url(_) => None,
    };
    let export = view::json::summary_export(summary, &wishes.plan, setup_data.as_deref());
    write_result(path, &export, &mut outcome.output)
}

/// Shows the summary, or what the script makes of it.
async fn show(outcome: &mut Outcome, summary: &Summary, wishes: &Wishes) {
    if wishes.plan.summary_mode == SummaryMode::Disabled {
        return;
    }
    let destinations = match &wishes.users {
        Users::Script(users) => handled(outcome, summary, &wishes.plan, users, &wishes.guard).await,
        Users::Url(_) => None,
    };
    if let Some(destinations) = destinations {
        write_all(outcome, &destinations);
        // What a program reads from standard output must not be followed by what it does not expect.
        if destinations.iter().any(|(place, _)| place == "stdout") {
            return;
        }
    } else {
        let text = view::text::summary(summary, &wishes.plan, outcome.output.style());
        outcome.output.result(&text);
    }
    super::limit(&outcome.record, &mut outcome.output);
}

/// What `handleSummary()` wants to be written; `None` if there is no such function, if it leaves that to us, or if it
/// failed, which is said.
pub(in crate::command) async fn handled(
    outcome: &mut Outcome,
    summary: &Summary,
    plan: &Arc<Plan>,
    users: &ScriptUsers,
    guard: &Guard,
) -> Option<Destinations> {
    let timeout = plan.handle_summary?;
    if outcome.never_began() || outcome.signals.count() > 1 {
        return None;
    }
    let data = view::json::summary_data(summary, plan, outcome.output.screen());
    let (user, handled) = users.handle_summary(data);
    let options =
        engine::Options { workers: 1, beginning: crate::session::now(), permit: permit(guard.clone()), samples: None };
    let failure = match engine::alone(plan.clone(), user, options, ("handleSummary", timeout)) {
        Err(error) => Some(error.to_string()),
        Ok(ended) => tokio::select! {
            biased;
            () = outcome.signals.next() => Some("it was stopped by a signal".to_owned()),
            // A script that never asks for anything cannot be cut off from inside.
            () = tokio::time::sleep(timeout + PATIENCE) => Some(format!("it took longer than {timeout:?}")),
            ended = ended => match ended {
                Ok(alone) => {
                    alone.log.iter().for_each(|line| outcome.output.script(line.level, &line.text));
                    alone.failure
                }
                Err(_) => Some("it ended unexpectedly".to_owned()),
            },
        },
    };
    if let Some(text) = failure {
        outcome.output.say(Level::Error, &format!("handleSummary() failed, so this is the usual summary: {text}"));
        return None;
    }
    handled.get().cloned().flatten()
}

/// Writes what `handleSummary()` returned. What cannot be written is said, and the rest is written.
pub(in crate::command) fn write_all(outcome: &mut Outcome, destinations: &[(String, Vec<u8>)]) {
    for (place, bytes) in destinations {
        match place.as_str() {
            "stdout" => outcome.output.raw_result(bytes),
            "stderr" => outcome.output.raw_aside(bytes),
            path => {
                if let Err(error) = std::fs::write(path, bytes) {
                    let sentence = format!("cannot write {path}, which handleSummary() returned: {error}");
                    outcome.output.say(Level::Error, &sentence);
                }
            }
        }
    }
}

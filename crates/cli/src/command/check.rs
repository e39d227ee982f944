//! `plimsoll check`: what a script uses of k6 and whether it is supported, then one pass of one user with everything
//! shown. Judges no thresholds, watches nothing and makes no load.

mod mask;
mod shown;
mod table;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use engine::{EndReason, Ended, Event, Stop};
use model::plan::Plan;
use model::record::{Level, RunRecord};
use model::summary::Summary;
use script::options::Overrides;
use script::{LoadSettings, ScriptUsers};

use super::run::results::{handled, write_all};
use super::run::source::Source;
use super::{all_or_nothing, pairs, run as runs};
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::{LogFormat, Output, Sink};
use crate::session::{Outcome, permit};
use crate::signals::Signals;
use crate::target::{Guard, Target};

/// Runs the command.
pub(crate) async fn run(typed: args::Check, mut output: Output) -> Result<Exit, Failure> {
    let mut mistakes = Vec::new();
    let env = pairs("--env", &typed.scripting.env, &mut mistakes);
    all_or_nothing(&mistakes)?;
    let mut overrides = Overrides::from_env(|name| std::env::var(name).ok()).map_err(runs::options_failure)?;
    let source = Source::parse(&typed.script, None)?;
    let Target::Script(path) = source.target else {
        let sentence = format!("cannot check {}: it is a URL, and `plimsoll check` reads scripts", typed.script);
        return Err(Failure::config(sentence));
    };
    overrides.archive = source.options;
    overrides.once = true;
    overrides.no_thresholds = true;
    overrides.scenario.clone_from(&typed.scenario);
    let settings = runs::settings(&typed.scripting, runs::environment(true, source.env, env))?;
    let settings = LoadSettings { files: source.files, ..settings };
    let supported = survey(&path, &settings, &mut output)?;
    if typed.list || supported != Exit::Ok {
        return Ok(supported);
    }
    // Everything shown is the result.
    output.log_to(LogFormat::Text, Sink::Stdout, None);
    let mut signals = Signals::catch()?;
    let loaded = runs::load(&path, settings, &mut signals).await.map_err(|failure| masked(&failure))?;
    loaded.log.iter().for_each(|line| output.script(line.level, &format!("[init] {}", mask::mask(&line.text))));
    let (mut plan, warnings) = runs::plan_of(&loaded, &overrides)?;
    warnings.iter().for_each(|warning| output.say(Level::Warn, warning));
    typed.connections.apply(&mut plan.http);
    let pass = Pass { plan: Arc::new(plan), users: loaded.factory(), guard: Guard::new(&typed.allow) };
    pass.run(signals, output).await
}

/// Prints what the script uses, and says whether it can run.
///
/// # Errors
/// k6's codes if the script cannot be read, or if one of its files is wrong and nothing worse was found.
fn survey(path: &Path, settings: &LoadSettings, output: &mut Output) -> Result<Exit, Failure> {
    let failure = |error| runs::load_failure(script::LoadError::Link(error));
    let survey = script::survey(path, settings).map_err(failure)?;
    output.result(&table::table(&path.display().to_string(), &survey, output.style()));
    let lacking = survey.apis.iter().filter(|api| api.lack.is_some()).count();
    let mut mistakes = survey.mistakes.into_iter();
    if lacking > 0 {
        mistakes.for_each(|mistake| output.say(Level::Error, &mask::mask(&mistake.to_string())));
        let sentence = match lacking {
            1 => "the script was not run, since 1 of what it uses is not supported".to_owned(),
            many => format!("the script was not run, since {many} of what it uses are not supported"),
        };
        return Err(Failure::config(sentence));
    }
    let Some(first) = mistakes.next() else { return Ok(Exit::Ok) };
    mistakes.for_each(|mistake| output.say(Level::Error, &mask::mask(&mistake.to_string())));
    Err(masked(&failure(first)))
}

fn masked(failure: &Failure) -> Failure {
    Failure::new(failure.exit, mask::mask(&format!("{:#}", failure.error)))
}

/// One pass of one user through each scenario.
struct Pass {
    plan: Arc<Plan>,
    users: Arc<ScriptUsers>,
    guard: Guard,
}

impl Pass {
    async fn run(self, mut signals: Signals, mut output: Output) -> Result<Exit, Failure> {
        let options = engine::Options {
            workers: 1,
            beginning: crate::session::now(),
            permit: permit(self.guard.clone()),
            samples: None,
        };
        let factory = Arc::new(shown::ShownUsers { users: self.users.clone() });
        let running = engine::start(self.plan.clone(), factory, options).context("cannot start the user")?;
        let mut events = running.events;
        let ended = loop {
            tokio::select! {
                biased;
                () = signals.next() => running.control.stop(if signals.count() > 1 { Stop::Now } else { Stop::Soon }),
                event = events.recv() => match event {
                    Some(Event::Log(line)) => output.script(line.level, &mask::mask(&line.text)),
                    Some(Event::Ended(ended)) => break *ended,
                    Some(_) => {}
                    None => break Ended { reason: EndReason::Stopped, failed: false, summary: Summary::default() },
                },
            }
        };
        self.conclude(ended, signals, output).await
    }

    async fn conclude(self, ended: Ended, signals: Signals, output: Output) -> Result<Exit, Failure> {
        let Ended { reason, failed, summary } = ended;
        let signalled = signals.count() > 0;
        let record = RunRecord::default();
        let mut outcome =
            Outcome { record, reason, failed, signalled, broken_early: None, output, file: None, signals };
        if let Some(destinations) = handled(&mut outcome, &summary, &self.plan, &self.users, &self.guard).await {
            write_all(&mut outcome, &destinations);
        }
        let text = totals(&summary);
        outcome.output.result(&text);
        if let EndReason::Unsupported(text) = &outcome.reason {
            return Err(Failure::config(mask::mask(text)));
        }
        if let Some((exit, sentence)) = outcome.trouble() {
            return sentence.map_or(Ok(exit), |sentence| Err(Failure::new(exit, mask::mask(&sentence))));
        }
        match summary.exceptions_count() {
            0 => Ok(Exit::Ok),
            1 => Err(Failure::new(Exit::ScriptException, "the script threw an exception")),
            many => Err(Failure::new(Exit::ScriptException, format!("the script threw {many} exceptions"))),
        }
    }
}

/// What the pass came to.
fn totals(summary: &Summary) -> String {
    let requests: u64 = summary.endpoints.values().map(|requests| requests.finished).sum();
    let (mut passed, mut failed) = (0, 0);
    let mut groups = vec![&summary.root];
    while let Some(group) = groups.pop() {
        passed += group.checks.iter().map(|check| check.passes).sum::<u64>();
        failed += group.checks.iter().map(|check| check.fails).sum::<u64>();
        groups.extend(&group.groups);
    }
    let threw = summary.exceptions_count();
    format!("one pass: requests {requests}, checks passed {passed}, checks failed {failed}, exceptions {threw}\n")
}

//! `plimsoll run`: a k6 script with k6's options, thresholds, summary and exit codes, and what limited it behind.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use model::plan::Plan;
use model::record::{Entry, Level, RunRecord, StepSpan};
use model::summary::ThresholdState;
use model::unit::Interval;
use model::verdict::Phase;
use script::LoadError;
use script::link::LinkError;
use script::options::{Overrides, ScriptFacts};

use super::{all_or_nothing, can_be_written, pairs, unsupported, watch_specs, write_result};
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::progress;
use crate::record_file::RecordFile;
use crate::session::{Outcome, Session, Settings, Watching};
use crate::signals::Signals;
use crate::target::{Guard, Target, reach, shown};

/// Runs the command.
pub(crate) async fn run(typed: args::Run, mut output: Output) -> Result<Exit, Failure> {
    let mut mistakes = unsupported(&typed.watching, &typed.files);
    if typed.files.json.is_some() {
        mistakes.push("--json is the verdict of `find`: use --summary-export FILE for the summary of `run`".to_owned());
    }
    let specs = watch_specs(&typed.watching.watch, &mut mistakes);
    let env = pairs("--env", &typed.scripting.env, &mut mistakes);
    let tags = pairs("--tag", &typed.tag, &mut mistakes);
    all_or_nothing(&mistakes)?;
    typed.summary_export.as_deref().map_or(Ok(()), can_be_written)?;
    let overrides = overrides(&typed, tags)?;
    let guard = Guard::new(&typed.watching.allow);
    let (plan, factory, address, signals) = match Target::parse(&typed.script)? {
        Target::Url(url) => {
            let address = reach(&url, &guard)?;
            let facts = ScriptFacts { exports: vec!["default".to_owned()], metrics: Vec::new() };
            let nothing = serde_json::Value::Object(serde_json::Map::new());
            let planned = script::options::plan(&shown(&url), &nothing, &facts, &overrides).map_err(options_failure)?;
            let factory = engine::url_users(url.as_str(), Duration::ZERO);
            (warned(planned, &mut output), factory, Some(address), Signals::catch()?)
        }
        Target::Script(path) => {
            let mut signals = Signals::catch()?;
            let loaded = load(&path, &typed.scripting, env, &mut signals).await?;
            loaded.log.iter().for_each(|line| output.script(line.level, &line.text));
            let plan = warned(plan_of(&loaded, &overrides)?, &mut output);
            (plan.clone(), loaded.factory(), None, signals)
        }
    };
    let settings = Settings {
        command: "run",
        plan: plan.clone(),
        factory,
        watching: Watching { target: address, specs },
        guard,
        file: typed.files.record.as_deref().map(RecordFile::create).transpose()?,
        workers: typed.watching.workers.map(usize::from),
    };
    let mut session = Session::begin_with(signals, settings, output)?;
    let ends = planned_end(&plan);
    session.until(None, &|record, elapsed| progress::of(record, "running", elapsed, ends)).await;
    finish(session.conclude().await, &plan, &typed)
}

fn warned((plan, warnings): (Plan, Vec<String>), output: &mut Output) -> Arc<Plan> {
    warnings.iter().for_each(|warning| output.say(Level::Warn, warning));
    Arc::new(plan)
}

/// Judges and prints what came of a run.
fn finish(mut outcome: Outcome, plan: &Plan, typed: &args::Run) -> Result<Exit, Failure> {
    let mut summary = outcome.record.summary.take().unwrap_or_default();
    summary.thresholds = analysis::threshold::judge(&summary, &plan.thresholds);
    let broken: Vec<_> = summary
        .thresholds
        .iter()
        .filter(|result| matches!(result.state, ThresholdState::Failed(_)))
        .map(|result| format!("{} {}", result.selector, result.expression))
        .collect();
    let trouble = outcome.trouble();
    if !typed.no_summary {
        let text = view::text::summary(&summary, plan, outcome.output.style());
        outcome.output.result(&text);
        limit(&outcome.record, &mut outcome.output);
    }
    let exported = match &typed.summary_export {
        Some(path) => write_result(path, &view::json::summary_export(&summary, plan), &mut outcome.output),
        None => Ok(()),
    };
    // What the run itself says comes first: it must not look like a mere trouble with files.
    if let Err(failure) = &exported
        && (trouble.is_some() || !broken.is_empty() || outcome.broken_early.is_some())
    {
        outcome.output.say(Level::Error, &format!("{:#}", failure.error));
    }
    if let Some(file) = &mut outcome.file
        && let Err(sentence) = file.append(&Entry::Summary(Box::new(summary)))
    {
        outcome.output.say(Level::Error, &sentence);
    }
    if let Some((exit, sentence)) = trouble {
        return sentence.map_or(Ok(exit), |sentence| Err(Failure::new(exit, sentence)));
    }
    if !broken.is_empty() || outcome.broken_early.is_some() {
        let sentence = format!("thresholds on metrics '{}' have been broken", broken.join("', '"));
        return Err(Failure::new(Exit::ThresholdsBroken, sentence));
    }
    exported?;
    Ok(if outcome.file.as_ref().is_some_and(|file| !file.complete()) { Exit::Other } else { Exit::Ok })
}

/// Prints what limited a run.
pub(super) fn limit(record: &RunRecord, output: &mut Output) {
    if let Some(span) = whole_run(record) {
        let diagnosis = analysis::diagnose::diagnose(record, &span, None);
        let text = view::text::limit(&diagnosis, output.style());
        output.result(&text);
    }
}

/// The part of a run in which load was offered, as one step.
fn whole_run(record: &RunRecord) -> Option<StepSpan> {
    let loaded = |window: &&model::window::Window| window.requests.finished > 0;
    let (first, last) = (record.windows.iter().find(loaded)?, record.windows.iter().rev().find(loaded)?);
    let whole = Interval::new(first.interval.from, last.interval.to);
    let users = record.windows.iter().map(|window| u64::from(window.users)).max().unwrap_or(0);
    // Users are counted at the end of each second: in a run that is over sooner nobody is left.
    let users = users.max(1);
    Some(StepSpan { phase: Phase::Confirm, users, whole, measured: whole })
}

fn overrides(typed: &args::Run, tags: Vec<(String, String)>) -> Result<Overrides, Failure> {
    let from_env = Overrides::from_env(|name| std::env::var(name).ok()).map_err(options_failure)?;
    let given = |flag: bool| flag.then_some(true);
    let stages = if typed.stage.is_empty() {
        None
    } else {
        Some(
            script::options::parse_stages(&typed.stage.join(","))
                .map_err(|error| Failure::config(format!("--stage: {error}")))?,
        )
    };
    Ok(from_env.merge(Overrides {
        vus: typed.vus,
        duration: typed.duration,
        iterations: typed.iterations,
        stages,
        no_setup: given(typed.no_setup),
        no_teardown: given(typed.no_teardown),
        no_thresholds: given(typed.no_thresholds),
        max_redirects: typed.max_redirects,
        user_agent: typed.user_agent.clone(),
        throw: given(typed.throw),
        discard_response_bodies: given(typed.discard_response_bodies),
        insecure_skip_tls_verify: given(typed.insecure_skip_tls_verify),
        no_connection_reuse: given(typed.no_connection_reuse),
        no_vu_connection_reuse: given(typed.no_vu_connection_reuse),
        min_iteration_duration: typed.min_iteration_duration,
        summary_trend_stats: typed.summary_trend_stats.clone(),
        summary_time_unit: typed.summary_time_unit.clone(),
        tags: (!tags.is_empty()).then(|| tags.into_iter().collect()),
        ..Overrides::default()
    }))
}

fn options_failure(error: script::options::OptionsError) -> Failure {
    Failure { exit: Exit::InvalidConfig, error: error.into() }
}

/// Stack of the thread that runs the init code once: as much as the main thread usually has.
const INIT_STACK_BYTES: usize = 8 * 1024 * 1024;

/// Loads a script: its modules are linked and its init code runs once, on a thread that is left alone if a signal comes
/// meanwhile: nothing else ends an endless loop.
///
/// # Errors
/// k6's exit codes: 107 for a script that does not parse or throws, 255 for a file that is missing; 105 for a signal.
pub(crate) async fn load(
    path: &Path,
    flags: &args::Script,
    env: Vec<(String, String)>,
    signals: &mut Signals,
) -> Result<script::Loaded, Failure> {
    let mut all: std::collections::BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    all.extend(env);
    let began = crate::session::now();
    let settings = script::LoadSettings {
        env: all,
        isolation: match flags.isolation {
            args::Isolation::Shared => script::Isolation::Shared,
            args::Isolation::Full => script::Isolation::Full,
        },
        stack_bytes: flags.stack_size as usize * 1024,
        clock: Some(Arc::new(move || crate::session::now().duration_since(began))),
        secrets: crate::secret::sources(&flags.secret_source)?,
    };
    let (hand, loaded) = tokio::sync::oneshot::channel();
    let entry = path.to_owned();
    let thread = std::thread::Builder::new().name("script".to_owned()).stack_size(INIT_STACK_BYTES);
    thread
        .spawn(move || {
            // Nobody listens any more if a signal came.
            let _ = hand.send(script::load(&entry, settings));
        })
        .context("cannot start a thread for the script")?;
    tokio::select! {
        biased;
        () = signals.next() => {
            Err(Failure::new(Exit::Stopped, format!("stopped while the init code of {} ran", path.display())))
        }
        loaded = loaded => loaded
            .context("loading the script ended unexpectedly")?
            .map_err(|error| Failure { exit: load_exit(&error), error: error.into() }),
    }
}

/// k6's code for a script that cannot be run.
fn load_exit(error: &LoadError) -> Exit {
    match error {
        LoadError::Link(
            LinkError::Syntax { .. } | LinkError::Import { .. } | LinkError::FileMissing { importer: Some(_), .. },
        )
        | LoadError::Init(_) => Exit::ScriptException,
        LoadError::Link(LinkError::Unsupported { .. }) => Exit::InvalidConfig,
        LoadError::Aborted(_) => Exit::Aborted,
        LoadError::Link(LinkError::FileMissing { importer: None, .. })
        | LoadError::NoFunction { .. }
        | LoadError::Engine(_) => Exit::Other,
    }
}

/// The plan that a script asks for.
///
/// # Errors
/// 104 with all mistakes at once.
pub(crate) fn plan_of(loaded: &script::Loaded, overrides: &Overrides) -> Result<(Plan, Vec<String>), Failure> {
    loaded.plan(overrides).map_err(options_failure)
}

fn planned_end(plan: &Plan) -> Option<Duration> {
    let ends = plan.scenarios.iter().map(|scenario| Some(scenario.start_time + scenario.executor.duration()?));
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_known_only_if_every_scenario_ends() {
        let mut plan =
            crate::command::find::plan("x", &[], crate::command::find::scenario("default", 1), Default::default());
        assert_eq!(planned_end(&plan), None);
        plan.scenarios[0].executor = model::plan::Executor::ConstantVus { vus: 1, duration: Duration::from_secs(9) };
        plan.scenarios[0].start_time = Duration::from_secs(2);
        assert_eq!(planned_end(&plan), Some(Duration::from_secs(11)));
    }
}

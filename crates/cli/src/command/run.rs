//! `plimsoll run`: a k6 script with k6's options, thresholds, summary and exit codes, and what limited it behind.

mod options;
mod outputs;
pub(super) mod results;
pub(super) mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use engine::user::UserFactory;
use model::plan::Plan;
use model::record::{Level, RunRecord, StepSpan};
use model::unit::Interval;
use model::verdict::Phase;
use script::LoadError;
use script::link::LinkError;
use script::options::{Overrides, Planned, ScriptFacts};

use super::{all_or_nothing, can_be_written, pairs, unsupported, watch_specs};
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::progress;
use crate::record_file::RecordFile;
use crate::session::{Session, Settings, Watching};
use crate::signals::Signals;
use crate::target::{Guard, Target, reach, shown};
use outputs::Outputs;
use results::Wishes;

/// Runs the command.
pub(crate) async fn run(typed: args::Run, mut output: Output) -> Result<Exit, Failure> {
    let mut mistakes = unsupported(&typed.watching, &typed.files);
    if typed.files.json.is_some() {
        mistakes.push("--json is the verdict of `find`: use --summary-export FILE for the summary of `run`".to_owned());
    }
    let specs = watch_specs(&typed.watching.watch, &mut mistakes);
    let env = pairs("--env", &typed.scripting.env, &mut mistakes);
    options::refuse(&typed, &mut mistakes);
    all_or_nothing(&mistakes)?;
    let export = typed.summary_export.clone().or_else(|| variable("K6_SUMMARY_EXPORT").map(PathBuf::from));
    export.as_deref().map_or(Ok(()), can_be_written)?;
    let mut overrides = options::overrides(&typed)?;
    options::log_to(&typed.logging, &overrides, &mut output)?;
    if typed.k6.address.is_some() {
        output.say(Level::Info, "--address has no effect: there is no REST server");
    }
    let wanted = outputs::wanted(&typed.out)?;
    let guard = Guard::new(&typed.watching.allow);
    let source = source::Source::parse(&typed.script, typed.k6.kind.as_deref())?;
    overrides.archive = source.options;
    let (plan, users, address, signals) = match source.target {
        Target::Url(url) => {
            let facts = ScriptFacts { exports: vec!["default".to_owned()], metrics: Vec::new() };
            let nothing = serde_json::Value::Object(serde_json::Map::new());
            let planned: Planned =
                script::options::plan(&shown(&url), &nothing, &facts, &overrides).map_err(options_failure)?;
            let plan = warned((planned.plan, planned.warnings), &typed.connections, &mut output);
            let address = reach(&url, &plan.network, &guard)?;
            (plan, Users::Url(url), address, Signals::catch()?)
        }
        Target::Script(path) => {
            let mut signals = Signals::catch()?;
            let settings = settings(&typed.scripting, environment(typed.k6.include_system_env_vars, source.env, env))?;
            let settings = script::LoadSettings { files: source.files, ..settings };
            let loaded = load(&path, settings, &mut signals).await?;
            loaded.log.iter().for_each(|line| output.script(line.level, &line.text));
            let plan = warned(plan_of(&loaded, &overrides)?, &typed.connections, &mut output);
            (plan, Users::Script(loaded.factory()), None, signals)
        }
    };
    let mut outputs = Outputs::start(wanted, &plan)?;
    let settings = Settings {
        command: "run",
        plan: plan.clone(),
        factory: users.factory(),
        watching: Watching { target: address, specs },
        guard: guard.clone(),
        file: typed.files.record.as_deref().map(RecordFile::create).transpose()?,
        workers: typed.watching.workers.map(usize::from),
        samples: outputs.as_mut().and_then(Outputs::sender),
        notices: outputs.as_mut().and_then(Outputs::notices),
    };
    let mut session = Session::begin_with(signals, settings, output)?;
    let ends = planned_end(&plan);
    session.until(None, &|record, elapsed| progress::of(record, "running", elapsed, ends)).await;
    let outcome = session.conclude().await;
    let wishes = Wishes { plan, users, guard, export, fail_on_exceptions: typed.fail_on_exceptions };
    results::finish(outcome, outputs, &wishes).await
}

/// Who offers the load.
enum Users {
    Url(url::Url),
    Script(Arc<script::ScriptUsers>),
}

impl Users {
    fn factory(&self) -> Arc<dyn UserFactory> {
        match self {
            Self::Url(url) => engine::url_users(url.as_str(), Duration::ZERO),
            Self::Script(users) => users.clone(),
        }
    }
}

fn warned(
    (mut plan, warnings): (Plan, Vec<String>),
    connections: &args::Connections,
    output: &mut Output,
) -> Arc<Plan> {
    connections.apply(&mut plan.http);
    warnings.iter().for_each(|warning| output.say(Level::Warn, warning));
    Arc::new(plan)
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

/// A variable of the environment that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

pub(super) fn options_failure(error: script::options::OptionsError) -> Failure {
    Failure { exit: Exit::InvalidConfig, error: error.into() }
}

/// Stack of the thread that runs the init code once: as much as the main thread usually has.
const INIT_STACK_BYTES: usize = 8 * 1024 * 1024;

/// What `__ENV` is: weaker variables first.
pub(crate) fn environment(
    include_system: bool,
    archived: BTreeMap<String, String>,
    typed: Vec<(String, String)>,
) -> BTreeMap<String, String> {
    let system = std::env::vars_os().filter(|_| include_system);
    let system = system.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    archived.into_iter().chain(system).chain(typed).collect()
}

/// How a script is loaded.
pub(crate) fn settings(flags: &args::Script, env: BTreeMap<String, String>) -> Result<script::LoadSettings, Failure> {
    let began = crate::session::now();
    Ok(script::LoadSettings {
        env,
        isolation: match flags.isolation {
            args::Isolation::Shared => script::Isolation::Shared,
            args::Isolation::Full => script::Isolation::Full,
        },
        stack_bytes: flags.stack_size as usize * 1024,
        memory_per_user_bytes: flags.memory_per_user as usize * 1024 * 1024,
        clock: Some(Arc::new(move || crate::session::now().duration_since(began))),
        modules: crate::modules::settings(flags),
        secrets: crate::secret::sources(&flags.secret_source)?,
        ..script::LoadSettings::default()
    })
}

/// Loads a script: its modules are linked and its init code runs once, on a thread that is left alone if a signal comes
/// meanwhile: nothing else ends an endless loop.
///
/// # Errors
/// k6's exit codes: 107 for a script that does not parse or throws, 255 for a file that is missing; 105 for a signal.
pub(crate) async fn load(
    path: &Path,
    settings: script::LoadSettings,
    signals: &mut Signals,
) -> Result<script::Loaded, Failure> {
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
            .map_err(load_failure),
    }
}

/// Why a script cannot be run, with k6's code for it.
pub(super) fn load_failure(error: LoadError) -> Failure {
    Failure { exit: load_exit(&error), error: error.into() }
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

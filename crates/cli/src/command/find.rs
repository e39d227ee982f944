//! `plimsoll find`: the search loop. The only place where the judgement of a step becomes the next load.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use analysis::search::{Move, Order, Search};
use engine::user::UserFactory;
use model::expression::Promise;
use model::network::NetworkSettings;
use model::plan::{Executor, HttpSettings, Plan, Scenario, SearchLimits};
use model::record::{Entry, Level, RunRecord, StepSpan};
use model::unit::{Interval, Moment};
use model::verdict::{CapacityState, Phase, Verdict};
use view::live::Progress;

use super::{all_or_nothing, can_be_written, pairs, unsupported, watch_specs, write_result};
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::progress;
use crate::record_file::RecordFile;
use crate::session::{Outcome, Reached, Session, Settings, Watching, measured};
use crate::signals::Signals;
use crate::target::{Guard, Target, reach, shown};

const DEFAULT_PROMISES: [&str; 2] = ["http_req_duration: p(90)<500", "http_req_failed: rate<0.01"];

/// A search, resolved.
pub(crate) struct Wish {
    /// What is offered.
    pub(crate) plan: Arc<Plan>,
    /// Who offers it.
    pub(crate) factory: Arc<dyn UserFactory>,
    /// What to watch.
    pub(crate) watching: Watching,
    /// Which hosts may be loaded.
    pub(crate) guard: Guard,
    /// How to search.
    pub(crate) search: analysis::search::Settings,
    /// Signals that are caught already.
    pub(crate) signals: Signals,
    /// Worker threads.
    pub(crate) workers: Option<usize>,
    /// Where the record goes.
    pub(crate) file: Option<RecordFile>,
}

/// Runs the command.
pub(crate) async fn run(typed: args::Find, output: Output) -> Result<Exit, Failure> {
    let mut output = output;
    let json = typed.files.json.clone();
    let wish = resolve(&typed, &mut output).await?;
    let (verdict, mut outcome) = search(wish, output).await?;
    if let Some((exit, Some(sentence))) = outcome.trouble() {
        return Err(Failure::new(exit, sentence));
    }
    if json.as_deref() != Some(Path::new("-")) {
        let text = view::text::verdict(&verdict, outcome.output.style());
        outcome.output.result(&text);
    }
    if let Some(path) = json {
        write_result(&path, &view::json::verdict(&verdict), &mut outcome.output)?;
    }
    Ok(exit(&verdict, &outcome))
}

fn exit(verdict: &Verdict, outcome: &Outcome) -> Exit {
    if let Some((exit, _)) = outcome.trouble() {
        return exit;
    }
    match verdict.capacity.state {
        CapacityState::GeneratorLimited => Exit::GeneratorLimited,
        CapacityState::Undecided => Exit::Undecided,
        CapacityState::Crashed => Exit::Other,
        _ if outcome.file.as_ref().is_some_and(|file| !file.complete()) => Exit::Other,
        CapacityState::Found | CapacityState::AtLeast | CapacityState::Floor => Exit::Ok,
    }
}

/// Turns what was typed into what is meant.
async fn resolve(typed: &args::Find, output: &mut Output) -> Result<Wish, Failure> {
    let mut mistakes = unsupported(&typed.watching, &typed.files);
    if typed.mode == args::Mode::Rate {
        mistakes.push("--mode rate is not supported yet: use --mode users".to_owned());
    }
    if typed.rate_max.is_some() {
        mistakes.push("--rate-max is not supported yet, as --mode rate is not: use --users-max".to_owned());
    }
    let specs = watch_specs(&typed.watching.watch, &mut mistakes);
    let env = pairs("--env", &typed.script.env, &mut mistakes);
    let promises = promises(&typed.slo, &mut mistakes);
    mistakes.extend(too_short(&typed.budget));
    let guard = Guard::new(&typed.watching.allow);
    let target = Target::parse(&typed.target);
    if let Err(failure) = &target {
        mistakes.push(failure.error.to_string());
    }
    if mistakes.len() > usize::from(target.is_err()) {
        all_or_nothing(&mistakes)?;
    }
    typed.files.json.as_deref().map_or(Ok(()), can_be_written)?;
    said_of_promises(&typed.slo, &promises, output);
    let max = typed.users_max;
    let (mut plan, factory, address, signals) = match target? {
        Target::Url(url) => {
            let address = reach(&url, &NetworkSettings::default(), &guard)?;
            let plan = plan(&shown(&url), &promises, scenario("default", max), HttpSettings::default());
            (plan, engine::url_users(url.as_str(), typed.think), address, Signals::catch()?)
        }
        Target::Script(path) => {
            if !typed.think.is_zero() {
                return Err(Failure::config("--think is for URL targets: a script thinks with sleep()"));
            }
            let mut signals = Signals::catch()?;
            let env = super::run::environment(true, Default::default(), env);
            let settings = super::run::settings(&typed.script, env)?;
            let loaded = super::run::load(&path, settings, &mut signals).await?;
            loaded.log.iter().for_each(|line| output.script(line.level, &line.text));
            let (mut plan, warnings) = super::run::plan_of(&loaded, &script::options::Overrides::default())?;
            warnings.iter().for_each(|warning| output.say(Level::Warn, warning));
            if let Some(sentence) = unused(&typed.target, &loaded.options) {
                output.say(Level::Info, &sentence);
            }
            plan.scenarios = vec![scenario(&only_exec(&plan)?, max)];
            plan.promises.clone_from(&promises);
            plan.thresholds.clear();
            (plan, loaded.factory() as Arc<dyn UserFactory>, None, signals)
        }
    };
    check_metrics(&plan)?;
    let budget = typed.budget.length;
    let limits = SearchLimits {
        users_max: u64::from(max),
        budget: if typed.quick { budget.min(Duration::from_secs(90)) } else { budget },
        quick: typed.quick,
        allow_crash: typed.allow_crash,
    };
    plan.search = Some(limits);
    typed.connections.apply(&mut plan.http);
    Ok(Wish {
        plan: Arc::new(plan),
        factory,
        watching: Watching { target: address, specs },
        guard,
        search: settings(limits),
        signals,
        workers: typed.watching.workers.map(usize::from),
        file: typed.files.record.as_deref().map(RecordFile::create).transpose()?,
    })
}

/// How to search, as the record keeps it.
pub(super) fn settings(limits: SearchLimits) -> analysis::search::Settings {
    let SearchLimits { users_max, budget, quick, allow_crash } = limits;
    analysis::search::Settings { users_max, budget, quick, allow_crash }
}

/// Says so if the budget is too short. A number without a unit is the likely mistake.
fn too_short(budget: &args::Spelled) -> Option<String> {
    if budget.length >= Duration::from_secs(30) {
        return None;
    }
    let text = budget.text.trim();
    Some(if text.parse::<f64>().is_ok() {
        let milliseconds = "a number without a unit is milliseconds, as in k6";
        format!("--budget {text} means {text} ms ({milliseconds}); a search needs at least 30s: did you mean {text}s?")
    } else {
        format!("--budget {text}: a search needs at least 30s")
    })
}

/// Says which default promises do not hold since others were given: failed requests are easily forgotten, and fast.
fn said_of_promises(texts: &[String], promises: &[Promise], output: &mut Output) {
    let is_given = |default: &&str| {
        let metric = default.split(':').next().unwrap_or_default();
        promises.iter().any(|promise| promise.selector.metric == metric)
    };
    let gone: Vec<_> = DEFAULT_PROMISES.iter().copied().filter(|default| !is_given(default)).collect();
    if texts.is_empty() || gone.is_empty() {
        return;
    }
    let again: Vec<_> = gone.iter().map(|promise| format!("--slo '{promise}'")).collect();
    output.say(Level::Info, &format!("--slo replaces both default promises; still wanted? Add {}", again.join(" ")));
}

/// Says which of a script's own options `find` does not use, if it has such.
fn unused(script: &str, options: &serde_json::Value) -> Option<String> {
    const REPLACED: [&str; 6] = ["vus", "duration", "iterations", "stages", "scenarios", "thresholds"];
    let own: Vec<_> = REPLACED.into_iter().filter(|name| options.get(name).is_some()).collect();
    let own = match own.split_last()? {
        (only, []) => (*only).to_owned(),
        (last, others) => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("not used of {script}: {own}; find sets the number of users itself and judges by --slo"))
}

fn promises(texts: &[String], mistakes: &mut Vec<String>) -> Vec<Promise> {
    let defaults: Vec<String> = DEFAULT_PROMISES.map(str::to_owned).into();
    let texts = if texts.is_empty() { &defaults } else { texts };
    let mut promises = Vec::new();
    for text in texts {
        match text.parse::<Promise>() {
            Ok(promise) if promise.exceedance().is_none() => mistakes.push(format!(
                "--slo `{text}`: a promise is judged request by request, so it must be a percentile below a limit \
                 (p(90)<500, med<200, max<1000) or a rate (rate<0.01, rate>0.99)"
            )),
            Ok(promise) => promises.push(promise),
            Err(error) => mistakes.push(format!("--slo: {error}")),
        }
    }
    promises
}

fn check_metrics(plan: &Plan) -> Result<(), Failure> {
    let mut mistakes = Vec::new();
    for promise in &plan.promises {
        match plan.metrics.iter().find(|metric| metric.name == promise.selector.metric) {
            None => {
                let names: Vec<_> = plan.metrics.iter().map(|metric| metric.name.as_str()).collect();
                let known = names.join(", ");
                mistakes.push(format!(
                    "--slo `{promise}`: there is no metric {} (there are {known})",
                    promise.selector.metric
                ));
            }
            Some(metric) if !promise.expression.aggregation.fits(metric.kind) => {
                let (aggregation, name) = (promise.expression.aggregation, &metric.name);
                mistakes.push(format!("--slo `{promise}`: {name} is a {:?} and has no {aggregation}", metric.kind));
            }
            Some(_) => {}
        }
    }
    all_or_nothing(&mistakes)
}

/// `find` replaces the scenarios of a script by users that all do the same: it must be clear what.
fn only_exec(plan: &Plan) -> Result<String, Failure> {
    let mut names: Vec<&str> = plan.scenarios.iter().map(|scenario| scenario.exec.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [only] => Ok((*only).to_owned()),
        many => Err(Failure::config(format!(
            "find offers one kind of user, this script has scenarios that run {}: keep one scenario, or call the others from it",
            many.join(", ")
        ))),
    }
}

/// Users whose number is set from outside.
pub(crate) fn scenario(exec: &str, max_vus: u32) -> Scenario {
    Scenario {
        name: "default".to_owned(),
        executor: Executor::ExternallyControlled { vus: 0, max_vus, duration: None },
        exec: exec.to_owned(),
        start_time: Duration::ZERO,
        graceful_stop: Duration::from_secs(5),
        env: Default::default(),
        tags: Default::default(),
    }
}

/// A plan for one scenario without a script.
pub(crate) fn plan(target: &str, promises: &[Promise], scenario: Scenario, http: HttpSettings) -> Plan {
    Plan { target: target.to_owned(), scenarios: vec![scenario], promises: promises.to_vec(), http, ..Plan::default() }
}

/// The promises of `find` when nothing else is said.
pub(crate) fn default_promises() -> Vec<Promise> {
    promises(&[], &mut Vec::new())
}

/// Searches, and gives the verdict even if the search was cut short.
///
/// # Errors
/// If the load cannot begin.
pub(crate) async fn search(wish: Wish, output: Output) -> Result<(Verdict, Outcome), Failure> {
    let mut search = Search::new(wish.search);
    let mut session = Session::begin_with(
        wish.signals,
        Settings {
            command: "find",
            plan: wish.plan,
            factory: wish.factory,
            watching: wish.watching,
            guard: wish.guard,
            file: wish.file,
            workers: wish.workers,
            samples: None,
            notices: None,
        },
        output,
    )?;
    steps(&mut search, &mut session).await;
    let duration = session.elapsed();
    let mut outcome = session.finish().await;
    let verdict = analysis::verdict(&outcome.record, &search, duration);
    if let Some(file) = &mut outcome.file
        && let Err(sentence) = file.append(&Entry::Verdict(Box::new(verdict.clone())))
    {
        outcome.output.say(Level::Error, &sentence);
    }
    Ok((verdict, outcome))
}

/// Takes steps until the search has its answer or the run ends.
pub(crate) async fn steps(search: &mut Search, session: &mut Session) {
    loop {
        let elapsed = session.elapsed();
        let left = search.time_left(elapsed);
        match search.next(&session.record, elapsed) {
            Move::Done => return,
            Move::Step(order) => {
                if hold(session, order, elapsed + left).await == Reached::End {
                    return;
                }
            }
            Move::Extend(length) => {
                let Some(mut span) = session.record.steps.last().copied() else { return };
                span.measured.to = span.measured.to + length;
                span.whole.to = span.measured.to;
                let progress = progress(span.phase, elapsed + left);
                if session.until(Some(span.measured.to), &progress).await == Reached::End {
                    return;
                }
                session.step(span);
            }
        }
    }
}

/// Takes one step and puts it into the record. Whoever still waits for an answer when a lighter step has settled got
/// stuck under the heavier load before it and is replaced: the step is about those that it would have carried.
pub(crate) async fn hold(session: &mut Session, order: Order, ends: Duration) -> Reached {
    let from = Moment::after(session.elapsed());
    let before = session.set_users(order.users);
    let measured = measured(from, order.settle, order.length);
    let progress = progress(order.phase, ends);
    if order.users < before {
        if session.until(Some(measured.from), &progress).await == Reached::End {
            return Reached::End;
        }
        session.relieve(from);
    }
    let reached = session.until(Some(measured.to), &progress).await;
    let whole = Interval::new(from, measured.to);
    if reached == Reached::Moment {
        session.step(StepSpan { phase: order.phase, users: order.users, whole, measured });
    }
    reached
}

fn progress(phase: Phase, ends: Duration) -> impl Fn(&RunRecord, Duration) -> Progress {
    let phase = format!("{phase:?}").to_lowercase();
    move |record, elapsed| progress::of(record, &phase, elapsed, Some(ends))
}

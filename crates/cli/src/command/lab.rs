//! `plimsoll lab`: starts a story's services, searches and climbs the story's ladder of users, prints its table.

use std::sync::Arc;
use std::time::Duration;

use analysis::search::{Order, Search};
use model::lab::{LabReport, LabRow, SCHEMA};
use model::plan::HttpSettings;
use model::record::{Level, StepSpan};
use model::verdict::Phase;

use super::find::{default_promises, hold, plan, scenario, steps};
use super::write_result;
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::service::Service;
use crate::session::{Reached, Session, Settings, Watching};
use crate::target::{Guard, reach};

/// One stage of the story.
struct Stage {
    name: &'static str,
    service: Vec<String>,
    path: &'static str,
}

/// How long and how high.
struct Effort {
    search: Duration,
    quick: bool,
    ladder: &'static [u64],
    settle: Duration,
    length: Duration,
}

fn effort(typed: &args::Lab) -> Effort {
    let seconds = Duration::from_secs;
    if typed.full {
        let ladder = &[1_000, 2_500, 5_000, 7_500, 10_000];
        return Effort { search: seconds(180), quick: false, ladder, settle: seconds(5), length: seconds(30) };
    }
    if typed.quick {
        let ladder = &[10, 100, 1_000];
        return Effort { search: seconds(45), quick: true, ladder, settle: seconds(2), length: seconds(5) };
    }
    let ladder = &[100, 1_000, 2_500, 5_000];
    Effort { search: seconds(90), quick: true, ladder, settle: seconds(3), length: seconds(15) }
}

fn stages(typed: &args::Lab) -> [Stage; 3] {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let pool = format!("laptop --pool {}", typed.pool);
    let link = format!("{pool} --behind-link {},{}ms", typed.link_rate, typed.link_delay.as_millis());
    let uuid = "/uuid/17";
    [
        Stage { name: "age-local", service: words("laptop --no-database"), path: "/age?birthdate=1990-02-28" },
        Stage { name: "uuid-local", service: words(&pool), path: uuid },
        Stage { name: "uuid-remote", service: words(&link), path: uuid },
    ]
}

/// Runs the command.
pub(crate) async fn run(typed: args::Lab, output: Output) -> Result<Exit, Failure> {
    if typed.story == args::Story::Signin {
        return Err(Failure::config("`plimsoll lab signin` is not supported yet: use `plimsoll lab laptop`"));
    }
    let effort = effort(&typed);
    let mut report = LabReport {
        schema: SCHEMA.to_owned(),
        story: "laptop".to_owned(),
        machine: crate::machine::machine(),
        rows: Vec::new(),
        verdicts: Vec::new(),
        because: Vec::new(),
    };
    let mut output = Some(output);
    for stage in stages(&typed) {
        let mut screen = output.take().expect("every stage gives the screen back");
        screen.say(Level::Info, &format!("stage {}: plimsoll-lab {}", stage.name, stage.service.join(" ")));
        let ended = match Service::start(&stage.service).await {
            Ok(service) => {
                let ended = climb(&stage, &service, &effort, screen, &mut report).await;
                service.stop().await;
                ended?
            }
            Err(error) => {
                let skipped = Some(format!("{error:#}"));
                report.rows.push(LabRow { stage: stage.name.to_owned(), skipped, ..LabRow::default() });
                (screen, None)
            }
        };
        output = Some(ended.0);
        if let Some(exit) = ended.1 {
            return conclude(&report, &typed, output, exit);
        }
    }
    let nothing_ran = report.verdicts.is_empty();
    conclude(&report, &typed, output, if nothing_ran { Exit::Other } else { Exit::Ok })
}

fn conclude(report: &LabReport, typed: &args::Lab, output: Option<Output>, exit: Exit) -> Result<Exit, Failure> {
    let mut output = output.expect("the last stage gave the screen back");
    if typed.json.as_deref() != Some(std::path::Path::new("-")) {
        let text = view::text::lab(report, output.style());
        output.result(&text);
    }
    if let Some(path) = &typed.json {
        write_result(path, &view::json::lab(report), &mut output)?;
    }
    Ok(exit)
}

/// Searches one stage and climbs its ladder. Gives the screen back, and an exit code if the story ends here.
async fn climb(
    stage: &Stage,
    service: &Service,
    effort: &Effort,
    output: Output,
    report: &mut LabReport,
) -> Result<(Output, Option<Exit>), Failure> {
    let guard = Guard::default();
    let url = format!("{}{}", service.ready.url, stage.path);
    let url = url::Url::parse(&url).map_err(anyhow::Error::from)?;
    let address = reach(&url, &model::network::NetworkSettings::default(), &guard)?;
    let top = effort.ladder.iter().copied().max().unwrap_or(1_000).max(10_000);
    let users_max = u32::try_from(top).unwrap_or(u32::MAX);
    let plan = plan(url.as_str(), &default_promises(), scenario("default", users_max), HttpSettings::default());
    let pid = service.ready.service_pid.unwrap_or(service.ready.pid);
    let specs = vec![probe::WatchSpec { name: Some("svc".to_owned()), what: probe::What::Pid(pid) }];
    let settings = Settings {
        command: "lab",
        plan: Arc::new(plan),
        factory: engine::url_users(url.as_str(), Duration::ZERO),
        watching: Watching { target: address, specs },
        guard,
        file: None,
        workers: None,
        samples: None,
        notices: None,
    };
    let mut search = Search::new(analysis::search::Settings {
        users_max: top,
        budget: effort.search,
        quick: effort.quick,
        allow_crash: false,
    });
    let mut session = Session::begin(settings, output)?;
    steps(&mut search, &mut session).await;
    let searched = session.elapsed();
    let mut rungs = Vec::new();
    let ends = searched + (effort.settle + effort.length) * u32::try_from(effort.ladder.len()).unwrap_or(1);
    for &users in effort.ladder {
        let order = Order { phase: Phase::Trial, users, settle: effort.settle, length: effort.length };
        if hold(&mut session, order, ends).await == Reached::End {
            break;
        }
        rungs.extend(session.record.steps.pop());
    }
    let outcome = session.finish().await;
    let verdict = analysis::verdict(&outcome.record, &search, searched);
    let baseline = outcome.record.steps.iter().find(|step| step.phase == Phase::Baseline).copied();
    report.rows.extend(rungs.iter().map(|span| row(stage, &outcome, span, baseline.as_ref(), &verdict)));
    report.because.push((stage.name.to_owned(), verdict.bottleneck.sentence.clone()));
    report.verdicts.push(verdict);
    match outcome.trouble() {
        Some((exit, Some(sentence))) => Err(Failure::new(exit, sentence)),
        Some((exit, None)) => Ok((outcome.output, Some(exit))),
        None => Ok((outcome.output, None)),
    }
}

fn row(
    stage: &Stage,
    outcome: &crate::session::Outcome,
    span: &StepSpan,
    baseline: Option<&StepSpan>,
    verdict: &model::verdict::Verdict,
) -> LabRow {
    let step = analysis::step::measure(&outcome.record, span).to_step();
    // Below the limit nothing stops the service: a row names a bottleneck only once throughput no longer grows.
    let knee = verdict.peak.users.min(verdict.capacity.users).max(1);
    let stopped = step.rate_per_s >= 0.9 * verdict.peak.rate_per_s || step.users >= knee;
    let bottleneck = if stopped {
        analysis::diagnose::diagnose(&outcome.record, span, baseline).bottleneck.id
    } else {
        "pattern.none".to_owned()
    };
    LabRow {
        stage: stage.name.to_owned(),
        users: step.users,
        rate_per_s: step.rate_per_s,
        requests: step.requests,
        failed: step.failed,
        latency_ms: step.latency_ms,
        bottleneck: Some(bottleneck),
        skipped: None,
    }
}

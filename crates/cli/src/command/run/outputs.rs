//! Outputs of `run`: what `--out` and `K6_OUT` ask for is started with the run and ended with it.

use std::sync::Arc;

use anyhow::Context;
use model::plan::Plan;
use model::record::Level;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::variable;
use crate::exit::Failure;
use crate::session::Outcome;
use crate::signals::Signals;

/// Outputs at work.
pub(super) struct Outputs {
    outputs: sink::Outputs,
    sender: Option<engine::SampleSender>,
    notices: Option<UnboundedReceiver<String>>,
    lost: engine::Lost,
}

/// What is wanted: by flags, else by the environment.
///
/// # Errors
/// All mistakes at once.
pub(super) fn wanted(flags: &[String]) -> Result<Vec<sink::Wish>, Failure> {
    let from_env = variable("K6_OUT").filter(|_| flags.is_empty());
    let from_env: Vec<String> = from_env.iter().flat_map(|all| all.split(',')).map(str::to_owned).collect();
    let (label, texts) = if flags.is_empty() { ("K6_OUT", from_env.as_slice()) } else { ("--out", flags) };
    let (mut wishes, mut mistakes) = (Vec::new(), Vec::new());
    for text in texts {
        match sink::parse(text, &|name| variable(name)) {
            Ok(wish) => wishes.push(wish),
            Err(error) => mistakes.push(format!("{label}: {error}")),
        }
    }
    crate::command::all_or_nothing(&mistakes)?;
    Ok(wishes)
}

impl Outputs {
    /// Starts them; `None` if there are none.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub(super) fn start(wishes: Vec<sink::Wish>, plan: &Arc<Plan>) -> Result<Option<Self>, Failure> {
        if wishes.is_empty() {
            return Ok(None);
        }
        let (sender, receiver) = engine::sample_stream();
        let (notes, notices) = unbounded_channel();
        let say = Arc::new(move |text| {
            // Nobody listens any more behind the end.
            let _ = notes.send(text);
        });
        let setting = sink::Setting { plan: plan.clone(), began_ns: crate::machine::unix_ns(), say };
        let outputs = sink::start(wishes, &setting, receiver.batches).context("cannot start an output")?;
        Ok(Some(Self { outputs, sender: Some(sender), notices: Some(notices), lost: receiver.lost }))
    }

    /// The engine's end, once.
    pub(super) fn sender(&mut self) -> Option<engine::SampleSender> {
        self.sender.take()
    }

    /// What they say meanwhile, once.
    pub(super) fn notices(&mut self) -> Option<UnboundedReceiver<String>> {
        self.notices.take()
    }

    /// Waits for them, unless a second signal comes; says what went wrong, and returns whether a file lacks samples.
    pub(super) async fn finish(self, outcome: &mut Outcome) -> bool {
        let lost = self.lost.count();
        let outputs = self.outputs;
        let report = tokio::select! {
            biased;
            () = hurried(&mut outcome.signals) => None,
            report = tokio::task::spawn_blocking(move || outputs.finish(lost)) => report.ok(),
        };
        let report = report.unwrap_or_else(|| sink::Report {
            troubles: vec!["outputs were not ended in order: they may lack samples".to_owned()],
            is_incomplete: true,
        });
        report.troubles.iter().for_each(|sentence| outcome.output.say(Level::Error, sentence));
        report.is_incomplete
    }
}

/// The first signal means the load, which is over: only the next one means us.
async fn hurried(signals: &mut Signals) {
    let enough = (signals.count() + 1).max(2);
    while signals.count() < enough {
        signals.next().await;
    }
}

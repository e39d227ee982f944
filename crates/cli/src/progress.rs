//! What the live line says of the last second.

use std::time::Duration;

use model::record::RunRecord;
use model::unit::Interval;
use view::live::Progress;

/// How far back the suspect of the moment is looked for.
const RECENT: Duration = Duration::from_secs(3);

/// The last window in numbers, with the suspect of the moment. `ends` is when the run is to end, if that is known.
pub(crate) fn of(record: &RunRecord, phase: &str, elapsed: Duration, ends: Option<Duration>) -> Progress {
    let mut progress = Progress {
        phase: phase.to_owned(),
        elapsed,
        left: ends.map(|ends| ends.saturating_sub(elapsed)),
        done_share: ends.map(|ends| (elapsed.as_secs_f64() / ends.as_secs_f64().max(0.001)).min(1.0)),
        ..Progress::default()
    };
    let Some(window) = record.windows.last() else { return progress };
    let requests = &window.requests;
    progress.users = u64::from(window.users);
    progress.rate_per_s = requests.finished as f64 / window.interval.seconds().max(0.001);
    if requests.finished > 0 {
        progress.p90_ms = Some(requests.duration.percentile_ms(90.0));
        progress.failed_share = requests.failed as f64 / requests.finished as f64;
    }
    let recent = Interval::new(window.interval.to - RECENT, window.interval.to);
    progress.suspect = analysis::diagnose::suspect(record, recent).map(|(id, words)| format!("{id} ({words})"));
    progress
}

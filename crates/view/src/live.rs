//! The state of a run while it goes on: one or two lines that are redrawn in place on a terminal, plain lines
//! otherwise. Returns the bytes to write; when to write is the caller's business.

use std::time::Duration;

use crate::layout::{cut, one_line, width};
use crate::number::{MISSING, clock, number, percent, things, time_ms};
use crate::style::{Paint, Style};

/// Columns of the bar that shows how much is done.
const BAR_COLUMNS: usize = 20;

/// What is known of the run at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// What is being done: `probe`, `confirm`, …
    pub phase: String,
    /// Users that are active.
    pub users: u64,
    /// Requests per second.
    pub rate_per_s: f64,
    /// 90th percentile of the response time, if anything was answered.
    pub p90_ms: Option<f64>,
    /// Share of requests that failed, 0 to 1.
    pub failed_share: f64,
    /// What looks like the limit at the moment.
    pub suspect: Option<String>,
    /// Time since the beginning.
    pub elapsed: Duration,
    /// Time to the end, if it is known.
    pub left: Option<Duration>,
    /// How much is done, 0 to 1, if it is known.
    pub done_share: Option<f64>,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveKind {
    /// Redrawn in place on a terminal.
    Terminal {
        /// Columns of the terminal.
        width: usize,
    },
    /// One plain line a call.
    Lines,
    /// Not at all.
    Quiet,
}

/// Progress on its way to the reader. Remembers what stands on the terminal, so that it can be replaced.
#[derive(Clone, Debug)]
pub struct Live {
    kind: LiveKind,
    style: Style,
    shown: Vec<String>,
}

impl Live {
    /// Nothing is shown yet.
    pub fn new(kind: LiveKind, style: Style) -> Self {
        Self { kind, style, shown: Vec::new() }
    }

    /// Shows `progress` in place of what was shown before.
    pub fn render(&mut self, progress: &Progress) -> String {
        match self.kind {
            LiveKind::Terminal { width } => {
                let back = self.clear();
                self.shown = self.screen(progress, width.saturating_sub(1));
                format!("{back}{}", self.shown.join("\n"))
            }
            LiveKind::Lines => {
                let line: Vec<String> = facts(progress).into_iter().chain(suspect(progress)).collect();
                format!("{}\n", line.join(", "))
            }
            LiveKind::Quiet => String::new(),
        }
    }

    /// Takes away what is shown.
    pub fn clear(&mut self) -> String {
        let up = match self.shown.len() {
            0 => return String::new(),
            1 => String::new(),
            lines => format!("\x1b[{}A", lines - 1),
        };
        self.shown.clear();
        format!("\r{up}\x1b[J")
    }

    /// Writes a line that stays, above what is shown.
    pub fn above(&mut self, text: &str) -> String {
        let shown = self.shown.clone();
        let back = self.clear();
        self.shown = shown;
        format!("{back}{text}\n{}", self.shown.join("\n"))
    }

    /// A line of facts and, if there is one, a line with the suspect; none reaches the last column, where some
    /// terminals wrap.
    fn screen(&self, progress: &Progress, columns: usize) -> Vec<String> {
        let mut line = facts(progress).join("  ");
        if let Some(done) = progress.done_share.filter(|done| done.is_finite()) {
            let filled = (done.clamp(0.0, 1.0) * BAR_COLUMNS as f64).round() as usize;
            let (full, empty) = (self.style.pick("█", "#"), self.style.pick("░", "."));
            let bar = format!("  {}{}", full.repeat(filled), empty.repeat(BAR_COLUMNS - filled));
            if width(&line) + width(&bar) <= columns {
                line += &bar;
            }
        }
        let line = cut(&one_line(&line), columns);
        let line = match line.strip_prefix(&progress.phase) {
            Some(rest) => format!("{}{rest}", self.style.paint(Paint::Bold, &progress.phase)),
            None => line,
        };
        let suspect = suspect(progress).map(|suspect| self.style.paint(Paint::Yellow, &cut(&suspect, columns)));
        [line].into_iter().chain(suspect).collect()
    }
}

/// What is known, in the order of interest.
fn facts(progress: &Progress) -> Vec<String> {
    let left = progress.left.map_or(String::new(), |left| format!(", {} left", clock(left)));
    vec![
        progress.phase.clone(),
        things(progress.users, "user"),
        format!("{} requests/s", number(progress.rate_per_s)),
        format!("p90 {}", progress.p90_ms.map_or(MISSING.to_owned(), time_ms)),
        format!("{} failed", percent(progress.failed_share)),
        format!("{}{left}", clock(progress.elapsed)),
    ]
}

fn suspect(progress: &Progress) -> Option<String> {
    progress.suspect.as_ref().map(|suspect| one_line(&format!("limit so far: {suspect}")))
}

#[cfg(test)]
mod tests;

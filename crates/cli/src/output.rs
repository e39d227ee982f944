//! The only file of the command line that prints. Results go to standard output, everything else to standard error.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use model::record::Level;
use view::Style;
use view::json::Screen;
use view::live::{Live, LiveKind, Progress};
use view::log::Repeats;

use crate::args;
use crate::exit::{Exit, Failure};

/// Prints results, messages and progress.
pub(crate) struct Output {
    style: Style,
    live: Live,
    lines_only: bool,
    quiet: bool,
    verbose: bool,
    repeats: Repeats,
    format: LogFormat,
    log: Sink,
    /// Where the lines of the script go, if not where all others do.
    console: Option<Sink>,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// Nothing but what is said.
    Raw,
    /// One object per line.
    Json,
}

/// Where log lines go.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Standard error, above the progress.
    Stderr,
    /// Standard output.
    Stdout,
    /// Nowhere.
    Nowhere,
    /// A file of this name.
    File(File, PathBuf),
}

impl Sink {
    /// A file that lines are added to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::options().append(true).create(true).open(path);
        let file = file.with_context(|| format!("cannot write log lines to {}", path.display()))?;
        Ok(Self::File(file, path.to_owned()))
    }
}

/// How often a plain progress line is printed when standard error is not a terminal, in seconds.
const LINE_EVERY_S: u64 = 10;

impl Output {
    /// What the flags and the terminal allow.
    pub(crate) fn new(flags: &args::Output) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = io::stderr().is_terminal() && !dumb && std::env::var_os("CI").is_none();
        let no_color = flags.no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(std::env::var_os);
        let unicode = utf8.is_none_or(|locale| locale.to_string_lossy().to_lowercase().contains("utf"));
        let result_style = Style { color: !no_color && io::stdout().is_terminal() && !dumb, unicode };
        let live_style = Style { color: !no_color && terminal, unicode };
        let kind = match (flags.quiet, terminal) {
            (true, _) => LiveKind::Quiet,
            (false, true) => LiveKind::Terminal { width: terminal_width() },
            (false, false) => LiveKind::Lines,
        };
        Self {
            style: result_style,
            live: Live::new(kind, live_style),
            lines_only: !terminal,
            quiet: flags.quiet,
            verbose: flags.verbose,
            repeats: Repeats::default(),
            format: LogFormat::Text,
            log: Sink::Stderr,
            console: None,
        }
    }

    /// Lets log lines look like this and go there; those of the script to `console`, if it is given.
    pub(crate) fn log_to(&mut self, format: LogFormat, log: Sink, console: Option<Sink>) {
        (self.format, self.log, self.console) = (format, log, console);
    }

    /// How results are to be written.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// What a script may know of where its summary is shown.
    pub(crate) fn screen(&self) -> Screen {
        Screen {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            no_color: !self.style.color,
        }
    }

    /// Prints a result.
    pub(crate) fn result(&mut self, text: &str) {
        self.raw_result(text.as_bytes());
    }

    /// Prints a result that need not be text.
    pub(crate) fn raw_result(&mut self, bytes: &[u8]) {
        self.clear();
        // A reader that went away (a closed pipe) is no reason to fail.
        let _ = io::stdout().lock().write_all(bytes);
        let _ = io::stdout().flush();
    }

    /// Prints to standard error as it is.
    pub(crate) fn raw_aside(&mut self, bytes: &[u8]) {
        self.clear();
        let _ = io::stderr().lock().write_all(bytes);
    }

    /// Prints a message above the progress.
    pub(crate) fn say(&mut self, level: Level, text: &str) {
        if level != Level::Info || !self.quiet {
            self.line(level, text, false);
        }
    }

    /// Prints a line of the script's console: part of what was asked for, so `--quiet` keeps it, as in k6. One that
    /// comes again and again is counted instead, unless it goes to a file.
    pub(crate) fn script(&mut self, level: Level, text: &str) {
        if self.console.is_some() || !matches!(self.log, Sink::Stderr) || self.format != LogFormat::Text {
            self.line(level, text, true);
        } else if let Some(text) = self.repeats.take(level, text) {
            self.line(level, &text, true);
        }
    }

    /// Says how often the lines of the script came that were counted.
    pub(crate) fn script_ends(&mut self) {
        for (level, text) in self.repeats.rest() {
            self.line(level, &text, true);
        }
    }

    fn line(&mut self, level: Level, said: &str, is_script: bool) {
        if level == Level::Debug && !self.verbose {
            return;
        }
        let sink = self.console.as_mut().filter(|_| is_script).unwrap_or(&mut self.log);
        let style = if matches!(sink, Sink::File(..)) { Style { color: false, ..self.style } } else { self.style };
        let line = match self.format {
            LogFormat::Text => view::log::line(level, said, "", style),
            LogFormat::Raw => said.to_owned(),
            LogFormat::Json => {
                let source = if is_script { "console" } else { "plimsoll" };
                view::log::json_line(level, said, source, &crate::machine::now())
            }
        };
        match sink {
            Sink::Stderr => err(&self.live.above(&line)),
            Sink::Stdout => {
                let _ = writeln!(io::stdout().lock(), "{line}");
            }
            Sink::Nowhere => {}
            Sink::File(file, path) => {
                if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
                    // A disk that is full is no reason to end a run for a log.
                    let path = path.display();
                    let text =
                        format!("writing log lines to {path} failed ({error}): from here on they are shown instead");
                    *sink = Sink::Stderr;
                    self.line(Level::Error, &text, is_script);
                    self.line(level, said, is_script);
                }
            }
        }
    }

    /// Shows how far it is. Without a terminal only every ten seconds.
    pub(crate) fn progress(&mut self, progress: &Progress) {
        if self.lines_only && !progress.elapsed.as_secs().is_multiple_of(LINE_EVERY_S) {
            return;
        }
        let text = self.live.render(progress);
        err(&text);
    }

    /// Takes the progress away.
    pub(crate) fn clear(&mut self) {
        let text = self.live.clear();
        err(&text);
    }
}

fn err(text: &str) {
    if !text.is_empty() {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

fn terminal_width() -> usize {
    rustix::termios::tcgetwinsize(io::stderr()).map_or(100, |size| usize::from(size.ws_col).clamp(40, 200))
}

/// Prints help or the version.
pub(crate) fn print_help(text: &str) -> Result<Exit, Failure> {
    let _ = io::stdout().lock().write_all(text.as_bytes());
    Ok(Exit::Ok)
}

/// Prints why the program fails, with all causes.
pub(crate) fn print_failure(failure: &Failure) -> Exit {
    err(&format!("error: {:#}\n", failure.error));
    failure.exit
}

//! All exit codes, in one place. k6's codes keep k6's meaning; ours begin at 120.

use std::process::ExitCode;

/// Why the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Fine. Failed checks and script exceptions included, as in k6; also a `find` that ended with a capacity or an
    /// honest "at least".
    Ok = 0,
    /// A threshold was broken.
    ThresholdsBroken = 99,
    /// `setup()` took too long.
    SetupTimeout = 100,
    /// `teardown()` took too long.
    TeardownTimeout = 101,
    /// Options, thresholds or scenarios are wrong.
    InvalidConfig = 104,
    /// Stopped by SIGINT, SIGTERM or SIGHUP.
    Stopped = 105,
    /// The script threw in its init code, `setup()` or `teardown()`, does not parse, or uses what is not supported.
    ScriptException = 107,
    /// The script called `test.abort()`.
    Aborted = 108,
    /// The script called `test.fail()`.
    MarkedFailed = 110,
    /// The load generator or the machine was the limit before the promise broke.
    GeneratorLimited = 120,
    /// Time ran out before the capacity was decided; the range is printed.
    Undecided = 121,
    /// The target is neither on this machine nor in a private network, and was not allowed.
    TargetRefused = 122,
    /// Everything else: a file that is missing, an unknown flag, a target that does not answer.
    Other = 255,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that already knows its exit code. Its text says what was attempted, on what, why it failed and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What to say.
    pub(crate) error: anyhow::Error,
}

impl Failure {
    /// A failure with this code and sentence.
    pub(crate) fn new(exit: Exit, sentence: impl Into<String>) -> Self {
        Self { exit, error: anyhow::Error::msg(sentence.into()) }
    }

    /// Wrong options.
    pub(crate) fn config(sentence: impl Into<String>) -> Self {
        Self::new(Exit::InvalidConfig, sentence)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { exit: Exit::Other, error }
    }
}

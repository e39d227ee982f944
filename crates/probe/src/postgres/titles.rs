//! PostgreSQL's sessions by the titles of its processes, which everybody may read: `postgres: user database
//! 127.0.0.1(5555) UPDATE waiting`. A title tells what a session executes but not what it waits for; the state of the
//! process tells the rest: running or ready, held up by a disk, or asleep.

use std::collections::HashSet;

use model::signal;

use super::{Activity, Mean};
use crate::files::Files;
use crate::proc::stat;
use crate::proc::{number, words};
use crate::report::Sheet;

/// Processes that one sample reads; with more, samples take turns.
const PROCESSES_PER_SAMPLE: usize = 64;

/// What a process of the server is, by its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Title {
    /// One of the server's own processes: checkpointer, writers, workers.
    Own,
    /// A client's session that is being opened.
    Opening,
    Idle,
    IdleInTransaction,
    /// Waits for a heavyweight lock.
    Waiting,
    /// Executes something.
    Active,
}

/// The sessions of one server.
#[derive(Debug, Default)]
pub(crate) struct Titles {
    /// Processes that are no sessions and never will be.
    own: HashSet<u32>,
    turn: usize,
    mean: Mean,
}

impl Titles {
    /// Looks at the processes of the server once; `postmaster` is the one that began them.
    pub(crate) fn sample(&mut self, files: &mut Files, postmaster: Option<u32>, pids: impl Iterator<Item = u32>) {
        let mut pids: Vec<u32> = pids.filter(|pid| Some(*pid) != postmaster && !self.own.contains(pid)).collect();
        pids.sort_unstable();
        let turns = pids.len().div_ceil(PROCESSES_PER_SAMPLE).max(1);
        self.turn = (self.turn + 1) % turns;
        let mut sessions = Vec::new();
        let mut read = 0_usize;
        for &pid in pids.iter().skip(self.turn).step_by(turns) {
            // Gone, or not yet titled.
            let Some(title) = files.process(pid, "cmdline").and_then(parse) else { continue };
            read += 1;
            match title {
                Title::Own => {
                    self.own.insert(pid);
                    read -= 1;
                }
                Title::Opening => sessions.push(Activity::Other),
                Title::Idle => sessions.push(Activity::Idle),
                Title::IdleInTransaction => sessions.push(Activity::IdleInTransaction),
                Title::Waiting => sessions.push(Activity::Lock),
                Title::Active => sessions.push(by_state(files, pid)),
            }
        }
        let scale = if turns > 1 && read > 0 { pids.len() as f64 / read as f64 } else { 1.0 };
        self.mean.sample(sessions.into_iter().map(|activity| (activity, scale)));
    }

    /// Writes the means of the second down.
    pub(crate) fn collect(&mut self, subject: &str, sheet: &mut Sheet) {
        self.mean.collect(subject, sheet);
    }

    /// Forgets what was sampled: a login knows better.
    pub(crate) fn forget(&mut self) {
        self.mean = Mean::default();
    }
}

/// How many sessions the server allows, if the command line of its first process says so.
pub(crate) fn max_connections(files: &mut Files, subject: &str, postmaster: u32, sheet: &mut Sheet) {
    let allowed = files.process(postmaster, "cmdline").and_then(allowed_sessions);
    sheet.put_some(subject, signal::PG_MAX_CONNECTIONS, allowed);
}

fn by_state(files: &mut Files, pid: u32) -> Activity {
    match files.process(pid, "stat").and_then(stat::parse).map(|stat| stat.state) {
        Some(b'R') => Activity::Cpu,
        Some(b'D') => Activity::Io,
        _ => Activity::Other,
    }
}

/// Reads a title. A session's has its client's address, `host(port)` or `[local]`, and what it does behind that.
fn parse(cmdline: &[u8]) -> Option<Title> {
    let title = cmdline.split(|&byte| byte == 0).next()?.strip_prefix(b"postgres:")?;
    let mut words = words(title);
    let is_client = |word: &[u8]| word == b"[local]" || is_host_and_port(word);
    if !words.any(is_client) {
        return Some(Title::Own);
    }
    let activity: Vec<&[u8]> = words.collect();
    Some(match activity.as_slice() {
        [] | [b"startup" | b"authentication" | b"initializing", ..] => Title::Opening,
        [.., b"waiting"] => Title::Waiting,
        [b"idle"] => Title::Idle,
        [b"idle", ..] => Title::IdleInTransaction,
        _ => Title::Active,
    })
}

fn is_host_and_port(word: &[u8]) -> bool {
    let port = word.strip_suffix(b")").and_then(|word| word.rsplitn(2, |&byte| byte == b'(').next());
    word.contains(&b'(') && port.and_then(number::<u16>).is_some()
}

/// `-c max_connections=N`, `--max_connections=N`, `--max-connections=N` or `-N N`.
fn allowed_sessions(cmdline: &[u8]) -> Option<f64> {
    let arguments: Vec<&[u8]> = cmdline.split(|&byte| byte == 0).collect();
    let named = arguments.iter().filter_map(|argument| {
        let argument = argument.strip_prefix(b"--").or_else(|| argument.strip_prefix(b"-c")).unwrap_or(argument);
        argument.strip_prefix(b"max_connections=").or_else(|| argument.strip_prefix(b"max-connections="))
    });
    let short = arguments.windows(2).filter(|pair| pair[0] == b"-N").map(|pair| pair[1]);
    named.chain(short).filter_map(number::<u32>).next_back().map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_tell_what_a_session_does() {
        let check = |title: &str, expected| assert_eq!(parse(title.as_bytes()), expected, "{title}");
        check("postgres: app shop 127.0.0.1(45678) idle", Some(Title::Idle));
        check("postgres: app shop 127.0.0.1(45678) idle in transaction\0\0", Some(Title::IdleInTransaction));
        check("postgres: app shop ::1(45678) idle in transaction (aborted)", Some(Title::IdleInTransaction));
        check("postgres: app shop [local] UPDATE waiting", Some(Title::Waiting));
        check("postgres: blue: app shop [local] SELECT", Some(Title::Active));
        check("postgres: app shop db.local(45678) authentication", Some(Title::Opening));
        check("postgres: app shop 127.0.0.1(45678) ", Some(Title::Opening));
        check("postgres: checkpointer ", Some(Title::Own));
        check("postgres: blue: parallel worker for PID 77 ", Some(Title::Own));
        check("postgres: walsender repl 127.0.0.1(5) streaming 0/3000", Some(Title::Active));
        check("/usr/lib/postgresql/15/bin/postgres\0-D\0/x", None);
    }

    #[test]
    fn the_command_line_may_tell_the_limit() {
        assert_eq!(allowed_sessions(b"postgres\0-D\0/x\0-c\0max_connections=30\0"), Some(30.0));
        assert_eq!(allowed_sessions(b"postgres\0--max_connections=31\0"), Some(31.0));
        assert_eq!(allowed_sessions(b"postgres\0-N\x0032\0-k\0/tmp\0"), Some(32.0));
        assert_eq!(allowed_sessions(b"postgres\0-D\0/x\0"), None);
    }
}

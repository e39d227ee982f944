//! `/proc/PID/stat`: state, parent, CPU ticks of the whole process, number of threads. Never reads the file itself.

use super::{number, words};

/// What one process says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat<'a> {
    /// Its short name, cut at 15 bytes by the kernel.
    pub(crate) name: &'a [u8],
    /// `R`, `S`, `D`, `Z`, ….
    pub(crate) state: u8,
    pub(crate) parent: u32,
    /// CPU time of all its threads, those that ended included, in ticks.
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    /// CPU time of its children that ended and were waited for, and of theirs, in ticks.
    pub(crate) children_user_ticks: u64,
    pub(crate) children_system_ticks: u64,
    pub(crate) threads: u32,
    /// When it began, in ticks since the machine booted.
    pub(crate) started_ticks: u64,
}

impl Stat<'_> {
    /// Whether it still runs: neither a zombie nor dead.
    pub(crate) fn alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Reads `/proc/PID/stat`. The name may hold spaces and parentheses, so fields count from the last `)`.
pub(crate) fn parse(bytes: &[u8]) -> Option<Stat<'_>> {
    let open = bytes.iter().position(|&byte| byte == b'(')?;
    let close = bytes.iter().rposition(|&byte| byte == b')')?;
    let name = bytes.get(open + 1..close)?;
    let mut fields = words(&bytes[close + 1..]);
    let state = *fields.next()?.first()?;
    let parent = number(fields.next()?)?;
    let mut fields = fields.skip(9);
    let mut ticks = || number::<u64>(fields.next()?);
    let [user_ticks, system_ticks, children_user_ticks, children_system_ticks] =
        [ticks()?, ticks()?, ticks()?, ticks()?];
    let mut fields = fields.skip(2);
    let threads = number(fields.next()?)?;
    let started_ticks = number(fields.nth(1)?)?;
    Some(Stat {
        name,
        state,
        parent,
        user_ticks,
        system_ticks,
        children_user_ticks,
        children_system_ticks,
        threads,
        started_ticks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let text =
            b"4242 (my (odd) app) S 1 4242 4242 0 -1 4194560 9000 800 7 6 151 62 33 24 20 0 9 0 98765 123456 700 1\n";
        let stat = parse(text).unwrap();
        assert_eq!(stat.name, b"my (odd) app");
        assert_eq!((stat.state, stat.parent, stat.threads, stat.started_ticks), (b'S', 1, 9, 98765));
        assert_eq!((stat.user_ticks, stat.system_ticks), (151, 62));
        assert_eq!((stat.children_user_ticks, stat.children_system_ticks), (33, 24));
    }

    #[test]
    fn a_cut_line_is_no_process() {
        assert_eq!(parse(b"4242 (app) S 1 4242 4242 0 -1 4194560 9000"), None);
        assert_eq!(parse(b""), None);
    }
}

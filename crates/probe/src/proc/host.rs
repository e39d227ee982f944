//! `/proc/stat` and `/proc/meminfo`: the machine as a whole. Never reads the files itself.

use super::{keyed, lines, number, words};

/// CPU time of all cores together, in ticks, and how many cores there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    pub(crate) online: u32,
    pub(crate) user_ticks: u64,
    /// Kernel, hard and soft interrupts.
    pub(crate) system_ticks: u64,
    pub(crate) softirq_ticks: u64,
    pub(crate) iowait_ticks: u64,
    pub(crate) steal_ticks: u64,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    pub(crate) available: u64,
}

/// Reads `/proc/stat`. Guests' time is already part of `user` and `nice`.
pub(crate) fn cores(bytes: &[u8]) -> Option<Cores> {
    let per_core = |line: &&[u8]| line.strip_prefix(b"cpu").is_some_and(|rest| rest[0].is_ascii_digit());
    let online = u32::try_from(lines(bytes).filter(per_core).count()).ok()?;
    let all = lines(bytes).find_map(|line| line.strip_prefix(b"cpu "))?;
    let mut fields = words(all).map(number::<u64>);
    let mut next = || fields.next().flatten();
    let [user, nice, system, _idle, iowait, irq, softirq] =
        [next()?, next()?, next()?, next()?, next()?, next()?, next()?];
    Some(Cores {
        online,
        user_ticks: user + nice,
        system_ticks: system + irq + softirq,
        softirq_ticks: softirq,
        iowait_ticks: iowait,
        steal_ticks: next().unwrap_or(0),
    })
}

/// Reads `/proc/meminfo`.
pub(crate) fn memory(bytes: &[u8]) -> Option<Memory> {
    Some(Memory { total: keyed(bytes, "MemTotal")? * 1024, available: keyed(bytes, "MemAvailable")? * 1024 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_counted_and_interrupts_belong_to_the_kernel() {
        let text = b"cpu  100 10 50 9000 30 4 6 2 77 0\ncpu0 50 5 25 4500 15 2 3 1 0 0\ncpu1 50 5 25 4500 15 2 3 1 0 0\nintr 5\n";
        let expected =
            Cores { online: 2, user_ticks: 110, system_ticks: 60, softirq_ticks: 6, iowait_ticks: 30, steal_ticks: 2 };
        assert_eq!(cores(text), Some(expected));
    }

    #[test]
    fn memory_is_in_bytes() {
        let text = b"MemTotal:  200 kB\nMemFree:  10 kB\nMemAvailable:  150 kB\n";
        assert_eq!(memory(text), Some(Memory { total: 204_800, available: 153_600 }));
    }
}

//! `/proc/PID/status`, `statm` and `limits`: allowed cores, memory of its own, descriptors it may open. Never reads the
//! files itself.

use super::{lines, number, words};

/// How many cores the process may run on by affinity, from `status`.
pub(crate) fn allowed_cores(status: &[u8]) -> Option<u32> {
    let list = lines(status).find_map(|line| line.strip_prefix(b"Cpus_allowed_list:"))?;
    cores_in(list)
}

/// The number of cores in a list such as `0-3,8,10-11`.
pub(crate) fn cores_in(list: &[u8]) -> Option<u32> {
    let mut cores = 0;
    for part in list.split(|&byte| byte == b',') {
        let mut ends = part.splitn(2, |&byte| byte == b'-');
        let first: u32 = number(ends.next()?)?;
        let last = ends.next().map_or(Some(first), number)?;
        cores += last.checked_sub(first)? + 1;
    }
    Some(cores)
}

/// Pages that are the process's own, from `statm`: those in memory without those that belong to files or are shared.
pub(crate) fn own_pages(statm: &[u8]) -> Option<u64> {
    let mut fields = words(statm).map(number::<u64>).skip(1);
    let (resident, shared) = (fields.next()??, fields.next()??);
    Some(resident.saturating_sub(shared))
}

/// How many files the process may open, from `limits`; `None` also if there is no limit.
pub(crate) fn open_files_limit(limits: &[u8]) -> Option<u64> {
    let line = lines(limits).find_map(|line| line.strip_prefix(b"Max open files"))?;
    words(line).next().and_then(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_lists_are_counted() {
        assert_eq!(allowed_cores(b"Name:\tx\nCpus_allowed:\tf03\nCpus_allowed_list:\t0-3,8,10-11\n"), Some(7));
        assert_eq!(allowed_cores(b"Name:\tx\n"), None);
        assert_eq!(cores_in(b"3-1"), None);
    }

    #[test]
    fn own_memory_leaves_shared_pages_out() {
        assert_eq!(own_pages(b"5000 1200 300 4 0 900 0\n"), Some(900));
    }

    #[test]
    fn the_soft_limit_of_files_counts() {
        let limits = b"Max processes             95956                95956                processes \n\
            Max open files            1024                 1048576              files     \n";
        assert_eq!(open_files_limit(limits), Some(1024));
        assert_eq!(
            open_files_limit(b"Max open files            unlimited            unlimited            files\n"),
            None
        );
    }
}

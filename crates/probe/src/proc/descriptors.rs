//! `/proc/PID/fd`: how many descriptors a process has open and which sockets are its own. Never keeps one open.

use std::collections::HashSet;
use std::fs;

use crate::files::Files;

/// The inodes of the sockets that a process has open; `None` if we may not look.
pub(crate) fn sockets(files: &Files, pid: u32) -> Option<HashSet<u32>> {
    let entries = fs::read_dir(files.path(pid, "fd")).ok()?;
    let inode = |entry: fs::DirEntry| fs::read_link(entry.path()).ok()?.to_str().and_then(inode_of);
    Some(entries.filter_map(|entry| inode(entry.ok()?)).collect())
}

/// How many descriptors a process has open. Since Linux 6.2 the folder's size says it, without permission and in one
/// call; before, they have to be counted.
pub(crate) fn count(files: &Files, pid: u32) -> Option<u64> {
    let folder = files.path(pid, "fd");
    match fs::metadata(&folder).ok()?.len() {
        0 => Files::numbers(&folder).map(|entries| entries.count() as u64),
        size => Some(size),
    }
}

fn inode_of(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_have_a_socket_inode() {
        assert_eq!(inode_of("socket:[8123]"), Some(8123));
        assert_eq!(inode_of("pipe:[8123]"), None);
        assert_eq!(inode_of("/dev/null"), None);
    }
}

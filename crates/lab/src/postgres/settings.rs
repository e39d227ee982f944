//! The configuration of the lab's clusters, as text. Must never write files.

use std::path::Path;

/// Nobody but this machine gets in; whoever is on it needs no password.
pub(super) const HOST_BASED_ACCESS: &str = "local all all trust\nhost all all 127.0.0.1/32 trust\n";

/// Longest path of a unix socket that the kernel takes, less PostgreSQL's file name in it.
const SOCKET_FOLDER_MAX: usize = 107 - "/.s.PGSQL.65535.lock".len();

/// The whole `postgresql.conf`.
pub(super) fn render(folder: &Path, port: u16, max_connections: u32) -> String {
    let folder = folder.display().to_string();
    let sockets = if folder.len() <= SOCKET_FOLDER_MAX { folder.replace('\'', "''") } else { String::new() };
    format!(
        "listen_addresses = '127.0.0.1'\n\
         port = {port}\n\
         unix_socket_directories = '{sockets}'\n\
         max_connections = {max_connections}\n\
         shared_buffers = 32MB\n\
         # Files in the data folder, so that even a killed server leaves no shared memory behind.\n\
         dynamic_shared_memory_type = mmap\n\
         # The data is worth nothing after the run.\n\
         fsync = off\n\
         synchronous_commit = off\n\
         full_page_writes = off\n\
         wal_level = minimal\n\
         max_wal_senders = 0\n\
         # The same query must cost the same every time.\n\
         jit = off\n\
         max_parallel_workers_per_gather = 0\n\
         # Observers read what a backend does from its process title.\n\
         update_process_title = on\n\
         timezone = 'UTC'\n\
         log_timezone = 'UTC'\n\
         log_checkpoints = off\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_too_deep_for_a_socket_still_gives_a_working_server() {
        let deep = Path::new("/tmp").join("x".repeat(120));
        assert!(render(&deep, 5432, 20).contains("unix_socket_directories = ''\n"));
        assert!(render(Path::new("/tmp/a'b"), 5432, 20).contains("unix_socket_directories = '/tmp/a''b'\n"));
    }
}

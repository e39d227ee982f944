//! What machine this is, for the record's header, and what this process may take of it.

use std::time::SystemTime;

use model::record::{Header, Machine, VERSION};

/// The header of a record that begins now.
pub(crate) fn header(command: &str) -> Header {
    Header {
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        began_at: now(),
        machine: machine(),
    }
}

/// Raises this process's limit of open files to what the kernel allows it: every user needs a connection, and the usual
/// limit is 1,024.
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Failing here only means that fewer connections fit, which is said when it happens.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Whether whoever started this process wants it to outlive its terminal, as `nohup` does.
pub(crate) fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    // SIGHUP is signal 1, the lowest bit.
    ignored.is_some_and(|signals| signals & 1 == 1)
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the calendar")]
pub(crate) fn now() -> String {
    jiff::Timestamp::try_from(SystemTime::now()).map_or_else(|_| String::new(), |now| format!("{now:.0}"))
}

/// Nanoseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the calendar")]
pub(crate) fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// This machine.
pub(crate) fn machine() -> Machine {
    let uname = rustix::system::uname();
    let cpu_info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model_name =
        |line: &str| line.strip_prefix("model name").and_then(|rest| Some(rest.split_once(':')?.1.trim().to_owned()));
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = |line: &str| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok();
    Machine {
        kernel: format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
        cpu: cpu_info.lines().find_map(model_name).unwrap_or_default(),
        cores: std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX)),
        memory_bytes: memory.lines().find_map(kilobytes).unwrap_or(0) * 1024,
    }
}

/// Ends the program, whatever its threads are busy with. For who has asked for the third time.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the main thread may be stuck, and no order is wanted any more"
)]
pub(crate) fn end_at_once(exit: crate::exit::Exit) -> ! {
    std::process::exit(i32::from(exit as u8))
}

//! The machine: cores, memory, pressure.

use model::signal;

use super::group::seconds;
use crate::files::Files;
use crate::proc::{host, pressure};
use crate::report::Sheet;

/// Reads the machine; returns how many cores are online.
pub(crate) fn collect(files: &mut Files, subject: &str, sheet: &mut Sheet) -> Option<u32> {
    let pressure = files.proc("pressure/cpu").and_then(pressure::some_s);
    sheet.put_some(subject, signal::HOST_PRESSURE_CPU, pressure);
    if let Some(memory) = files.proc("meminfo").and_then(host::memory) {
        sheet.put(subject, signal::HOST_MEMORY_AVAILABLE, memory.available as f64);
        sheet.put(subject, signal::HOST_MEMORY_TOTAL, memory.total as f64);
    }
    let cores = files.proc("stat").and_then(host::cores)?;
    sheet.put(subject, signal::HOST_CORES, f64::from(cores.online));
    sheet.put(subject, signal::HOST_BUSY, seconds(cores.user_ticks + cores.system_ticks));
    sheet.put(subject, signal::HOST_USER, seconds(cores.user_ticks));
    sheet.put(subject, signal::HOST_SYSTEM, seconds(cores.system_ticks));
    sheet.put(subject, signal::HOST_SOFTIRQ, seconds(cores.softirq_ticks));
    sheet.put(subject, signal::HOST_IOWAIT, seconds(cores.iowait_ticks));
    sheet.put(subject, signal::HOST_STEAL, seconds(cores.steal_ticks));
    Some(cores.online)
}

//! Counters of the network namespace that a subject lives in.

use model::signal;

use crate::files::Files;
use crate::proc::net::{self, Counters};
use crate::report::Sheet;

/// Which counters a subject is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Everything.
    Service,
    /// Only what concerns its own attempts: the accept queues of its namespace are not its own, and its closed
    /// connections are counted by target.
    Generator,
}

/// Reads the counters of the namespace that `pid` lives in.
pub(crate) fn collect(files: &mut Files, subject: &str, pid: u32, side: Side, sheet: &mut Sheet) {
    let mut counters = Counters::default();
    if let Some(text) = files.process(pid, "net/netstat") {
        counters.netstat(text);
    }
    if let Some(text) = files.process(pid, "net/snmp") {
        counters.snmp(text);
    }
    let mut put = |signal, value: Option<u64>| sheet.put_some(subject, signal, value.map(|value| value as f64));
    put(signal::SEGMENTS_OUT, counters.segments_out);
    put(signal::SEGMENTS_RETRANSMITTED, counters.segments_retransmitted);
    put(signal::SEGMENTS_REPEATED, counters.segments_repeated);
    put(signal::SYN_RETRANSMITTED, counters.syn_retransmitted);
    if side == Side::Service {
        put(signal::LISTEN_OVERFLOWS, counters.listen_overflows);
        put(signal::LISTEN_DROPS, counters.listen_drops);
        put(signal::TIME_WAIT, files.process(pid, "net/sockstat").and_then(net::time_wait));
    }
}

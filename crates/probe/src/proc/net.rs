//! `/proc/PID/net/{netstat,snmp,sockstat}`: counters of the network namespace that a process lives in. Never reads the
//! files itself. Another namespace's files show zeros, not errors: always read those of the process in question.

use super::{lines, number, words};

/// TCP counters of a network namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) listen_overflows: Option<u64>,
    pub(crate) listen_drops: Option<u64>,
    pub(crate) syn_retransmitted: Option<u64>,
    pub(crate) segments_out: Option<u64>,
    pub(crate) segments_retransmitted: Option<u64>,
    pub(crate) segments_repeated: Option<u64>,
}

impl Counters {
    /// Reads `netstat` in.
    pub(crate) fn netstat(&mut self, bytes: &[u8]) {
        each(bytes, b"TcpExt:", |name, value| match name {
            b"ListenOverflows" => self.listen_overflows = value,
            b"ListenDrops" => self.listen_drops = value,
            b"TCPSynRetrans" => self.syn_retransmitted = value,
            b"TCPDSACKOldSent" => self.segments_repeated = value,
            _ => {}
        });
    }

    /// Reads `snmp` in.
    pub(crate) fn snmp(&mut self, bytes: &[u8]) {
        each(bytes, b"Tcp:", |name, value| match name {
            b"OutSegs" => self.segments_out = value,
            b"RetransSegs" => self.segments_retransmitted = value,
            _ => {}
        });
    }
}

/// Sockets in TIME_WAIT, from `sockstat`.
pub(crate) fn time_wait(sockstat: &[u8]) -> Option<u64> {
    let line = lines(sockstat).find_map(|line| line.strip_prefix(b"TCP:"))?;
    let mut fields = words(line).skip_while(|word| *word != b"tw");
    fields.nth(1).and_then(number)
}

/// The first and the last local port that the kernel hands out, from `ip_local_port_range`.
pub(crate) fn port_range(bytes: &[u8]) -> Option<(u16, u16)> {
    let mut fields = words(bytes).map(number);
    Some((fields.next()??, fields.next()??))
}

/// Names stand on one line of the section and values on the next.
fn each(bytes: &[u8], section: &[u8], mut visit: impl FnMut(&[u8], Option<u64>)) {
    let mut of_section = lines(bytes).filter_map(|line| line.strip_prefix(section));
    while let (Some(names), Some(values)) = (of_section.next(), of_section.next()) {
        words(names).zip(words(values)).for_each(|(name, value)| visit(name, number(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_stand_on_two_lines() {
        let mut counters = Counters::default();
        counters.netstat(
            b"TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans TCPDSACKOldSent\nTcpExt: 0 50 51 7 3\nIpExt: InNoRoutes\nIpExt: 9\n",
        );
        counters.snmp(b"Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn OutSegs RetransSegs\nTcp: 200 -1 9001 12\n");
        let expected = Counters {
            listen_overflows: Some(50),
            listen_drops: Some(51),
            syn_retransmitted: Some(7),
            segments_out: Some(9001),
            segments_retransmitted: Some(12),
            segments_repeated: Some(3),
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn a_counter_that_an_older_kernel_lacks_is_none() {
        let mut counters = Counters::default();
        counters.netstat(b"TcpExt: ListenDrops\nTcpExt: 3\n");
        assert_eq!((counters.listen_overflows, counters.listen_drops), (None, Some(3)));
    }

    #[test]
    fn time_wait_and_ports() {
        assert_eq!(time_wait(b"sockets: used 9\nTCP: inuse 5 orphan 0 tw 31 alloc 9 mem 2\nUDP: inuse 0\n"), Some(31));
        assert_eq!(port_range(b"32768\t60999\n"), Some((32768, 60999)));
    }
}

//! One end of TCP connections, as the kernel there sees them: data not yet acknowledged, round trips, readers that are
//! slow. The same for the service's connections to its clients and for the generator's to its target.

use std::collections::HashMap;

use model::signal;
use model::unit::Moment;

use crate::report::Sheet;
use crate::socket::{Info, Socket};

/// What was known about connections at the last look.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    known: HashMap<u64, Info>,
    looked: Option<Moment>,
    bytes_sent: u64,
}

impl Connections {
    /// Takes in the connections that there are now and writes down what became of those that were known. Those that lie
    /// idle, such as those of users who left, say nothing about the way: their round trip is an old one.
    pub(crate) fn advance(&mut self, subject: &str, sockets: &[Socket], sheet: &mut Sheet) {
        let elapsed_us = self.looked.map(|looked| sheet.at().since(looked).as_micros() as f64);
        let mut before = std::mem::take(&mut self.known);
        let (mut busy_us, mut limited_us, mut timed) = (0, 0, 0_u32);
        let mut in_use = Vec::new();
        for socket in sockets {
            let Some(info) = socket.info else { continue };
            let known = before.remove(&socket.cookie);
            // The clock of busy times has ticks of milliseconds, which a quick answer may fall between.
            let rests = |known: &Info| info.busy_us <= known.busy_us && info.bytes_acked == known.bytes_acked;
            if !known.as_ref().is_some_and(rests) {
                in_use.push(info);
            }
            if let Some(known) = known.filter(|known| !rests(known)) {
                timed += 1;
                busy_us += info.busy_us.saturating_sub(known.busy_us);
                limited_us += info.rwnd_limited_us.saturating_sub(known.rwnd_limited_us);
            }
            // What was sent before the first look counts as well: only differences mean something.
            self.bytes_sent += info.bytes_acked.saturating_sub(known.map_or(0, |known| known.bytes_acked));
            self.known.insert(socket.cookie, info);
        }
        self.looked = Some(sheet.at());

        let milliseconds = |us: u32| f64::from(us) / 1e3;
        sheet.put(
            subject,
            signal::SEND_QUEUE,
            sockets.iter().map(|socket| u64::from(socket.send_queue)).sum::<u64>() as f64,
        );
        sheet.put(subject, signal::LINK_BYTES_SENT, self.bytes_sent as f64);
        let rtts = in_use.iter().map(|info| info.rtt_us);
        sheet.put_some(subject, signal::RTT_MS, median(rtts).map(milliseconds));
        sheet.put_some(
            subject,
            signal::RTT_MIN_MS,
            median(in_use.iter().filter_map(|info| info.rtt_min_us)).map(milliseconds),
        );
        if let Some(elapsed_us) = elapsed_us.filter(|elapsed_us| !sockets.is_empty() && *elapsed_us > 0.0) {
            let busy = busy_us as f64 / (f64::from(timed.max(1)) * elapsed_us);
            sheet.put(subject, signal::SEND_BUSY_SHARE, busy.min(1.0));
            let limited = limited_us as f64 / busy_us.max(1) as f64;
            sheet.put(subject, signal::RWND_LIMITED_SHARE, limited.min(1.0));
        }
    }
}

fn median(values: impl Iterator<Item = u32>) -> Option<u32> {
    let mut values: Vec<u32> = values.collect();
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests;

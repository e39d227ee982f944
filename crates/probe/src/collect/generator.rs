//! The generator's own sockets: answers that it has not read yet, local ports in use towards the target, attempts
//! without an answer. These say "it was us".

use std::net::SocketAddr;

use model::signal;

use super::SOCKETS_PER_SECOND;
use crate::files::Files;
use crate::proc::net;
use crate::report::Sheet;
use crate::socket::diag::Diag;
use crate::socket::{Family, Ports, Query, Socket, state};

/// Seconds that one look at sockets in all states may be put off, however many there are.
const PAUSE_MAX: usize = 4;

/// The sockets towards one target.
#[derive(Debug)]
pub(crate) struct Generator {
    target: SocketAddr,
    looks: u32,
    unread_share: f64,
    /// Looks for unread answers to leave out, so that a second does not ask for too many sockets.
    rest: usize,
    pause: usize,
}

impl Generator {
    pub(crate) fn new(target: SocketAddr) -> Self {
        Self { target, looks: 0, unread_share: 0.0, rest: 0, pause: 0 }
    }

    /// Looks for unread answers; called `per_second` times a second.
    pub(crate) fn sample(&mut self, diag: &mut Diag, per_second: usize) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        let (mut open, mut unread) = (0_usize, 0_usize);
        self.each(diag, state::ESTABLISHED, |socket| {
            open += 1;
            unread += usize::from(socket.receive_queue > 0);
        });
        self.rest = (open * per_second / SOCKETS_PER_SECOND).min(per_second - 1);
        if open > 0 {
            self.looks += 1;
            self.unread_share += unread as f64 / open as f64;
        }
    }

    /// Writes down what was seen since the last time, and counts local ports.
    pub(crate) fn collect(&mut self, subject: &str, files: &mut Files, diag: &mut Diag, sheet: &mut Sheet) {
        if self.looks > 0 {
            sheet.put(subject, signal::UNREAD_SHARE, self.unread_share / f64::from(self.looks));
        }
        (self.looks, self.unread_share) = (0, 0.0);
        let range = files.proc("sys/net/ipv4/ip_local_port_range").and_then(net::port_range);
        let limit = range.map(|(first, last)| f64::from(last.saturating_sub(first)) + 1.0);
        sheet.put_some(subject, signal::PORTS_LIMIT, limit);
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        let (mut used, mut closed, mut trying) = (0_usize, 0_usize, 0_usize);
        self.each(diag, state::CONNECTED, |socket| {
            used += 1;
            closed += usize::from(socket.state == state::TIME_WAIT);
            trying += usize::from(socket.state == state::SYN_SENT);
        });
        self.pause = (used / SOCKETS_PER_SECOND).min(PAUSE_MAX);
        sheet.put(subject, signal::PORTS_USED, used as f64);
        sheet.put(subject, signal::TIME_WAIT, closed as f64);
        sheet.put(subject, signal::SYN_SENT, trying as f64);
    }

    fn each(&self, diag: &mut Diag, states: u32, mut visit: impl FnMut(&Socket)) {
        let ports = Ports::Remote(self.target.port());
        let query = Query { family: Family::of(self.target), states, ports, info: false };
        for socket in diag.all(&[query.family], query) {
            if socket.remote.ip() == self.target.ip().to_canonical() {
                visit(&socket);
            }
        }
    }
}

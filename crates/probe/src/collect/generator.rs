//! The generator's own sockets: answers that it has not read yet, local ports in use towards the target, attempts
//! without an answer – these say "it was us" – and what its kernel sees of the way to the target.

use std::net::SocketAddr;

use model::signal;

use super::connections::Connections;
use crate::files::Files;
use crate::proc::net;
use crate::report::Sheet;
use crate::socket::diag::Diag;
use crate::socket::{Family, Ports, Query, Socket, state};

/// Sockets whose unread answers are looked for many times a second.
const SAMPLE: usize = 8;

/// Sockets that may be read in one second; with more, several seconds share one look.
const SOCKETS_PER_LOOK: usize = 1_000;

/// Seconds that one look at all sockets may be put off, however many there are.
const PAUSE_MAX: usize = 4;

/// The sockets towards one target.
#[derive(Debug)]
pub(crate) struct Generator {
    target: SocketAddr,
    connections: Connections,
    sample: Vec<Socket>,
    turn: usize,
    looks: u32,
    unread_share: f64,
    pause: usize,
}

impl Generator {
    pub(crate) fn new(target: SocketAddr) -> Self {
        let (connections, sample) = (Connections::default(), Vec::new());
        Self { target, connections, sample, turn: 0, looks: 0, unread_share: 0.0, pause: 0 }
    }

    /// Looks for unread answers on some connections: on others each second, so that all get their turn.
    pub(crate) fn sample(&mut self, diag: &mut Diag) {
        let mut open = Vec::with_capacity(self.sample.len());
        // After a failure the second has fewer looks.
        let _ = diag.again(&self.sample, |socket| open.push(*socket));
        open.retain(|socket| socket.state == state::ESTABLISHED);
        self.count(&open);
    }

    /// Every look weighs the same, however many connections it saw: one snapshot of all may be misleading.
    fn count(&mut self, open: &[Socket]) {
        if !open.is_empty() {
            let unread = open.iter().filter(|socket| socket.receive_queue > 0).count();
            self.looks += 1;
            self.unread_share += unread as f64 / open.len() as f64;
        }
    }

    /// Writes down what was seen since the last time, and counts local ports.
    pub(crate) fn collect(&mut self, subject: &str, files: &mut Files, diag: &mut Diag, sheet: &mut Sheet) {
        let range = files.proc("sys/net/ipv4/ip_local_port_range").and_then(net::port_range);
        let limit = range.map(|(first, last)| f64::from(last.saturating_sub(first)) + 1.0);
        sheet.put_some(subject, signal::PORTS_LIMIT, limit);
        if self.pause > 0 {
            self.pause -= 1;
        } else {
            self.look(subject, diag, sheet);
        }
        if self.looks > 0 {
            sheet.put(subject, signal::UNREAD_SHARE, self.unread_share / f64::from(self.looks));
        }
        (self.looks, self.unread_share) = (0, 0.0);
    }

    fn look(&mut self, subject: &str, diag: &mut Diag, sheet: &mut Sheet) {
        let ports = Ports::Remote(self.target.port());
        let query = Query { family: Family::of(self.target), states: state::CONNECTED, ports, info: true };
        let mut sockets = diag.all(&[query.family], query);
        sockets.retain(|socket| socket.remote.ip() == self.target.ip().to_canonical());
        let count = |state| sockets.iter().filter(|socket| socket.state == state).count() as f64;
        sheet.put(subject, signal::PORTS_USED, sockets.len() as f64);
        sheet.put(subject, signal::TIME_WAIT, count(state::TIME_WAIT));
        sheet.put(subject, signal::SYN_SENT, count(state::SYN_SENT));
        self.pause = (sockets.len() / SOCKETS_PER_LOOK).min(PAUSE_MAX);

        sockets.retain(|socket| socket.state == state::ESTABLISHED);
        self.connections.advance(subject, &sockets, sheet);
        let every = sockets.len().div_ceil(SAMPLE).max(1);
        self.turn = (self.turn + 1) % every;
        // The only look at connections that live shorter than a second.
        self.count(&sockets);
        self.sample = sockets.into_iter().skip(self.turn).step_by(every).collect();
    }
}

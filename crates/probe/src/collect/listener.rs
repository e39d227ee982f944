//! The accept queue of the service, twenty times a second: a queue fills and empties within milliseconds, so that one
//! look a second would miss it.

use std::net::SocketAddr;

use model::signal;

use crate::report::Sheet;
use crate::socket::diag::Diag;
use crate::socket::{Family, Ports, Query, state};

/// The listening sockets behind one address; several if processes share the port.
#[derive(Debug)]
pub(crate) struct Listener {
    address: SocketAddr,
    families: Vec<Family>,
    looks: u32,
    waiting: u64,
    most: u32,
    backlog: u32,
}

impl Listener {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, families: Family::BOTH.to_vec(), looks: 0, waiting: 0, most: 0, backlog: 0 }
    }

    /// The families whose sockets the service's connections are listed under.
    pub(crate) fn families(&self) -> &[Family] {
        &self.families
    }

    /// Looks once.
    pub(crate) fn sample(&mut self, diag: &mut Diag) {
        let ports = Ports::Local(self.address.port());
        let query = Query { family: Family::V4, states: state::LISTEN, ports, info: false };
        let mut found = diag.all(&self.families, query);
        found.retain(|socket| socket.accepts(self.address));
        if found.is_empty() {
            self.families = Family::BOTH.to_vec();
            return;
        }
        self.families.retain(|family| found.iter().any(|socket| socket.family == *family));
        let waiting = found.iter().map(|socket| socket.receive_queue).sum();
        self.looks += 1;
        self.waiting += u64::from(waiting);
        self.most = self.most.max(waiting);
        self.backlog = found.iter().map(|socket| socket.send_queue).sum();
    }

    /// Writes down what was seen since the last time.
    pub(crate) fn collect(&mut self, subject: &str, sheet: &mut Sheet) {
        if self.looks > 0 {
            sheet.put(subject, signal::LISTEN_QUEUE, self.waiting as f64 / f64::from(self.looks));
            sheet.put(subject, signal::LISTEN_QUEUE_MAX, f64::from(self.most));
            sheet.put(subject, signal::LISTEN_BACKLOG, f64::from(self.backlog));
        }
        (self.looks, self.waiting, self.most) = (0, 0, 0);
    }
}

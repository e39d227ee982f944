//! The accept queue of the service, twenty times a second: a queue fills and empties within milliseconds, so that one
//! look a second would miss it.

use std::net::SocketAddr;

use model::signal;

use crate::report::Sheet;
use crate::socket::diag::Diag;
use crate::socket::{Family, Ports, Query, Socket, state};

/// The listening sockets behind the addresses of a service; several for one if processes share the port.
#[derive(Debug)]
pub(crate) struct Listener {
    addresses: Vec<SocketAddr>,
    families: Vec<Family>,
    known: Vec<Socket>,
    looks: u32,
    waiting: u64,
    most: u32,
    backlog: u32,
}

impl Listener {
    pub(crate) fn new(addresses: Vec<SocketAddr>) -> Self {
        let (families, known) = (Family::BOTH.to_vec(), Vec::new());
        Self { addresses, families, known, looks: 0, waiting: 0, most: 0, backlog: 0 }
    }

    /// The ports it looks at, each once.
    pub(crate) fn ports(&self) -> impl Iterator<Item = u16> + '_ {
        let addresses = self.addresses.iter().enumerate();
        let first = addresses
            .filter(|(index, address)| !self.addresses[..*index].iter().any(|before| before.port() == address.port()));
        first.map(|(_, address)| address.port())
    }

    /// Whether nobody was seen to listen since readings were last written down.
    pub(crate) fn is_lost(&self) -> bool {
        self.looks == 0
    }

    /// The families whose sockets the service's connections are listed under.
    pub(crate) fn families(&self) -> &[Family] {
        &self.families
    }

    /// Looks once.
    pub(crate) fn sample(&mut self, diag: &mut Diag) {
        let found = self.find(diag);
        if found.is_empty() {
            return;
        }
        let waiting = found.iter().map(|socket| socket.receive_queue).sum();
        self.looks += 1;
        self.waiting += u64::from(waiting);
        self.most = self.most.max(waiting);
        self.backlog = found.iter().map(|socket| socket.send_queue).sum();
    }

    /// The listening sockets: those of the last time if they are still there, which is quick to ask.
    fn find(&mut self, diag: &mut Diag) -> Vec<Socket> {
        let mut found = Vec::new();
        let asked = diag.again(&self.known, |socket| found.push(*socket));
        found.retain(|socket| self.is_ours(socket));
        if asked.is_err() || found.is_empty() || found.len() < self.known.len() {
            found.clear();
            for port in self.ports() {
                let ports = Ports::Local(port);
                let query = Query { family: Family::V4, states: state::LISTEN, ports, info: false };
                found.extend(diag.all(&Family::BOTH, query));
            }
            found.retain(|socket| self.is_ours(socket));
        }
        self.families = Family::BOTH.to_vec();
        self.families.retain(|family| found.is_empty() || found.iter().any(|socket| socket.family == *family));
        self.known.clone_from(&found);
        found
    }

    fn is_ours(&self, socket: &Socket) -> bool {
        self.addresses.iter().any(|address| socket.accepts(*address))
    }

    /// Writes down what was seen since the last time.
    pub(crate) fn collect(&mut self, subject: &str, sheet: &mut Sheet) {
        if self.looks > 0 {
            sheet.put(subject, signal::LISTEN_QUEUE, self.waiting as f64 / f64::from(self.looks));
            sheet.put(subject, signal::LISTEN_QUEUE_MAX, f64::from(self.most));
            sheet.put(subject, signal::LISTEN_BACKLOG, f64::from(self.backlog));
        }
        (self.looks, self.waiting, self.most) = (0, 0, 0);
        // Another process may have joined in listening.
        self.known.clear();
    }
}

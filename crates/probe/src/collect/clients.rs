//! The service's connections to its clients, once a second, whoever holds them: a proxy in front of it counts.

use model::signal;

use super::connections::Connections;
use super::listener::Listener;
use crate::report::Sheet;
use crate::socket::diag::Diag;
use crate::socket::{Family, Ports, Query, state};

/// Sockets whose details may be read in one second; with more, several seconds share one look.
const SOCKETS_PER_LOOK: usize = 2_000;

/// The connections to the service's listening ports.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    connections: Connections,
    pause: usize,
}

impl Clients {
    /// Looks, unless there are so many sockets that this second is skipped.
    pub(crate) fn collect(&mut self, subject: &str, listener: &Listener, diag: &mut Diag, sheet: &mut Sheet) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        if listener.ports().next().is_none() {
            return;
        }
        let mut sockets = Vec::new();
        for port in listener.ports() {
            let ports = Ports::Local(port);
            let query = Query { family: Family::V4, states: state::ESTABLISHED, ports, info: true };
            sockets.extend(diag.all(listener.families(), query));
        }
        self.pause = sockets.len() / SOCKETS_PER_LOOK;
        sheet.put(subject, signal::CONNECTIONS, sockets.len() as f64);
        self.connections.advance(subject, &sockets, sheet);
    }
}

//! Which connection a request goes out on: one that is kept, one that is shared, or a new one; and when it is sent once
//! more because the first connection was gone.

use std::rc::Rc;

use http::Method;

use super::Client;
use super::connection::{Answered, Connection, Dialed, Progress, dial};
use super::cookies::SharedJar;
use super::failure;
use super::http1::answer::Kept;
use super::http2::{Http2, Undone};
use super::outgoing::Outgoing;
use super::target::{Origin, Target};
use crate::user::Failure;

/// How often a request is sent at most: services that say farewell on every connection must not be asked for ever.
const ATTEMPTS: u32 = 4;

/// Origins of one user that are being connected to, so that requests which may share a connection wait for it.
pub(super) type Dialing = Vec<(Origin, Rc<tokio::sync::Mutex<()>>)>;

impl Client {
    /// Sends a request and reads the answer to its end.
    pub(super) async fn send(
        &self,
        outgoing: &Outgoing<'_>,
        jar: &SharedJar,
        progress: &Progress,
    ) -> Result<Answered, Failure> {
        if self.net.may_share(&outgoing.target.origin) {
            // On the heap, since it is not what most requests go through and its state is large.
            return Box::pin(self.send_shared(outgoing, jar, progress)).await;
        }
        self.send_alone(outgoing, jar, progress).await
    }

    /// On a connection that carries one request at a time.
    async fn send_alone(
        &self,
        outgoing: &Outgoing<'_>,
        jar: &SharedJar,
        progress: &Progress,
    ) -> Result<Answered, Failure> {
        if let Some(answered) = self.send_kept(outgoing, jar, progress).await? {
            return Ok(answered);
        }
        match dial(&self.net, &outgoing.target, &self.traffic, progress, self.from).await? {
            Dialed::Http1(connection) => self.first_exchange(connection, outgoing, jar, progress).await,
            Dialed::Http2(_) => unreachable!("HTTP/2 is not offered where connections are not shared"),
        }
    }

    /// On a connection that was kept, if there is one that still works.
    async fn send_kept(
        &self,
        outgoing: &Outgoing<'_>,
        jar: &SharedJar,
        progress: &Progress,
    ) -> Result<Option<Answered>, Failure> {
        let Some(mut kept) = self.idle_connection(&outgoing.target) else { return Ok(None) };
        match kept.exchange(&self.net, outgoing, jar, progress).await {
            Ok((answered, in_order)) => {
                self.keep(kept, in_order);
                Ok(Some(answered))
            }
            // As Go's client does: a kept connection may have been closed by the service just now, which says nothing
            // about the request, so that one which changes nothing is tried once more on a new connection.
            Err(broken) if !broken.answer_begun && outgoing.repeatable() => {
                self.net.tally.meter.sent_again();
                Ok(None)
            }
            Err(broken) => Err(broken.failure),
        }
    }

    async fn first_exchange(
        &self,
        mut connection: Connection,
        outgoing: &Outgoing<'_>,
        jar: &SharedJar,
        progress: &Progress,
    ) -> Result<Answered, Failure> {
        let exchanged = connection.exchange(&self.net, outgoing, jar, progress).await;
        let (answered, in_order) = exchanged.map_err(|broken| broken.failure)?;
        self.keep(connection, in_order);
        Ok(answered)
    }

    fn keep(&self, connection: Connection, in_order: bool) {
        if in_order {
            self.idle.borrow_mut().push(connection);
        }
    }

    fn idle_connection(&self, target: &Rc<Target>) -> Option<Connection> {
        let mut idle = self.idle.borrow_mut();
        loop {
            let position = idle.iter().rposition(|connection| connection.facts.lead_to(target))?;
            let mut connection = idle.swap_remove(position);
            if connection.usable(&self.net) {
                return Some(connection);
            }
        }
    }

    /// On a connection that may carry several requests at once, if the service agrees.
    async fn send_shared(
        &self,
        outgoing: &Outgoing<'_>,
        jar: &SharedJar,
        progress: &Progress,
    ) -> Result<Answered, Failure> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let (shared, reused) = match self.shared(&outgoing.target) {
                Some(shared) => (shared, true),
                None => {
                    if let Some(answered) = self.send_kept(outgoing, jar, progress).await? {
                        return Ok(answered);
                    }
                    match self.dial_in_turn(&outgoing.target, progress).await? {
                        Dialed::Http2(shared) => (shared, false),
                        Dialed::Http1(connection) => {
                            return self.first_exchange(connection, outgoing, jar, progress).await;
                        }
                    }
                }
            };
            let kept = Kept::new(outgoing.keep_body && outgoing.method != Method::HEAD, &self.net.held);
            let request = outgoing.request(&self.net.defaults, jar).map_err(failure::other)?;
            let undone = match shared.exchange(request, outgoing.body.clone(), kept, progress).await {
                Ok(answered) => return Ok(answered),
                Err(undone) => undone,
            };
            match undone {
                Undone::Unprocessed(failure) => last = Some(failure),
                Undone::Lost(failure) if reused && outgoing.repeatable() => {
                    self.net.tally.meter.sent_again();
                    last = Some(failure);
                }
                Undone::Lost(failure) | Undone::Failed(failure) => return Err(failure),
            }
            if !shared.open() {
                self.shared.borrow_mut().retain(|known| !Rc::ptr_eq(known, &shared));
            }
        }
        Err(last.expect("every attempt that is repeated has failed"))
    }

    fn shared(&self, target: &Rc<Target>) -> Option<Rc<Http2>> {
        let mut shared = self.shared.borrow_mut();
        shared.retain(|known| known.open() && known.facts.young(&self.net, || self.net.tally.clock.now()));
        shared.iter().find(|known| known.facts.lead_to(target)).cloned()
    }

    /// A new connection, or the one that another request of this user has made meanwhile.
    async fn dial_in_turn(&self, target: &Rc<Target>, progress: &Progress) -> Result<Dialed, Failure> {
        let turn = {
            let mut dialing = self.dialing.borrow_mut();
            dialing.retain(|(_, turn)| Rc::strong_count(turn) > 1);
            match dialing.iter().find(|(origin, _)| *origin == target.origin) {
                Some((_, turn)) => turn.clone(),
                None => {
                    let turn = Rc::new(tokio::sync::Mutex::new(()));
                    dialing.push((target.origin.clone(), turn.clone()));
                    turn
                }
            }
        };
        let mut waits = Some(turn.lock().await);
        if let Some(shared) = self.shared(target) {
            return Ok(Dialed::Http2(shared));
        }
        if self.net.speaks_http1(&target.origin) {
            waits = None;
        }
        let dialed = dial(&self.net, target, &self.traffic, progress, self.from).await?;
        match &dialed {
            Dialed::Http2(shared) if !self.net.defaults.close => self.shared.borrow_mut().push(shared.clone()),
            Dialed::Http2(_) => {}
            Dialed::Http1(_) => self.net.spoke_http1(&target.origin),
        }
        drop(waits);
        Ok(dialed)
    }
}

//! WebSockets of one user: opened like its HTTP connections, with its cookies, and measured in k6's terms. A socket that
//! does not open or that breaks is data, not an error.

mod handshake;
mod talk;
#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use http::HeaderValue;
use model::metric::MetricId;
use model::unit::Moment;
use tokio::sync::mpsc::UnboundedReceiver;

use super::target::Target;
use super::{Client, failure};
use crate::meter::{Meter, TagSet};
use crate::ongoing::{Credit, Loan};
use crate::user::{SocketAnswer, SocketEvent, SocketManner, SocketRequest, Word};
use handshake::Handshaken;
use talk::{End, Talk};

/// How long a handshake may take, connecting included.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// Tells the user what happens; what may be much comes with a loan.
type Tell<'a> = &'a dyn Fn(SocketEvent, Option<Loan>);

/// What the samples of one socket have in common.
struct Session<'a> {
    meter: &'a Meter,
    manner: SocketManner,
    tags: TagSet,
}

impl Session<'_> {
    fn add(&self, metric: MetricId, value: f64) {
        self.meter.add(metric, value, self.tags);
    }

    fn add_duration(&self, metric: MetricId, from: Moment, to: Moment) {
        self.add(metric, to.since(from).as_secs_f64() * 1e3);
    }
}

impl Client {
    /// Opens a socket and carries what is said, both ways, until it is over.
    pub(crate) async fn socket(&self, request: SocketRequest, words: UnboundedReceiver<Word>, tell: Tell<'_>) {
        let (meter, clock) = (&self.net.tally.meter, self.net.tally.clock);
        let target = match Target::of_socket(&request.url, meter) {
            Ok(target) => target,
            Err(failure) => return tell(SocketEvent::Refused(Box::default(), failure.text), None),
        };
        let began = clock.now();
        let shaking = tokio::time::timeout(HANDSHAKE_TIMEOUT, self.handshake(&request, &target)).await;
        let shaken = shaking.unwrap_or_else(|_| Err((Box::default(), failure::timeout().text)));
        let connected = clock.now();
        let answer = match &shaken {
            Ok(shaken) => &shaken.answer,
            Err((answer, _)) => answer,
        };
        let session = Session { meter, manner: request.manner, tags: tags(meter, &request, &target, answer) };
        session.add(MetricId::WS_SESSIONS, 1.0);
        session.add_duration(MetricId::WS_CONNECTING, began, connected);
        let Handshaken { answer, stream, early } = match shaken {
            Ok(shaken) => shaken,
            Err((answer, why)) => {
                if request.manner == SocketManner::Blocking {
                    session.add_duration(MetricId::WS_SESSION_DURATION, began, connected);
                }
                return tell(SocketEvent::Refused(answer, why), None);
            }
        };
        tell(SocketEvent::Opened(answer), None);
        let credit = Rc::new(Credit::default());
        let talk = Talk::new(stream, early, words, credit, request.unsent, clock).await;
        let End { code, reason, broke } = talk.run(&session, tell).await;
        session.add_duration(MetricId::WS_SESSION_DURATION, began, clock.now());
        if let Some(why) = broke {
            tell(SocketEvent::Failed(why), None);
        }
        tell(SocketEvent::Closed { code, reason }, None);
    }
}

/// The tags of a session, as k6 gives them.
fn tags(meter: &Meter, request: &SocketRequest, target: &Target, answer: &SocketAnswer) -> TagSet {
    let url = meter.endpoint_name(target.endpoint);
    let name = match (&request.name, request.manner) {
        (Some(name), _) => meter.endpoint_name(meter.endpoint(name)),
        (None, SocketManner::Standard) => url.clone(),
        (None, SocketManner::Blocking) => Rc::from(""),
    };
    let status = if answer.status == 0 { String::new() } else { answer.status.to_string() };
    meter.tags(request.tags, &[("url", &url), ("name", &name), ("status", &status), ("subproto", &answer.protocol)])
}

/// A value that is a header's, or nothing.
fn text_of(value: Option<&HeaderValue>) -> &str {
    value.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

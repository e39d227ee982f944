//! Samples of HTTP requests: nine metrics, the window and the endpoint in one go.

use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::FixedState;
use model::metric::MetricId;
use model::window::{ENDPOINTS_MAX, OTHER, Requests, Window};

use super::{Meter, TagSet};
use crate::user::Timings;

/// An interned endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint(u32);

/// A request that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) tags: TagSet,
    pub(crate) endpoint: Endpoint,
    pub(crate) timings: Timings,
    /// The `http_req_failed` sample, if there is to be one.
    pub(crate) failed: Option<bool>,
    /// Whether an answer came that was not unexpected.
    pub(crate) answered: bool,
    /// 0 if there was no answer.
    pub(crate) status: u16,
}

/// The endpoints of a run, and their requests in the second that is under way.
#[derive(Default)]
pub(super) struct Endpoints {
    ids: HashMap<Rc<str>, Endpoint, FixedState>,
    names: Vec<Rc<str>>,
    requests: Vec<Requests>,
    /// Whether some were not told apart.
    pub(super) full: bool,
}

impl Endpoints {
    fn at(&mut self, name: &str) -> Endpoint {
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        self.full = self.names.len() >= ENDPOINTS_MAX;
        let name = if self.full { Rc::from(OTHER) } else { Rc::from(name) };
        *self.ids.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.requests.push(Requests::default());
            Endpoint(u32::try_from(self.names.len() - 1).expect("the number of endpoints is capped"))
        })
    }

    pub(super) fn take(&mut self, window: &mut Window) {
        for (name, requests) in self.names.iter().zip(&mut self.requests) {
            if requests.started + requests.finished == 0 {
                continue;
            }
            let requests = std::mem::take(requests);
            window.requests.merge(&requests);
            window.endpoints.insert(name.to_string(), requests);
        }
    }
}

impl Meter {
    /// The endpoint of this name, or the one for all further names once there are too many.
    pub(crate) fn endpoint(&self, name: &str) -> Endpoint {
        self.inner.borrow_mut().endpoints.at(name)
    }

    /// The name that counts for this endpoint.
    pub(crate) fn endpoint_name(&self, endpoint: Endpoint) -> Rc<str> {
        self.inner.borrow().endpoints.names[endpoint.0 as usize].clone()
    }

    /// A request to this endpoint began.
    pub(crate) fn request_began(&self, endpoint: Endpoint) {
        self.inner.borrow_mut().endpoints.requests[endpoint.0 as usize].started += 1;
    }

    /// A request ended: all its samples.
    pub(crate) fn request_ended(&self, finished: &Finished) {
        let inner = &mut *self.inner.borrow_mut();
        let Finished { tags, endpoint, timings, failed, answered, status } = *finished;
        inner.stamp();
        let duration = timings.duration();
        let mut add = |metric, value| self.add_to(inner, metric, value, tags, answered);
        add(MetricId::HTTP_REQS, 1.0);
        add(MetricId::HTTP_REQ_DURATION, duration);
        add(MetricId::HTTP_REQ_BLOCKED, timings.blocked);
        add(MetricId::HTTP_REQ_CONNECTING, timings.connecting);
        add(MetricId::HTTP_REQ_TLS_HANDSHAKING, timings.tls_handshaking);
        add(MetricId::HTTP_REQ_SENDING, timings.sending);
        add(MetricId::HTTP_REQ_WAITING, timings.waiting);
        add(MetricId::HTTP_REQ_RECEIVING, timings.receiving);
        if let Some(failed) = failed {
            add(MetricId::HTTP_REQ_FAILED, f64::from(u8::from(failed)));
        }
        let requests = &mut inner.endpoints.requests[endpoint.0 as usize];
        requests.finished += 1;
        requests.failed += u64::from(!answered);
        requests.count_status(status, 1);
        requests.duration.record_ms(duration);
        requests.connecting_ms_sum += timings.connecting + timings.tls_handshaking;
        requests.blocked_ms_sum += timings.blocked;
        requests.waiting_ms_sum += timings.waiting;
        requests.receiving_ms_sum += timings.receiving;
    }
}

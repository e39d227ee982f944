//! Several requests of one user at once: at most 20 under way, of which at most 6 to one host, as k6's defaults are.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use super::Client;
use super::target::Origin;
use crate::alarm::{Alarm, Leash};
use crate::user::{Request, Response};

const AT_ONCE: usize = 20;
const AT_ONCE_PER_HOST: usize = 6;

type Running<'a> = Pin<Box<dyn Future<Output = Option<Response>> + 'a>>;

struct Slot<'a> {
    request: Option<Request>,
    origin: Option<Origin>,
    running: Option<Running<'a>>,
    response: Option<Response>,
}

impl Client {
    /// Sends all `requests`; `None` if the scenario cut them off.
    pub(crate) async fn batch(&self, requests: Vec<Request>, leash: &Leash) -> Option<Vec<Response>> {
        let mut slots: Vec<Slot<'_>> = requests.into_iter().map(|request| self.slot(request)).collect();
        loop {
            self.start_what_may(&mut slots, leash);
            if slots.iter().all(|slot| slot.running.is_none()) {
                return slots.into_iter().map(|slot| slot.response).collect();
            }
            let all_went_on = poll_fn(|cx| {
                let mut ended = None;
                for slot in &mut slots {
                    let Some(running) = &mut slot.running else { continue };
                    if let Poll::Ready(response) = running.as_mut().poll(cx) {
                        ended = Some(ended.unwrap_or(true) && response.is_some());
                        slot.running = None;
                        slot.response = response;
                    }
                }
                ended.map_or(Poll::Pending, Poll::Ready)
            })
            .await;
            if !all_went_on {
                return None;
            }
        }
    }

    fn slot<'a>(&self, request: Request) -> Slot<'a> {
        let origin = self.net.targets.at(&request.url, &self.net.tally.meter).ok().map(|target| target.origin.clone());
        Slot { request: Some(request), origin, running: None, response: None }
    }

    fn start_what_may<'a>(&'a self, slots: &mut [Slot<'a>], leash: &'a Leash) {
        for index in 0..slots.len() {
            let running = slots.iter().filter(|slot| slot.running.is_some());
            let same_host = running.clone().filter(|slot| slot.origin == slots[index].origin).count();
            if running.count() >= AT_ONCE {
                return;
            }
            if same_host >= AT_ONCE_PER_HOST {
                continue;
            }
            if let Some(request) = slots[index].request.take() {
                let mut alarm = Alarm::new(self.net.tally.clock);
                slots[index].running =
                    Some(Box::pin(async move { self.request(Box::new(request), &mut alarm, leash).await }));
            }
        }
    }
}

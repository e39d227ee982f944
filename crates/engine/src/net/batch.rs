//! Several requests of one user at once, within the limits of `batch` and `batchPerHost`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use super::Client;
use super::target::Origin;
use crate::alarm::{Alarm, Leash};
use crate::user::{Request, Response};

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
        let most = |limit: Option<u32>| limit.map_or(usize::MAX, |limit| limit as usize);
        let network = self.net.network();
        let (at_once, at_once_per_host) = (most(network.batch), most(network.batch_per_host));
        for index in 0..slots.len() {
            let running = slots.iter().filter(|slot| slot.running.is_some());
            let same_host = running.clone().filter(|slot| slot.origin == slots[index].origin).count();
            if running.count() >= at_once {
                return;
            }
            if same_host >= at_once_per_host {
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

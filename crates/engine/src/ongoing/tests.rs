//! In simulated time, with a user that does what a list says.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::LocalSet;

use super::*;
use crate::clock::Clock;
use crate::meter::{Meter, TagSet};
use crate::net::{Gate, Net, Permit};

struct Rig {
    ongoing: Box<Ongoing>,
    alarm: Alarm,
    leash: Leash,
    tally: Rc<Tally>,
}

fn rig() -> Rig {
    let clock = Clock::new(tokio::time::Instant::now().into_std());
    let metrics = model::metric::builtin_metrics();
    let plan = model::plan::Plan { target: String::new(), metrics, ..Default::default() };
    let meter = Meter::new(std::sync::Arc::new(plan));
    let tally = Tally::new(meter, clock, Box::new(|_, _| ()));
    let net = Net::new(tally.clone(), Gate::new(Permit::all(), Box::new(|_| ())), None);
    let ongoing = Ongoing::new(Rc::new(Client::new(net, 1)), tally.clone());
    Rig { ongoing, alarm: Alarm::new(clock), leash: Leash::default(), tally }
}

impl Rig {
    fn timer(&mut self, ticket: u32, ms: u64) {
        self.ongoing.begin(Ticket(ticket), Work::Timer(Duration::from_millis(ms)));
    }

    /// The next event, and at which millisecond it was told.
    async fn next(&mut self) -> Option<(u32, Event, u64)> {
        let (ticket, event) = self.ongoing.next(&mut self.alarm, &self.leash).await?;
        Some((ticket.0, event, self.tally.clock.now().0 / 1_000_000))
    }
}

#[tokio::test(start_paused = true)]
async fn timers_ring_when_they_are_due() {
    let mut rig = rig();
    for (ticket, ms) in [(1, 300), (2, 5), (3, 0), (4, 5)] {
        rig.timer(ticket, ms);
    }
    rig.ongoing.tell(Ticket(4), Word::Cancel);
    let mut told = Vec::new();
    for _ in 0..3 {
        let (ticket, event, at) = rig.next().await.unwrap();
        assert!(matches!(event, Event::Rang));
        told.push((ticket, at));
    }
    assert_eq!(told, [(3, 0), (2, 5), (1, 300)]);
}

#[tokio::test(start_paused = true)]
async fn a_cut_ends_the_wait() {
    let mut rig = rig();
    rig.timer(1, 60_000);
    rig.leash.set_cut(rig.tally.clock.now() + Duration::from_secs(1));
    assert!(rig.next().await.is_none());
    assert_eq!(rig.tally.clock.now().0, 1_000_000_000);
}

/// A server that answers each request once it is told to, in any order: the path says which.
async fn held_server() -> (String, Rc<RefCell<VecDeque<tokio::net::TcpStream>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let held: Rc<RefCell<VecDeque<_>>> = Rc::default();
    let list = held.clone();
    tokio::task::spawn_local(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 1024];
            assert!(stream.read(&mut buffer).await.unwrap() > 0);
            list.borrow_mut().push_back(stream);
        }
    });
    (url, held)
}

async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn requests_go_on_beside_each_other_and_end_with_their_user() {
    let body = async {
        let mut rig = rig();
        let (url, held) = held_server().await;
        for ticket in 1..=3 {
            let request = Box::new(crate::user::Request::get(url.clone(), TagSet::RUN));
            rig.ongoing.begin(Ticket(ticket), Work::Http(request));
        }
        // All are under way though nobody waits for any of them.
        until(|| held.borrow().len() == 3).await;
        rig.ongoing.tell(Ticket(2), Word::Cancel);
        let mut last = held.borrow_mut().pop_back().unwrap();
        last.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        let (_, event, _) = rig.next().await.unwrap();
        assert!(matches!(event, Event::Response(response) if response.status == 204));
        assert!(rig.leash.waits_since() != crate::alarm::NEVER, "it waits for an answer");
        drop(rig);
        // The service sees the others go.
        let rest: Vec<_> = held.borrow_mut().drain(..).collect();
        for mut stream in rest {
            assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
        }
    };
    LocalSet::new().run_until(body).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_always_ready_lets_others_run() {
    let body = async {
        let mut rig = rig();
        let others = Rc::new(std::cell::Cell::new(0));
        let seen = others.clone();
        tokio::task::spawn_local(async move {
            loop {
                seen.set(seen.get() + 1);
                tokio::task::yield_now().await;
            }
        });
        for _ in 0..100 {
            rig.timer(1, 0);
            rig.next().await.unwrap();
        }
        assert!(others.get() >= 100, "{}", others.get());
    };
    LocalSet::new().run_until(body).await;
}

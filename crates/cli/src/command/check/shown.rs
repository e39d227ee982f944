//! Users whose every step is shown: what they ask for, what came of it and which checks held become log lines, in the
//! order in which it happened. Secrets are still in them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use engine::meter::{LogLine, Meter, TagSet};
use engine::user::{
    Answer, Ask, Event, GrpcAnswer, GrpcAsk, GrpcReply, Nursery, Request, Response, SocketEvent, Ticket, User,
    UserError, UserFactory, Work,
};
use model::record::Level;
use model::summary::Group;

/// Makes users that are shown.
pub(super) struct ShownUsers {
    pub(super) users: Arc<dyn UserFactory>,
}

impl UserFactory for ShownUsers {
    fn nursery(&self, worker: usize, meter: Rc<Meter>) -> Result<Box<dyn Nursery>, UserError> {
        let nursery = self.users.nursery(worker, meter.clone())?;
        Ok(Box::new(ShownNursery { nursery, watch: Rc::new(Watch { meter, checks: RefCell::default() }) }))
    }
}

struct ShownNursery {
    nursery: Box<dyn Nursery>,
    watch: Rc<Watch>,
}

impl ShownNursery {
    fn shown(
        &mut self,
        name: &str,
        make: impl FnOnce(&mut dyn Nursery) -> Result<Box<dyn User>, UserError>,
    ) -> Result<Box<dyn User>, UserError> {
        let nursery = &mut *self.nursery;
        // What the init code says was shown when the script was loaded.
        let (user, _) = self.watch.logged(|| make(nursery));
        let (watch, name) = (self.watch.clone(), name.to_owned());
        Ok(Box::new(ShownUser { user: user?, watch, name, asked: Vec::new(), going_on: BTreeMap::new() }))
    }
}

impl Nursery for ShownNursery {
    fn user(&mut self, vu: u32) -> Result<Box<dyn User>, UserError> {
        self.shown("", |nursery| nursery.user(vu))
    }

    fn setup(&mut self) -> Result<Box<dyn User>, UserError> {
        self.shown("setup", |nursery| nursery.setup())
    }

    fn teardown(&mut self) -> Result<Box<dyn User>, UserError> {
        self.shown("teardown", |nursery| nursery.teardown())
    }
}

/// What all users are watched with.
struct Watch {
    meter: Rc<Meter>,
    /// How often each check held and how often not, as far as that is shown.
    checks: RefCell<BTreeMap<String, (u64, u64)>>,
}

impl Watch {
    /// Does something, and gives what was logged meanwhile; what was logged before stays.
    fn logged<T>(&self, act: impl FnOnce() -> T) -> (T, Vec<LogLine>) {
        let before = self.meter.take_log();
        let result = act();
        let lines = self.meter.take_log();
        before.into_iter().for_each(|line| self.meter.log(line.level, line.text));
        (result, lines)
    }

    /// The checks that were made since the last call.
    fn checks(&self) -> Vec<(Level, String)> {
        let mut lines = Vec::new();
        self.of_group(&self.meter.summary().root, "", &mut lines);
        lines
    }

    fn of_group(&self, group: &Group, path: &str, lines: &mut Vec<(Level, String)>) {
        for check in &group.checks {
            let name = format!("{path}{}", check.name);
            let mut known = self.checks.borrow_mut();
            let before = known.entry(name.clone()).or_default();
            lines.extend((before.0..check.passes).map(|_| (Level::Info, format!("check `{name}` passed"))));
            lines.extend((before.1..check.fails).map(|_| (Level::Warn, format!("check `{name}` failed"))));
            *before = (check.passes, check.fails);
        }
        for inner in &group.groups {
            self.of_group(inner, &format!("{path}{} > ", inner.name), lines);
        }
    }
}

struct ShownUser {
    user: Box<dyn User>,
    watch: Rc<Watch>,
    /// The scenario, `setup` or `teardown`.
    name: String,
    /// What it waits for.
    asked: Vec<String>,
    /// What it has begun and not waited for.
    going_on: BTreeMap<Ticket, String>,
}

impl User for ShownUser {
    fn resume(&mut self, answer: Answer) -> Ask {
        if let Answer::Begin(assignment, _) = &answer
            && !assignment.scenario.is_empty()
        {
            self.name.clone_from(&assignment.scenario);
        }
        for (level, text) in self.told(&answer) {
            self.say(level, &text);
        }
        let user = &mut self.user;
        let (ask, lines) = self.watch.logged(|| user.resume(answer));
        for line in lines {
            self.say(line.level, &line.text);
        }
        for (level, text) in self.watch.checks() {
            self.say(level, &text);
        }
        self.asks(&ask);
        ask
    }

    fn tags(&self) -> Option<TagSet> {
        self.user.tags()
    }
}

impl ShownUser {
    fn say(&self, level: Level, text: &str) {
        self.watch.meter.log(level, format!("[{}] {text}", self.name));
    }

    /// Remembers what is asked for, to name it beside its answer.
    fn asks(&mut self, ask: &Ask) {
        match ask {
            Ask::Http(request) => self.asked = vec![heading(request)],
            Ask::Batch(requests) => self.asked = requests.iter().map(heading).collect(),
            Ask::Grpc(ask) => {
                self.asked = vec![match &**ask {
                    GrpcAsk::Connect(to) => format!("gRPC connect {}", to.address),
                    GrpcAsk::Call(call) => format!("gRPC {}", call.path),
                    GrpcAsk::Close(_) => "gRPC close".to_owned(),
                }];
            }
            Ask::Start(ticket, work) => {
                let what = match work {
                    Work::Http(request) => heading(request),
                    Work::GrpcCall(call) => format!("gRPC {}", call.path),
                    Work::GrpcStream(stream) => format!("gRPC stream {}", stream.path),
                    Work::Socket(socket) => format!("WebSocket {}", socket.url),
                    // Timers are no traffic.
                    Work::Timer(_) => return,
                };
                self.going_on.insert(*ticket, what);
            }
            _ => {}
        }
    }

    /// What an answer says.
    fn told(&mut self, answer: &Answer) -> Vec<(Level, String)> {
        match answer {
            Answer::Response(response) => vec![outcome(&self.asked.concat(), response)],
            Answer::Responses(responses) => {
                self.asked.iter().zip(responses).map(|(asked, response)| outcome(asked, response)).collect()
            }
            Answer::Grpc(answer) => vec![grpc(&self.asked.concat(), answer)],
            Answer::Event(ticket, event) => self.happened(*ticket, event).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn happened(&mut self, ticket: Ticket, event: &Event) -> Option<(Level, String)> {
        let what = self.going_on.get(&ticket)?.clone();
        if event.is_last() {
            self.going_on.remove(&ticket);
        }
        Some(match event {
            Event::Response(response) => outcome(&what, response),
            Event::GrpcReply(reply) => called(&what, reply),
            Event::GrpcMessage(message) => (Level::Info, format!("{what}: a message of {} bytes", message.len())),
            Event::GrpcEnded(ended) => ended_with(&what, ended.0.code, &ended.0.text),
            Event::Socket(event) => (Level::Info, format!("{what}: {}", of_socket(event)?)),
            Event::Rang => return None,
        })
    }
}

/// What happened to a WebSocket; what comes on it is told by its size.
fn of_socket(event: &SocketEvent) -> Option<String> {
    Some(match event {
        SocketEvent::Opened(_) => "open".to_owned(),
        SocketEvent::Refused(_, why) | SocketEvent::Failed(why) => why.clone(),
        SocketEvent::Text(text) => format!("a text of {} bytes", text.len()),
        SocketEvent::Binary(bytes) => format!("{} bytes", bytes.len()),
        SocketEvent::Closed { code, reason } => format!("closed with {code} {reason}").trim_end().to_owned(),
        SocketEvent::Ping | SocketEvent::Pong => return None,
    })
}

/// Method and URL.
fn heading(request: &Request) -> String {
    format!("{} {}", request.method, request.url)
}

/// A request and what came of it: status, duration, size, names of cookies.
fn outcome(asked: &str, response: &Response) -> (Level, String) {
    let duration_ms = response.timings.duration();
    if response.status == 0 {
        let why = response.error.as_ref().map_or("no answer", |error| error.text.as_str());
        return (Level::Error, format!("{asked}: {why}, after {duration_ms:.1} ms"));
    }
    let mut text = format!("{asked}: {} in {duration_ms:.1} ms", response.status);
    if let Some(body) = &response.body {
        text += &format!(", {} bytes", body.len());
    }
    if asked.split_once(' ').is_some_and(|(_, first)| !is_same(first, &response.url)) {
        text += &format!(", redirected to {}", response.url);
    }
    let set = response.headers.get_all("set-cookie").iter();
    let names: Vec<_> = set.filter_map(|value| Some(value.to_str().ok()?.split('=').next()?.trim())).collect();
    if !names.is_empty() {
        text += &format!(", sets cookies {}", names.join(", "));
    }
    let level = if response.status >= 400 { Level::Warn } else { Level::Info };
    (level, text)
}

/// Whether two URLs lead to one place, whoever asks.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        let mut url = url::Url::parse(text).ok()?;
        url.set_fragment(None);
        // They fail for URLs without a host, which hold nobody's name.
        let _ = (url.set_username(""), url.set_password(None));
        Some(url)
    };
    one == other || bare(one) == bare(other)
}

fn grpc(asked: &str, answer: &GrpcAnswer) -> (Level, String) {
    match answer {
        GrpcAnswer::NotOpened(failure) => (Level::Error, format!("{asked}: {}", failure.text)),
        GrpcAnswer::Reply(reply) => called(asked, reply),
        GrpcAnswer::Opened(_) | GrpcAnswer::Closed => (Level::Info, format!("{asked}: done")),
    }
}

fn called(asked: &str, reply: &GrpcReply) -> (Level, String) {
    ended_with(asked, reply.status.code, &reply.status.text)
}

fn ended_with(asked: &str, code: u32, text: &str) -> (Level, String) {
    match code {
        0 => (Level::Info, format!("{asked}: status 0")),
        _ => (Level::Warn, format!("{asked}: status {code} {text}")),
    }
}

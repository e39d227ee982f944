//! Against a server that does what servers should not: real sockets, one scripted connection after the other.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::metric::MetricId;
use model::plan::Plan;
use model::summary::Total;
use model::window::Window;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::{LocalSet, spawn_local};

use super::*;
use crate::clock::Clock;
use crate::meter::{Meter, TagSet};

mod http2;
mod network;
mod proxy;
mod reuse;
mod rude;

/// What the server does next on a connection.
#[derive(Clone, Copy)]
enum Act {
    /// Reads one request with its body.
    Read,
    /// Sends this.
    Send(&'static str),
    /// Sends this, which is no text.
    SendBytes(&'static [u8]),
    /// Closes with a reset instead of an end.
    Reset,
    /// Says nothing until the client goes away.
    Stall,
}
use Act::{Read, Reset, Send, SendBytes, Stall};

const OK: Act = Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");

#[derive(Default)]
struct Seen {
    requests: RefCell<Vec<String>>,
    connections: Cell<usize>,
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut text = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        text.extend_from_slice(&buffer[..count]);
        let so_far = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = so_far.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().unwrap());
        if body.len() >= length {
            return Some(so_far);
        }
    }
}

async fn play(mut stream: impl AsyncRead + AsyncWrite + Unpin, acts: &[Act], seen: &Seen) -> bool {
    for act in acts {
        match act {
            Read => match read_request(&mut stream).await {
                Some(request) => seen.requests.borrow_mut().push(request),
                None => return false,
            },
            Send(text) => stream.write_all(text.as_bytes()).await.unwrap(),
            SendBytes(bytes) => stream.write_all(bytes).await.unwrap(),
            Reset => return true,
            Stall => std::future::pending().await,
        }
    }
    let _ = stream.shutdown().await;
    false
}

/// A server that plays one script per connection; returns its address.
async fn serve(scripts: Vec<Vec<Act>>) -> (String, Rc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Rc::new(Seen::default());
    let watching = seen.clone();
    spawn_local(async move {
        for script in scripts {
            let (mut stream, _) = listener.accept().await.unwrap();
            let seen = watching.clone();
            seen.connections.set(seen.connections.get() + 1);
            spawn_local(async move {
                if play(&mut stream, &script, &seen).await {
                    stream.set_zero_linger().unwrap();
                }
            });
        }
    });
    (format!("http://{address}"), seen)
}

struct World {
    client: Client,
    tally: Rc<Tally>,
}

pub(super) fn plan(http: HttpSettings) -> Arc<Plan> {
    Arc::new(Plan {
        target: String::new(),
        promises: vec!["http_req_duration: p(90)<500".parse().unwrap()],
        http,
        ..Plan::default()
    })
}

impl World {
    fn new(http: HttpSettings) -> Self {
        Self::behind(http, Proxies::default(), Permit::all())
    }

    fn behind(http: HttpSettings, proxies: Proxies, permit: Permit) -> Self {
        let clock = Clock::new(tokio::time::Instant::now().into_std());
        let tally = Tally::new(Meter::new(plan(http)), clock, Box::new(|_, _| ()));
        let gate = Gate::new(permit, Box::new(|_| ()));
        Self { client: Client::new(Net::with(tally.clone(), gate, None, proxies), 1), tally }
    }

    /// User `number` under this plan.
    fn of(plan: Arc<Plan>, number: u32, pace: Option<Arc<Pace>>) -> Self {
        let clock = Clock::new(tokio::time::Instant::now().into_std());
        let tally = Tally::new(Meter::new(plan), clock, Box::new(|_, _| ()));
        let gate = Gate::new(Permit::all(), Box::new(|_| ()));
        let net = Net::with(tally.clone(), gate, pace, Proxies::default());
        Self { client: Client::new(net, number), tally }
    }

    /// Connections that are open.
    fn connections(&self) -> u64 {
        self.tally.connections_open()
    }

    async fn send(&self, request: Request) -> Response {
        let mut alarm = Alarm::new(self.tally.clock);
        let request = Box::new(Request { keep_body: true, ..request });
        self.client.request(request, &mut alarm, &Leash::default()).await.expect("nobody cuts it off")
    }

    async fn get(&self, url: &str) -> Response {
        self.send(Request::get(url, TagSet::RUN)).await
    }

    async fn post(&self, url: &str, body: &'static str) -> Response {
        let body = Bytes::from_static(body.as_bytes());
        self.send(Request { method: Method::POST, body, ..Request::get(url, TagSet::RUN) }).await
    }

    fn requests_counted(&self) -> f64 {
        let summary = self.tally.meter.summary();
        let Total::Counter(count) = summary.metrics["http_reqs"].total else { panic!("http_reqs is a counter") };
        count
    }

    fn window(&self) -> Window {
        self.tally.meter.take_window()
    }
}

fn failure_of(response: &Response) -> (u16, u32, &str) {
    response.error.as_ref().map_or((response.status, 0, ""), |error| (response.status, error.code, &error.text))
}

async fn check(script: &[Act], expected: (u16, u32, &str)) {
    let (url, _) = serve(vec![script.to_vec()]).await;
    let world = World::new(HttpSettings::default());
    let response = world.get(&url).await;
    assert_eq!(failure_of(&response), expected);
    let window = world.window();
    assert_eq!((window.requests.started, window.requests.finished, window.requests.failed), (1, 1, 1));
    assert_eq!(window.errors.into_iter().collect::<Vec<_>>(), [(format!("{} {}", expected.1, expected.2), 1)]);
    assert_eq!((window.promises[0].samples, window.promises[0].broken), (1, 1));
}

#[tokio::test]
async fn rude_servers_are_told_apart() {
    let rude = async {
        check(&[Read, Reset], (0, 1220, "read: connection reset by peer")).await;
        check(&[Read], (0, 1000, "EOF")).await;
        check(&[Read, Send("HTTP/1.1 200 OK\r\nContent-Le")], (0, 1000, "unexpected EOF")).await;
        check(&[Read, Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")], (0, 1000, "unexpected EOF")).await;
        let half = Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
        check(&[Read, half, Reset], (0, 1220, "read: connection reset by peer")).await;
        let malformed = "malformed HTTP response: invalid HTTP version parsed";
        check(&[Read, Send("SSH-2.0-OpenSSH\r\n\r\n")], (0, 1000, malformed)).await;
        let switch = Send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: tea\r\n\r\n");
        check(&[Read, switch], (0, 1000, "unsupported response status: 101")).await;
    };
    LocalSet::new().run_until(rude).await;
}

#[tokio::test]
async fn malformed_answers_are_failures_with_their_cause_and_never_waited_for() {
    let malformed = async {
        let head = |text| [Read, Send(text), Stall];
        let of = |cause: &str| format!("malformed HTTP response: {cause} parsed");
        let no_colon = head("HTTP/1.1 200 OK\r\nno colon here\r\n\r\n");
        check(&no_colon, (0, 1000, &of("invalid HTTP header"))).await;
        let length = head("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok");
        check(&length, (0, 1000, &of("invalid content-length"))).await;
        let lengths = head("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok");
        check(&lengths, (0, 1000, &of("invalid content-length"))).await;
        check(&head("HTTP/1.1 abc OK\r\n\r\n"), (0, 1000, &of("invalid HTTP status-code"))).await;
        let chunk = "malformed chunked encoding: invalid chunk size line: missing size digit";
        let size = head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n");
        check(&size, (0, 1000, chunk)).await;
        let end = head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n0\r\n\r\n");
        check(&end, (0, 1000, "malformed chunked encoding: invalid chunk body cr")).await;
    };
    LocalSet::new().run_until(malformed).await;
}

/// The head of an answer with so many headers of so many bytes each, and a body.
fn with_headers(count: usize, bytes: usize) -> Act {
    let header = |number| format!("X-{number}: {}\r\n", "v".repeat(bytes));
    let headers: String = (2..=count).map(header).collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 2\r\n\r\nok");
    SendBytes(answer.into_bytes().leak())
}

#[tokio::test]
async fn answers_may_have_many_headers_but_not_endless_ones() {
    let many = async {
        let (url, _) = serve(vec![vec![Read, with_headers(250, 1000)]]).await;
        let response = World::new(HttpSettings::default()).get(&url).await;
        assert_eq!((response.status, response.headers.len()), (200, 250));
        let text = "malformed HTTP response: its head has more than 256 headers or 400 kB";
        check(&[Read, with_headers(257, 1), Stall], (0, 1000, text)).await;
        check(&[Read, with_headers(3, 300_000), Stall], (0, 1000, text)).await;
    };
    LocalSet::new().run_until(many).await;
}

/// An answer with this packed body.
fn packed(codings: &str, body: &[u8]) -> Act {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {codings}\r\nContent-Length: {}\r\n\r\n", body.len());
    SendBytes([head.as_bytes(), body].concat().leak())
}

#[tokio::test]
async fn packed_answers_are_unpacked_where_their_body_is_wanted() {
    let unpacking = async {
        let gzip = coding::Coding::Gzip.pack(b"hello");
        let bad = packed("gzip", b"this is no gzip at all");
        let head_only = Send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n");
        let (url, seen) = serve(vec![vec![Read, packed("gzip", &gzip), Read, head_only]]).await;
        let world = World::new(HttpSettings::default());
        let response = world.get(&url).await;
        assert_eq!(
            (response.body.as_deref(), response.headers["content-encoding"].as_bytes()),
            (Some(&b"hello"[..]), &b"gzip"[..])
        );
        assert_eq!(response.headers["content-length"], gzip.len().to_string());
        let head = world.send(Request { method: Method::HEAD, ..Request::get(&url, TagSet::RUN) }).await;
        assert_eq!(failure_of(&head), (200, 0, ""));
        let (url, _) = serve(vec![vec![Read, packed("foo", b"as it is"), Read, bad, Read, bad]]).await;
        let world = World::new(HttpSettings::default());
        assert_eq!(world.get(&url).await.body.as_deref(), Some(&b"as it is"[..]));
        let mut alarm = Alarm::new(world.tally.clock);
        let unwanted = Box::new(Request::get(&url, TagSet::RUN));
        let response = world.client.request(unwanted, &mut alarm, &Leash::default()).await.unwrap();
        assert_eq!(failure_of(&response), (200, 0, ""));
        let text = "error decompressing response body (gzip: invalid gzip header)";
        assert_eq!(failure_of(&world.get(&url).await), (0, 1701, text));
        assert_eq!(world.window().errors[&format!("1701 {text}")], 1);
        assert!(!seen.requests.borrow()[0].to_lowercase().contains("accept-encoding"));
    };
    LocalSet::new().run_until(unpacking).await;
}

#[tokio::test]
async fn a_silent_server_times_out_and_the_time_counts_as_waiting() {
    let silent = async {
        let (url, _) = serve(vec![vec![Read, Stall]]).await;
        let world = World::new(HttpSettings::default());
        let timeout = Some(Duration::from_millis(60));
        let response = world.send(Request { timeout, ..Request::get(&url, TagSet::RUN) }).await;
        assert_eq!(failure_of(&response), (0, 1050, "request timeout"));
        assert!(response.timings.waiting > 30.0, "{:?}", response.timings);
        assert_eq!(world.window().errors["1050 request timeout"], 1);
    };
    LocalSet::new().run_until(silent).await;
}

#[tokio::test]
async fn refused_ports_unknown_schemes_and_bad_urls_are_data() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refused = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let world = World::new(HttpSettings::default());
    let response = world.get(&refused).await;
    assert_eq!(failure_of(&response), (0, 1212, "dial: connection refused"));
    assert_eq!((response.timings.duration(), response.url.as_str()), (0.0, refused.as_str()));
    assert_eq!(failure_of(&world.get("ftp://h/").await), (0, 1000, "unsupported protocol scheme \"ftp\""));
    assert_eq!(failure_of(&world.get("/relative").await), (0, 1000, "unsupported protocol scheme \"\""));
    assert_eq!(failure_of(&world.get("http://[::1").await).1, 1020);
    // What could not be sent at all is no request.
    assert_eq!(world.window().requests.failed, 1);
}

#[tokio::test]
async fn connections_are_kept_and_their_bytes_counted() {
    let keeping = async {
        let (url, seen) = serve(vec![vec![Read, OK, Read, OK, Read, OK]]).await;
        let world = World::new(HttpSettings::default());
        let first = world.get(&url).await;
        assert_eq!((first.status, first.proto, first.body.as_deref()), (200, "HTTP/1.1", Some(&b"ok"[..])));
        assert!(first.timings.connecting > 0.0 && first.timings.blocked >= first.timings.connecting);
        let second = world.get(&url).await;
        assert_eq!((second.timings.connecting, second.body.as_deref()), (0.0, Some(&b"ok"[..])));
        world.post(&url, "three").await;
        assert_eq!(seen.connections.get(), 1);
        let requests = seen.requests.borrow();
        assert!(requests[0].contains("User-Agent: plimsoll/") && requests[0].contains("Host: 127.0.0.1:"));
        assert!(requests[2].starts_with("POST / HTTP/1.1") && requests[2].ends_with("\r\n\r\nthree"));
        let sent: usize = requests.iter().map(String::len).sum();
        let answers = 3 * "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len();
        assert_eq!(world.client.end_iteration(), (sent as u64, answers as u64));
    };
    LocalSet::new().run_until(keeping).await;
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_is_replaced_for_requests_that_change_nothing() {
    let stale = async {
        let (url, seen) = serve(vec![vec![Read, OK, Read], vec![Read, OK, Read], vec![Read, OK]]).await;
        let world = World::new(HttpSettings::default());
        assert_eq!(world.get(&url).await.status, 200);
        // The server takes the second request and closes without an answer: tried again on a new connection.
        assert_eq!(world.get(&url).await.status, 200);
        assert_eq!((seen.connections.get(), world.requests_counted()), (2, 2.0));
        assert_eq!(world.tally.meter.summary().sent_again, 1);
        // What may have changed something is not tried again.
        assert_eq!(failure_of(&world.post(&url, "x").await), (0, 1000, "EOF"));
        assert_eq!(seen.connections.get(), 2);
        assert_eq!(world.post(&url, "x").await.status, 200);
    };
    LocalSet::new().run_until(stale).await;
}

#[tokio::test]
async fn connections_that_end_with_the_answer_are_not_kept() {
    let closing = async {
        let close = Send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end");
        let (url, seen) = serve(vec![vec![Read, close], vec![Read, OK], vec![Read, OK]]).await;
        let world = World::new(HttpSettings::default());
        assert_eq!(world.get(&url).await.body.as_deref(), Some(&b"to the end"[..]));
        assert_eq!(world.post(&url, "x").await.status, 200);
        assert_eq!(seen.connections.get(), 2);
        let world = World::new(HttpSettings { no_connection_reuse: true, ..HttpSettings::default() });
        world.get(&url).await;
        assert!(seen.requests.borrow()[2].contains("Connection: close"));
        assert!(world.client.idle.borrow().is_empty());
    };
    LocalSet::new().run_until(closing).await;
}

#[tokio::test]
async fn an_answer_before_the_end_of_the_request_is_an_answer() {
    let early = async {
        let refusal = Send("HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\nno");
        let (url, _) = serve(vec![vec![refusal, Stall]]).await;
        let world = World::new(HttpSettings::default());
        let body = Bytes::from(vec![b'x'; 64 << 20]);
        let response = world.send(Request { method: Method::POST, body, ..Request::get(&url, TagSet::RUN) }).await;
        assert_eq!(failure_of(&response), (413, 1413, ""));
        assert!(world.client.idle.borrow().is_empty());
    };
    LocalSet::new().run_until(early).await;
}

#[tokio::test]
async fn redirects_are_requests_of_their_own_and_carry_cookies_on() {
    let moving = async {
        let found = "HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: sid=7; Path=/\r\nContent-Length: 0\r\n\r\n";
        let again = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /c\r\nContent-Length: 0\r\n\r\n";
        let script = vec![Read, Send(found), Read, OK, Read, Send(again), Read, OK, Read, Send(found)];
        let (url, seen) = serve(vec![script]).await;
        let world = World::new(HttpSettings::default());
        let response = world.post(&format!("{url}/a"), "body").await;
        assert_eq!((response.status, response.url), (200, format!("{url}/b")));
        assert_eq!(response.cookies, [], "the first hop carried none");
        assert_eq!(world.requests_counted(), 2.0);
        world.client.begin_iteration();
        assert_eq!(world.post(&format!("{url}/a"), "body").await.url, format!("{url}/c"));
        let response = world.send(Request { redirects: Some(0), ..Request::get(&url, TagSet::RUN) }).await;
        assert_eq!(failure_of(&response), (302, 0, ""));
        let requests = seen.requests.borrow();
        assert!(requests[1].starts_with("GET /b HTTP/1.1\r\n") && requests[1].contains("Cookie: sid=7\r\n"));
        assert!(requests[1].contains(&format!("Referer: {url}/a\r\n")), "{}", requests[1]);
        assert!(!requests[1].contains("body") && !requests[2].contains("sid"));
        assert!(requests[3].starts_with("POST /c HTTP/1.1\r\n") && requests[3].ends_with("body"));
    };
    LocalSet::new().run_until(moving).await;
}

#[tokio::test]
async fn a_digest_challenge_is_answered_once_and_is_no_failure() {
    let asking = async {
        let challenge = Send(
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n",
        );
        let (url, seen) = serve(vec![vec![Read, challenge, Read, OK, Read, challenge, Read, challenge]]).await;
        let world = World::new(HttpSettings::default());
        let with_user = url.replace("http://", "http://ann:secret@");
        let request = Request { digest: true, ..Request::get(format!("{with_user}/a?b"), TagSet::RUN) };
        assert_eq!(failure_of(&world.send(request.clone()).await), (200, 0, ""));
        assert_eq!((world.requests_counted(), world.window().requests.failed), (2.0, 0));
        assert_eq!(failure_of(&world.send(request).await), (401, 1401, ""));
        let requests = seen.requests.borrow();
        assert!(requests[0].contains("Authorization: Basic "), "{}", requests[0]);
        assert!(requests[1].contains("Authorization: Digest username=\"ann\", realm=\"r\", nonce=\"n\", uri=\"/a?b\""));
        assert!(requests[1].contains("qop=auth, nc=00000001") && !requests[1].contains("secret"));
    };
    LocalSet::new().run_until(asking).await;
}

#[tokio::test]
async fn statuses_have_codes_and_ids_are_grouped() {
    let grouping = async {
        let busy = Send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
        let (url, _) = serve(vec![vec![Read, busy, Read, OK, Read, busy]]).await;
        let world = World::new(HttpSettings::default());
        assert_eq!(failure_of(&world.get(&format!("{url}/uuid/17")).await), (503, 1503, ""));
        world.get(&format!("{url}/uuid/18")).await;
        world.send(Request { expected: None, name: Some("mine".into()), ..Request::get(&url, TagSet::RUN) }).await;
        let window = world.window();
        let endpoints: Vec<_> =
            window.endpoints.iter().map(|(name, of)| (name.as_str(), of.finished, of.failed)).collect();
        assert_eq!(endpoints, [(format!("{url}/uuid/{{id}}").as_str(), 2, 1), ("mine", 1, 0)]);
        assert_eq!(window.errors.into_iter().collect::<Vec<_>>(), [("status 503".to_owned(), 1)]);
        let summary = world.tally.meter.summary();
        assert_eq!(summary.metrics["http_req_failed"].total, Total::Rate { passes: 1, total: 2 });
        let Total::Trend(expected) = &summary.metrics["http_req_duration{expected_response:true}"].total else {
            panic!()
        };
        assert_eq!(expected.count(), 1);
        assert!(world.tally.meter.metric("http_req_failed") == Some(MetricId::HTTP_REQ_FAILED));
    };
    LocalSet::new().run_until(grouping).await;
}

#[tokio::test]
async fn bodies_come_in_parts_and_unwanted_ones_are_dropped() {
    let parts = async {
        let chunked = Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
        let (url, seen) = serve(vec![vec![Read, chunked, Read, chunked, Read, OK]]).await;
        let world = World::new(HttpSettings::default());
        assert_eq!(world.get(&url).await.body.as_deref(), Some(&b"abcde"[..]));
        let mut alarm = Alarm::new(world.tally.clock);
        let unwanted = Box::new(Request::get(&url, TagSet::RUN));
        let response = world.client.request(unwanted, &mut alarm, &Leash::default()).await.unwrap();
        assert_eq!((response.status, response.body), (200, None));
        assert_eq!(world.get(&url).await.status, 200);
        assert_eq!(seen.connections.get(), 1);
    };
    LocalSet::new().run_until(parts).await;
}

#[tokio::test]
async fn batches_open_six_connections_to_a_host_and_answer_in_order() {
    let together = async {
        let (url, seen) = serve(vec![vec![Read, OK, Read, OK, Read, OK, Read, OK]; 6]).await;
        let world = World::new(HttpSettings::default());
        let request = |index| Request::get(format!("{url}/{index}"), TagSet::RUN);
        let mut requests: Vec<_> = (0..9).map(request).collect();
        requests.push(Request::get("nowhere", TagSet::RUN));
        let responses = world.client.batch(requests, &Leash::default()).await.unwrap();
        let urls: Vec<_> = responses.iter().map(|response| response.url.rsplit('/').next().unwrap()).collect();
        assert_eq!(urls, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "nowhere"]);
        assert_eq!((seen.connections.get(), responses[8].status, responses[9].status), (6, 200, 0));
    };
    LocalSet::new().run_until(together).await;
}

#[tokio::test]
async fn a_cut_ends_a_request_and_leaves_no_sample() {
    let cutting = async {
        let (url, seen) = serve(vec![vec![Read, Stall]]).await;
        let world = World::new(HttpSettings::default());
        let leash = Rc::new(Leash::default());
        let (cutter, watched) = (leash.clone(), seen.clone());
        spawn_local(async move {
            while watched.requests.borrow().is_empty() {
                tokio::task::yield_now().await;
            }
            cutter.cut();
        });
        let mut alarm = Alarm::new(world.tally.clock);
        let request = Box::new(Request::get(&url, TagSet::RUN));
        assert!(world.client.request(request, &mut alarm, &leash).await.is_none());
        let window = world.window();
        assert_eq!((window.requests.started, window.requests.finished), (1, 0));
    };
    LocalSet::new().run_until(cutting).await;
}

/// What a TLS server needs, with a certificate of its own making.
fn tls_acceptor(protocols: &[&[u8]]) -> tokio_rustls::TlsAcceptor {
    acceptor_of(&rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap(), protocols)
}

fn acceptor_of(made: &rcgen::CertifiedKey<rcgen::KeyPair>, protocols: &[&[u8]]) -> tokio_rustls::TlsAcceptor {
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    tokio_rustls::TlsAcceptor::from(Arc::new(config))
}

/// A TLS server that answers one request on every connection.
async fn serve_tls() -> String {
    serve_tls_with(&rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap()).await
}

async fn serve_tls_with(made: &rcgen::CertifiedKey<rcgen::KeyPair>) -> String {
    let acceptor = acceptor_of(made, &[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    spawn_local(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            if let Ok(stream) = acceptor.accept(stream).await {
                play(stream, &[Read, OK], &Seen::default()).await;
            }
        }
    });
    format!("https://localhost:{port}/")
}

#[tokio::test]
async fn tls_is_verified_unless_told_otherwise() {
    let secure = async {
        let url = serve_tls().await;
        let world = World::new(HttpSettings { insecure_skip_tls_verify: true, ..HttpSettings::default() });
        let response = world.get(&url).await;
        assert_eq!((failure_of(&response), response.tls_version), ((200, 0, ""), Some("tls1.3")));
        assert!(response.timings.tls_handshaking > 0.0);
        let world = World::new(HttpSettings::default());
        assert_eq!(failure_of(&world.get(&url).await), (0, 1310, "x509: unknown authority"));
        let (plain, _) = serve(vec![vec![Send("HTTP/1.1 400 Bad Request\r\n\r\n"), Stall]]).await;
        let response = world.get(&plain.replace("http:", "https:")).await;
        assert_eq!(failure_of(&response), (0, 1301, "tls: first record does not look like a TLS handshake"));
    };
    LocalSet::new().run_until(secure).await;
}

/// The variable is the process's own, so that it is set for a process of its own: this test binary with the test above.
#[test]
fn the_secrets_of_tls_are_written_where_the_environment_says() {
    let path = std::env::temp_dir().join(format!("plimsoll-keys-{}", std::process::id()));
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "net::tests::tls_is_verified_unless_told_otherwise"])
        .env("SSLKEYLOGFILE", &path)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let keys = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(keys.contains("CLIENT_HANDSHAKE_TRAFFIC_SECRET "), "{keys}");
}

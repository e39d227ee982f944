//! Against an echo server, and against servers that do what servers should not: real sockets on loopback.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderMap, HeaderValue};
use model::metric::builtin_metrics;
use model::plan::Plan;
use model::summary::Total;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, handshake::derive_accept_key};

use super::*;
use crate::clock::Clock;
use crate::net::{Gate, Net, Permit};
use crate::tally::Tally;
use crate::user::SocketWord;

/// A user, and what it has heard.
struct Rig {
    client: Rc<Client>,
    meter: Rc<Meter>,
}

fn rig(permit: Permit) -> Rig {
    let meter = Meter::new(Arc::new(Plan { metrics: builtin_metrics(), ..Plan::default() }));
    let clock = Clock::new(tokio::time::Instant::now().into_std());
    let tally = Tally::new(meter.clone(), clock, Box::new(|_, _| ()));
    let net = Net::new(tally, Gate::new(permit, Box::new(|_| ())), None);
    Rig { client: Rc::new(Client::new(net, 1)), meter }
}

/// A socket that is under way.
struct Open {
    words: UnboundedSender<Word>,
    heard: Rc<RefCell<Vec<String>>>,
    unsent: Rc<Cell<usize>>,
    task: tokio::task::JoinHandle<()>,
    /// Whether what is heard stays untaken.
    loans: Rc<RefCell<Vec<Loan>>>,
}

impl Rig {
    fn open(&self, url: &str, manner: SocketManner, change: impl FnOnce(&mut SocketRequest)) -> Open {
        let unsent = Rc::new(Cell::new(0));
        let mut request = SocketRequest {
            url: url.to_owned(),
            headers: HeaderMap::new(),
            jar: None,
            protocols: Vec::new(),
            name: None,
            tags: TagSet::RUN,
            manner,
            unsent: unsent.clone(),
        };
        change(&mut request);
        let (words, said) = unbounded_channel();
        let heard: Rc<RefCell<Vec<String>>> = Rc::default();
        let loans: Rc<RefCell<Vec<Loan>>> = Rc::default();
        let (list, kept, client) = (heard.clone(), loans.clone(), self.client.clone());
        let keeps = url.ends_with("/deaf");
        let task = spawn_local(async move {
            let tell = |event, loan: Option<Loan>| {
                list.borrow_mut().push(shown(event));
                kept.borrow_mut().extend(loan.filter(|_| keeps));
            };
            client.socket(request, said, &tell).await;
        });
        Open { words, heard, unsent, task, loans }
    }

    fn count(&self, metric: &str) -> f64 {
        match self.meter.summary().metrics.get(metric).map(|metric| metric.total.clone()) {
            Some(Total::Counter(count)) => count,
            Some(Total::Trend(trend)) => trend.count() as f64,
            _ => 0.0,
        }
    }
}

fn shown(event: SocketEvent) -> String {
    match event {
        SocketEvent::Opened(answer) => format!("opened {} {}", answer.status, answer.protocol),
        SocketEvent::Refused(answer, why) => {
            format!("refused {} {} {why}", answer.status, String::from_utf8_lossy(&answer.body))
        }
        SocketEvent::Text(text) => format!("text {text}"),
        SocketEvent::Binary(bytes) => format!("binary {}", bytes.len()),
        SocketEvent::Ping => "ping".to_owned(),
        SocketEvent::Pong => "pong".to_owned(),
        SocketEvent::Failed(why) => format!("failed {why}"),
        SocketEvent::Closed { code, reason } => format!("closed {code} {reason}"),
    }
}

impl Open {
    fn say(&self, word: SocketWord) {
        self.words.send(Word::Socket(word)).unwrap();
    }

    fn text(&self, text: &str) {
        self.unsent.set(self.unsent.get() + text.len());
        self.say(SocketWord::Text(text.to_owned()));
    }

    fn close(&self, code: u16) {
        self.say(SocketWord::Close { code, reason: "bye".to_owned() });
    }

    async fn until_heard(&self, what: &str) {
        while !self.heard.borrow().iter().any(|heard| heard == what) {
            assert!(!self.task.is_finished(), "over: {:?}", self.heard.borrow());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn until_over(self) -> Vec<String> {
        self.task.await.unwrap();
        self.heard.take()
    }
}

/// A server that gives each connection to `serve` once its head is read.
async fn server<F: Future<Output = ()> + 'static>(serve: impl Fn(TcpStream, String) -> F + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    spawn_local(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            spawn_local(serve(stream, String::from_utf8(head).unwrap()));
        }
    });
    url
}

fn header(head: &str, name: &str) -> String {
    let found = head.lines().find_map(|line| {
        let (known, value) = line.split_once(": ")?;
        known.eq_ignore_ascii_case(name).then(|| value.to_owned())
    });
    found.unwrap_or_default()
}

fn accepted(head: &str, extra: &str) -> String {
    let key = derive_accept_key(header(head, "Sec-WebSocket-Key").as_bytes());
    let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    format!("{upgrade}Sec-WebSocket-Accept: {key}\r\n{extra}\r\n")
}

/// Echoes texts and bytes, answers pings and closes.
async fn echo(mut stream: TcpStream, head: String) {
    stream.write_all(accepted(&head, "Set-Cookie: a=1\r\n").as_bytes()).await.unwrap();
    let mut socket = tokio_tungstenite::WebSocketStream::from_raw_socket(
        stream,
        tokio_tungstenite::tungstenite::protocol::Role::Server,
        None,
    )
    .await;
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() || message.is_binary() {
            socket.send(message).await.unwrap();
        }
    }
}

/// Opens the socket and then sends these bytes and ends.
async fn sends(bytes: &'static [u8]) -> String {
    server(move |mut stream, head| async move {
        stream.write_all(accepted(&head, "").as_bytes()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let _ = stream.shutdown().await;
    })
    .await
}

async fn run(body: impl Future<Output = ()>) {
    LocalSet::new().run_until(body).await;
}

#[tokio::test]
async fn messages_go_both_ways_and_are_counted_as_in_k6() {
    for (manner, sent) in [(SocketManner::Blocking, 2.0), (SocketManner::Standard, 4.0)] {
        run(async move {
            let rig = rig(Permit::all());
            let url = server(echo).await;
            let open = rig.open(&format!("{url}/room/17"), manner, |_| ());
            open.until_heard("opened 101 ").await;
            open.text("hello");
            open.say(SocketWord::Binary(Bytes::from_static(&[1, 2, 3])));
            open.say(SocketWord::Ping);
            open.until_heard("pong").await;
            assert_eq!(open.unsent.get(), 0);
            open.close(3001);
            let heard = open.until_over().await;
            assert_eq!(heard, ["opened 101 ", "text hello", "binary 3", "pong", "closed 3001 bye"]);
            let counts = ["ws_sessions", "ws_connecting", "ws_session_duration", "ws_ping", "ws_msgs_received"];
            assert_eq!(counts.map(|metric| rig.count(metric)), [1.0, 1.0, 1.0, 1.0, 2.0]);
            assert_eq!(rig.count("ws_msgs_sent"), sent);
            assert_eq!(rig.count("http_reqs"), 0.0);
        })
        .await;
    }
}

#[tokio::test]
async fn the_handshake_carries_headers_cookies_and_protocols() {
    run(async {
        let rig = rig(Permit::all());
        let heads: Rc<RefCell<Vec<String>>> = Rc::default();
        let seen = heads.clone();
        let url = server(move |mut stream, head| {
            seen.borrow_mut().push(head.clone());
            async move {
                let extra = "Set-Cookie: session=7\r\nSec-WebSocket-Protocol: b\r\n";
                stream.write_all(accepted(&head, extra).as_bytes()).await.unwrap();
            }
        })
        .await;
        for _ in 0..2 {
            let open = rig.open(&format!("{url}/chat?x=1"), SocketManner::Standard, |request| {
                request.protocols = vec!["a".to_owned(), "b".to_owned()];
                request.headers.insert("x-own", HeaderValue::from_static("mine"));
            });
            assert_eq!(open.until_over().await[0], "opened 101 b");
        }
        let heads = heads.borrow();
        assert!(heads[0].starts_with("GET /chat?x=1 HTTP/1.1\r\n"), "{}", heads[0]);
        let names = ["X-Own", "Upgrade", "Connection", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol"];
        assert_eq!(names.map(|name| header(&heads[0], name)), ["mine", "websocket", "Upgrade", "13", "a, b"]);
        assert_eq!([&heads[0], &heads[1]].map(|head| header(head, "Cookie")), ["", "session=7"]);
        assert!(heads[0].contains("\r\nUser-Agent: "));
        assert_ne!(header(&heads[0], "Sec-WebSocket-Key"), header(&heads[1], "Sec-WebSocket-Key"));
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_opens_nothing_is_given_with_its_body() {
    run(async {
        let rig = rig(Permit::all());
        let refused = |answer: fn(&str) -> String| {
            server(move |mut stream, head| async move {
                stream.write_all(answer(&head).as_bytes()).await.unwrap();
            })
        };
        let forbidden = refused(|_| "HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nnope".to_owned()).await;
        let other_key = refused(|head| accepted(&head.replace("Key: ", "Key: x"), "")).await;
        let extended = refused(|head| accepted(head, "Sec-WebSocket-Extensions: permessage-deflate\r\n")).await;
        let silent = refused(|_| String::new()).await;
        let bad = "websocket: bad handshake";
        for (url, expected) in [
            (forbidden, format!("refused 403 nope {bad}")),
            (other_key, format!("refused 101  {bad}")),
            (extended, format!("refused 101  {bad}")),
            (silent, "refused 0  EOF".to_owned()),
            ("ws://127.0.0.1:1/".to_owned(), "refused 0  dial: connection refused".to_owned()),
            ("http://127.0.0.1:1/".to_owned(), "refused 0  malformed ws or wss URL".to_owned()),
        ] {
            assert_eq!(rig.open(&url, SocketManner::Standard, |_| ()).until_over().await, [expected]);
        }
        assert_eq!((rig.count("ws_sessions"), rig.count("ws_session_duration")), (5.0, 0.0));
        rig.open("ws://127.0.0.1:1/", SocketManner::Blocking, |_| ()).until_over().await;
        assert_eq!((rig.count("ws_sessions"), rig.count("ws_session_duration")), (6.0, 1.0));
    })
    .await;
}

#[tokio::test]
async fn an_address_that_is_not_ours_is_not_connected_to() {
    run(async {
        let rig = rig(Permit::new(|host, _| Err(format!("{host} is not ours"))));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/", listener.local_addr().unwrap());
        let heard = rig.open(&url, SocketManner::Standard, |_| ()).until_over().await;
        assert_eq!(heard, ["refused 0  hostname is blocked"]);
        let waiting = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
        assert!(waiting.is_err(), "a connection was made");
    })
    .await;
}

#[tokio::test]
async fn ends_are_told_apart() {
    run(async {
        let rig = rig(Permit::all());
        let abnormal = "failed websocket: close 1006 (abnormal closure): unexpected EOF";
        let cases: [(&[u8], &str, &str); 9] = [
            (b"\x88\x05\x03\xe8bye", "", "closed 1000 bye"),
            (b"\x88\x02\x03\xe9", "", "closed 1001 "),
            (b"\x88\x05\x0f\xa0bye", "failed websocket: close 4000: bye", "closed 4000 bye"),
            (b"\x88\x00", "failed websocket: close 1005 (no status)", "closed 1005 "),
            (b"", abnormal, "closed 1006 "),
            (b"\x81\x05he", abnormal, "closed 1006 "),
            (
                b"\xf1\x05hello",
                "failed websocket: WebSocket protocol error: Reserved bits are non-zero",
                "closed 1006 ",
            ),
            (b"\x81\x02\xff\xfe", "failed websocket: a text came that is not UTF-8", "closed 1006 "),
            (
                b"\x82\x7f\0\0\0\0\x10\0\0\0",
                "failed websocket: a message of 268435456 bytes came, at most 67108864 are taken",
                "closed 1006 ",
            ),
        ];
        for (bytes, failed, closed) in cases {
            let url = sends(bytes).await;
            let heard = rig.open(&url, SocketManner::Standard, |_| ()).until_over().await;
            let expected: Vec<_> =
                ["opened 101 ", failed, closed].into_iter().filter(|line| !line.is_empty()).collect();
            assert_eq!(heard, expected, "{bytes:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn who_is_to_blame_is_told_and_fragments_are_put_together() {
    run(async {
        let rig = rig(Permit::all());
        let last: Rc<RefCell<Vec<u8>>> = Rc::default();
        let seen = last.clone();
        let url = server(move |mut stream, head| {
            let seen = seen.clone();
            async move {
                stream.write_all(accepted(&head, "").as_bytes()).await.unwrap();
                stream.write_all(b"\x01\x02he\x89\x00\x80\x03llo\xc1\x01x").await.unwrap();
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
                seen.replace(rest);
            }
        })
        .await;
        let heard = rig.open(&url, SocketManner::Standard, |_| ()).until_over().await;
        assert_eq!(heard[..3], ["opened 101 ", "ping", "text hello"], "{heard:?}");
        while last.borrow().len() < 14 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // A masked pong and a masked close with 1002.
        let last = last.borrow();
        let close = [last[12] ^ last[8], last[13] ^ last[9]];
        assert_eq!((last[0], last[6], u16::from_be_bytes(close)), (0x8a, 0x88, 1002));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_close_is_answered_or_given_up() {
    run(async {
        let rig = rig(Permit::all());
        let deaf = || {
            server(|mut stream, head| async move {
                stream.write_all(accepted(&head, "").as_bytes()).await.unwrap();
                while stream.read_u8().await.is_ok() {}
            })
        };
        let open = rig.open(&deaf().await, SocketManner::Standard, |_| ());
        open.until_heard("opened 101 ").await;
        open.close(1000);
        open.text("behind the close");
        let heard = open.until_over().await;
        assert_eq!(heard[2], "closed 1006 ", "{heard:?}");
        assert!(heard[1].ends_with("the other side did not answer the close"), "{heard:?}");
        // One of k6/ws does not wait.
        let open = rig.open(&deaf().await, SocketManner::Blocking, |_| ());
        open.until_heard("opened 101 ").await;
        open.close(1001);
        assert_eq!(open.until_over().await, ["opened 101 ", "closed 1001 bye"]);
        assert_eq!(rig.count("ws_msgs_sent"), 1.0);
    })
    .await;
}

#[tokio::test]
async fn who_does_not_listen_is_not_read_for() {
    run(async {
        let rig = rig(Permit::all());
        let written = Rc::new(Cell::new(0usize));
        let count = written.clone();
        let url = server(move |mut stream, head| {
            let count = count.clone();
            async move {
                stream.write_all(accepted(&head, "").as_bytes()).await.unwrap();
                let mut frame = vec![0x82, 0x7e, 0xff, 0xff];
                frame.resize(4 + 0xffff, b'x');
                while stream.write_all(&frame).await.is_ok() {
                    count.set(count.get() + 1);
                }
            }
        })
        .await;
        let open = rig.open(&format!("{url}/deaf"), SocketManner::Standard, |_| ());
        open.until_heard("opened 101 ").await;
        let mut heard = 0;
        while heard < 17 {
            heard = open.heard.borrow().len();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        // 16 messages of 64 kB are a megabyte; one more is always let in.
        assert!(open.heard.borrow().len() <= 18, "{}", open.heard.borrow().len());
        open.loans.borrow_mut().clear();
        while open.heard.borrow().len() < 30 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        open.task.abort();
    })
    .await;
}

#[tokio::test]
async fn both_sides_may_have_much_to_say_at_once() {
    run(async {
        let rig = rig(Permit::all());
        let url = server(echo).await;
        let open = rig.open(&url, SocketManner::Standard, |_| ());
        open.until_heard("opened 101 ").await;
        let text = "x".repeat(4 * 1024 * 1024);
        for _ in 0..4 {
            open.text(&text);
        }
        open.close(1000);
        let heard = open.until_over().await;
        assert_eq!((heard.len(), rig.count("ws_msgs_received")), (6, 4.0));
        assert_eq!(heard[5], "closed 1000 bye");
    })
    .await;
}

#[tokio::test]
async fn a_server_may_close_with_an_answer_to_its_ping_missing() {
    run(async {
        let rig = rig(Permit::all());
        let url = server(|mut stream, head| async move {
            stream.write_all(accepted(&head, "").as_bytes()).await.unwrap();
            let role = tokio_tungstenite::tungstenite::protocol::Role::Server;
            let mut socket = tokio_tungstenite::WebSocketStream::from_raw_socket(stream, role, None).await;
            socket.send(Message::Ping(Bytes::new())).await.unwrap();
            socket.close(Some(CloseFrame { code: 1011.into(), reason: "".into() })).await.unwrap();
            while let Some(Ok(_)) = socket.next().await {}
        })
        .await;
        let open = rig.open(&url, SocketManner::Standard, |_| ());
        open.say(SocketWord::Ping);
        let heard = open.until_over().await;
        assert_eq!(heard, ["opened 101 ", "ping", "failed websocket: close 1011", "closed 1011 "]);
        assert_eq!(rig.count("ws_ping"), 0.0);
    })
    .await;
}

//! Services that misbehave in every way: each request ends, says why in k6's codes, and the user goes on with the next
//! one; nothing is left open and no memory is held.

use super::*;

const PATIENCE: Duration = Duration::from_millis(80);

/// The timeout of a request from which `code` is expected: short only where it is to pass.
pub(super) fn timeout_for(code: u32) -> Option<Duration> {
    (code == 1050).then_some(PATIENCE)
}

/// A server that sends `answer` to the first request in pieces of `piece` bytes and then does `last`; further
/// connections are answered properly.
async fn rude(answer: Vec<u8>, piece: usize, last: Act) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn_local(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        for piece in answer.chunks(piece.max(1)) {
            if stream.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        // While the first connection stalls, the next ones must be served.
        if matches!(last, Reset) {
            stream.set_zero_linger().unwrap();
        }
        let stalls = matches!(last, Stall).then_some(stream);
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            play(&mut stream, &[Read, OK], &Seen::default()).await;
            let _ = &stalls;
        }
    });
    format!("http://{address}/")
}

/// What comes of a GET, and that the next one works and nothing is left.
async fn outcome(world: &World, url: &str, code: u32) -> (u16, u32, String, Option<Bytes>) {
    let first = world.send(Request { timeout: timeout_for(code), ..Request::get(url, TagSet::RUN) }).await;
    // What still comes unasked comes before the next request, or it could be taken for its answer.
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    let next = world.get(url).await;
    assert_eq!(failure_of(&next), (200, 0, ""), "the user does not go on behind {first:?}");
    assert_eq!(world.client.net.held.bytes(), 0, "memory is held");
    world.client.close();
    assert_eq!(world.connections(), 0, "a connection is left open");
    let (status, code, text) = failure_of(&first);
    (status, code, text.to_owned(), first.body)
}

async fn check_rude(answer: &[u8], last: Act, expected: (u16, u32, &str)) {
    for piece in [1, 7, answer.len()] {
        let world = World::new(HttpSettings { body_bytes_max: 100_000, ..HttpSettings::default() });
        let (status, code, text, _) = outcome(&world, &rude(answer.to_vec(), piece, last).await, expected.1).await;
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(99)]);
        assert_eq!((status, code, text.as_str()), expected, "{shown:?} in pieces of {piece}");
    }
}

const END: Act = Send("");
const EOF: (u16, u32, &str) = (0, 1000, "unexpected EOF");
const LATE: (u16, u32, &str) = (0, 1050, "request timeout");

#[tokio::test]
async fn heads_that_are_none() {
    let heads = async {
        let of = |cause: &'static str| (0, 1000, cause);
        let version = of("malformed HTTP response: invalid HTTP version parsed");
        let header = of("malformed HTTP response: invalid HTTP header parsed");
        check_rude(b"hello, this is not HTTP\r\n", Stall, version).await;
        check_rude(b"\x15\x03\x01\x00\x02\x02\x46", END, version).await;
        check_rude(b"HTTP/2.0 200 OK\r\n\r\n", Stall, version).await;
        check_rude(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Stall, version).await;
        check_rude(b"HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", Stall, header).await;
        check_rude(b"HTTP/1.1 200 OK\r\nA: x\0y\r\n\r\n", Stall, header).await;
        check_rude(b"HTTP/1.1 20\r\n\r\n", Stall, of("malformed HTTP response: invalid HTTP status-code parsed")).await;
        check_rude(b"HTTP/1.1 200 OK\r\nA: b", Stall, LATE).await;
        check_rude(b"HTTP/1.1 200 OK\r\nA: b", END, EOF).await;
        check_rude(b"HTTP/1.1 100 Continue\r\n\r\n", END, EOF).await;
    };
    LocalSet::new().run_until(heads).await;
}

#[tokio::test]
async fn lengths_that_lie() {
    let lengths = async {
        let answer = |headers: &str, body: &str| format!("HTTP/1.1 200 OK\r\n{headers}\r\n{body}").into_bytes();
        let invalid = (0, 1000, "malformed HTTP response: invalid content-length parsed");
        for length in ["-1", "+1", "1.5", "0x10", "99999999999999999999999", "1,2", ""] {
            check_rude(&answer(&format!("Content-Length: {length}\r\n"), "x"), Stall, invalid).await;
        }
        check_rude(&answer("Content-Length: 9223372036854775807\r\n", "x"), END, EOF).await;
        check_rude(&answer("Content-Length: 3\r\n", "ab"), END, EOF).await;
        check_rude(&answer("Content-Length: 3\r\n", "ab"), Stall, LATE).await;
        check_rude(&answer("Content-Length: 1\r\n", "abc"), Stall, (200, 0, "")).await;
        let both = answer("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n\r\n");
        check_rude(&both, Stall, (200, 0, "")).await;
        let coding = "malformed HTTP response: unsupported transfer encoding \"identity\"";
        check_rude(&answer("Transfer-Encoding: identity\r\n", "x"), Stall, (0, 1000, coding)).await;
    };
    LocalSet::new().run_until(lengths).await;
}

#[tokio::test]
async fn chunks_that_break() {
    let chunks = async {
        let answer = |body: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into_bytes();
        let of = |cause: &'static str| (0, 1000, cause);
        let missing = of("malformed chunked encoding: invalid chunk size line: missing size digit");
        check_rude(&answer("-1\r\nx\r\n"), Stall, missing).await;
        check_rude(&answer("\r\n"), Stall, missing).await;
        let overflow = of("malformed chunked encoding: invalid chunk size: overflow");
        check_rude(&answer("fffffffffffffffff\r\n"), Stall, overflow).await;
        check_rude(&answer("2\r\nabc\r\n"), Stall, of("malformed chunked encoding: invalid chunk body cr")).await;
        check_rude(&answer("2\r\nab\r\n"), END, EOF).await;
        check_rude(&answer("2\r\nab\r\n0\r\nTrailer: x"), END, EOF).await;
        check_rude(&answer("2\r\nab\r\n0\r\nTrailer: x\r\n\r\n"), END, (200, 0, "")).await;
        check_rude(&answer("ffffffffffffffff\r\nab"), Stall, LATE).await;
    };
    LocalSet::new().run_until(chunks).await;
}

#[tokio::test]
async fn bodies_where_none_may_be() {
    let surplus = async {
        check_rude(b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", Stall, (204, 0, "")).await;
        check_rude(b"HTTP/1.1 304 Not Modified\r\n\r\nabc", Stall, (304, 0, "")).await;
        let (url, seen) = serve(vec![vec![Read, OK, Stall], vec![Read, OK]]).await;
        let world = World::new(HttpSettings::default());
        let head = world.send(Request { method: Method::HEAD, ..Request::get(&url, TagSet::RUN) }).await;
        assert_eq!((failure_of(&head), &head.body), ((200, 0, ""), &Some(Bytes::new())));
        // The body that came behind the head belongs to no request.
        assert_eq!(world.get(&url).await.body.as_deref(), Some(&b"ok"[..]));
        assert_eq!(seen.connections.get(), 2);
    };
    LocalSet::new().run_until(surplus).await;
}

/// Answers on a connection of its own until the client goes away.
async fn endless(head: &'static str, part: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn_local(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let _ = stream.write_all(head.as_bytes()).await;
        while stream.write_all(&part).await.is_ok() {
            tokio::task::yield_now().await;
        }
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            play(&mut stream, &[Read, OK], &Seen::default()).await;
        }
    });
    format!("http://{address}/")
}

#[tokio::test]
async fn what_never_ends_is_bounded() {
    let floods = async {
        let settings = || HttpSettings { body_bytes_max: 3 << 20, ..HttpSettings::default() };
        let large = "malformed HTTP response: its head has more than 256 headers or 400 kB";
        let check = async |head, part: &[u8], code, text: &str| {
            let world = World::new(settings());
            let (status, found, said, _) = outcome(&world, &endless(head, part.to_vec()).await, code).await;
            assert_eq!((status, found, said.as_str()), (0, code, text));
        };
        check("HTTP/1.1 200 OK\r\nA: ", &[b'x'; 5000], 1000, large).await;
        check("HTTP/1.1 200 OK\r\n", b"A: b\r\n", 1000, large).await;
        check("", &b"HTTP/1.1 102 Processing\r\n\r\n".repeat(99), 1000, large).await;
        let kept = "the bodies of answers that are being received take more than 3 MiB of memory: discard those that \
                    the script does not look at (discardResponseBodies)";
        check("HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 65_536], 1000, kept).await;
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"8\r\n12345678\r\n", 1050, "request timeout")
            .await;
        // What nobody keeps costs nothing, but it has its time like everything else.
        let world = World::new(settings());
        let mut alarm = Alarm::new(world.tally.clock);
        let url = endless("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 1 << 20]).await;
        let request = Box::new(Request { timeout: Some(PATIENCE), ..Request::get(url, TagSet::RUN) });
        let response = world.client.request(request, &mut alarm, &Leash::default()).await.unwrap();
        assert_eq!(failure_of(&response), LATE);
    };
    LocalSet::new().run_until(floods).await;
}

#[tokio::test]
async fn a_bomb_is_refused_and_named() {
    let bomb = async {
        let packed = coding::Coding::Gzip.pack(&vec![0; coding::UNPACKED_BYTES_MAX + 1]);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
        let world = World::new(HttpSettings::default());
        let url = rude([head.as_bytes(), &packed].concat(), 1 << 20, Stall).await;
        let response = world.get(&url).await;
        let text = "error decompressing response body (gzip: it unpacks to more than 64 MiB)";
        assert_eq!(failure_of(&response), (0, 1701, text));
    };
    LocalSet::new().run_until(bomb).await;
}

#[tokio::test]
async fn an_end_or_a_reset_at_every_byte_is_a_failure_with_its_name() {
    let cuts = async {
        let answer = b"HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n";
        for length in 0..answer.len() {
            let cut = || answer[..length].to_vec();
            let world = World::new(HttpSettings::default());
            let (status, code, text, _) = outcome(&world, &rude(cut(), 999, END).await, 1000).await;
            let expected = if length == 0 { "EOF" } else { "unexpected EOF" };
            assert_eq!((status, code, text.as_str()), (0, 1000, expected), "ended at {length}");
            let world = World::new(HttpSettings::default());
            let (status, code, text, _) = outcome(&world, &rude(cut(), 999, Reset).await, 1220).await;
            assert_eq!((status, code, text.as_str()), (0, 1220, "read: connection reset by peer"), "reset at {length}");
        }
        let world = World::new(HttpSettings::default());
        let (status, .., body) = outcome(&world, &rude(answer.to_vec(), 999, Reset).await, 0).await;
        assert_eq!((status, body.as_deref()), (200, Some(&b"abc"[..])));
    };
    LocalSet::new().run_until(cuts).await;
}

#[tokio::test]
async fn tls_that_is_none() {
    let tls = async {
        let garbage = async |bytes: &'static [u8], code: u32, text: &str| {
            let (url, _) = serve(vec![vec![SendBytes(bytes), Stall]]).await;
            let world = World::new(HttpSettings { insecure_skip_tls_verify: true, ..HttpSettings::default() });
            let request = Request::get(url.replace("http:", "https:"), TagSet::RUN);
            let response = world.send(Request { timeout: timeout_for(code), ..request }).await;
            assert_eq!(failure_of(&response), (0, code, text));
            assert_eq!(world.connections(), 0);
        };
        garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n", 1301, "tls: first record does not look like a TLS handshake")
            .await;
        garbage(b"\x15\x03\x03\x00\x02\x02\x28", 1010, "remote error: tls: handshake failure").await;
        garbage(b"\x16\x03\x03", 1050, "request timeout").await;
        let (url, _) = serve(vec![vec![]]).await;
        let world = World::new(HttpSettings::default());
        let response = world.get(&url.replace("http:", "https:")).await;
        assert_eq!((response.status, response.error.unwrap().code), (0, 1000));
    };
    LocalSet::new().run_until(tls).await;
}

#[tokio::test]
async fn answers_that_nobody_asked_for_close_a_kept_connection() {
    let unasked = async {
        let twice = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno";
        let (url, seen) = serve(vec![vec![Read, Send(twice), Stall], vec![Read, OK, Stall]]).await;
        let world = World::new(HttpSettings::default());
        world.get(&url).await;
        assert!(world.client.idle.borrow().is_empty());
        assert_eq!(world.get(&url).await.body.as_deref(), Some(&b"ok"[..]));
        assert_eq!((seen.connections.get(), world.connections()), (2, 1));
    };
    LocalSet::new().run_until(unasked).await;
}

#[tokio::test]
async fn each_cause_keeps_an_example_without_its_secrets() {
    let examples = async {
        let world = World::new(HttpSettings::default());
        let busy = Send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nA: b\r\n\r\n");
        let (url, _) = serve(vec![vec![Read, busy, Read, busy, Read]]).await;
        let secret = url.replace("http://", "http://ann:pw@");
        for path in ["/a?api_key=abc&x=1", "/b", "/c"] {
            world.post(&format!("{secret}{path}"), "x").await;
        }
        let errors = world.tally.meter.summary().errors;
        let of = |cause: &str| (errors[cause].count, errors[cause].example.clone());
        let (count, example) = of("status 503");
        let shown = url.replace("http://", "http://****:****@");
        assert_eq!((count, example.method.as_str(), example.status, example.headers), (2, "POST", 503, 2));
        assert_eq!(example.url, format!("{shown}/a?api_key=****&x=1"));
        assert_eq!(of("1000 EOF").1.url, format!("{shown}/c"));
    };
    LocalSet::new().run_until(examples).await;
}

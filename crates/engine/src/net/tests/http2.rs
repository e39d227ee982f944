//! HTTP/2 against servers of the h2 crate, and against such as speak it badly.

use h2::Reason;
use h2::server::{Connection, SendResponse};
use http::Version;
use tokio::net::TcpStream;

use super::*;

type Incoming = (http::Request<h2::RecvStream>, SendResponse<Bytes>);

fn settings(http_version: HttpVersion) -> HttpSettings {
    HttpSettings { http_version, insecure_skip_tls_verify: true, ..HttpSettings::default() }
}

fn ok(respond: &mut SendResponse<Bytes>, body: &'static str) {
    let response = http::Response::builder().version(Version::HTTP_2).header("x-a", "b").body(()).unwrap();
    let mut send = respond.send_response(response, body.is_empty()).unwrap();
    if !body.is_empty() {
        send.send_data(Bytes::from_static(body.as_bytes()), true).unwrap();
    }
}

/// A plain HTTP/2 server: each connection is given to `serve` with its number.
async fn plain<F: Future<Output = ()> + 'static>(
    serve: impl Fn(usize, Connection<TcpStream, Bytes>) -> F + 'static,
) -> (String, Rc<Cell<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let connections = Rc::new(Cell::new(0));
    let count = connections.clone();
    spawn_local(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let number = count.replace(count.get() + 1);
            if let Ok(connection) = h2::server::handshake(stream).await {
                spawn_local(serve(number, connection));
            }
        }
    });
    (url, connections)
}

async fn next<T: AsyncRead + AsyncWrite + Unpin>(connection: &mut Connection<T, Bytes>) -> Option<Incoming> {
    connection.accept().await?.ok()
}

/// Answers everything with the path that was asked for.
async fn answer_all<T: AsyncRead + AsyncWrite + Unpin>(mut connection: Connection<T, Bytes>) {
    while let Some((request, mut respond)) = next(&mut connection).await {
        let path = request.uri().path().to_owned();
        ok(&mut respond, path.leak());
    }
}

#[tokio::test]
async fn what_is_agreed_on_over_tls_is_spoken() {
    let agreeing = async {
        let serve = async |protocols: &'static [&'static [u8]]| {
            let acceptor = tls_acceptor(protocols);
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("https://localhost:{}/x", listener.local_addr().unwrap().port());
            spawn_local(async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let Ok(stream) = acceptor.accept(stream).await else { continue };
                    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                        spawn_local(answer_all(h2::server::handshake(stream).await.unwrap()));
                    } else {
                        spawn_local(async { play(stream, &[Read, OK, Read, OK, Stall], &Seen::default()).await });
                    }
                }
            });
            url
        };
        let both = serve(&[b"h2", b"http/1.1"]).await;
        let world = World::new(settings(HttpVersion::Agreed));
        let first = world.get(&both).await;
        assert_eq!(
            (failure_of(&first), first.proto, first.body.as_deref()),
            ((200, 0, ""), "HTTP/2.0", Some(&b"/x"[..]))
        );
        assert!(first.timings.tls_handshaking > 0.0 && first.headers["x-a"] == "b");
        let second = world.get(&both).await;
        assert_eq!((second.timings.connecting, world.connections()), (0.0, 1));
        let world = World::new(settings(HttpVersion::Http1));
        assert_eq!((world.get(&both).await.proto, world.get(&both).await.proto), ("HTTP/1.1", "HTTP/1.1"));
        assert_eq!(world.connections(), 1);
        for old in [serve(&[]).await, serve(&[b"http/1.1"]).await] {
            let world = World::new(settings(HttpVersion::Agreed));
            assert_eq!((world.get(&old).await.proto, world.get(&old).await.proto), ("HTTP/1.1", "HTTP/1.1"));
            assert_eq!(world.connections(), 1);
            let response = World::new(settings(HttpVersion::Http2)).get(&old).await;
            assert!(matches!(failure_of(&response), (0, 1000 | 1010, _)), "{response:?}");
        }
    };
    LocalSet::new().run_until(agreeing).await;
}

#[tokio::test]
async fn a_batch_shares_one_connection() {
    let sharing = async {
        let (url, connections) = plain(|_, connection| answer_all(connection)).await;
        let world = World::new(settings(HttpVersion::Http2));
        let request = |index| Request { keep_body: true, ..Request::get(format!("{url}{index}"), TagSet::RUN) };
        let responses = world.client.batch((0..9).map(request).collect(), &Leash::default()).await.unwrap();
        let bodies: Vec<_> = responses.iter().map(|response| response.body.clone().unwrap()).collect();
        assert_eq!(bodies, ["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"]);
        assert_eq!((connections.get(), world.connections()), (1, 1));
        let world = World::new(HttpSettings { connection_max_requests: Some(1), ..settings(HttpVersion::Http2) });
        assert_eq!((world.get(&url).await.status, world.get(&url).await.status), (200, 200));
        assert_eq!(connections.get(), 3);
        let world = World::new(HttpSettings { no_connection_reuse: true, ..settings(HttpVersion::Http2) });
        assert_eq!((world.get(&url).await.status, world.get(&url).await.status), (200, 200));
        assert_eq!(connections.get(), 5);
        world.client.close();
        tokio::task::yield_now().await;
        assert_eq!(world.connections(), 0);
    };
    LocalSet::new().run_until(sharing).await;
}

#[tokio::test]
async fn bodies_go_both_ways_and_dropped_ones_stall_nothing() {
    let bodies = async {
        let large: &'static str = "x".repeat(5 << 20).leak();
        let (url, connections) = plain(move |_, mut connection| async move {
            while let Some((request, mut respond)) = next(&mut connection).await {
                spawn_local(async move {
                    let mut body = request.into_body();
                    let mut length = 0;
                    while let Some(Ok(data)) = body.data().await {
                        length += data.len();
                        let _ = body.flow_control().release_capacity(data.len());
                    }
                    let response = http::Response::builder().header("x-length", length).body(()).unwrap();
                    let mut send = respond.send_response(response, false).unwrap();
                    let _ = send.send_data(Bytes::from_static(large.as_bytes()), true);
                });
            }
        })
        .await;
        let world = World::new(HttpSettings { body_bytes_max: 6 << 20, ..settings(HttpVersion::Http2) });
        let body = Bytes::from(vec![b'y'; 2 << 20]);
        let response = world.send(Request { method: Method::POST, body, ..Request::get(&url, TagSet::RUN) }).await;
        assert_eq!(response.headers["x-length"], (2 << 20).to_string());
        // More than the window of a stream: it went on since what was read made room.
        assert_eq!(response.body.unwrap().len(), 5 << 20);
        let mut alarm = Alarm::new(world.tally.clock);
        for _ in 0..8 {
            let unwanted = Box::new(Request::get(&url, TagSet::RUN));
            let response = world.client.request(unwanted, &mut alarm, &Leash::default()).await.unwrap();
            assert_eq!((failure_of(&response), &response.body), ((200, 0, ""), &None));
        }
        assert_eq!(connections.get(), 1);
        let world = World::new(HttpSettings { body_bytes_max: 1 << 20, ..settings(HttpVersion::Http2) });
        let text = world.get(&url).await.error.unwrap().text;
        assert!(text.contains("more than 1 MiB of memory"), "{text}");
        assert_eq!(world.client.net.held.bytes(), 0);
    };
    LocalSet::new().run_until(bodies).await;
}

#[tokio::test]
async fn what_a_farewell_leaves_unprocessed_is_sent_again_elsewhere() {
    let farewell = async {
        // The first connection takes one request, says farewell and refuses the others.
        let (url, connections) = plain(|number, mut connection| async move {
            if number > 0 {
                return answer_all(connection).await;
            }
            let (_, mut first) = next(&mut connection).await.unwrap();
            connection.graceful_shutdown();
            ok(&mut first, "first");
            while next(&mut connection).await.is_some() {}
        })
        .await;
        let world = World::new(settings(HttpVersion::Http2));
        assert_eq!(world.get(&url).await.body.as_deref(), Some(&b"first"[..]));
        assert_eq!(world.post(&url, "x").await.body.as_deref(), Some(&b"/"[..]));
        assert_eq!(connections.get(), 2);
        // A stream that is refused has not been looked at.
        let (url, _) = plain(|number, mut connection| async move {
            if number > 0 {
                return answer_all(connection).await;
            }
            while let Some((_, mut respond)) = next(&mut connection).await {
                respond.send_reset(Reason::REFUSED_STREAM);
                connection.graceful_shutdown();
            }
        })
        .await;
        assert_eq!(world.post(&url, "x").await.status, 200);
        // But nobody is asked for ever.
        let (url, connections) = plain(|_, mut connection| async move {
            while let Some((_, mut respond)) = next(&mut connection).await {
                respond.send_reset(Reason::REFUSED_STREAM);
                connection.graceful_shutdown();
            }
        })
        .await;
        let text = "http2: stream error with http2 ErrCode REFUSED_STREAM";
        assert_eq!(failure_of(&world.post(&url, "x").await), (0, 1638, text));
        assert!(connections.get() <= 4);
    };
    LocalSet::new().run_until(farewell).await;
}

/// A server that reads the preface and a request, then sends these frames and goes on as `last` says.
async fn frames(frames: &'static [u8], last: Act) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    spawn_local(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 65_536];
        let mut got = 0;
        // The request is there once HEADERS of stream 1 are: type 1 at the fourth byte of a frame.
        loop {
            let mut at = 24;
            while at + 9 <= got && buffer[at + 3] != 1 {
                at += 9 + (usize::from(buffer[at + 1]) << 8) + usize::from(buffer[at + 2]);
            }
            if at + 9 <= got {
                break;
            }
            let count = stream.read(&mut buffer[got..]).await.unwrap();
            assert!(count > 0);
            got += count;
        }
        stream.write_all(&[b"\0\0\0\x04\0\0\0\0\0", frames].concat()).await.unwrap();
        match last {
            Reset => stream.set_zero_linger().unwrap(),
            Stall => std::future::pending().await,
            _ => {}
        }
        drop(stream);
        if let Ok((stream, _)) = listener.accept().await
            && let Ok(connection) = h2::server::handshake(stream).await
        {
            answer_all(connection).await;
        }
    });
    url
}

#[tokio::test]
async fn frames_at_odd_points_are_failures_with_k6s_codes() {
    let odd = async {
        let check = async |bytes: &'static [u8], last: Act, code: u32, text: &str| {
            let url = frames(bytes, last).await;
            let world = World::new(settings(HttpVersion::Http2));
            let timeout = rude::timeout_for(code);
            let response =
                world.send(Request { timeout, method: Method::POST, ..Request::get(&url, TagSet::RUN) }).await;
            assert_eq!(failure_of(&response), (0, code, text), "{bytes:?}");
            world.client.close();
            while world.connections() > 0 {
                tokio::task::yield_now().await;
            }
        };
        let end = Send("");
        check(
            b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x02",
            Stall,
            1633,
            "http2: stream error with http2 ErrCode INTERNAL_ERROR",
        )
        .await;
        check(
            b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x63",
            Stall,
            1630,
            "http2: stream error with http2 ErrCode unknown error code 0x63",
        )
        .await;
        // The service had begun with stream 1 when it said farewell, and ended without an answer.
        let farewell = b"\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\x0b";
        check(farewell, end, 1622, "http2: received GoAway with http2 ErrCode ENHANCE_YOUR_CALM").await;
        check(
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            Stall,
            1657,
            "http2: connection error with http2 ErrCode FRAME_SIZE_ERROR",
        )
        .await;
        check(b"\0\0\x01\0\0\0\0\0\x01x", Stall, 1652, "http2: connection error with http2 ErrCode PROTOCOL_ERROR")
            .await;
        check(b"", Reset, 1220, "read: connection reset by peer").await;
        check(b"", end, 1000, "unexpected EOF").await;
        check(b"", Stall, 1050, "request timeout").await;
        let cancelled = b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\0\0\0\0\x01ok\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08";
        check(cancelled, Stall, 1639, "http2: stream error with http2 ErrCode CANCEL").await;
        let half = b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\0\0\0\0\x01ok";
        check(half, end, 1000, "unexpected EOF").await;
        check(half, Stall, 1050, "request timeout").await;
        check(
            b"\0\0\x01\x01\x04\0\0\0\x01\xff",
            Stall,
            1652,
            "http2: connection error with http2 ErrCode PROTOCOL_ERROR",
        )
        .await;
        // Not looked at: the same request is answered on the next connection.
        let url = frames(b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0", end).await;
        assert_eq!(World::new(settings(HttpVersion::Http2)).post(&url, "x").await.status, 200);
    };
    LocalSet::new().run_until(odd).await;
}

//! Which connection a request goes out on, and what is written on it.

use super::*;

#[tokio::test]
async fn connections_have_an_age_if_the_plan_says_so() {
    let ageing = async {
        let (url, seen) = serve(vec![vec![Read, OK, Read, OK, Stall]; 3]).await;
        let world = World::new(HttpSettings { connection_max_requests: Some(2), ..HttpSettings::default() });
        for _ in 0..5 {
            assert_eq!(world.get(&url).await.status, 200);
        }
        assert_eq!((seen.connections.get(), world.connections()), (3, 1));
        let (url, seen) = serve(vec![vec![Read, OK, Read, OK, Stall]; 2]).await;
        let old = HttpSettings { connection_max_age: Some(Duration::ZERO), ..HttpSettings::default() };
        let world = World::new(old);
        assert_eq!((world.get(&url).await.status, world.get(&url).await.status), (200, 200));
        assert_eq!(seen.connections.get(), 2);
    };
    LocalSet::new().run_until(ageing).await;
}

#[tokio::test]
async fn a_request_that_says_close_ends_its_connection() {
    let closing = async {
        let (url, seen) = serve(vec![vec![Read, OK, Stall]; 2]).await;
        let world = World::new(HttpSettings::default());
        let mut request = Request::get(&url, TagSet::RUN);
        request.headers.insert("connection", HeaderValue::from_static("close"));
        request.headers.insert("x-my-header", HeaderValue::from_static("v"));
        assert_eq!(world.send(request).await.status, 200);
        assert_eq!(world.connections(), 0);
        assert!(seen.requests.borrow()[0].contains("\r\nX-My-Header: v\r\n"), "{:?}", seen.requests);
    };
    LocalSet::new().run_until(closing).await;
}

#[tokio::test]
async fn an_expected_body_waits_until_it_is_asked_for() {
    let expecting = async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let request = || {
            let mut request = Request::get(&url, TagSet::RUN);
            request.headers.insert("expect", HeaderValue::from_static("100-continue"));
            Request { method: Method::POST, body: Bytes::from_static(b"body"), ..request }
        };
        let head = async |stream: &mut tokio::net::TcpStream| {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let mut early = [0; 9];
            tokio::task::yield_now().await;
            assert!(stream.try_read(&mut early).is_err(), "the body did not wait");
        };
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
            let mut body = [0; 4];
            stream.read_exact(&mut body).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
            head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            let rest = stream.read(&mut body).await.unwrap();
            assert_eq!((&body, rest), (b"body", 0), "a body that was refused is not sent");
        };
        let world = World::new(HttpSettings::default());
        let client = async {
            assert_eq!(world.send(request()).await.status, 200);
            assert_eq!(world.send(request()).await.status, 417);
            assert_eq!(world.connections(), 0);
        };
        tokio::join!(server, client);
    };
    LocalSet::new().run_until(expecting).await;
}

#[tokio::test]
async fn large_bodies_go_out_whole() {
    let large = async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let body = Bytes::from(vec![b'x'; 3 << 20]);
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut all = Vec::new();
            while all.len() < 3 << 20 || !all.ends_with(b"x") || !head_is_beyond(&all) {
                let mut part = vec![0; 1 << 16];
                let count = stream.read(&mut part).await.unwrap();
                assert!(count > 0);
                all.extend_from_slice(&part[..count]);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            all
        };
        let world = World::new(HttpSettings::default());
        let request = Request { method: Method::PUT, body, ..Request::get(&url, TagSet::RUN) };
        let (all, response) = tokio::join!(server, world.send(request));
        assert_eq!(response.status, 200);
        assert_eq!(all.iter().filter(|byte| **byte == b'x').count(), 3 << 20);
        assert_eq!(world.connections(), 1);
    };
    LocalSet::new().run_until(large).await;
}

fn head_is_beyond(all: &[u8]) -> bool {
    let head = all.windows(4).take(1000).position(|window| window == b"\r\n\r\n");
    head.is_some_and(|head| all.len() == head + 4 + (3 << 20))
}

#[tokio::test]
async fn unix_sockets_are_services_too_but_no_service_leads_to_them() {
    let local = async {
        let path = std::env::temp_dir().join(format!("plimsoll-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        let seen = Rc::new(Seen::default());
        let watching = seen.clone();
        spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            play(&mut stream, &[Read, OK, Read, OK, Stall], &watching).await;
        });
        let world = World::new(HttpSettings::default());
        let url = format!("http+unix://{}/v1/info?a=b", path.to_str().unwrap().replace('/', "%2F"));
        let response = world.get(&url).await;
        assert_eq!((failure_of(&response), response.remote), ((200, 0, ""), None));
        assert_eq!(world.get(&url).await.status, 200);
        assert!(seen.requests.borrow()[1].starts_with("GET /v1/info?a=b HTTP/1.1\r\nHost: localhost\r\n"));
        std::fs::remove_file(&path).unwrap();
        let world = World::new(HttpSettings::default());
        assert_eq!(failure_of(&world.get(&url).await).1, 1210);
        let leads = format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n");
        let (elsewhere, _) = serve(vec![vec![Read, SendBytes(leads.into_bytes().leak())]]).await;
        let text = format!("refused to follow a redirect to the unix socket {url}");
        assert_eq!(failure_of(&world.get(&elsewhere).await), (0, 1000, text.as_str()));
        let (status, code, text) =
            (0, 1020, "invalid URL: http+unix://%2Fpath%2Fto.sock/ is the form of a URL of a unix socket");
        assert_eq!(failure_of(&world.get("http+unix://relative/x").await), (status, code, text));
    };
    LocalSet::new().run_until(local).await;
}

#[tokio::test]
async fn ipv6_literals_are_hosts() {
    let six = async {
        let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
        let address = listener.local_addr().unwrap();
        spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = read_request(&mut stream).await.unwrap();
            assert!(request.contains(&format!("\r\nHost: {address}\r\n")), "{request}");
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        });
        let response = World::new(HttpSettings::default()).get(&format!("http://{address}/")).await;
        assert_eq!((response.status, response.remote), (200, Some(address)));
    };
    LocalSet::new().run_until(six).await;
}

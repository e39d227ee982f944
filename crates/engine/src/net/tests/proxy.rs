//! Requests through proxies. Loopback is never asked for through one, so the services here have names.

use super::*;

fn proxies(url: &str) -> Proxies {
    Proxies::read(|name| matches!(name, "HTTP_PROXY" | "HTTPS_PROXY").then(|| url.replace("http://", "http://ann:pw@")))
}

fn behind(url: &str) -> World {
    let settings = HttpSettings { insecure_skip_tls_verify: true, ..HttpSettings::default() };
    World::behind(settings, proxies(url), Permit::all())
}

#[tokio::test]
async fn plain_requests_are_passed_on_with_their_whole_url() {
    let passing = async {
        let (url, seen) = serve(vec![vec![Read, OK, Read, OK, Stall]]).await;
        let world = behind(&url);
        assert_eq!(failure_of(&world.get("http://shop.invalid:81/a?b=c").await), (200, 0, ""));
        assert_eq!(world.get("http://shop.invalid:81/").await.status, 200);
        let requests = seen.requests.borrow();
        assert!(requests[0].starts_with("GET http://shop.invalid:81/a?b=c HTTP/1.1\r\nHost: shop.invalid:81\r\n"));
        assert!(requests[0].contains("\r\nProxy-Authorization: Basic YW5uOnB3\r\n"), "{}", requests[0]);
        assert_eq!(seen.connections.get(), 1);
    };
    LocalSet::new().run_until(passing).await;
}

#[tokio::test]
async fn tls_goes_through_a_tunnel() {
    let tunnel = async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Rc::new(RefCell::new(String::new()));
        let told = asked.clone();
        spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            *told.borrow_mut() = read_request(&mut stream).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
            let stream = tls_acceptor(&[]).accept(stream).await.unwrap();
            play(stream, &[Read, OK], &Seen::default()).await;
        });
        let response = behind(&url).get("https://shop.invalid/").await;
        assert_eq!((failure_of(&response), response.tls_version), ((200, 0, ""), Some("tls1.3")));
        let asked = asked.borrow();
        assert!(asked.starts_with("CONNECT shop.invalid:443 HTTP/1.1\r\nHost: shop.invalid:443\r\n"), "{asked}");
        assert!(asked.contains("Proxy-Authorization: Basic YW5uOnB3\r\n") && !asked.contains("User-Agent"));
    };
    LocalSet::new().run_until(tunnel).await;
}

#[tokio::test]
async fn proxies_that_fail_are_named() {
    let failing = async {
        let check = async |act: Act, text: &str| {
            let (url, _) = serve(vec![vec![Read, act, Stall]]).await;
            let world = behind(&url);
            assert_eq!(failure_of(&world.get("https://shop.invalid/").await), (0, 1000, text));
            assert_eq!(world.connections(), 0);
        };
        let refusal = "proxy: CONNECT was answered with 407 Proxy Authentication Required";
        check(Send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), refusal).await;
        check(Send("nonsense\r\n\r\n"), "proxy: malformed HTTP response to CONNECT").await;
        check(SendBytes(&[b'x'; 20_000]), "proxy: its answer to CONNECT does not end").await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let response = behind(&url).get("http://shop.invalid/").await;
        let place = url.trim_start_matches("http://");
        let text = format!("proxyconnect tcp: dial tcp {place}: connect: connection refused");
        assert_eq!(failure_of(&response), (0, 1200, text.as_str()));
    };
    LocalSet::new().run_until(failing).await;
}

#[tokio::test]
async fn a_proxy_leads_nowhere_that_may_not_be_loaded() {
    let guarded = async {
        let (url, seen) = serve(vec![vec![Read, OK, Stall]]).await;
        let permit = Permit::new(|host, address| {
            if host == "mine.invalid" || address.is_loopback() { Ok(()) } else { Err(format!("not {host}")) }
        });
        let world = World::behind(HttpSettings::default(), proxies(&url), permit);
        for elsewhere in ["http://8.8.8.8/", "http://other.invalid/"] {
            assert_eq!(failure_of(&world.get(elsewhere).await), (0, 1111, "hostname is blocked"));
        }
        assert_eq!(seen.connections.get(), 0);
        assert_eq!(world.get("http://mine.invalid/").await.status, 200);
    };
    LocalSet::new().run_until(guarded).await;
}

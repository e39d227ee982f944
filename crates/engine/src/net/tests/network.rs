//! What the plan says of names, addresses, TLS and pace, against real sockets.

use model::network::{ClientCertificate, HttpDebug, NetworkSettings, TlsVersion};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;

use super::*;

fn world(network: NetworkSettings) -> World {
    World::of(Arc::new(Plan { network, ..Plan::default() }), 1, None)
}

#[tokio::test]
async fn hosts_lead_where_the_plan_says_and_what_is_blocked_is_not_asked_for() {
    let checked = async {
        let (url, seen) = serve(vec![vec![Read, OK], vec![Read, OK]]).await;
        let address = url.strip_prefix("http://").unwrap();
        let port = address.rsplit_once(':').unwrap().1;
        let network = NetworkSettings {
            hosts: vec![
                "a.test=127.0.0.1".parse().unwrap(),
                format!("*.b.test={address}").parse().unwrap(),
                "far.test=10.1.2.3".parse().unwrap(),
            ],
            blocked_hosts: vec!["*.bad.test".parse().unwrap()],
            blocked_networks: vec!["10.0.0.0/8".parse().unwrap()],
            ..NetworkSettings::default()
        };
        let world = world(network);
        assert_eq!(world.get(&format!("http://a.test:{port}/")).await.status, 200);
        assert_eq!(world.get("http://x.b.test/").await.status, 200);
        assert!(seen.requests.borrow()[1].contains("Host: x.b.test\r\n"), "the service sees the name");
        for (url, expected) in [
            ("http://x.bad.test/", (0, 1111, "hostname is blocked")),
            ("http://10.9.9.9/", (0, 1110, "ip is blacklisted")),
            ("http://far.test/", (0, 1110, "ip is blacklisted")),
        ] {
            assert_eq!(failure_of(&world.get(url).await), expected, "{url}");
        }
    };
    LocalSet::new().run_until(checked).await;
}

#[tokio::test]
async fn what_hosts_lead_to_must_be_permitted_too() {
    let checked = async {
        let network = NetworkSettings { hosts: vec!["a.test=8.8.8.8".parse().unwrap()], ..NetworkSettings::default() };
        let plan = Arc::new(Plan { network, ..Plan::default() });
        let clock = Clock::new(tokio::time::Instant::now().into_std());
        let tally = Tally::new(Meter::new(plan), clock, Box::new(|_, _| ()));
        let permit = Permit::new(|host, address| Err(format!("{host} {address}")));
        let refused = Rc::new(RefCell::new(Vec::new()));
        let told = refused.clone();
        let tell = move |passage| {
            if let Passage::Refused(sentence) = passage {
                told.borrow_mut().push(sentence);
            }
        };
        let net = Net::new(tally.clone(), Gate::new(permit, Box::new(tell)), None);
        let world = World { client: Client::new(net, 1), tally };
        assert_eq!(world.get("http://a.test/").await.status, 0);
        assert_eq!(*refused.borrow(), ["a.test 8.8.8.8"]);
    };
    LocalSet::new().run_until(checked).await;
}

/// A server that answers with the address that asks.
async fn serve_addresses() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn_local(async move {
        while let Ok((mut stream, peer)) = listener.accept().await {
            read_request(&mut stream).await;
            let peer = peer.ip().to_string();
            let answer =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{peer}", peer.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn users_take_turns_with_the_addresses_of_this_machine() {
    let checked = async {
        let url = serve_addresses().await;
        let local_addresses = ["127.0.0.2", "127.0.0.3"].map(|text| text.parse().unwrap()).to_vec();
        let plan =
            Arc::new(Plan { network: NetworkSettings { local_addresses, ..Default::default() }, ..Plan::default() });
        for (user, expected) in [(1, "127.0.0.2"), (2, "127.0.0.3"), (3, "127.0.0.2")] {
            let response = World::of(plan.clone(), user, None).get(&url).await;
            assert_eq!(response.body.as_deref(), Some(expected.as_bytes()), "user {user}");
        }
    };
    LocalSet::new().run_until(checked).await;
}

/// The pace waits on a paused clock, so that nothing here depends on how fast this machine is.
#[tokio::test(start_paused = true)]
async fn a_request_waits_for_its_turn_before_it_begins() {
    let checked = async {
        let pace = Arc::new(Pace::new(2));
        let plan = Arc::new(Plan::default());
        let users: Vec<_> = (1..=3).map(|user| World::of(plan.clone(), user, Some(pace.clone()))).collect();
        let began = tokio::time::Instant::now();
        for world in &users {
            // Nobody listens there, so that the request itself takes no time.
            let response = world.get("http://127.0.0.1:1/").await;
            assert_eq!(failure_of(&response).1, 1212);
            assert!(response.timings.blocked < 400.0, "waiting for a turn is no part of the request");
        }
        assert_eq!(began.elapsed().as_millis() / 100, 10, "three requests at two per second");
    };
    LocalSet::new().run_until(checked).await;
}

#[tokio::test]
async fn batches_keep_the_limits_of_the_plan() {
    let checked = async {
        let (url, seen) = serve(vec![vec![Read, OK, Read, OK, Read, OK, Read, OK]; 4]).await;
        let world = world(NetworkSettings { batch: Some(9), batch_per_host: Some(2), ..NetworkSettings::default() });
        let requests = (0..4).map(|_| Request::get(&url, TagSet::RUN)).collect();
        let responses = world.client.batch(requests, &Leash::default()).await.unwrap();
        assert!(responses.iter().all(|response| response.status == 200));
        assert_eq!(seen.connections.get(), 2, "no more than two at once to one host");
    };
    LocalSet::new().run_until(checked).await;
}

#[tokio::test]
async fn what_is_sent_and_read_can_be_logged_without_its_secrets() {
    let checked = async {
        let answer = "HTTP/1.1 200 OK\r\nSet-Cookie: sid=s3cret\r\nX-Kind: tea\r\nContent-Length: 2\r\n\r\nok";
        for (http_debug, bodies) in [(HttpDebug::Heads, false), (HttpDebug::Full, true)] {
            let (url, _) = serve(vec![vec![Read, Send(answer)]]).await;
            let world = world(NetworkSettings { http_debug: Some(http_debug), ..NetworkSettings::default() });
            let mut request = Request::get(&url, TagSet::RUN);
            (request.method, request.body) = (Method::POST, Bytes::from_static(b"hello"));
            request.headers.insert("authorization", HeaderValue::from_static("Bearer s3cret"));
            world.send(request).await;
            let lines: Vec<String> = world.tally.meter.take_log().into_iter().map(|line| line.text).collect();
            assert!(lines[0].starts_with("Request: POST /") && lines[0].contains("authorization: ***"), "{lines:?}");
            assert!(lines[1].starts_with("Response: HTTP/1.1 200 OK") && lines[1].contains("x-kind: tea"), "{lines:?}");
            assert!(!lines.concat().contains("s3cret"), "{lines:?}");
            assert_eq!((lines[0].contains("hello"), lines[1].contains("\nok")), (bodies, bodies), "{lines:?}");
        }
    };
    LocalSet::new().run_until(checked).await;
}

/// Makes a certificate for a client, signed by `issuer`: certificate and key in PEM.
fn client_certificate(issuer: &CertifiedIssuer<'_, KeyPair>) -> (String, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut wanted = CertificateParams::new(vec!["client.test".to_owned()]).unwrap();
    wanted.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
    (wanted.signed_by(&key, issuer).unwrap().pem(), key)
}

fn issuer() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server that talks to those alone who show a certificate of `issuer`.
async fn serve_mutual(issuer: &CertifiedIssuer<'_, KeyPair>) -> String {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(issuer.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                play(&mut stream, &[Read, OK], &Seen::default()).await;
            }
        }
    });
    format!("https://localhost:{port}/")
}

#[tokio::test]
async fn clients_show_the_certificates_that_are_meant_for_a_host() {
    let checked = async {
        let issuer = issuer();
        let url = serve_mutual(&issuer).await;
        let (certificate, key) = client_certificate(&issuer);
        let status = async |domains: &[&str], key: String| {
            let domains = domains.iter().map(|domain| domain.parse().unwrap()).collect();
            let mut network = NetworkSettings::default();
            network.tls.auth = vec![ClientCertificate { certificate: certificate.clone(), key, domains }];
            crate::check_tls(&network.tls).unwrap();
            let http = HttpSettings { insecure_skip_tls_verify: true, ..HttpSettings::default() };
            World::of(Arc::new(Plan { http, network, ..Plan::default() }), 1, None).get(&url).await.status
        };
        assert_eq!(status(&[], key.serialize_pem()).await, 200);
        assert_eq!(status(&["localhost"], key.serialize_pem()).await, 200);
        assert_eq!(status(&["elsewhere.test"], key.serialize_pem()).await, 0, "meant for another host");
    };
    LocalSet::new().run_until(checked).await;
}

#[test]
fn wrong_tls_settings_are_named() {
    let mut settings = model::network::TlsSettings::default();
    let check = |settings: &model::network::TlsSettings| crate::check_tls(settings).unwrap_err().join("\n");
    settings.version_max = Some(TlsVersion::Tls11);
    assert!(check(&settings).contains("only TLS 1.2 and 1.3"), "{}", check(&settings));
    settings.version_max = Some(TlsVersion::Tls12);
    settings.cipher_suites = vec!["TLS_RSA_WITH_RC4_128_SHA".to_owned()];
    assert!(check(&settings).contains("`TLS_RSA_WITH_RC4_128_SHA` is none of TLS_AES"), "{}", check(&settings));
    settings.cipher_suites =
        vec!["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305".to_owned(), "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384".to_owned()];
    assert_eq!(crate::check_tls(&settings), Ok(()));
    let auth = |certificate: &str, key: &str| {
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        let auth = vec![ClientCertificate { certificate, key, domains: Vec::new() }];
        check(&model::network::TlsSettings { auth, ..Default::default() })
    };
    let issuer = issuer();
    let (certificate, key) = client_certificate(&issuer);
    assert!(auth("x", "y").contains("the certificate holds no `BEGIN CERTIFICATE`"));
    assert!(
        auth(&certificate, "s3cret").contains("the key holds no private key")
            && !auth("x", "s3cret").contains("s3cret")
    );
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert!(auth(&certificate, locked).contains("with a password is not supported"));
    let other = KeyPair::generate().unwrap().serialize_pem();
    assert!(auth(&certificate, &other).contains("cannot be used together"), "{}", auth(&certificate, &other));
    drop(key);
}

#[tokio::test]
async fn versions_of_tls_can_be_chosen() {
    let checked = async {
        let url = serve_tls().await;
        let version = async |version: TlsVersion| {
            let mut network = NetworkSettings::default();
            (network.tls.version_min, network.tls.version_max) = (Some(version), Some(version));
            let http = HttpSettings { insecure_skip_tls_verify: true, ..HttpSettings::default() };
            World::of(Arc::new(Plan { http, network, ..Plan::default() }), 1, None).get(&url).await.tls_version
        };
        assert_eq!(version(TlsVersion::Tls12).await, Some("tls1.2"));
        assert_eq!(version(TlsVersion::Tls13).await, Some("tls1.3"));
    };
    LocalSet::new().run_until(checked).await;
}

/// The roots of a process are read from its environment, so a second process of this test looks at them.
#[tokio::test]
async fn trust_roots_can_be_a_file_of_ones_own() {
    const URL: &str = "PLIMSOLL_TEST_URL";
    let checked = async {
        if let Ok(url) = std::env::var(URL) {
            let response = World::new(HttpSettings::default()).get(&url).await;
            assert_eq!(failure_of(&response), (200, 0, ""));
            return;
        }
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let url = serve_tls_with(&made).await;
        let folder = std::env::temp_dir().join(format!("plimsoll-roots-{}.pem", std::process::id()));
        std::fs::write(&folder, made.cert.pem()).unwrap();
        let child = |roots: &std::path::Path| {
            let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
            let name = "net::tests::network::trust_roots_can_be_a_file_of_ones_own";
            command.args([name, "--exact"]).env(URL, &url).env("SSL_CERT_FILE", roots).env_remove("SSL_CERT_DIR");
            command
        };
        let trusted = child(&folder).output().await.unwrap();
        std::fs::write(&folder, rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem()).unwrap();
        let strange = child(&folder).output().await.unwrap();
        std::fs::remove_file(&folder).unwrap();
        let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(trusted.status.success() && said(&trusted).contains("1 passed"), "{}", said(&trusted));
        assert!(!strange.status.success(), "{}", said(&strange));
    };
    LocalSet::new().run_until(checked).await;
}

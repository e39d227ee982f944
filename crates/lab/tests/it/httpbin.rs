//! The service for tests of HTTP clients: what it answers, and what it writes down.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::lab::{Client, Lab};

#[test]
fn what_is_asked_is_echoed_and_recorded() {
    let lab = Lab::start(&["httpbin"]);
    let answer = lab.get("/get?b=2&a=1&a=3");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["args"], json!({ "a": ["1", "3"], "b": "2" }));
    let mut client = Client::connect(lab.address());
    assert_eq!(client.get("/headers").json()["headers"]["Host"], lab.address());
    let record = client.get("/__log").json();
    let seen: Vec<_> = record.as_array().unwrap().iter().map(|entry| (&entry["method"], &entry["path"])).collect();
    assert_eq!(seen, [(&json!("GET"), &json!("/get?b=2&a=1&a=3")), (&json!("GET"), &json!("/headers"))]);
    assert_ne!(record[0]["connection"], record[1]["connection"]);
    client.send("DELETE", "/__log");
    assert_eq!(client.receive().unwrap().status, 200);
    assert_eq!(client.get("/__log").json(), json!([]));
}

#[test]
fn every_kind_of_answer() {
    let lab = Lab::start(&["httpbin"]);
    for (path, status, says) in [
        ("/status/418", 418, ""),
        ("/status/101", 400, "no such status"),
        ("/bytes/3", 200, "\u{7}&E"),
        ("/redirect/2", 302, ""),
        ("/absolute-redirect/1", 302, ""),
        ("/cookies/set?a=1", 302, ""),
        ("/basic-auth/a/b", 401, ""),
        ("/digest-auth/auth/a/b", 401, ""),
        ("/bearer", 401, ""),
        ("/html", 200, "Moby-Dick"),
        ("/forms/post", 200, "custname"),
        ("/links/3/1", 200, "/links/3/2"),
        ("/json", 200, "slideshow"),
        ("/invalid-json", 200, "\"b\": }"),
        ("/etag/x", 200, ""),
        ("/delay/0", 200, "delay"),
        ("/drip?duration=0&numbytes=2", 200, "**"),
        ("/ws-echo", 400, ""),
        ("/nowhere", 404, ""),
    ] {
        let answer = lab.get(path);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert!(answer.body.contains(says), "{path}: {answer:?}");
    }
    assert!(lab.get("/redirect/2").headers.contains("location: /relative-redirect/1"));
    assert!(lab.get("/absolute-redirect/1").headers.contains(&format!("location: {}/get", lab.url())));
    assert!(lab.get("/cookies/set?a=1").headers.contains("set-cookie: a=1; path=/"));
    assert!(lab.get("/response-headers?X-One=1").headers.contains("x-one: 1"));
}

#[test]
fn the_doors_have_certificates_of_one_authority() {
    let lab = Lab::start(&["httpbin"]);
    for key in ["authority", "certificate", "key"] {
        assert!(lab.ready[key].as_str().unwrap().starts_with("-----BEGIN "), "{key}");
    }
    for door in ["https", "mtls"] {
        let mut stream =
            TcpStream::connect(lab.ready[door].as_str().unwrap().strip_prefix("https://").unwrap()).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = [0; 3];
        stream.read_exact(&mut answer).unwrap();
        // What is no handshake is answered with an alert of TLS.
        assert_eq!(answer[..2], [21, 3], "{door}");
    }
}

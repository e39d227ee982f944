//! The relay: later, but whole and not slower.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::lab::{Lab, timed};

/// A server that sends back what it gets, for one connection.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut back = stream.try_clone().unwrap();
        std::io::copy(&mut stream, &mut back).unwrap();
        back.shutdown(std::net::Shutdown::Write).unwrap();
    });
    address
}

fn relay(to: &str, delay: &str) -> (Lab, TcpStream) {
    let lab = Lab::start(&["relay", "--to", to, "--delay", delay]);
    let stream = TcpStream::connect(lab.ready["listen"].as_str().unwrap()).unwrap();
    stream.set_read_timeout(Some(crate::lab::DEADLINE)).unwrap();
    (lab, stream)
}

#[test]
fn a_round_trip_takes_both_delays_longer() {
    let (mut lab, mut stream) = relay(&echo(), "40ms");
    assert_eq!(lab.ready["pid"], lab.pid());
    let (_, took) = timed(|| {
        stream.write_all(b"ping").unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"ping");
    });
    assert!(took >= Duration::from_millis(80), "{took:?}");
    lab.signal(Signal::TERM);
    assert_eq!(lab.wait().code(), Some(0));
}

#[test]
fn much_data_arrives_whole_and_in_far_less_than_a_delay_per_chunk() {
    let (_lab, mut stream) = relay(&echo(), "100ms");
    let sent: Vec<u8> = (0..16_000_000_u32).map(|at| (at % 251) as u8).collect();
    let mut sender = stream.try_clone().unwrap();
    let to_send = sent.clone();
    let (received, took) = timed(move || {
        let writer = thread::spawn(move || {
            sender.write_all(&to_send).unwrap();
            sender.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        writer.join().unwrap();
        received
    });
    assert!(received == sent, "{} of {} bytes came back, or other ones", received.len(), sent.len());
    // 16 MB are at least 244 chunks of 64 KiB: one at a time, they would take 24 s in each direction.
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn nobody_at_the_other_end_closes_the_connection() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (_lab, mut stream) = relay(&free, "0");
    assert!(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_)));
}

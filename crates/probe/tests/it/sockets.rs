//! Queues: connections that nobody accepts, answers that nobody reads.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use model::signal;
use rustix::io::ioctl_fionbio;
use rustix::net::{AddressFamily, SocketType, bind, connect, getsockname, listen, socket};

use crate::watched::{Watched, settings};

const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn a_full_accept_queue_and_those_turned_away_are_seen() {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&listener, 2).unwrap();
    let address: SocketAddr = getsockname(&listener).unwrap().try_into().unwrap();
    // Without an address of its own, a look for a metrics page would wait in the queue too.
    let elsewhere = "metrics:http://127.0.0.1:1/metrics";
    let mut watched = Watched::begin(settings(Some(address), &[elsewhere], std::process::id()));
    watched.until("the backlog shows", |watched| watched.value("svc", signal::LISTEN_BACKLOG) == Some(2.0));
    let before = watched.value("svc", signal::LISTEN_OVERFLOWS).unwrap();

    // The queue takes one more than the backlog says.
    let waiting: Vec<_> = (0..3).map(|_| TcpStream::connect_timeout(&address, PATIENCE).unwrap()).collect();
    let refused = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    ioctl_fionbio(&refused, true).unwrap();
    let attempt = connect(&refused, &address);
    assert_eq!(attempt, Err(rustix::io::Errno::INPROGRESS));

    watched.until("the overflow shows", |watched| {
        watched.value("svc", signal::LISTEN_QUEUE_MAX) == Some(3.0)
            && watched.value("svc", signal::LISTEN_QUEUE) == Some(3.0)
            && watched.value("svc", signal::LISTEN_OVERFLOWS).unwrap() > before
            && watched.value("gen", signal::SYN_SENT) == Some(1.0)
    });
    assert_eq!(watched.value("gen", signal::PORTS_USED), Some(4.0));
    assert!(watched.value("gen", signal::PORTS_LIMIT).is_some_and(|limit| limit > 1000.0));
    drop(waiting);
    watched.stop();
}

#[test]
fn unread_answers_and_unsent_data_are_seen() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clients: Vec<_> = (0..4).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut served: Vec<_> = (0..4).map(|_| listener.accept().unwrap().0).collect();
    served[0].write_all(b"answer").unwrap();
    served[1].set_nonblocking(true).unwrap();
    // Until neither end takes any more.
    while served[1].write(&[0; 65536]).is_ok() {}

    let mut watched = Watched::begin(settings(Some(address), &[], std::process::id()));
    watched.until("half of the connections are unread", |watched| {
        watched.value("gen", signal::UNREAD_SHARE) == Some(0.5)
            && watched.value("svc", signal::SEND_BUSY_SHARE).is_some()
    });
    assert!(watched.value("svc", signal::SEND_QUEUE).is_some_and(|bytes| bytes > 10_000.0));
    // One of four is in use, all the time, and its reader is to blame.
    watched.until("the slow reader shows", |watched| {
        watched.value("svc", signal::SEND_BUSY_SHARE).is_some_and(|share| share > 0.9)
            && watched.value("svc", signal::RWND_LIMITED_SHARE).is_some_and(|share| share > 0.9)
    });
    assert!(watched.value("svc", signal::LINK_BYTES_SENT).is_some_and(|bytes| bytes > 6.0));
    for end in ["svc", "gen"] {
        assert!(watched.value(end, signal::RTT_MS).is_some() && watched.value(end, signal::RTT_MIN_MS).is_some());
    }
    // The generator sent nothing and waits for nothing to be acknowledged.
    assert_eq!(watched.value("gen", signal::SEND_BUSY_SHARE), Some(0.0));
    drop(clients);
    watched.stop();
}

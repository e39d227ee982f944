//! Connections from made-up sockets.

use std::net::SocketAddr;
use std::time::Duration;

use super::*;
use crate::socket::{Family, state};

const SECOND: Moment = Moment(1_000_000_000);

/// A socket that a connection with this kernel information would show.
fn socket(port: u16, info: Info) -> Socket {
    let [local, remote] = [8080, port].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let (state, family, cookie) = (state::ESTABLISHED, Family::V4, u64::from(port));
    let inode = u32::from(port);
    Socket { local, remote, state, receive_queue: 0, send_queue: 100, uid: 0, inode, cookie, info: Some(info), family }
}

fn info(busy_ms: u64, limited_ms: u64, bytes_acked: u64) -> Info {
    Info {
        rtt_us: 2_000,
        rtt_min_us: Some(500),
        bytes_acked,
        busy_us: busy_ms * 1_000,
        rwnd_limited_us: limited_ms * 1_000,
    }
}

#[test]
fn shares_are_of_the_time_between_two_looks() {
    let mut connections = Connections::default();
    connections.advance("svc", &[socket(1, info(500, 0, 10)), socket(2, info(9_000, 0, 0))], &mut Sheet::new(SECOND));
    let mut sheet = Sheet::new(SECOND + Duration::from_secs(2));
    let looked = [socket(1, info(2_000, 375, 1_010)), socket(2, info(9_000, 0, 0)), socket(3, info(7, 0, 5))];
    connections.advance("svc", &looked, &mut sheet);
    // Connection 1 was busy for one and a half of two seconds, connection 2 idle; 3 is new and has no past.
    assert_eq!(sheet.value("svc", signal::SEND_BUSY_SHARE), Some(0.75));
    assert_eq!(sheet.value("svc", signal::RWND_LIMITED_SHARE), Some(0.25));
    assert_eq!(sheet.value("svc", signal::LINK_BYTES_SENT), Some(1_015.0));
    assert_eq!(sheet.value("svc", signal::SEND_QUEUE), Some(300.0));
    assert_eq!(sheet.value("svc", signal::RTT_MS), Some(2.0));
    assert_eq!(sheet.value("svc", signal::RTT_MIN_MS), Some(0.5));
}

#[test]
fn connections_that_lie_idle_say_nothing_of_the_way() {
    let behind_a_queue = |busy_ms| Info { rtt_us: 130_000, rtt_min_us: Some(74_000), ..info(busy_ms, 0, 0) };
    let idle = [socket(1, behind_a_queue(9_000)), socket(2, behind_a_queue(8_000))];
    let mut connections = Connections::default();
    connections.advance("gen", &[idle[0], idle[1], socket(3, info(100, 0, 0))], &mut Sheet::new(SECOND));
    let mut sheet = Sheet::new(SECOND + Duration::from_secs(1));
    connections.advance("gen", &[idle[0], idle[1], socket(3, info(1_000, 0, 0))], &mut sheet);
    assert_eq!(sheet.value("gen", signal::RTT_MS), Some(2.0));
    assert_eq!(sheet.value("gen", signal::RTT_MIN_MS), Some(0.5));
    assert_eq!(sheet.value("gen", signal::SEND_BUSY_SHARE), Some(0.9));
    let mut sheet = Sheet::new(SECOND + Duration::from_secs(2));
    connections.advance("gen", &idle, &mut sheet);
    assert_eq!(sheet.value("gen", signal::RTT_MS), None, "what is old is not reported again");
    assert_eq!(sheet.value("gen", signal::SEND_BUSY_SHARE), Some(0.0));
}

#[test]
fn bytes_of_closed_connections_stay_counted() {
    let mut connections = Connections::default();
    connections.advance("svc", &[socket(1, info(0, 0, 100))], &mut Sheet::new(SECOND));
    let mut sheet = Sheet::new(SECOND + Duration::from_secs(1));
    connections.advance("svc", &[], &mut sheet);
    assert_eq!(sheet.value("svc", signal::LINK_BYTES_SENT), Some(100.0));
    assert_eq!(sheet.value("svc", signal::SEND_BUSY_SHARE), None);
}

//! TCP sockets as the kernel describes them over `sock_diag` (a netlink protocol): what is asked and what comes back, as
//! bytes. Talking to the kernel is the business of `diag`. Works without privileges, for sockets of every user.

pub(crate) mod diag;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// States of a TCP socket, as bits of [`Query::states`].
pub(crate) mod state {
    pub(crate) const ESTABLISHED: u32 = 1 << 1;
    pub(crate) const SYN_SENT: u32 = 1 << 2;
    pub(crate) const TIME_WAIT: u32 = 1 << 6;
    pub(crate) const LISTEN: u32 = 1 << 10;
    /// All but listening ones.
    pub(crate) const CONNECTED: u32 = 0xfff & !LISTEN;
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_REQ_BYTECODE: u16 = 1;
/// Bytes of `struct nlmsghdr` and of `struct inet_diag_msg`.
const HEADER: usize = 16;
const MESSAGE: usize = 72;
/// Operations of the kernel's socket filter.
const LOCAL_PORT_IS: u8 = 11;
const REMOTE_PORT_IS: u8 = 12;
const JUMP: u8 = 1;
const FILTER_STEP: u8 = 8;
const FILTER_JUMP: u8 = 4;

/// IPv4 or IPv6. A service that listens on `[::]` has IPv6 sockets for IPv4 clients too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) const BOTH: [Self; 2] = [Self::V4, Self::V6];

    pub(crate) fn of(address: SocketAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

/// Which ports a socket must have; the kernel drops all others, which is what makes asking cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ports {
    Any,
    Local(u16),
    Remote(u16),
    /// Neither end has this port.
    Without(u16),
}

/// Which sockets are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) family: Family,
    /// Bits of [`state`].
    pub(crate) states: u32,
    pub(crate) ports: Ports,
    /// Whether [`Socket::info`] is wanted; costs a third more.
    pub(crate) info: bool,
}

/// One socket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Socket {
    /// IPv4 addresses of IPv6 sockets are shown as IPv4.
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// One bit of [`state`].
    pub(crate) state: u32,
    /// Unread bytes; of a listening socket: connections that wait to be accepted.
    pub(crate) receive_queue: u32,
    /// Unsent and unacknowledged bytes; of a listening socket: connections that may wait.
    pub(crate) send_queue: u32,
    /// User that owns it.
    pub(crate) uid: u32,
    /// 0 while no process has accepted it.
    pub(crate) inode: u32,
    /// Unique while the machine runs.
    pub(crate) cookie: u64,
    pub(crate) info: Option<Info>,
    /// The family it is listed under, whatever its addresses look like.
    pub(crate) family: Family,
}

impl Socket {
    /// Whether this listening socket takes connections to `address`.
    pub(crate) fn accepts(&self, address: SocketAddr) -> bool {
        self.state == state::LISTEN
            && self.local.port() == address.port()
            && (self.local.ip() == address.ip().to_canonical() || self.is_for_all(address))
    }

    fn is_for_all(&self, address: SocketAddr) -> bool {
        self.local.ip().is_unspecified() && (self.family == Family::V6 || address.ip().to_canonical().is_ipv4())
    }
}

/// The part of `struct tcp_info` that is of use. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Info {
    pub(crate) rtt_us: u32,
    /// `None` before the first measurement.
    pub(crate) rtt_min_us: Option<u32>,
    pub(crate) bytes_acked: u64,
    pub(crate) busy_us: u64,
    pub(crate) rwnd_limited_us: u64,
}

/// What one netlink message says.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Socket(Box<Socket>),
    Done,
    /// An error number.
    Failed(i32),
    Other,
}

/// The bytes that ask for one socket that was seen before.
pub(crate) fn encode_again(socket: &Socket, sequence: u32) -> Vec<u8> {
    let mut bytes = header(HEADER + 56, NLM_F_REQUEST, sequence);
    bytes.extend([family_number(socket.family), IPPROTO_TCP, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(socket.local.port().to_be_bytes());
    bytes.extend(socket.remote.port().to_be_bytes());
    for address in [socket.local, socket.remote] {
        match (address.ip(), socket.family) {
            (IpAddr::V4(ip), Family::V4) => bytes.extend([ip.octets().as_slice(), &[0; 12]].concat()),
            (IpAddr::V4(ip), Family::V6) => bytes.extend(ip.to_ipv6_mapped().octets()),
            (IpAddr::V6(ip), _) => bytes.extend(ip.octets()),
        }
    }
    bytes.extend(0_u32.to_ne_bytes());
    bytes.extend(socket.cookie.to_ne_bytes());
    bytes
}

/// The bytes that ask for `query`.
pub(crate) fn encode(query: &Query, sequence: u32) -> Vec<u8> {
    let filter = filter(query.ports);
    let attribute = if filter.is_empty() { 0 } else { 4 + filter.len() };
    let length = HEADER + 56 + attribute;
    let mut bytes = header(length, NLM_F_REQUEST | NLM_F_DUMP, sequence);
    let extensions = if query.info { 1 << (INET_DIAG_INFO - 1) } else { 0 };
    bytes.extend([family_number(query.family), IPPROTO_TCP, extensions, 0]);
    bytes.extend(query.states.to_ne_bytes());
    bytes.extend([0; 48]);
    if !filter.is_empty() {
        bytes.extend(u16::try_from(attribute).unwrap_or(u16::MAX).to_ne_bytes());
        bytes.extend(INET_DIAG_REQ_BYTECODE.to_ne_bytes());
        bytes.extend(filter);
    }
    bytes
}

fn header(length: usize, flags: u16, sequence: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    bytes
}

fn family_number(family: Family) -> u8 {
    match family {
        Family::V4 => AF_INET,
        Family::V6 => AF_INET6,
    }
}

/// A program for the kernel. Each step compares a port and goes on behind itself if it is the one, elsewhere if not;
/// the end accepts, four bytes behind it refuse. The kernel demands that "yes" leads to the end, so refusing a port takes
/// a jump, whose "no" is always taken.
fn filter(ports: Ports) -> Vec<u8> {
    let step = |operation: u8, on_no: u8, port: u16| {
        let (no, port) = (u16::from(on_no).to_ne_bytes(), port.to_ne_bytes());
        vec![operation, FILTER_STEP, no[0], no[1], 0, 0, port[0], port[1]]
    };
    let jump = |far: u8| {
        let no = u16::from(far).to_ne_bytes();
        vec![JUMP, FILTER_JUMP, no[0], no[1]]
    };
    let refuse = |bytes_left: u8| bytes_left + 4;
    let unless = FILTER_STEP + FILTER_JUMP;
    match ports {
        Ports::Any => Vec::new(),
        Ports::Local(port) => step(LOCAL_PORT_IS, refuse(FILTER_STEP), port),
        Ports::Remote(port) => step(REMOTE_PORT_IS, refuse(FILTER_STEP), port),
        Ports::Without(port) => [
            step(LOCAL_PORT_IS, unless, port),
            jump(refuse(FILTER_JUMP + unless)),
            step(REMOTE_PORT_IS, unless, port),
            jump(refuse(FILTER_JUMP)),
        ]
        .concat(),
    }
}

/// Takes the first message off `bytes`; `None` when there is none left.
pub(crate) fn decode(bytes: &mut &[u8]) -> Option<Message> {
    let length = usize::try_from(u32_at(bytes, 0)?).ok()?;
    let message = bytes.get(..length).filter(|_| length >= HEADER)?;
    *bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    let payload = &message[HEADER..];
    Some(match u16_at(message, 4)? {
        NLMSG_DONE => Message::Done,
        NLMSG_ERROR => Message::Failed(i32::from_ne_bytes(u32_at(payload, 0)?.to_ne_bytes()).wrapping_neg()),
        SOCK_DIAG_BY_FAMILY => socket(payload).map_or(Message::Other, |socket| Message::Socket(Box::new(socket))),
        _ => Message::Other,
    })
}

/// Reads `struct inet_diag_msg` and the attributes behind it.
fn socket(payload: &[u8]) -> Option<Socket> {
    let address = |at: usize, port: usize| {
        let port = u16::from_be_bytes(payload.get(port..port + 2)?.try_into().ok()?);
        let octets: [u8; 16] = payload.get(at..at + 16)?.try_into().ok()?;
        let ip = match payload[0] {
            AF_INET => IpAddr::V4(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3])),
            _ => IpAddr::V6(Ipv6Addr::from(octets)).to_canonical(),
        };
        Some(SocketAddr::new(ip, port))
    };
    let attributes = payload.get(MESSAGE..)?;
    Some(Socket {
        family: if payload[0] == AF_INET { Family::V4 } else { Family::V6 },
        state: 1_u32.checked_shl(u32::from(payload[1]))?,
        local: address(8, 4)?,
        remote: address(24, 6)?,
        cookie: u64_at(payload, 44)?,
        receive_queue: u32_at(payload, 56)?,
        send_queue: u32_at(payload, 60)?,
        uid: u32_at(payload, 64)?,
        inode: u32_at(payload, 68)?,
        info: info(attributes),
    })
}

fn info(mut attributes: &[u8]) -> Option<Info> {
    loop {
        let length = usize::from(u16_at(attributes, 0)?);
        let kind = u16_at(attributes, 2)?;
        let value = attributes.get(4..length)?;
        if kind == INET_DIAG_INFO {
            let rtt_min_us = u32_at(value, 148)?;
            return Some(Info {
                rtt_us: u32_at(value, 68)?,
                rtt_min_us: (rtt_min_us != u32::MAX).then_some(rtt_min_us),
                bytes_acked: u64_at(value, 120)?,
                busy_us: u64_at(value, 168)?,
                rwnd_limited_us: u64_at(value, 176)?,
            });
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_or_foreign_answer_is_never_a_socket() {
        let mut bytes: &[u8] = &[];
        assert_eq!(decode(&mut bytes), None);
        let mut message = vec![0_u8; 40];
        message[0] = 40;
        message[4] = 20;
        assert_eq!(decode(&mut message.as_slice()), Some(Message::Other));
        message[0] = 200;
        assert_eq!(decode(&mut message.as_slice()), None);
    }

    #[test]
    fn an_error_carries_its_number() {
        let mut message = vec![0_u8; 36];
        message[0] = 36;
        message[4] = 2;
        message[16..20].copy_from_slice(&(-13_i32).to_ne_bytes());
        assert_eq!(decode(&mut message.as_slice()), Some(Message::Failed(13)));
    }
}

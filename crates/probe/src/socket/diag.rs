//! The netlink socket that asks the kernel about TCP sockets. A socket stays in the network namespace that it was opened
//! in, so sockets of another namespace are read through one that a short-lived thread opened there. Never blocks longer
//! than [`PATIENCE`].

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::net::netlink::SOCK_DIAG;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::{Family, Message, Query, Socket, decode, encode, encode_again};

const PATIENCE: Duration = Duration::from_secs(1);
const BUFFER_BYTES: usize = 64 * 1024;

/// A way to ask about the sockets of one network namespace.
#[derive(Debug)]
pub(crate) struct Diag {
    socket: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Diag {
    /// For our own network namespace.
    pub(crate) fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        Ok(Self { socket, buffer: vec![0; BUFFER_BYTES], sequence: 0 })
    }

    /// For the network namespace behind a link such as `/proc/PID/ns/net`. Needs the right to enter it.
    pub(crate) fn open_in(namespace: &Path) -> io::Result<Self> {
        let namespace = File::open(namespace)?;
        let open = move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            Self::open()
        };
        let opened = thread::Builder::new().name("probe-namespace".into()).spawn(open)?.join();
        opened.map_err(|_| io::Error::other("the thread that enters the network namespace died"))?
    }

    /// Calls `visit` for each socket that `query` asks for.
    pub(crate) fn each(&mut self, query: &Query, mut visit: impl FnMut(&Socket)) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        send(&self.socket, &encode(query, self.sequence), SendFlags::empty())?;
        loop {
            let (length, _) = recv(&self.socket, &mut *self.buffer, RecvFlags::empty())?;
            let mut bytes = &self.buffer[..length];
            // An answer to an earlier question, which was given up on.
            if bytes.get(8..12) != Some(&self.sequence.to_ne_bytes()) {
                continue;
            }
            while let Some(message) = decode(&mut bytes) {
                match message {
                    Message::Socket(socket) => visit(&socket),
                    Message::Done => return Ok(()),
                    Message::Failed(number) => return Err(io::Error::from_raw_os_error(number)),
                    Message::Other => {}
                }
            }
        }
    }

    /// Calls `visit` for each of `sockets` that still exists. A socket costs a few microseconds, while [`Self::each`] has
    /// to walk the kernel's table of all connections, which takes some hundreds even if nothing is found.
    pub(crate) fn again(&mut self, sockets: &[Socket], mut visit: impl FnMut(&Socket)) -> io::Result<()> {
        if sockets.is_empty() {
            return Ok(());
        }
        self.sequence = self.sequence.wrapping_add(1);
        let request: Vec<u8> = sockets.iter().flat_map(|socket| encode_again(socket, self.sequence)).collect();
        send(&self.socket, &request, SendFlags::empty())?;
        let mut answers = 0;
        while answers < sockets.len() {
            let (length, _) = recv(&self.socket, &mut *self.buffer, RecvFlags::empty())?;
            let mut bytes = &self.buffer[..length];
            if bytes.get(8..12) != Some(&self.sequence.to_ne_bytes()) {
                continue;
            }
            while let Some(message) = decode(&mut bytes) {
                answers += 1;
                if let Message::Socket(socket) = message {
                    visit(&socket);
                }
            }
        }
        Ok(())
    }

    /// All sockets that `query` asks for, of each of `families`; a family that the kernel lacks has none.
    pub(crate) fn all(&mut self, families: &[Family], query: Query) -> Vec<Socket> {
        let mut found = Vec::new();
        for &family in families {
            let asked = self.each(&Query { family, ..query }, |socket| found.push(*socket));
            debug_assert!(!asked.is_err_and(|error| error.kind() == io::ErrorKind::InvalidInput), "a filter is wrong");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::socket::{Ports, state};

    #[test]
    fn the_kernel_tells_listeners_and_connections_apart_by_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let stranger = TcpStream::connect(other.local_addr().unwrap()).unwrap();
        let mut diag = Diag::open().unwrap();
        let mut ask = |states, ports| diag.all(&Family::BOTH, Query { family: Family::V4, states, ports, info: true });

        let listening = ask(state::LISTEN, Ports::Local(address.port()));
        assert_eq!(listening.len(), 1);
        assert!(listening[0].accepts(address) && listening[0].receive_queue == 1 && listening[0].send_queue > 1);

        let ours = ask(state::ESTABLISHED, Ports::Remote(address.port()));
        assert_eq!(ours.iter().map(|socket| socket.local).collect::<Vec<_>>(), [client.local_addr().unwrap()]);
        assert!(ours[0].info.is_some() && ours[0].inode != 0 && ours[0].cookie != 0);

        let theirs = ask(state::ESTABLISHED, Ports::Local(address.port()));
        assert_eq!(theirs.iter().map(|socket| (socket.remote, socket.inode)).collect::<Vec<_>>(), [(ours[0].local, 0)]);

        let others = ask(state::ESTABLISHED, Ports::Without(address.port()));
        assert!(others.iter().all(|other| ![other.local.port(), other.remote.port()].contains(&address.port())));
        let stranger = stranger.local_addr().unwrap();
        assert!(
            others.iter().any(|other| other.local == stranger) && others.iter().any(|other| other.remote == stranger)
        );
    }

    #[test]
    fn sockets_seen_before_are_looked_up_one_by_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut clients: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut diag = Diag::open().unwrap();
        let ports = Ports::Remote(address.port());
        let query = Query { family: Family::V4, states: state::ESTABLISHED, ports, info: false };
        let seen = diag.all(&[Family::V4], query);
        let answered = clients[0].local_addr().unwrap();
        let (mut served, _) = listener.accept().unwrap();
        served.write_all(b"unread").unwrap();
        drop(clients.remove(1));
        let mut unread = Vec::new();
        let mut count = 0;
        diag.again(&seen, |socket| {
            count += 1;
            unread.extend((socket.receive_queue > 0).then_some(socket.local));
        })
        .unwrap();
        assert_eq!((seen.len(), unread), (3, vec![answered]));
        assert!(count >= 2);
    }
}

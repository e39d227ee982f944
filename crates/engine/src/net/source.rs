//! Which address of this machine a connection leaves from: the kernel's choice, or that of the plan.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::{TcpSocket, TcpStream};

/// Connects to `remote`, from `source` if there is one.
pub(crate) async fn connect(remote: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpStream> {
    let Some(source) = source else { return TcpStream::connect(remote).await };
    let socket = if source.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.bind(SocketAddr::new(source, 0))?;
    socket.connect(remote).await
}

/// The address that user `number` (1, 2, …) leaves from: users take turns.
pub(crate) fn of_user(addresses: &[IpAddr], number: u32) -> Option<IpAddr> {
    let turn = (number.max(1) - 1) as usize;
    addresses.get(turn.checked_rem(addresses.len())?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_take_turns() {
        let addresses: Vec<IpAddr> = ["127.0.0.2", "127.0.0.3"].iter().map(|text| text.parse().unwrap()).collect();
        let of = |number| of_user(&addresses, number);
        assert_eq!([of(1), of(2), of(3)], [Some(addresses[0]), Some(addresses[1]), Some(addresses[0])]);
        assert_eq!(of(0), Some(addresses[0]), "setup and teardown too");
        assert_eq!(of_user(&[], 1), None);
    }
}

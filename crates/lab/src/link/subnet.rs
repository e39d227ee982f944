//! Chooses a /30 of 10.199.0.0/16 that nothing here uses. Must never run a command: what is taken is a parameter.

use std::net::Ipv4Addr;

const BASE: u32 = u32::from_be_bytes([10, 199, 0, 0]);
const COUNT: u32 = 1 << 14;

/// The two host addresses of the first free /30, searching from `start`; `taken` is what `ip addr` and `ip route` say.
pub(super) fn choose(start: u32, taken: &str) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let taken: Vec<(u32, u32)> = taken.split_whitespace().filter_map(range).collect();
    let free = |net: &u32| !taken.iter().any(|(first, last)| *first <= net + 3 && *net <= *last);
    let net = (0..COUNT).map(|step| BASE + 4 * ((start % COUNT + step) % COUNT)).find(free)?;
    Some((Ipv4Addr::from(net + 1), Ipv4Addr::from(net + 2)))
}

/// First and last address of `a.b.c.d` or `a.b.c.d/len`; a default route takes nothing.
fn range(word: &str) -> Option<(u32, u32)> {
    let (address, length) = word.split_once('/').unwrap_or((word, "32"));
    let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
    let length: u32 = length.parse().ok().filter(|length| (1..=32).contains(length))?;
    let host_bits = u32::MAX.checked_shr(length).unwrap_or(0);
    Some((address & !host_bits, address | host_bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(start: u32, taken: &str, expected: Option<[u8; 4]>) {
        assert_eq!(choose(start, taken).map(|(near, _)| near.octets()), expected, "{taken}");
    }

    #[test]
    fn the_first_free_one_is_taken() {
        check(0, "", Some([10, 199, 0, 1]));
        check(5, "default via 192.0.2.1 dev eth0", Some([10, 199, 0, 21]));
        check(0, "inet 10.199.0.2/30 brd", Some([10, 199, 0, 5]));
        check(0, "10.199.0.7 dev x", Some([10, 199, 0, 1]));
        check(1, "10.199.0.7 dev x", Some([10, 199, 0, 9]));
        check(0, "10.199.0.0/24 dev x", Some([10, 199, 1, 1]));
        check(COUNT - 1, "10.199.255.252/30 dev x", Some([10, 199, 0, 1]));
        check(0, "10.0.0.0/8 dev vpn", None);
    }

    #[test]
    fn both_ends_are_in_one_net() {
        assert_eq!(choose(1, ""), Some((Ipv4Addr::new(10, 199, 0, 5), Ipv4Addr::new(10, 199, 0, 6))));
    }
}

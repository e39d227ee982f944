//! The text formats of `/proc` and of control groups, one file per source. Parsers take bytes; nothing here opens a
//! file but `table` and `descriptors`, which walk folders, and `cgroup`, which climbs a path.

pub(crate) mod cgroup;
pub(crate) mod descriptors;
pub(crate) mod host;
pub(crate) mod net;
pub(crate) mod pressure;
pub(crate) mod schedstat;
pub(crate) mod stat;
pub(crate) mod status;
pub(crate) mod table;

use std::str::FromStr;

/// The number that these bytes spell, spaces around it left out.
pub(crate) fn number<T: FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

/// The words of a line.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The lines of a file.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// The number behind a key in a file of `key number` or `key: number` lines.
pub(crate) fn keyed(bytes: &[u8], key: &str) -> Option<u64> {
    let rest = lines(bytes).find_map(|line| line.strip_prefix(key.as_bytes()).filter(|rest| is_end_of_key(rest)))?;
    words(rest.strip_prefix(b":").unwrap_or(rest)).next().and_then(number)
}

fn is_end_of_key(rest: &[u8]) -> bool {
    rest.first().is_some_and(|&byte| byte == b':' || byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_matched_whole() {
        let text = b"MemTotal:       24625436 kB\nnr_periods 7\nnr_periods_more 9\n";
        assert_eq!(keyed(text, "MemTotal"), Some(24_625_436));
        assert_eq!(keyed(text, "nr_periods"), Some(7));
        assert_eq!(keyed(text, "nr_period"), None);
    }
}

//! Bit rates as `tc` writes them, and the shape of a link: `40mbit`, `40mbit,2ms`. Must never run anything.

use std::time::Duration;

use crate::duration;

/// Delay in each direction when none is asked for.
pub const DELAY_DEFAULT: Duration = Duration::from_millis(1);

/// A link's rate in both directions and its delay in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkShape {
    /// Bits per second in each direction.
    pub bits_per_s: u64,
    /// Added one-way delay, in each direction.
    pub delay: Duration,
}

impl LinkShape {
    /// Bucket of the token bucket filter: two timer ticks at 250 Hz, and at least one full-sized segment batch.
    pub fn burst_bytes(&self) -> u64 {
        (self.bits_per_s / 8 / 125).max(32 * 1024)
    }
}

/// Reads `RATE[,DELAY]`.
pub fn parse_link(text: &str) -> Result<LinkShape, String> {
    let (rate, delay) = text.split_once(',').map_or((text, None), |(rate, delay)| (rate, Some(delay)));
    let bits_per_s = parse_bits(rate)?;
    let delay = delay.map_or(Ok(DELAY_DEFAULT), duration::parse)?;
    Ok(LinkShape { bits_per_s, delay })
}

fn parse_bits(text: &str) -> Result<u64, String> {
    let explain = || format!("'{text}' is not a rate between 64kbit and 100gbit; write for example 40mbit");
    let lower = text.to_ascii_lowercase();
    let split = lower.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(explain)?;
    let number: f64 = lower[..split].parse().map_err(|_| explain())?;
    let unit = match &lower[split..] {
        "kbit" => 1e3,
        "mbit" => 1e6,
        "gbit" => 1e9,
        _ => return Err(explain()),
    };
    let bits = number * unit;
    if (64e3..=100e9).contains(&bits) { Ok(bits as u64) } else { Err(explain()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read() {
        let link = |bits_per_s, ms| Ok(LinkShape { bits_per_s, delay: Duration::from_millis(ms) });
        assert_eq!(parse_link("40mbit"), link(40_000_000, 1));
        assert_eq!(parse_link("1gbit,0"), link(1_000_000_000, 0));
        assert_eq!(parse_link("2.5Mbit,20ms"), link(2_500_000, 20));
        for text in ["", "40", "40mb", "mbit", "1kbit", "40mbit,2", "40mbit,", "-1mbit"] {
            assert!(parse_link(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_bucket_grows_with_the_rate() {
        assert_eq!(parse_link("40mbit").unwrap().burst_bytes(), 40_000);
        assert_eq!(parse_link("1mbit").unwrap().burst_bytes(), 32 * 1024);
    }
}

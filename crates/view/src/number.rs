//! Numbers for people: three significant digits, thousands set apart, units that fit the size. Never prints a NaN, an
//! infinity or a negative zero. The formats of k6's summary are another matter: `text/unit.rs`.

use std::time::Duration;

/// What stands where a number is missing.
pub(crate) const MISSING: &str = "-";

/// Whole part beyond which digits say nothing any more.
const LARGEST_WRITTEN_OUT: f64 = 1e15;
/// Size below which only the power of ten is of interest.
const SMALLEST_WRITTEN_OUT: f64 = 1e-6;

/// A number to three significant digits; from 1,000 on, all digits before the point.
pub(crate) fn number(value: f64) -> String {
    significant(value, 3)
}

/// A number to so many significant digits; never drops one before the point.
fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(SMALLEST_WRITTEN_OUT..LARGEST_WRITTEN_OUT).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = usize::try_from(digits - 1 - size.log10().floor() as i32).unwrap_or(0);
    let text = format!("{size:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let sign = if value < 0.0 { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// A count with its thousands set apart.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A count of things: `1 user`, `440 users`.
pub(crate) fn things(value: u64, singular: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {singular}{plural}", count(value))
}

/// A length of time: `0.42 ms`, `212 ms`, `1.24 s`, `2 min 42 s`, `3 h 5 min`.
pub(crate) fn time_ms(value_ms: f64) -> String {
    if !value_ms.is_finite() {
        return MISSING.to_owned();
    }
    let size_s = value_ms.abs() / 1e3;
    if size_s < 0.9995 {
        return format!("{} ms", number(value_ms));
    }
    if size_s < 59.95 {
        return format!("{} s", number(value_ms / 1e3));
    }
    let sign = if value_ms < 0.0 { "-" } else { "" };
    let seconds = size_s.round();
    let (hours, minutes) = ((seconds / 3600.0).floor(), (seconds % 3600.0 / 60.0).floor());
    if hours >= 1.0 {
        return format!("{sign}{} h {minutes} min", number(hours));
    }
    format!("{sign}{minutes} min {} s", seconds % 60.0)
}

/// A length of time on a clock that runs: `0:07`, `12:34`, `1:02:03`.
pub(crate) fn clock(length: Duration) -> String {
    let seconds = length.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// A share as a percentage: `96.8%`, and below ten percent with two digits: `0.42%`.
pub(crate) fn percent(share: f64) -> String {
    let digits = if share.abs() < 0.0995 { 2 } else { 3 };
    let text = significant(share * 100.0, digits);
    if text == MISSING { text } else { format!("{text}%") }
}

/// How many of how many, as a share; nothing of nothing is nothing.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// An amount of memory: `16.8 GB`.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let value = value as f64;
    let (unit, size) = UNITS.into_iter().find(|(_, size)| value >= *size).unwrap_or(("B", 1.0));
    format!("{} {unit}", number(value / size))
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_keep_three_significant_digits() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(28_807.4, "28,807");
        check(1_650_602.0, "1,650,602");
        check(999.6, "1,000");
        check(971.2, "971");
        check(97.12, "97.1");
        check(4.8, "4.8");
        check(9.996, "10");
        check(0.18972, "0.19");
        check(0.000_512_3, "0.000512");
        check(-0.0, "0");
        check(-1234.0, "-1,234");
        check(1e-9, "1.00e-9");
        check(f64::MAX, "1.80e308");
        check(f64::NAN, "-");
        check(f64::NEG_INFINITY, "-");
    }

    #[test]
    fn times_choose_their_unit() {
        let check = |value_ms: f64, expected: &str| assert_eq!(time_ms(value_ms), expected);
        check(0.0, "0 ms");
        check(0.421, "0.421 ms");
        check(211.9, "212 ms");
        check(999.7, "1 s");
        check(1_240.0, "1.24 s");
        check(59_960.0, "1 min 0 s");
        check(162_400.0, "2 min 42 s");
        check(3_600_000.0 * 3.0 + 300_000.0, "3 h 5 min");
        check(f64::INFINITY, "-");
    }

    #[test]
    fn counts_shares_and_bytes() {
        assert_eq!(things(1, "user"), "1 user");
        assert_eq!(things(10_370_595, "request"), "10,370,595 requests");
        assert_eq!(percent(55.0 / 3_357_423.0), "0.0016%");
        assert_eq!(percent(0.0968), "9.7%");
        assert_eq!(percent(0.968), "96.8%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(percent(f64::NAN), "-");
        assert_eq!(share(1.0, 0.0), 0.0);
        assert_eq!(bytes(16_777_216_000), "16.8 GB");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
        assert_eq!(clock(Duration::from_millis(7_900)), "0:07");
    }

    proptest! {
        #[test]
        fn any_number_formats_short_and_finite(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            for text in [number(value), time_ms(value), percent(value)] {
                prop_assert!(text.len() <= 32, "{text}");
                prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
                prop_assert!(text != "-0" && !text.starts_with("-0 "), "{text}");
            }
        }

        #[test]
        fn a_number_is_off_by_half_a_percent_at_most(value in 1e-5..1e14f64) {
            let read: f64 = number(value).replace(',', "").parse().unwrap();
            prop_assert!((read - value).abs() <= value * 0.005_000_1, "{value} became {read}");
        }
    }
}

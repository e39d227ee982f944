//! How numbers and times are written in these formats.

/// A number as JSON and InfluxDB take it: the shortest text that means exactly this value; what is no number is 0.
pub(crate) fn number(value: f64) -> String {
    /// From here on whole numbers are no longer exact.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if !value.is_finite() {
        return "0".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < WHOLE_MAX { (value as i64).to_string() } else { format!("{value:?}") }
}

/// Nanoseconds since 1970 as RFC 3339, with as many decimals as it needs.
pub(crate) fn rfc3339(unix_ns: u64) -> String {
    let (seconds, nanos) = (unix_ns / 1_000_000_000, unix_ns % 1_000_000_000);
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let whole = jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string());
    if nanos == 0 {
        return whole;
    }
    let decimals = format!("{nanos:09}");
    format!("{}.{}Z", whole.trim_end_matches('Z'), decimals.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        for (value, text) in [(1.0, "1"), (0.0, "0"), (-3.0, "-3"), (0.123_456_789_1, "0.1234567891"), (1e21, "1e21")] {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(f64::INFINITY), "0");
    }

    #[test]
    fn times_have_the_decimals_that_they_need() {
        assert_eq!(rfc3339(1_796_095_490_009_427_094), "2026-12-01T03:24:50.009427094Z");
        assert_eq!(rfc3339(1_796_095_490_500_000_000), "2026-12-01T03:24:50.5Z");
        assert_eq!(rfc3339(1_796_095_490_000_000_000), "2026-12-01T03:24:50Z");
    }
}

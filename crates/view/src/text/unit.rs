//! Values as k6's summary writes them, so that scripts that read the summary keep working: `2.33ms`, `1m27s`, `5.4 kB`,
//! `3.964373/s`, `62.50%`. Facts of k6, found by running it; the code is our own.

use model::metric::{Contains, MetricType};

use crate::number::MISSING;

/// Unit of all times in the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    /// The one that fits each value.
    Fitting,
    Seconds,
    Milliseconds,
    Microseconds,
}

impl TimeUnit {
    /// From k6's `summaryTimeUnit`.
    pub(super) fn named(name: Option<&str>) -> Self {
        match name {
            Some("s") => Self::Seconds,
            Some("ms") => Self::Milliseconds,
            Some("us") => Self::Microseconds,
            _ => Self::Fitting,
        }
    }
}

/// How values of one metric are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) kind: MetricType,
    pub(super) contains: Contains,
    pub(super) time_unit: TimeUnit,
    pub(super) unicode: bool,
}

impl Format {
    /// A value of the metric itself: one sample, a mean, a sum.
    pub(super) fn value(self, value: f64) -> String {
        if !value.is_finite() {
            return MISSING.to_owned();
        }
        match (self.kind, self.contains) {
            (MetricType::Rate, _) => percentage(value),
            (_, Contains::Default) => plain(value),
            (_, Contains::Data) => data(value),
            (_, Contains::Time) => self.time(value),
        }
    }

    /// A value per second.
    pub(super) fn per_second(self, value: f64) -> String {
        match self.contains {
            Contains::Data if value.is_finite() => format!("{}/s", data(value)),
            _ => format!("{}/s", plain(value)),
        }
    }

    fn time(self, value_ms: f64) -> String {
        let micro = if self.unicode { "µs" } else { "us" };
        let sign = if value_ms < 0.0 { "-" } else { "" };
        let size_ms = value_ms.abs();
        let (fixed, unit) = match self.time_unit {
            TimeUnit::Seconds => (size_ms / 1e3, "s"),
            TimeUnit::Milliseconds => (size_ms, "ms"),
            TimeUnit::Microseconds => (size_ms * 1e3, micro),
            TimeUnit::Fitting => {
                let text = fitting(size_ms, micro);
                return if text == "0s" { text } else { format!("{sign}{text}") };
            }
        };
        let text = match fixed {
            ..1e15 => format!("{fixed:.2}"),
            1e15..=f64::MAX => format!("{fixed:.2e}"),
            _ => return MISSING.to_owned(),
        };
        let sign = if text == "0.00" { "" } else { sign };
        format!("{sign}{text}{unit}")
    }
}

/// The largest unit below the value, two decimals, cut rather than rounded; from a minute on, whole seconds.
fn fitting(size_ms: f64, micro: &str) -> String {
    // The hair on top keeps values such as 0.29 ms, which no float meets exactly, from losing their last digit.
    let nanos = (size_ms * 1e6 + 1e-3) as u128;
    let (hundredths, unit) = match nanos {
        0 => return "0s".to_owned(),
        1..1_000 => (nanos * 100, "ns"),
        1_000..1_000_000 => (nanos / 10, micro),
        1_000_000..1_000_000_000 => (nanos / 10_000, "ms"),
        1_000_000_000..60_000_000_000 => (nanos / 10_000_000, "s"),
        _ => {
            let seconds = nanos / 1_000_000_000;
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            let hours = if hours > 0 { format!("{hours}h") } else { String::new() };
            return format!("{hours}{minutes}m{}s", seconds % 60);
        }
    };
    let decimals = trimmed(&format!("{}.{:02}", hundredths / 100, hundredths % 100));
    format!("{decimals}{unit}")
}

/// Up to six decimals; very large numbers as a power of ten.
fn plain(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value.abs() >= 1e21 {
        return format!("{value:e}").replace('e', "e+");
    }
    let text = trimmed(&format!("{value:.6}"));
    if text == "-0" { "0".to_owned() } else { text }
}

fn trimmed(decimals: &str) -> String {
    decimals.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Decimal multiples of a byte, two digits below ten.
fn data(value: f64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    if size < 10.0 {
        let text = format!("{size:.0} B");
        return if text == "0 B" { text } else { format!("{sign}{text}") };
    }
    let step = ((size.log10() / 3.0 + 1e-12).floor() as usize).min(UNITS.len() - 1);
    let scaled = size / 1e3f64.powi(step as i32);
    let text = match scaled {
        ..9.95 => format!("{scaled:.1}"),
        9.95..1e15 => format!("{scaled:.0}"),
        _ => format!("{scaled:.2e}"),
    };
    format!("{sign}{text} {}", UNITS[step])
}

/// A share as a percentage with two decimals, cut rather than rounded, so that 99.999 % does not look perfect.
fn percentage(share: f64) -> String {
    // The hair on top keeps shares such as 0.29, which no float meets exactly, from losing their last digit.
    let hundredths = ((share.abs() * 1e4 + 1e-7).floor() / 100.0).min(1e12);
    let sign = if share < 0.0 && hundredths > 0.0 { "-" } else { "" };
    format!("{sign}{hundredths:.2}%")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn format(kind: MetricType, contains: Contains, time_unit: TimeUnit) -> Format {
        Format { kind, contains, time_unit, unicode: true }
    }

    #[test]
    fn times_are_cut_as_in_k6() {
        let check = |value_ms: f64, expected: &str| {
            assert_eq!(format(MetricType::Trend, Contains::Time, TimeUnit::Fitting).value(value_ms), expected);
        };
        check(0.0, "0s");
        check(0.000_05, "50ns");
        check(0.012_345_6, "12.34µs");
        check(0.9999, "999.9µs");
        check(0.999_996, "999.99µs");
        check(0.29, "290µs");
        check(1.005, "1ms");
        check(999.996, "999.99ms");
        check(1000.0, "1s");
        check(1234.567, "1.23s");
        check(59_999.99, "59.99s");
        check(60_999.0, "1m0s");
        check(87_501.25, "1m27s");
        check(7_323_999.0, "2h2m3s");
        check(1e9, "277h46m40s");
        check(-5.5, "-5.5ms");
        check(f64::NAN, "-");
    }

    #[test]
    fn a_fixed_unit_keeps_two_decimals() {
        let check = |time_unit: TimeUnit, value_ms: f64, expected: &str| {
            assert_eq!(format(MetricType::Trend, Contains::Time, time_unit).value(value_ms), expected);
        };
        check(TimeUnit::named(Some("s")), 60_000.0, "60.00s");
        check(TimeUnit::named(Some("s")), 1234.567, "1.23s");
        check(TimeUnit::named(Some("ms")), 2.111_78, "2.11ms");
        check(TimeUnit::named(Some("us")), 2.111_78, "2111.78µs");
        check(TimeUnit::named(Some("s")), -0.001, "0.00s");
        let ascii = Format { unicode: false, ..format(MetricType::Trend, Contains::Time, TimeUnit::Microseconds) };
        assert_eq!(ascii.value(0.001), "1.00us");
    }

    #[test]
    fn data_and_plain_numbers_are_written_as_in_k6() {
        let data = format(MetricType::Counter, Contains::Data, TimeUnit::Fitting);
        let check = |value: f64, expected: &str| assert_eq!(data.value(value), expected);
        check(0.0, "0 B");
        check(9.4, "9 B");
        check(840.0, "840 B");
        check(1000.0, "1.0 kB");
        check(5436.0, "5.4 kB");
        check(7000.0, "7.0 kB");
        check(123_456.0, "123 kB");
        check(1.26e9, "1.3 GB");
        assert_eq!(data.per_second(277.506), "278 B/s");

        let plain = format(MetricType::Gauge, Contains::Default, TimeUnit::Fitting);
        let check = |value: f64, expected: &str| assert_eq!(plain.value(value), expected);
        check(1.0 / 3.0, "0.333333");
        check(1e-7, "0");
        check(-1e-7, "0");
        check(2500.3075, "2500.3075");
        check(123_456_789.123_456_7, "123456789.123457");
        check(1e21, "1e+21");
        assert_eq!(plain.per_second(3.964_372_6), "3.964373/s");
    }

    #[test]
    fn shares_are_cut_so_that_almost_all_is_not_all() {
        let rate = format(MetricType::Rate, Contains::Default, TimeUnit::Fitting);
        let check = |value: f64, expected: &str| assert_eq!(rate.value(value), expected);
        check(0.625, "62.50%");
        check(2.0 / 3.0, "66.66%");
        check(0.999_995, "99.99%");
        check(0.29, "29.00%");
        check(1.0, "100.00%");
    }

    proptest! {
        #[test]
        fn any_value_formats_finite(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            for kind in [MetricType::Trend, MetricType::Rate] {
                for contains in [Contains::Default, Contains::Time, Contains::Data] {
                    for unit in [TimeUnit::Fitting, TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds] {
                        let format = format(kind, contains, unit);
                        for text in [format.value(value), format.per_second(value)] {
                            prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
                            prop_assert!(!text.starts_with("-0s") && !text.starts_with("-0/") && text.len() < 50, "{text}");
                        }
                    }
                }
            }
        }
    }
}

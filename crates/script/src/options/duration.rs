//! k6's durations: `500ms`, `1h2m3s`, `2d4h`, or a bare number of milliseconds.

use std::time::Duration;

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// A sign in front.
    #[error("a duration cannot be negative, `{0}` was given")]
    Negative(String),
    /// Not a duration at all.
    #[error("a duration such as `30s`, `1h30m`, `2d4h` or a number of milliseconds is expected, `{0}` was given")]
    Malformed(String),
    /// More than an engine can wait for.
    #[error("`{0}` is too long a duration")]
    TooLong(String),
}

/// Longest duration that is accepted: a hundred years.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

const DAY_NS: u128 = 86_400_000_000_000;
const MILLISECOND_NS: u128 = 1_000_000;
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1000),
    ("µs", 1000),
    ("μs", 1000),
    ("ms", MILLISECOND_NS),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration as k6 does.
///
/// # Errors
/// If it is none, negative, or longer than a hundred years.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let malformed = || DurationError::Malformed(text.to_owned());
    let trimmed = text.trim();
    if trimmed.starts_with('-') && trimmed.len() > 1 {
        return Err(DurationError::Negative(text.to_owned()));
    }
    let unsigned = trimmed.strip_prefix('+').unwrap_or(trimmed);
    if let Some(nanoseconds) = scaled(unsigned, MILLISECOND_NS) {
        return bounded(nanoseconds, text);
    }
    let (days, mut rest) = match unsigned.split_once('d') {
        Some((days, rest)) => (days.parse::<u32>().map_err(|_| malformed())?, rest),
        None if unsigned.is_empty() => return Err(malformed()),
        None => (0, unsigned),
    };
    let mut total = u128::from(days) * DAY_NS;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(malformed)?;
        let (number, tail) = rest.split_at(end);
        let (unit, unit_ns) = UNITS.iter().find(|(unit, _)| follows(tail, unit)).ok_or_else(malformed)?;
        total = total.saturating_add(scaled(number, *unit_ns).ok_or_else(malformed)?);
        rest = &tail[unit.len()..];
    }
    bounded(total, text)
}

/// A duration of so many milliseconds, as a number in `options` means it.
pub(super) fn from_milliseconds(milliseconds: f64) -> Result<Duration, DurationError> {
    let text = milliseconds.to_string();
    if milliseconds < 0.0 {
        return Err(DurationError::Negative(text));
    }
    // Casting saturates.
    bounded((milliseconds * MILLISECOND_NS as f64).round() as u128, &text)
}

/// Whether `tail` begins with `unit` and not with a longer word.
fn follows(tail: &str, unit: &str) -> bool {
    tail.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Digits with at most one point, times `unit`; by whole numbers, so that nothing is lost. Digits behind the point
/// that no clock can tell apart are dropped.
fn scaled(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let fraction = &fraction[..fraction.len().min(18)];
    let parse = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u128>().ok() };
    let part = parse(fraction)? * unit / 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    // Too many digits are too long a duration, not a wrong one.
    Some(parse(whole).unwrap_or(u128::MAX).saturating_mul(unit).saturating_add(part))
}

fn bounded(nanoseconds: u128, text: &str) -> Result<Duration, DurationError> {
    if nanoseconds > LONGEST.as_nanos() {
        return Err(DurationError::TooLong(text.to_owned()));
    }
    let nanoseconds = u64::try_from(nanoseconds).expect("a hundred years of nanoseconds fit");
    Ok(Duration::from_nanos(nanoseconds))
}

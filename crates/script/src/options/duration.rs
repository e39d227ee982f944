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

/// Longest duration that is accepted: a hundred years, as k6's own arithmetic ends there too.
const LONGEST_S: f64 = 100.0 * 365.0 * 86_400.0;

const UNITS: [(&str, f64); 8] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

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
    if let Some(milliseconds) = number(unsigned) {
        return from_seconds(milliseconds / 1e3, text);
    }
    let (days, mut rest) = match unsigned.split_once('d') {
        Some((days, rest)) => (days.parse::<u32>().map_err(|_| malformed())?, rest),
        None if unsigned.is_empty() => return Err(malformed()),
        None => (0, unsigned),
    };
    let mut seconds = f64::from(days) * 86_400.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(malformed)?;
        let value = number(&rest[..end]).ok_or_else(malformed)?;
        let tail = &rest[end..];
        let (unit, length_s) = UNITS.iter().find(|(unit, _)| follows(tail, unit)).ok_or_else(malformed)?;
        seconds += value * length_s;
        rest = &tail[unit.len()..];
    }
    from_seconds(seconds, text)
}

/// Whether `tail` begins with `unit` and not with a longer one.
fn follows(tail: &str, unit: &str) -> bool {
    tail.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Digits with at most one point; Rust's own parser would also take `inf`, `1e3` and signs.
fn number(text: &str) -> Option<f64> {
    text.chars().all(|c| c.is_ascii_digit() || c == '.').then(|| text.parse().ok()).flatten()
}

/// A duration of so many milliseconds, as a number in `options` means it.
pub(super) fn from_milliseconds(milliseconds: f64) -> Result<Duration, DurationError> {
    if milliseconds < 0.0 {
        return Err(DurationError::Negative(milliseconds.to_string()));
    }
    from_seconds(milliseconds / 1e3, &milliseconds.to_string())
}

fn from_seconds(seconds: f64, text: &str) -> Result<Duration, DurationError> {
    if !(0.0..=LONGEST_S).contains(&seconds) {
        return Err(DurationError::TooLong(text.to_owned()));
    }
    Ok(Duration::from_nanos((seconds * 1e9).round() as u64))
}

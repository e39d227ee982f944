//! Durations as k6 writes them: `20ms`, `1.5s`, `1m30s`. Must never guess a missing unit.

use std::time::Duration;

/// Reads a duration; the only number that needs no unit is `0`.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(lab::duration::parse("1m30s"), Ok(Duration::from_secs(90)));
/// assert!(lab::duration::parse("20").is_err());
/// ```
pub fn parse(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = part(rest).ok_or_else(|| explain(text))?;
        total = total.checked_add(part).ok_or_else(|| explain(text))?;
        rest = after;
    }
    if text.is_empty() { Err(explain(text)) } else { Ok(total) }
}

/// Writes a duration back in the largest unit that needs no rounding.
pub fn show(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        format!("{}s", duration.as_secs())
    } else if duration.subsec_nanos().is_multiple_of(1_000_000) {
        format!("{}ms", duration.as_millis())
    } else {
        format!("{}us", duration.as_micros())
    }
}

fn part(text: &str) -> Option<(Duration, &str)> {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..number_end].parse().ok()?;
    let after_number = &text[number_end..];
    let unit_end = after_number.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after_number.len());
    let seconds_per_unit = match &after_number[..unit_end] {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    // Rounded to the nanosecond, since 0.1 and its like have no exact binary form.
    let nanos = (number * seconds_per_unit * 1e9).round();
    (nanos < 1e18).then(|| (Duration::from_nanos(nanos as u64), &after_number[unit_end..]))
}

fn explain(text: &str) -> String {
    format!("'{text}' is not a duration; write a number and a unit, such as 20ms, 1.5s or 1m30s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for (text, micros) in [("0", 0), ("700us", 700), ("20ms", 20_000), ("1.5s", 1_500_000), ("1m30s", 90_000_000)] {
            assert_eq!(parse(text), Ok(Duration::from_micros(micros)), "{text}");
        }
        assert_eq!(["20ms", "5s", "90s", "700us"].map(|t| show(parse(t).unwrap())), ["20ms", "5s", "90s", "700us"]);
    }

    #[test]
    fn what_is_no_duration_is_refused_with_an_example() {
        for text in ["", "20", "ms", "5 s", "-1s", "1d", "1..5s", "99999999999h", "1s2"] {
            let message = parse(text).expect_err(text);
            assert!(message.contains("such as 20ms"), "{message}");
        }
    }
}

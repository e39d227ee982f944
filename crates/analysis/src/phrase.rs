//! Numbers as words inside sentences. A sentence is part of a finding, so it is written here; tables and screens are
//! the view's.

/// A count with thousands parted: `14,900`.
pub(crate) fn count(value: f64) -> String {
    if !value.is_finite() {
        return "an unknown number".to_owned();
    }
    let digits = format!("{}", value.round().max(0.0) as u64);
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with about two significant digits, whole from ten on.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 10.0 || size == 0.0 {
        count(size)
    } else if size >= 1.0 {
        format!("{size:.1}")
    } else if size >= 0.1 {
        format!("{size:.2}")
    } else if size >= 0.01 {
        format!("{size:.3}")
    } else {
        let text = format!("{size:.4}");
        text.trim_end_matches('0').to_owned()
    }
}

/// Milliseconds: `191 ms`.
pub(crate) fn ms(value: f64) -> String {
    format!("{} ms", number(value))
}

/// Seconds as milliseconds.
pub(crate) fn seconds(value: f64) -> String {
    ms(value * 1e3)
}

/// Requests per second: `243/s`.
pub(crate) fn rate(value: f64) -> String {
    format!("{}/s", number(value))
}

/// Cores in use: `1.9`, `0.06`.
pub(crate) fn cores(value: f64) -> String {
    if value >= 1.0 { format!("{value:.1}") } else { format!("{value:.2}") }
}

/// A share of 1 as percent: `65 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 1.0 || percent <= 0.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// Bytes: `4.6 MB`.
pub(crate) fn bytes(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.1} GB", v / 1e9),
        v if v >= 1e6 => format!("{:.1} MB", v / 1e6),
        v if v >= 1e3 => format!("{:.1} kB", v / 1e3),
        v => format!("{v:.0} B"),
    }
}

/// Users: `1 user`, `5,000 users`.
pub(crate) fn users(value: u64) -> String {
    if value == 1 { "1 user".to_owned() } else { format!("{} users", count(value as f64)) }
}

/// Parts of a sentence joined: `a`, `a and b`, `a, b and c`.
pub(crate) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(14_900.4), "14,900");
        assert_eq!(
            (ms(191.3), ms(20.6), ms(1.94), ms(0.005)),
            ("191 ms".into(), "21 ms".into(), "1.9 ms".into(), "0.005 ms".into())
        );
        assert_eq!((percent(0.04), percent(0.004), percent(0.0)), ("4 %".into(), "0.4 %".into(), "0 %".into()));
        assert_eq!((bytes(4.56e6), users(1), users(5000)), ("4.6 MB".into(), "1 user".into(), "5,000 users".into()));
        assert_eq!(rate(f64::INFINITY), "an unknown number/s");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}

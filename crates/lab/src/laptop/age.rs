//! Calendar age. Must never read the clock: the day is a parameter.
//!
//! A person is one year older from the day whose month and day equal the birthdate's. In a common year, somebody born
//! on 29 February is one year older from **1 March**: on 28 February the full year has not passed yet. (This is also
//! the rule of law in, for example, the United Kingdom and Germany.)

use jiff::civil::Date;
use thiserror::Error;

/// Why a text gives no age.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AgeError {
    /// Not of the form YYYY-MM-DD.
    #[error("birthdate '{0}' is not of the form YYYY-MM-DD")]
    Form(String),
    /// A day that the calendar does not have.
    #[error("birthdate '{0}' is not a day of the calendar")]
    NoSuchDay(String),
    /// Later than today.
    #[error("birthdate '{0}' is in the future")]
    Future(String),
}

/// Full years from the birthdate to today.
pub fn age_years(birthdate: &str, today: Date) -> Result<i16, AgeError> {
    let (year, month, day) = parts(birthdate).ok_or_else(|| AgeError::Form(excerpt(birthdate)))?;
    let born = Date::new(year, month, day).map_err(|_| AgeError::NoSuchDay(birthdate.to_owned()))?;
    if born > today {
        return Err(AgeError::Future(birthdate.to_owned()));
    }
    let had_birthday = (today.month(), today.day()) >= (born.month(), born.day());
    Ok(today.year() - born.year() - i16::from(!had_birthday))
}

fn parts(text: &str) -> Option<(i16, i8, i8)> {
    let bytes = text.as_bytes();
    let digits = |(at, byte): (usize, &u8)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
    if bytes.len() != 10 || !bytes.iter().enumerate().all(digits) {
        return None;
    }
    Some((text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?))
}

/// Enough of what was sent to recognise it, never all of it.
fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(birthdate: &str, today: &str, expected: impl Into<Result<i16, AgeError>>) {
        assert_eq!(age_years(birthdate, today.parse().unwrap()), expected.into(), "{birthdate} on {today}");
    }

    #[test]
    fn ages_change_on_the_birthday() {
        check("1990-06-15", "2026-06-14", Ok(35));
        check("1990-06-15", "2026-06-15", Ok(36));
        check("1990-06-15", "2026-06-16", Ok(36));
        check("1990-12-31", "2026-01-01", Ok(35));
        check("2026-11-30", "2026-11-30", Ok(0));
        check("1900-01-01", "2026-11-30", Ok(126));
        check("0001-01-01", "2026-11-30", Ok(2025));
    }

    #[test]
    fn leaplings_are_older_from_the_first_of_march_in_common_years() {
        check("2000-02-29", "2023-02-28", Ok(22));
        check("2000-02-29", "2023-03-01", Ok(23));
        check("2000-02-29", "2024-02-28", Ok(23));
        check("2000-02-29", "2024-02-29", Ok(24));
        check("2000-02-29", "2000-02-29", Ok(0));
        check("1896-02-29", "1900-02-28", Ok(3));
        check("1896-02-29", "1900-03-01", Ok(4));
        check("2000-02-28", "2023-02-28", Ok(23));
        check("2000-03-01", "2024-02-29", Ok(23));
    }

    #[test]
    fn what_is_no_birthdate_is_refused_with_the_reason() {
        for text in ["", "1990-6-15", "1990/06/15", "19900615", "1990-06-15T00", "+990-06-15", "199é-06-1", "age"] {
            check(text, "2026-11-30", Err(AgeError::Form(text.to_owned())));
        }
        for text in ["2023-02-29", "1900-02-29", "2023-13-01", "2023-00-10", "2023-04-31", "2023-01-00"] {
            check(text, "2026-11-30", Err(AgeError::NoSuchDay(text.to_owned())));
        }
        for text in ["2026-12-01", "9999-12-31"] {
            check(text, "2026-11-30", Err(AgeError::Future(text.to_owned())));
        }
        check("2000-02-29", "1999-12-31", Err(AgeError::Future("2000-02-29".to_owned())));
    }
}

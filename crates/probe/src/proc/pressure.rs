//! Pressure stall information (`/proc/pressure/*`). Never reads the files itself.

use super::{lines, number, words};

/// Seconds in which at least one task was held up, from the `some` line.
pub(crate) fn some_s(bytes: &[u8]) -> Option<f64> {
    let line = lines(bytes).find_map(|line| line.strip_prefix(b"some "))?;
    let total = words(line).find_map(|word| word.strip_prefix(b"total="))?;
    number::<u64>(total).map(|microseconds| microseconds as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_some_line_counts() {
        let text =
            b"full avg10=0.00 avg60=0.00 avg300=0.00 total=5\nsome avg10=0.00 avg60=0.29 avg300=0.62 total=17685914\n";
        assert_eq!(some_s(text), Some(17.685_914));
    }
}

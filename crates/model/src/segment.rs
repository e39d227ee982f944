//! A part of a test that is spread over several machines: which users and iterations are this machine's. Every machine
//! computes the same, so that the parts of one sequence add up to exactly the whole without a word between them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Whole numbers that a cycle may be long.
const CYCLE_MAX: u64 = 100_000;

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Fraction {
    over: u64,
    under: u64,
}

impl Fraction {
    fn is_below(self, other: Self) -> bool {
        u128::from(self.over) * u128::from(other.under) < u128::from(other.over) * u128::from(self.under)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.under == 1 { write!(f, "{}", self.over) } else { write!(f, "{}/{}", self.over, self.under) }
    }
}

impl FromStr for Fraction {
    type Err = SegmentError;

    /// Reads `1/3`, `0.25` and `50%`.
    fn from_str(text: &str) -> Result<Self, SegmentError> {
        let wrong = || SegmentError::Fraction(text.to_owned());
        let trimmed = text.trim();
        let digits = |text: &str| text.parse::<u32>().map(u64::from).map_err(|_| wrong());
        let (over, under) = if let Some((over, under)) = trimmed.split_once('/') {
            (digits(over)?, digits(under)?)
        } else {
            let (number, percent) = trimmed.strip_suffix('%').map_or((trimmed, 1), |number| (number, 100));
            let (whole, part) = number.split_once('.').unwrap_or((number, ""));
            if part.len() > 6 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong());
            }
            let scale = 10_u64.pow(u32::try_from(part.len()).expect("at most six"));
            (digits(whole)? * scale + if part.is_empty() { 0 } else { digits(part)? }, scale * percent)
        };
        if under == 0 || over > under {
            return Err(wrong());
        }
        let common = common_divisor(over, under);
        Ok(Self { over: over / common, under: under / common })
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Why a text is no segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// A bound that is none.
    #[error("`{0}` is no part of a whole: write for example 1/3, 0.25 or 50%")]
    Fraction(String),
    /// No segment.
    #[error("`{0}` is no segment: write for example 0:1/3, where the first bound lies before the second")]
    Segment(String),
    /// No sequence.
    #[error("`{0}` is no sequence of rising bounds from 0 to 1: write for example 0,1/3,2/3,1")]
    Sequence(String),
    /// Not part of the sequence.
    #[error("the segment {segment} is not part of the sequence {sequence}")]
    Missing {
        /// The segment.
        segment: String,
        /// The sequence.
        sequence: String,
    },
    /// Denominators that have nothing in common.
    #[error("the bounds of the sequence {0} are too fine: they need a cycle of more than {CYCLE_MAX} parts")]
    Fine(String),
}

/// This machine's part: every cycle of so many items is dealt out in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    cycle: u64,
    /// Which items of a cycle are this machine's, rising.
    own: Vec<u64>,
}

/// Everything.
impl Default for Segment {
    fn default() -> Self {
        Self { cycle: 1, own: vec![0] }
    }
}

impl Segment {
    /// Reads k6's `executionSegment` and `executionSegmentSequence`. Without a sequence the rest of the whole is what
    /// lies before and behind the segment.
    ///
    /// # Errors
    /// If one of them is malformed, or the segment is no part of the sequence.
    pub fn parse(segment: Option<&str>, sequence: Option<&str>) -> Result<Self, SegmentError> {
        let (zero, one) = (Fraction { over: 0, under: 1 }, Fraction { over: 1, under: 1 });
        let (from, to) = match segment {
            None => (zero, one),
            Some(text) => {
                // As in k6, one bound alone is the end.
                let (from, to) = text.split_once(':').unwrap_or(("0", text));
                let (from, to): (Fraction, Fraction) = (from.parse()?, to.parse()?);
                if !from.is_below(to) {
                    return Err(SegmentError::Segment(text.to_owned()));
                }
                (from, to)
            }
        };
        let bounds = match sequence {
            Some(text) => {
                let bounds = text.split(',').map(str::parse).collect::<Result<Vec<Fraction>, _>>()?;
                let rises = bounds.windows(2).all(|pair| pair[0].is_below(pair[1]));
                if !rises || bounds.first() != Some(&zero) || bounds.last() != Some(&one) {
                    return Err(SegmentError::Sequence(text.to_owned()));
                }
                bounds
            }
            None => {
                let mut bounds = vec![zero, from, to, one];
                bounds.dedup();
                bounds
            }
        };
        let shown = || bounds.iter().map(Fraction::to_string).collect::<Vec<_>>().join(",");
        let mine = bounds.windows(2).position(|pair| pair == [from, to]);
        let mine = mine.ok_or_else(|| SegmentError::Missing { segment: format!("{from}:{to}"), sequence: shown() })?;
        let cycle = bounds.iter().try_fold(1_u64, |cycle, bound| {
            Some(cycle / common_divisor(cycle, bound.under) * bound.under).filter(|cycle| *cycle <= CYCLE_MAX)
        });
        let cycle = cycle.ok_or_else(|| SegmentError::Fine(shown()))?;
        let at = |bound: &Fraction| bound.over * (cycle / bound.under);
        let weights: Vec<u64> = bounds.windows(2).map(|pair| at(&pair[1]) - at(&pair[0])).collect();
        Ok(Self { cycle, own: dealt(cycle, &weights, mine) })
    }

    /// How many of the first `total` items are this machine's.
    pub fn count(&self, total: u64) -> u64 {
        let rest = total % self.cycle;
        total / self.cycle * self.own.len() as u64 + self.own.partition_point(|item| *item < rest) as u64
    }

    /// The number in the whole of this machine's item number `index`; both count from 0.
    pub fn item(&self, index: u64) -> u64 {
        let own = self.own.len() as u64;
        let place = usize::try_from(index % own).expect("below the length of a list");
        (index / own).saturating_mul(self.cycle).saturating_add(self.own[place])
    }
}

/// The items of a cycle that fall to part `mine`: each goes to the part that is furthest behind its share, the first
/// of several that are equally far.
fn dealt(cycle: u64, weights: &[u64], mine: usize) -> Vec<u64> {
    let mut given = vec![0_u64; weights.len()];
    let mut own = Vec::new();
    for item in 0..cycle {
        let behind = |part: usize| {
            i128::from(weights[part]) * i128::from(item + 1) - i128::from(given[part]) * i128::from(cycle)
        };
        let next = (0..weights.len()).max_by_key(|&part| (behind(part), std::cmp::Reverse(part)));
        let next = next.expect("a sequence has parts");
        given[next] += 1;
        if next == mine {
            own.push(item);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sequence: &str) -> Vec<Segment> {
        let bounds: Vec<&str> = sequence.split(',').collect();
        let part = |pair: &[&str]| Segment::parse(Some(&format!("{}:{}", pair[0], pair[1])), Some(sequence)).unwrap();
        bounds.windows(2).map(part).collect()
    }

    #[test]
    fn the_parts_of_a_sequence_make_up_the_whole() {
        for sequence in ["0,1/3,2/3,1", "0,1/2,1", "0,0.3,50%,1", "0,1/7,1/3,1/2,5/6,1", "0,1"] {
            let parts = parts(sequence);
            for total in [0, 1, 2, 3, 5, 7, 10, 41, 42, 43, 1000, 12_345] {
                assert_eq!(parts.iter().map(|part| part.count(total)).sum::<u64>(), total, "{sequence} of {total}");
            }
            let mut items: Vec<u64> =
                parts.iter().flat_map(|part| (0..part.count(420)).map(|index| part.item(index))).collect();
            items.sort_unstable();
            assert!(items.into_iter().eq(0..420), "{sequence}: every item belongs to one part");
        }
    }

    #[test]
    fn equal_parts_take_turns_as_in_k6() {
        let parts = parts("0,1/3,2/3,1");
        assert_eq!(parts.iter().map(|part| part.count(10)).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!((0..4).map(|index| parts[1].item(index)).collect::<Vec<_>>(), [1, 4, 7, 10]);
    }

    #[test]
    fn a_segment_alone_is_a_part_of_what_is_around_it() {
        let all = Segment::parse(None, None).unwrap();
        assert!(all == Segment::default() && all.count(7) == 7 && all.item(5) == 5);
        let middle = Segment::parse(Some("1/4:3/4"), None).unwrap();
        assert_eq!((middle.count(4), middle.count(100)), (2, 50));
        assert_eq!(Segment::parse(Some("1/2"), None), Segment::parse(Some("0:0.5"), None));
    }

    #[test]
    fn wrong_segments_are_named() {
        let check =
            |segment: Option<&str>, sequence: Option<&str>| Segment::parse(segment, sequence).unwrap_err().to_string();
        assert!(check(Some("2:1"), None).contains("`2` is no part of a whole"));
        assert!(check(Some("2/3:1/3"), None).contains("`2/3:1/3` is no segment"));
        assert!(check(Some("0:x"), None).contains("`x`"));
        assert!(check(Some("0:1/0"), None).contains("`1/0`"));
        assert_eq!(check(Some("0:1/2"), Some("0,1/4,1")), "the segment 0:1/2 is not part of the sequence 0,1/4,1");
        assert!(check(None, Some("0,1/2")).contains("rising bounds"));
        assert!(check(Some("0:1/99991"), Some("0,1/99991,1/2,1")).contains("too fine"));
    }
}

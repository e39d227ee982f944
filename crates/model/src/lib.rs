//! The nouns that all rooms share: plan, metric, window, series, run record, finding, verdict, and the record's
//! on-disk form. This room never reads a clock, opens a file, runs async code or formats anything for people.
#![deny(missing_docs)]

pub mod expression;
pub mod finding;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod histogram;
pub mod lab;
pub mod metric;
pub mod network;
pub mod plan;
pub mod record;
pub mod sample;
pub mod segment;
pub mod series;
pub mod signal;
pub mod summary;
pub mod unit;
pub mod verdict;
pub mod window;

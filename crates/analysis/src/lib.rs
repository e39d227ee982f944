//! Run record in; findings, capacity, bottleneck and levers out. Pure functions: this room does no I/O, reads no clock,
//! starts no thread and draws no unseeded random number. It never fails: "not enough data" is an answer.
#![deny(missing_docs)]

pub mod diagnose;
pub mod search;
pub mod stats;
pub mod step;
pub mod threshold;

mod budget;
mod case;
mod conclude;
mod lever;
mod link;
mod owner;
mod phrase;
mod queue;
mod read;
mod rule;
mod scene;
#[cfg(test)]
mod sketch;
mod station;

pub use conclude::verdict;

//! Single samples of a run go to files and to other programs, in the formats that k6 writes. Each output lives on a
//! thread of its own behind a queue that can fill: a slow disk or a dead server costs samples, which are counted and
//! reported, and never slows the load. This room knows no engine, judges nothing, and connects to nothing but the
//! addresses that the user named.

mod address;
mod courier;
mod csv;
mod file;
mod influxdb;
mod json;
mod opentelemetry;
mod output;
mod prometheus;
mod run;
mod series;
mod sketch;
mod spell;
#[cfg(test)]
mod tests;
mod wish;

pub use run::{OpenError, Outputs, Report, Setting, start};
pub use wish::{Wish, parse};

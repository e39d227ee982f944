//! Shows a verdict, a lab report, a run's summary or a live run, as text and as JSON. Every function returns the text;
//! the caller writes it. This room computes nothing but formatting: each number on screen stands in what it was given.
//! It never prints, never judges and never sees `analysis`.
#![deny(missing_docs)]

pub mod json;
mod layout;
pub mod live;
pub mod log;
mod number;
mod stat;
mod style;
pub mod text;

pub use style::Style;

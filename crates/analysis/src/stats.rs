//! Statistics without domain words: batch means, trends, bounds of shares, seeded randomness. Pure functions of their
//! arguments; nothing here knows what a request or a user is.

pub mod batch;
pub mod random;
pub mod share;
pub mod trend;

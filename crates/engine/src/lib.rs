//! Offers the planned load and measures each request honestly, including what it failed to offer. This room knows
//! neither JavaScript nor databases, never judges and never prints.

pub mod meter;
pub mod user;

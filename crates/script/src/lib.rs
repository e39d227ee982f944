//! A k6 script becomes a plan and virtual users that the engine can drive. This room opens no sockets and schedules
//! nothing.

pub mod link;
pub mod options;

//! The command line as a user types it, the documents as a reader follows them, and the rules of the house.
#![expect(clippy::unwrap_used, reason = "tests and their helpers fail by panicking")]

mod check;
mod cut_off;
mod differential;
mod documents;
mod faults;
mod grpc;
mod machine;
mod mistakes;
mod outputs;
mod prepare;
mod run;
mod service;
mod signals;
mod standard;
mod summary;
mod tidy;

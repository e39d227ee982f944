//! The probes on this machine: real processes, real sockets, a real PostgreSQL. Nothing here asserts how long something
//! takes; conditions are awaited with a deadline.

mod cluster;
mod discovery;
mod link;
mod postgres;
mod service;
mod sockets;
mod watched;

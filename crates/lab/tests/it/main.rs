//! The lab as its users have it: the real binary, a real PostgreSQL, real signals. One module per subject; what they
//! share is in `lab.rs`. No test may use a server, a folder or a namespace that its own lab did not make.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod lab;

mod answers;
mod bench;
mod endings;
mod httpbin;
mod link;
mod pool;
mod relay;

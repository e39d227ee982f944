//! Scripts as users of the engine room: driven by hand, with canned answers; in `live` by the engine itself.

mod driver;
mod event_loop;
mod http;
mod iterations;
mod live;
mod loading;
mod modules;
mod sockets;

//! Scripts as users of the engine room: driven by hand, with canned answers; in `live` by the engine itself.

mod crypto;
mod driver;
mod event_loop;
mod execution;
mod files;
mod http;
mod iterations;
mod jslib;
mod linking;
mod live;
mod loading;
mod memory;
mod modules;
mod sockets;
mod web;

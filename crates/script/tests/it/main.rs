//! Scripts as users of the engine room: driven by hand, with canned answers.

mod driver;
mod http;
mod iterations;
mod jslib;
mod linking;
mod loading;
mod modules;

//! Scripts as users of the engine room: driven by hand, with canned answers.

mod crypto;
mod driver;
mod execution;
mod files;
mod http;
mod iterations;
mod loading;
mod modules;
mod web;

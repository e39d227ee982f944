//! What is read once a second, or more often and averaged: one file per collector. A collector is told the moment and
//! writes readings on a sheet; it never reads a clock and never judges. Postgres and `/metrics` have rooms of their own.

pub(crate) mod clients;
pub(crate) mod connections;
pub(crate) mod generator;
pub(crate) mod group;
pub(crate) mod host;
pub(crate) mod listener;
pub(crate) mod namespace;
pub(crate) mod stores;

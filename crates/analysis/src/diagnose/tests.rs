//! Records built by hand, diagnosed.

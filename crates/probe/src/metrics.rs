//! A service's own `/metrics`: fetched once a second, read tolerantly, and searched for its connection pool.

pub(crate) mod pool;
pub(crate) mod scrape;
pub(crate) mod text;

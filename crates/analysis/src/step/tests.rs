//! Steps built by hand, judged.

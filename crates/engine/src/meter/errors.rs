//! Failed requests by cause, with one example each. Never keeps what could be a secret.

use model::summary::{ERROR_CAUSES_MAX, RequestErrors, RequestExample};
use model::window::OTHER;

use super::Meter;

impl Meter {
    /// A request failed for this cause; `example` is asked for if it is the first one.
    pub(crate) fn request_failed(&self, cause: String, example: impl FnOnce() -> RequestExample) {
        let inner = &mut *self.inner.borrow_mut();
        let known = inner.errors.contains_key(&cause);
        let key = if known || inner.errors.len() < ERROR_CAUSES_MAX { cause.clone() } else { OTHER.to_owned() };
        let errors = inner.errors.entry(key);
        errors.or_insert_with(|| RequestErrors { count: 0, example: example() }).count += 1;
        *inner.window.errors.entry(cause).or_default() += 1;
    }

    /// A request was sent again, since the service had closed the idle connection that it went out on.
    pub(crate) fn sent_again(&self) {
        self.inner.borrow_mut().sent_again += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::plan::Plan;

    use super::*;

    #[test]
    fn causes_are_counted_with_their_first_example_and_are_bounded() {
        let meter = Meter::new(Arc::new(Plan::default()));
        let example = |url: &str| RequestExample { url: url.to_owned(), ..RequestExample::default() };
        meter.request_failed("1000 EOF".to_owned(), || example("first"));
        meter.request_failed("1000 EOF".to_owned(), || panic!("there is one"));
        for cause in 0..2 * ERROR_CAUSES_MAX {
            meter.request_failed(format!("1000 {cause}"), || example("other"));
        }
        let errors = meter.summary().errors;
        assert_eq!((errors["1000 EOF"].count, errors["1000 EOF"].example.url.as_str()), (2, "first"));
        assert_eq!((errors.len(), errors[OTHER].count), (ERROR_CAUSES_MAX + 1, ERROR_CAUSES_MAX as u64 + 1));
    }
}

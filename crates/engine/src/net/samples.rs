//! Turns requests that ended into samples: the tags of k6, interned once per combination.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use foldhash::fast::FixedState;
use http::Method;
use model::summary::RequestExample;
use url::Url;

use super::connection::Head;
use super::names;
use crate::meter::{Endpoint, Finished, Meter, TagSet};
use crate::user::{Failure, Timings};

/// How one hop of a request ended.
pub(crate) struct Hop<'a> {
    pub(crate) base: TagSet,
    pub(crate) endpoint: Endpoint,
    pub(crate) method: &'a Method,
    pub(crate) url: &'a Url,
    pub(crate) answered: Option<&'a Head>,
    /// 0 if there was no answer.
    pub(crate) status: u16,
    pub(crate) proto: &'static str,
    pub(crate) tls_version: Option<&'static str>,
    pub(crate) failure: Option<&'a Failure>,
    /// Whether the status was expected; `None` if nobody asks.
    pub(crate) expected: Option<bool>,
    pub(crate) timings: Timings,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    base: TagSet,
    endpoint: Endpoint,
    method: Method,
    status: u16,
    proto: &'static str,
    tls_version: Option<&'static str>,
    failure: Option<(u32, Rc<str>)>,
    expected: Option<bool>,
}

/// The tag sets of one worker's requests.
#[derive(Default)]
pub(crate) struct Samples {
    known: RefCell<HashMap<Key, TagSet, FixedState>>,
    texts: RefCell<Vec<Rc<str>>>,
}

impl Samples {
    /// How many error texts are told apart; what comes later loses its text, since some texts name ports or times.
    const TEXTS_MAX: usize = 200;
    const KNOWN_MAX: usize = crate::meter::TAG_SETS_MAX;

    /// Adds all samples of a hop to the meter and the window.
    pub(crate) fn add(&self, meter: &Meter, hop: &Hop<'_>) {
        let tags = self.tags(meter, hop);
        let answered = hop.status != 0 && hop.expected != Some(false);
        meter.request_ended(&Finished {
            tags,
            endpoint: hop.endpoint,
            timings: hop.timings,
            failed: hop.expected.map(|expected| !expected),
            answered,
            status: hop.status,
        });
        if !answered {
            let cause = match hop.failure {
                Some(failure) if hop.status == 0 => format!("{} {}", failure.code, self.text(&failure.text)),
                _ => format!("status {}", hop.status),
            };
            meter.request_failed(cause, || RequestExample {
                method: hop.method.to_string(),
                url: names::masked(hop.url),
                status: hop.status,
                headers: hop.answered.map_or(0, |head| u32::try_from(head.headers.len()).unwrap_or(u32::MAX)),
            });
        }
    }

    fn text(&self, text: &str) -> Rc<str> {
        let mut texts = self.texts.borrow_mut();
        if let Some(known) = texts.iter().find(|known| ***known == *text) {
            return known.clone();
        }
        if texts.len() >= Self::TEXTS_MAX {
            return Rc::from("other");
        }
        texts.push(Rc::from(text));
        texts[texts.len() - 1].clone()
    }

    fn tags(&self, meter: &Meter, hop: &Hop<'_>) -> TagSet {
        let key = Key {
            base: hop.base,
            endpoint: hop.endpoint,
            method: hop.method.clone(),
            status: hop.status,
            proto: hop.proto,
            tls_version: hop.tls_version,
            failure: hop.failure.map(|failure| (failure.code, self.text(&failure.text))),
            expected: hop.expected,
        };
        let mut known = self.known.borrow_mut();
        if known.len() >= Self::KNOWN_MAX {
            known.clear();
        }
        match known.entry(key) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let tags = make(meter, entry.key());
                *entry.insert(tags)
            }
        }
    }
}

fn make(meter: &Meter, key: &Key) -> TagSet {
    let name = meter.endpoint_name(key.endpoint);
    let status = key.status.to_string();
    let (code, text) = match &key.failure {
        Some((code, text)) => (code.to_string(), text.clone()),
        None => (String::new(), Rc::from("")),
    };
    let expected = match key.expected {
        Some(true) => "true",
        Some(false) => "false",
        None => "",
    };
    meter.tags(
        key.base,
        &[
            ("method", key.method.as_str()),
            ("status", &status),
            ("url", &name),
            ("name", &name),
            ("proto", key.proto),
            ("tls_version", key.tls_version.unwrap_or_default()),
            ("error", &text),
            ("error_code", &code),
            ("expected_response", expected),
        ],
    )
}

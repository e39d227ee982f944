//! The headers of an answer, taken apart when somebody looks at them: most scripts look at the status alone.

use std::cell::OnceCell;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

/// Headers that an answer may have.
pub(crate) const HEADERS_MAX: usize = 256;

/// Headers of an answer: a [`HeaderMap`], made at the first look.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    raw: Bytes,
    map: OnceCell<HeaderMap>,
}

impl Headers {
    /// Those in the head of an HTTP/1 answer, status line included.
    pub(crate) fn in_head(raw: Bytes) -> Self {
        Self { raw, map: OnceCell::new() }
    }

    fn parsed(&self) -> HeaderMap {
        let mut room = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut head = httparse::Response::new(&mut []);
        let parsed =
            httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut head, &self.raw, &mut room);
        if parsed.is_err() {
            return HeaderMap::new();
        }
        let mut map = HeaderMap::with_capacity(head.headers.len());
        for header in head.headers.iter() {
            let value = HeaderValue::from_maybe_shared(self.raw.slice_ref(header.value));
            if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(header.name.as_bytes()), value) {
                map.append(name, value);
            }
        }
        map
    }
}

impl Deref for Headers {
    type Target = HeaderMap;

    fn deref(&self) -> &HeaderMap {
        self.map.get_or_init(|| self.parsed())
    }
}

impl DerefMut for Headers {
    fn deref_mut(&mut self) -> &mut HeaderMap {
        // Looking at it makes it.
        let _: &HeaderMap = self;
        self.map.get_mut().expect("the map was made a line above")
    }
}

impl From<HeaderMap> for Headers {
    fn from(map: HeaderMap) -> Self {
        Self { raw: Bytes::new(), map: OnceCell::from(map) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_taken_apart_at_the_first_look() {
        let headers = Headers::in_head(Bytes::from_static(b"HTTP/1.1 200 OK\r\nA: 1\r\nb:  2 \r\na: 3\r\n\r\n"));
        assert_eq!(headers.get_all("a").iter().collect::<Vec<_>>(), ["1", "3"]);
        assert_eq!((headers.len(), headers["b"].as_bytes()), (3, &b"2"[..]));
        let mut headers = headers;
        headers.insert("c", HeaderValue::from_static("4"));
        assert_eq!(headers.len(), 4);
        assert!(Headers::default().is_empty() && Headers::from(HeaderMap::new()).is_empty());
    }
}

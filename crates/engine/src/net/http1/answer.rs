//! An HTTP/1 answer, fed with what was read, piece by piece. A piece is looked at where it lies; only what is left
//! unfinished is copied. Everything that a service decides the size of has a bound.

use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;

use bytes::Bytes;
use http::StatusCode;

use super::HEAD_BYTES_MAX;
use super::chunks::Chunks;
use crate::headers::{HEADERS_MAX, Headers};

/// Why an exchange failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Nothing could be read.
    Read(io::Error),
    /// Nothing could be written, and there was nothing to read.
    Write(io::Error),
    /// The connection ended too early.
    Ended,
    /// What came is no answer: a sentence.
    Malformed(String),
    /// The bodies that are kept have become too large: how many bytes they may have.
    TooLarge(u64),
}

/// The head of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    /// `HTTP/1.1` and the like.
    pub(crate) proto: &'static str,
    pub(crate) headers: Headers,
    /// Whether it has `Set-Cookie`.
    pub(crate) sets_cookies: bool,
    /// Whether it has `Content-Encoding`.
    pub(crate) packed: bool,
}

/// Counts the bytes of bodies that are being received to be kept.
#[derive(Debug)]
pub(crate) struct Held {
    bytes: Cell<u64>,
    max: u64,
}

impl Held {
    pub(crate) fn new(max: u64) -> Self {
        Self { bytes: Cell::new(0), max }
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.get()
    }
}

/// A body that is kept, or not.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    held: &'a Held,
    wanted: bool,
    bytes: Vec<u8>,
}

impl<'a> Kept<'a> {
    /// What is made room for without having come.
    const TRUSTED_BYTES: u64 = 1024 * 1024;

    pub(crate) fn new(wanted: bool, held: &'a Held) -> Self {
        Self { held, wanted, bytes: Vec::new() }
    }

    /// So many bytes are said to come.
    fn expect(&mut self, length: u64) {
        if self.wanted {
            self.bytes.reserve_exact(usize::try_from(length.min(Self::TRUSTED_BYTES)).unwrap_or_default());
        }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if !self.wanted {
            return Ok(());
        }
        let all = self.held.bytes.get() + bytes.len() as u64;
        if all > self.held.max {
            return Err(Fault::TooLarge(self.held.max));
        }
        self.held.bytes.set(all);
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn take(&mut self) -> Option<Bytes> {
        self.held.bytes.set(self.held.bytes.get() - self.bytes.len() as u64);
        let bytes = std::mem::take(&mut self.bytes);
        self.wanted.then(|| bytes.into())
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.take();
    }
}

/// What an answer is to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wants {
    /// Whether the request was a HEAD.
    pub(crate) head_only: bool,
    /// Whether its body is to be kept.
    pub(crate) body: bool,
}

#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunks),
    UntilEnd,
    Over,
}

/// What came of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// There is more to come.
    More,
    /// The answer is complete after so many bytes of the piece.
    Over(usize),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    wants: Wants,
    state: State,
    head: Option<Head>,
    /// A head that has not come to its end.
    partial: Vec<u8>,
    head_bytes: usize,
    kept: Kept<'a>,
    keeps: bool,
    continued: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(wants: Wants, held: &'a Held) -> Self {
        Self {
            wants,
            state: State::Head,
            head: None,
            partial: Vec::new(),
            head_bytes: 0,
            kept: Kept::new(wants.body, held),
            keeps: false,
            continued: false,
        }
    }

    /// Takes a piece.
    pub(crate) fn feed(&mut self, input: &[u8]) -> Result<Fed, Fault> {
        let mut used = 0;
        while matches!(self.state, State::Head) {
            if used == input.len() {
                return Ok(Fed::More);
            }
            match self.feed_head(&input[used..])? {
                Some(count) => used += count,
                None => return Ok(Fed::More),
            }
        }
        self.feed_body(&input[used..]).map(|fed| match fed {
            Fed::Over(count) => Fed::Over(used + count),
            Fed::More => Fed::More,
        })
    }

    /// The connection ended.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        match self.state {
            State::UntilEnd | State::Over => Ok(()),
            State::Head | State::Length(_) | State::Chunked(_) => Err(Fault::Ended),
        }
    }

    /// Whether the service asked for the body of the request (100) since the last look.
    pub(crate) fn take_continued(&mut self) -> bool {
        std::mem::take(&mut self.continued)
    }

    /// Whether the service keeps the connection open behind this answer.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// The answer, once it is complete.
    pub(crate) fn finish(mut self) -> (Head, Option<Bytes>) {
        let body = self.kept.take();
        (self.head.take().expect("an answer that is complete has a head"), body)
    }

    /// Looks for the end of a head; returns how many bytes of `input` belong to it.
    fn feed_head(&mut self, input: &[u8]) -> Result<Option<usize>, Fault> {
        if self.partial.is_empty() {
            let length = self.parse(input)?;
            match length {
                Some(length) => return Ok(Some(length)),
                None => self.partial.extend_from_slice(input),
            }
        } else {
            let before = self.partial.len();
            self.partial.extend_from_slice(input);
            // A head is looked at again only when a line has come to its end, or dripping it would be expensive.
            if input.contains(&b'\n') {
                let partial = std::mem::take(&mut self.partial);
                let length = self.parse(&partial)?;
                match length {
                    Some(length) => return Ok(Some(length - before)),
                    None => self.partial = partial,
                }
            }
        }
        if self.head_bytes + self.partial.len() > HEAD_BYTES_MAX { Err(too_large()) } else { Ok(None) }
    }

    fn parse(&mut self, input: &[u8]) -> Result<Option<usize>, Fault> {
        let mut room = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut head = httparse::Response::new(&mut []);
        let parser = httparse::ParserConfig::default();
        let length = match parser.parse_response_with_uninit_headers(&mut head, input, &mut room) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(parse_fault(error)),
        };
        self.head_bytes += length;
        if self.head_bytes > HEAD_BYTES_MAX {
            return Err(too_large());
        }
        let code = head.code.unwrap_or_default();
        let status = StatusCode::from_u16(code).map_err(|_| parse_fault(httparse::Error::Status))?;
        if status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS {
            self.continued |= status == StatusCode::CONTINUE;
            return Ok(Some(length));
        }
        let about = About::read(head.headers, head.version == Some(0))?;
        self.begin_body(status, &about);
        self.head = Some(Head {
            status,
            proto: if head.version == Some(0) { "HTTP/1.0" } else { "HTTP/1.1" },
            headers: Headers::in_head(Bytes::copy_from_slice(&input[..length])),
            sets_cookies: about.sets_cookies,
            packed: about.packed,
        });
        Ok(Some(length))
    }

    /// RFC 9112, section 6.3.
    fn begin_body(&mut self, status: StatusCode, about: &About) {
        let bare = matches!(status.as_u16(), 101 | 204 | 304) || self.wants.head_only;
        // Of length and chunks the latter count, and the connection is not trusted any further.
        self.keeps =
            about.keeps && status != StatusCode::SWITCHING_PROTOCOLS && !(about.chunked && about.length.is_some());
        self.state = match about.length {
            _ if bare => State::Over,
            _ if about.chunked => State::Chunked(Chunks::new()),
            Some(0) => State::Over,
            Some(length) => {
                self.kept.expect(length);
                State::Length(length)
            }
            None => {
                self.keeps = false;
                State::UntilEnd
            }
        };
    }

    fn feed_body(&mut self, input: &[u8]) -> Result<Fed, Fault> {
        match &mut self.state {
            State::Head => Ok(Fed::More),
            State::Over => Ok(Fed::Over(0)),
            State::UntilEnd => self.kept.add(input).map(|()| Fed::More),
            State::Length(left) => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                self.kept.add(&input[..count])?;
                *left -= count as u64;
                if *left > 0 {
                    return Ok(Fed::More);
                }
                self.state = State::Over;
                Ok(Fed::Over(count))
            }
            State::Chunked(chunks) => {
                let (used, over) = chunks.feed(input, |bytes| self.kept.add(bytes))?;
                if !over {
                    return Ok(Fed::More);
                }
                self.state = State::Over;
                Ok(Fed::Over(used))
            }
        }
    }
}

/// What the headers say about the answer itself.
#[derive(Debug, Default)]
struct About {
    length: Option<u64>,
    chunked: bool,
    keeps: bool,
    sets_cookies: bool,
    packed: bool,
}

impl About {
    fn read(headers: &[httparse::Header<'_>], old: bool) -> Result<Self, Fault> {
        let mut about = Self { keeps: !old, ..Self::default() };
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            match header.name.len() {
                10 if is("connection") => about.connection(header.value, old),
                10 if is("set-cookie") => about.sets_cookies = true,
                14 if is("content-length") => about.content_length(header.value)?,
                16 if is("content-encoding") => about.packed = true,
                17 if is("transfer-encoding") => about.transfer_encoding(header.value)?,
                _ => {}
            }
        }
        Ok(about)
    }

    fn connection(&mut self, value: &[u8], old: bool) {
        for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            if word.eq_ignore_ascii_case(b"close") {
                self.keeps = false;
            } else if old && word.eq_ignore_ascii_case(b"keep-alive") {
                self.keeps = true;
            }
        }
    }

    /// The same length may be said several times, in several headers or in one.
    fn content_length(&mut self, value: &[u8]) -> Result<(), Fault> {
        let invalid = || malformed("invalid content-length parsed");
        for number in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
                return Err(invalid());
            }
            let number = number.iter().try_fold(0u64, |sum, digit| {
                sum.checked_mul(10).and_then(|sum| sum.checked_add(u64::from(digit - b'0')))
            });
            let number = number.ok_or_else(invalid)?;
            if self.length.is_some_and(|known| known != number) {
                return Err(invalid());
            }
            self.length = Some(number);
        }
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Fault> {
        if self.chunked || !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
            let value = String::from_utf8_lossy(value);
            return Err(malformed(&format!("unsupported transfer encoding \"{value}\"")));
        }
        self.chunked = true;
        Ok(())
    }
}

fn malformed(what: &str) -> Fault {
    Fault::Malformed(format!("malformed HTTP response: {what}"))
}

fn too_large() -> Fault {
    let kilobytes = HEAD_BYTES_MAX / 1024;
    malformed(&format!("its head has more than {HEADERS_MAX} headers or {kilobytes} kB"))
}

fn parse_fault(error: httparse::Error) -> Fault {
    use httparse::Error;
    match error {
        Error::TooManyHeaders => too_large(),
        Error::Version => malformed("invalid HTTP version parsed"),
        Error::Status => malformed("invalid HTTP status-code parsed"),
        Error::HeaderName | Error::HeaderValue | Error::NewLine | Error::Token => {
            malformed("invalid HTTP header parsed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Wants = Wants { head_only: false, body: true };

    /// Status, body, bytes used and whether the connection is kept, fed in pieces of `length`.
    fn read(text: &[u8], length: usize, wants: Wants) -> Result<(u16, Vec<u8>, Option<usize>, bool), String> {
        let held = Held::new(1000);
        let mut reader = Reader::new(wants, &held);
        let words = |fault: Fault| match fault {
            Fault::Malformed(text) => text,
            other => format!("{other:?}"),
        };
        let mut used = 0;
        let mut over = None;
        for piece in text.chunks(length) {
            if let Fed::Over(count) = reader.feed(piece).map_err(words)? {
                over = Some(used + count);
                break;
            }
            used += piece.len();
        }
        if over.is_none() {
            reader.end().map_err(words)?;
        }
        let keeps = reader.keeps();
        let (head, body) = reader.finish();
        assert_eq!(held.bytes(), 0);
        Ok((head.status.as_u16(), body.unwrap_or_default().to_vec(), over, keeps))
    }

    fn check(text: &str, wants: Wants, expected: (u16, &str, Option<usize>, bool)) {
        for length in 1..=text.len() {
            let (status, body, over, keeps) = expected;
            let expected = Ok((status, body.as_bytes().to_vec(), over, keeps));
            assert_eq!(read(text.as_bytes(), length, wants), expected, "{text:?} in pieces of {length}");
        }
    }

    #[test]
    fn answers_are_the_same_however_they_are_cut() {
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokbehind";
        check(length, PLAIN, (200, "ok", Some(length.len() - 6), true));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
        check(chunked, PLAIN, (200, "ok", Some(chunked.len()), true));
        check("HTTP/1.1 200 OK\r\n\r\nto the end", PLAIN, (200, "to the end", None, false));
        let early = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
        let found = format!("{early}HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        check(&found, PLAIN, (404, "", Some(found.len()), false));
        let lines = "HTTP/1.1 200\nContent-Length: 1\n\n!";
        check(lines, PLAIN, (200, "!", Some(lines.len()), true));
    }

    #[test]
    fn some_answers_have_no_body_whatever_they_say() {
        for (status, wants) in [(204, PLAIN), (304, PLAIN), (200, Wants { head_only: true, ..PLAIN }), (101, PLAIN)] {
            let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 9\r\n\r\n");
            check(&format!("{head}surplus"), wants, (status, "", Some(head.len()), status != 101));
        }
    }

    #[test]
    fn connections_are_kept_as_the_version_and_the_service_say() {
        let check = |version: &str, header: &str, expected: bool| {
            let text = format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\n{header}\r\n");
            assert_eq!(read(text.as_bytes(), 9, PLAIN).unwrap().3, expected, "{text}");
        };
        check("1.1", "", true);
        check("1.1", "Connection: Upgrade, Close\r\n", false);
        check("1.0", "", false);
        check("1.0", "Connection: Keep-Alive\r\n", true);
        let both = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
        let (_, body, over, keeps) = read(both, 5, PLAIN).unwrap();
        assert_eq!((body.as_slice(), over, keeps), (&b"ok"[..], Some(both.len()), false));
    }

    #[test]
    fn lengths_that_make_no_sense_are_errors() {
        let wrong = |lengths: &str| {
            let text = format!("HTTP/1.1 200 OK\r\n{lengths}\r\nok");
            let expected = Err("malformed HTTP response: invalid content-length parsed".to_owned());
            assert_eq!(read(text.as_bytes(), 999, PLAIN), expected, "{lengths}");
        };
        for length in ["-1", "+2", "", "0x2", "2 2", "2,3", "99999999999999999999", "2;"] {
            wrong(&format!("Content-Length: {length}\r\n"));
        }
        wrong("Content-Length: 2\r\nContent-Length: 3\r\n");
        let twice = b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok";
        assert_eq!(read(twice, 999, PLAIN).unwrap().1, b"ok");
        let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nok";
        assert_eq!(read(huge, 999, PLAIN), Err("Ended".to_owned()));
        let coded = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n";
        let expected = "malformed HTTP response: unsupported transfer encoding \"gzip, chunked\"";
        assert_eq!(read(coded, 999, PLAIN), Err(expected.to_owned()));
    }

    #[test]
    fn heads_and_bodies_are_bounded() {
        let large = Err("malformed HTTP response: its head has more than 256 headers or 400 kB".to_owned());
        let flood = b"HTTP/1.1 103 x\r\n\r\n".repeat(HEAD_BYTES_MAX / 18 + 1);
        assert_eq!(read(&flood, 4096, PLAIN), large);
        let endless = [b"HTTP/1.1 200 OK\r\nA: ".as_slice(), &vec![b'x'; HEAD_BYTES_MAX]].concat();
        assert_eq!(read(&endless, 4096, PLAIN), large);
        let body = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &[b'x'; 1001]].concat();
        assert_eq!(read(&body, 100, PLAIN), Err("TooLarge(1000)".to_owned()));
        assert!(read(&body, 100, Wants { body: false, ..PLAIN }).is_ok());
    }
}

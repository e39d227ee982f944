//! The chunked coding of HTTP/1.1 bodies, fed piece by piece. Extensions and trailers are read and dropped; lines that
//! do not end are an error, so that nothing is read for ever without being counted.

use super::answer::Fault;

/// Bytes of a size line with its extensions.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// Bytes of all trailers.
const TRAILER_BYTES_MAX: usize = super::HEAD_BYTES_MAX;

/// Where in the coding the last byte was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In the digits of a size; whether there was one.
    Size { digits: u32 },
    /// Behind the size, in blanks or an extension.
    Extension,
    /// Behind the CR of a size line.
    SizeLf,
    /// In the bytes of a chunk.
    Data,
    /// Behind a chunk.
    DataCr,
    /// Behind the CR that ends a chunk.
    DataLf,
    /// At the start of a line of the trailers.
    Trailer,
    /// In a line of the trailers.
    TrailerLine,
    /// Behind the CR of the last line.
    LastLf,
}

/// A body under way.
#[derive(Debug)]
pub(super) struct Chunks {
    at: At,
    left: u64,
    line_bytes: usize,
}

fn malformed(what: &str) -> Fault {
    Fault::Malformed(format!("malformed chunked encoding: {what}"))
}

impl Chunks {
    pub(super) fn new() -> Self {
        Self { at: At::Size { digits: 0 }, left: 0, line_bytes: 0 }
    }

    /// Takes what it can of `input`, giving the bytes of the body to `keep`. Returns how many bytes it took, and whether
    /// that was the end of the body.
    pub(super) fn feed(
        &mut self,
        input: &[u8],
        mut keep: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(usize, bool), Fault> {
        let mut used = 0;
        while used < input.len() {
            if self.at == At::Data {
                let count = usize::try_from(self.left).unwrap_or(usize::MAX).min(input.len() - used);
                keep(&input[used..used + count])?;
                used += count;
                self.left -= count as u64;
                if self.left == 0 {
                    self.at = At::DataCr;
                }
                continue;
            }
            let byte = input[used];
            used += 1;
            if self.step(byte)? {
                return Ok((used, true));
            }
        }
        Ok((used, false))
    }

    /// One byte outside of a chunk; `true` if it was the last one.
    fn step(&mut self, byte: u8) -> Result<bool, Fault> {
        self.line_bytes += 1;
        self.at = match (self.at, byte) {
            (At::Size { digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).expect("it was checked to be one");
                let most = self.left.checked_mul(16).and_then(|size| size.checked_add(u64::from(digit)));
                self.left = most.ok_or_else(|| malformed("invalid chunk size: overflow"))?;
                At::Size { digits: digits + 1 }
            }
            (At::Size { digits: 0 }, _) => return Err(malformed("invalid chunk size line: missing size digit")),
            (At::Size { .. } | At::Extension, b'\r') => At::SizeLf,
            (At::Size { .. } | At::Extension | At::SizeLf, b'\n') => self.sized(),
            (At::SizeLf, _) => return Err(malformed("invalid chunk size lf")),
            (At::Size { .. }, b' ' | b'\t' | b';') | (At::Extension, _) => At::Extension,
            (At::Size { .. }, _) => return Err(malformed("invalid chunk size line: invalid size")),
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataCr, _) => return Err(malformed("invalid chunk body cr")),
            (At::DataLf, b'\n') => {
                (self.left, self.line_bytes) = (0, 0);
                At::Size { digits: 0 }
            }
            (At::DataLf, _) => return Err(malformed("invalid chunk body lf")),
            (At::Trailer, b'\r') => At::LastLf,
            (At::Trailer | At::LastLf, b'\n') => return Ok(true),
            (At::LastLf, _) => return Err(malformed("invalid chunk end lf")),
            (At::TrailerLine, b'\n') => At::Trailer,
            (At::Trailer | At::TrailerLine, _) => At::TrailerLine,
            (At::Data, _) => unreachable!("bytes of a chunk are taken all at once"),
        };
        let trailing = matches!(self.at, At::Trailer | At::TrailerLine | At::LastLf);
        if self.line_bytes > if trailing { TRAILER_BYTES_MAX } else { LINE_BYTES_MAX } {
            return Err(malformed(if trailing { "trailers do not end" } else { "a chunk size line does not end" }));
        }
        Ok(false)
    }

    fn sized(&mut self) -> At {
        self.line_bytes = 0;
        if self.left == 0 { At::Trailer } else { At::Data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body and what is behind it, fed in pieces of `length`.
    fn decoded(text: &[u8], length: usize) -> Result<Option<(Vec<u8>, usize)>, String> {
        let (mut chunks, mut body, mut used) = (Chunks::new(), Vec::new(), 0);
        for piece in text.chunks(length) {
            let keep = |bytes: &[u8]| {
                body.extend_from_slice(bytes);
                Ok(())
            };
            let fed = chunks.feed(piece, keep).map_err(|fault| match fault {
                Fault::Malformed(text) => text,
                other => panic!("{other:?}"),
            });
            let (count, over) = fed?;
            used += count;
            if over {
                return Ok(Some((body, used)));
            }
            assert_eq!(count, piece.len());
        }
        Ok(None)
    }

    #[test]
    fn bodies_come_out_however_they_are_cut() {
        let text = b"3\r\nabc\r\n0A;name=\"v;w\"\r\n0123456789\r\n1 \n!\r\n0\r\nA: trailer\r\nB: c\r\n\r\nbehind";
        for length in 1..=text.len() {
            let (body, used) = decoded(text, length).unwrap().expect("it ends");
            assert_eq!((body.as_slice(), used), (&b"abc0123456789!"[..], text.len() - "behind".len()));
        }
        assert_eq!(decoded(b"3\r\nab", 9), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |text: &[u8], expected: &str| {
            for length in [1, 7, text.len()] {
                assert_eq!(decoded(text, length), Err(format!("malformed chunked encoding: {expected}")));
            }
        };
        check(b"\r\n", "invalid chunk size line: missing size digit");
        check(b"-3\r\nabc\r\n", "invalid chunk size line: missing size digit");
        check(b"3x\r\nabc", "invalid chunk size line: invalid size");
        check(b"10000000000000000\r\n", "invalid chunk size: overflow");
        check(b"3\rx", "invalid chunk size lf");
        check(b"3\r\nabcd\r\n", "invalid chunk body cr");
        check(b"3\r\nabc\rx", "invalid chunk body lf");
        check(b"0\r\n\rx", "invalid chunk end lf");
        check(&[b"1;", vec![b'x'; LINE_BYTES_MAX].as_slice()].concat(), "a chunk size line does not end");
        check(&[b"0\r\n", vec![b'x'; TRAILER_BYTES_MAX + 1].as_slice()].concat(), "trailers do not end");
    }
}

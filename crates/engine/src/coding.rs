//! Packed bodies: the codings of `Content-Encoding` that k6 knows. Never unpacks more than [`UNPACKED_BYTES_MAX`],
//! whatever a service sends.

use std::io::{self, Read, Write};

use bytes::Bytes;
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compression, Decompress, FlushDecompress, Status};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Bytes that a body may come to when it is unpacked, counted over all of its codings.
pub const UNPACKED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The level of k6: the highest take seconds for a megabyte.
const BROTLI_QUALITY: i32 = 6;
const BROTLI_BUFFER_BYTES: usize = 4096;

/// A way to pack a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `deflate`, which is zlib's format.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

/// Why a body cannot be unpacked.
#[derive(Debug)]
pub(crate) struct Unpacking {
    /// The coding that failed.
    pub(crate) coding: Coding,
    pub(crate) error: io::Error,
}

impl Coding {
    /// All that there are.
    pub const ALL: [Self; 4] = [Self::Gzip, Self::Deflate, Self::Brotli, Self::Zstd];

    /// As `Content-Encoding` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The coding of this name, written as k6 wants it: in lower case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|coding| coding.name() == name)
    }

    /// Packs a body.
    pub fn pack(self, plain: &[u8]) -> Vec<u8> {
        const TAKES_ALL: &str = "memory takes whatever is written to it";
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).and_then(|()| encoder.finish()).expect(TAKES_ALL)
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).and_then(|()| encoder.finish()).expect(TAKES_ALL)
            }
            Self::Brotli => {
                let mut packed = Vec::new();
                let settings = brotli::enc::BrotliEncoderParams {
                    quality: BROTLI_QUALITY,
                    size_hint: plain.len(),
                    ..Default::default()
                };
                brotli::BrotliCompress(&mut &*plain, &mut packed, &settings).expect(TAKES_ALL);
                packed
            }
            Self::Zstd => compress_to_vec(plain, CompressionLevel::Fastest),
        }
    }

    /// Unpacks a body that comes to `most` bytes at most.
    fn unpack(self, packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        match self {
            Self::Gzip => read(flate2::read::MultiGzDecoder::new(packed), &mut plain, most)?,
            Self::Deflate => inflate(packed, &mut plain, most)?,
            Self::Brotli => read(brotli::Decompressor::new(packed, BROTLI_BUFFER_BYTES), &mut plain, most)?,
            Self::Zstd => {
                let mut rest = packed;
                while !rest.is_empty() {
                    let frame = StreamingDecoder::new(&mut rest).map_err(io::Error::other)?;
                    read(frame, &mut plain, most)?;
                }
            }
        }
        Ok(plain)
    }
}

/// Undoes the codings of a `Content-Encoding`, the last one first. One that nobody knows is passed over, as in k6; a
/// body without bytes, as that of an answer to HEAD, has nothing to unpack.
pub(crate) fn unpack(body: Bytes, codings: &str) -> Result<Bytes, Unpacking> {
    let (mut body, mut left) = (body, UNPACKED_BYTES_MAX);
    if body.is_empty() {
        return Ok(body);
    }
    for coding in codings.rsplit(',').filter_map(|name| Coding::named(name.trim())) {
        body = coding.unpack(&body, left).map_err(|error| Unpacking { coding, error })?.into();
        left -= body.len();
    }
    Ok(body)
}

/// Reads to the end, or one byte beyond what may be.
fn read(source: impl Read, plain: &mut Vec<u8>, most: usize) -> io::Result<()> {
    source.take((most - plain.len()) as u64 + 1).read_to_end(plain)?;
    within(plain, most)
}

/// As `read`; the readers of flate2 do not tell a stream that was cut off from one that ended.
fn inflate(packed: &[u8], plain: &mut Vec<u8>, most: usize) -> io::Result<()> {
    let mut state = Decompress::new(true);
    loop {
        plain.reserve(packed.len().clamp(1024, 1024 * 1024));
        let before = (state.total_in(), state.total_out());
        let rest = packed.get(state.total_in() as usize..).unwrap_or_default();
        let status = state.decompress_vec(rest, plain, FlushDecompress::None)?;
        within(plain, most)?;
        match status {
            Status::StreamEnd => return Ok(()),
            _ if before == (state.total_in(), state.total_out()) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Status::Ok | Status::BufError => {}
        }
    }
}

fn within(plain: &[u8], most: usize) -> io::Result<()> {
    if plain.len() <= most {
        return Ok(());
    }
    Err(io::Error::other(format!("it unpacks to more than {} MiB", UNPACKED_BYTES_MAX >> 20)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"hello hello hello hello";

    #[test]
    fn what_is_packed_can_be_unpacked() {
        for coding in Coding::ALL {
            let packed = coding.pack(PLAIN);
            assert_ne!(packed, PLAIN, "{coding:?}");
            assert_eq!(coding.unpack(&packed, PLAIN.len()).unwrap(), PLAIN, "{coding:?}");
            assert_eq!(Coding::named(coding.name()), Some(coding));
            let twice = [packed.clone(), packed].concat();
            if matches!(coding, Coding::Gzip | Coding::Zstd) {
                assert_eq!(coding.unpack(&twice, 99).unwrap(), PLAIN.repeat(2), "{coding:?} has members");
            }
        }
    }

    #[test]
    fn what_other_programs_packed_can_be_unpacked() {
        let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\xcaH\xcd\xc9\xc9W\xc0 \x01\x01\0\0\xff\xff\xe3Q=\x8d\x17\0\0\0";
        let deflate = b"x\x9c\xcaH\xcd\xc9\xc9W\xc0 \x01\x01\0\0\xff\xffh\x03\x08\xb1";
        let br = b"\x1b\x16\0\0$@j\x10e\xea\xf0\x9c>";
        let zstd = b"(\xb5/\xfd\x04\0m\0\x000hello \x01T\x06\x03\x0e\t\x17^\xae\r";
        for (coding, packed) in Coding::ALL.into_iter().zip([&gzip[..], deflate, br, zstd]) {
            assert_eq!(coding.unpack(packed, 99).unwrap(), PLAIN, "{coding:?}");
        }
    }

    #[test]
    fn codings_are_undone_from_the_last_and_unknown_ones_passed_over() {
        let packed = Coding::Gzip.pack(&Coding::Deflate.pack(PLAIN));
        let unpacked = |body: Vec<u8>, codings: &str| unpack(body.into(), codings).unwrap();
        assert_eq!(unpacked(packed, "deflate, gzip"), PLAIN);
        assert_eq!(unpacked(Coding::Gzip.pack(PLAIN), "aes128gcm,gzip"), PLAIN);
        for names in ["identity", "GZIP", ""] {
            assert_eq!(unpacked(PLAIN.to_vec(), names), PLAIN);
        }
        assert_eq!(unpacked(Vec::new(), "gzip"), "");
    }

    #[test]
    fn what_is_cut_off_or_wrong_is_an_error() {
        for coding in Coding::ALL {
            let packed = coding.pack(&PLAIN.repeat(99));
            for length in 1..packed.len() {
                assert!(coding.unpack(&packed[..length], 9999).is_err(), "{coding:?} cut off at {length}");
            }
            assert!(coding.unpack(b"zzzzzzzz", 99).is_err(), "{coding:?}");
        }
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let zeros = vec![0; UNPACKED_BYTES_MAX / 2 + 1];
        for coding in Coding::ALL {
            assert!(coding.unpack(&coding.pack(PLAIN), PLAIN.len() - 1).is_err(), "{coding:?}");
        }
        let once = Coding::Gzip.pack(&zeros);
        assert_eq!(unpack(once.into(), "gzip").unwrap().len(), zeros.len());
        let twice = Coding::Gzip.pack(&[Coding::Gzip.pack(&zeros), Coding::Gzip.pack(&zeros)].concat());
        let refused = unpack(twice.into(), "gzip, gzip").unwrap_err();
        assert_eq!(
            (refused.coding, refused.error.to_string().as_str()),
            (Coding::Gzip, "it unpacks to more than 64 MiB")
        );
    }
}

//! Digests by their names in k6, and keyed ones. Knows nothing of scripts.

use hmac::{KeyInit, Mac, SimpleHmac};
use sha2::digest::Digest;
use sha2::digest::block_api::BlockSizeUser;

/// Something that bytes are put into and that says at any time what they came to.
pub(crate) trait Hash {
    /// Takes bytes in.
    fn update(&mut self, bytes: &[u8]);
    /// What all bytes so far come to. More may follow.
    fn digest(&self) -> Vec<u8>;
}

struct Plain<D>(D);

impl<D: Digest + Clone> Hash for Plain<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().to_vec()
    }
}

struct Keyed<D: Digest + BlockSizeUser>(SimpleHmac<D>);

impl<D: Digest + BlockSizeUser + Clone> Hash for Keyed<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().into_bytes().to_vec()
    }
}

/// A hash of algorithm `D`, with a key if there is one.
fn of<D: Digest + BlockSizeUser + Clone + 'static>(key: Option<&[u8]>) -> Box<dyn Hash> {
    match key {
        Some(key) => Box::new(Keyed(SimpleHmac::<D>::new_from_slice(key).expect("any length of key will do"))),
        None => Box::new(Plain(D::new())),
    }
}

/// An algorithm: its name, and what makes a hash of it.
type Algorithm = (&'static str, fn(Option<&[u8]>) -> Box<dyn Hash>);

/// All algorithms of `k6/crypto`.
pub(crate) const ALGORITHMS: &[Algorithm] = &[
    ("md4", of::<md4::Md4>),
    ("md5", of::<md5::Md5>),
    ("sha1", of::<sha1::Sha1>),
    ("sha256", of::<sha2::Sha256>),
    ("sha384", of::<sha2::Sha384>),
    ("sha512_224", of::<sha2::Sha512_224>),
    ("sha512_256", of::<sha2::Sha512_256>),
    ("sha512", of::<sha2::Sha512>),
    ("ripemd160", of::<ripemd::Ripemd160>),
];

/// A new hash of the algorithm with this name.
pub(crate) fn hash(name: &str, key: Option<&[u8]>) -> Option<Box<dyn Hash>> {
    ALGORITHMS.iter().find(|(known, _)| *known == name).map(|(_, make)| make(key))
}

/// The digest of some bytes; the name must be one of [`ALGORITHMS`].
pub(crate) fn digest(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut hash = hash(name, None)?;
    hash.update(bytes);
    Some(hash.digest())
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

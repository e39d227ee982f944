//! Keys made of passwords and of other keys: PBKDF2 and HKDF.

use hkdf::Hkdf;
use pbkdf2::pbkdf2_hmac;

/// Calls a macro with the type of a hash under its name in `k6/crypto`.
macro_rules! with_hash {
    ($name:expr, $of:ident) => {
        match $name {
            "sha1" => $of!(sha1::Sha1),
            "sha256" => $of!(sha2::Sha256),
            "sha384" => $of!(sha2::Sha384),
            "sha512" => $of!(sha2::Sha512),
            _ => None,
        }
    };
}
pub(super) use with_hash;

pub(super) fn pbkdf2(hash: &str, password: &[u8], salt: &[u8], rounds: u32, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    macro_rules! derive {
        ($hash:ty) => {
            Some(pbkdf2_hmac::<$hash>(password, salt, rounds, &mut bytes))
        };
    }
    with_hash!(hash, derive)?;
    Some(bytes)
}

pub(super) fn hkdf(hash: &str, key: &[u8], salt: &[u8], info: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    macro_rules! derive {
        ($hash:ty) => {
            Hkdf::<$hash>::new(Some(salt), key).expand(info, &mut bytes).ok()
        };
    }
    with_hash!(hash, derive)?;
    Some(bytes)
}

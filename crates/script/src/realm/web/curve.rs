//! ECDSA and ECDH on the curves of NIST. Private keys come as PKCS#8, public ones as SubjectPublicKeyInfo; what is no
//! key of the curve gives nothing.

use getrandom::SysRng;
use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p256::elliptic_curve::Generate;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};

/// Calls a macro with the crate of a curve and the bytes of its coordinates.
macro_rules! with_curve {
    ($name:expr, $of:ident) => {
        match $name {
            "P-256" => $of!(p256, 32),
            "P-384" => $of!(p384, 48),
            "P-521" => $of!(p521, 66),
            _ => None,
        }
    };
}

/// A fresh private key.
pub(super) fn generate(curve: &str) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let key = $curve::SecretKey::try_generate_from_rng(&mut SysRng).ok()?;
            Some(key.to_pkcs8_der().ok()?.as_bytes().to_vec())
        }};
    }
    with_curve!(curve, of)
}

/// The public key of a private one.
pub(super) fn public_of(curve: &str, private: &[u8]) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let key = $curve::SecretKey::from_pkcs8_der(private).ok()?.public_key();
            Some(key.to_public_key_der().ok()?.as_bytes().to_vec())
        }};
    }
    with_curve!(curve, of)
}

/// The point of a public key, uncompressed.
pub(super) fn point(curve: &str, public: &[u8]) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let key = $curve::PublicKey::from_public_key_der(public).ok()?;
            Some(key.to_sec1_point(false).as_bytes().to_vec())
        }};
    }
    with_curve!(curve, of)
}

/// The public key of a point.
pub(super) fn of_point(curve: &str, point: &[u8]) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let key = $curve::PublicKey::from_sec1_bytes(point).ok()?;
            Some(key.to_public_key_der().ok()?.as_bytes().to_vec())
        }};
    }
    with_curve!(curve, of)
}

/// The number that a private key is.
pub(super) fn number(curve: &str, private: &[u8]) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {
            Some($curve::SecretKey::from_pkcs8_der(private).ok()?.to_bytes().to_vec())
        };
    }
    with_curve!(curve, of)
}

/// The private key of a number.
pub(super) fn of_number(curve: &str, number: &[u8]) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let key = $curve::SecretKey::from_slice(number).ok().filter(|_| number.len() == $length)?;
            Some(key.to_pkcs8_der().ok()?.as_bytes().to_vec())
        }};
    }
    with_curve!(curve, of)
}

/// A digest as long as a coordinate at least: shorter ones are numbers with zeros in front.
fn widened(digest: &[u8], length: usize) -> Vec<u8> {
    let mut wide = vec![0; length.saturating_sub(digest.len())];
    wide.extend_from_slice(digest);
    wide
}

/// The two numbers of a signature, one behind the other.
pub(super) fn sign(curve: &str, private: &[u8], digest: &[u8]) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let key = $curve::SecretKey::from_pkcs8_der(private).ok()?;
            let key = $curve::ecdsa::SigningKey::from(&key);
            let signature: $curve::ecdsa::Signature = key.sign_prehash(&widened(digest, $length)).ok()?;
            Some(signature.to_bytes().to_vec())
        }};
    }
    with_curve!(curve, of)
}

/// Whether a signature is right.
pub(super) fn verify(curve: &str, public: &[u8], digest: &[u8], signature: &[u8]) -> Option<bool> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let key = $curve::PublicKey::from_public_key_der(public).ok()?;
            let key = $curve::ecdsa::VerifyingKey::from(&key);
            let signature = $curve::ecdsa::Signature::from_slice(signature);
            Some(signature.is_ok_and(|signature| key.verify_prehash(&widened(digest, $length), &signature).is_ok()))
        }};
    }
    with_curve!(curve, of)
}

/// What both owners of a pair of keys come to.
pub(super) fn agree(curve: &str, private: &[u8], public: &[u8]) -> Option<Vec<u8>> {
    macro_rules! of {
        ($curve:ident, $length:literal) => {{
            let private = $curve::SecretKey::from_pkcs8_der(private).ok()?;
            let public = $curve::PublicKey::from_public_key_der(public).ok()?;
            Some(private.diffie_hellman(&public).raw_secret_bytes().to_vec())
        }};
    }
    with_curve!(curve, of)
}

//! RSA: signatures in both paddings, and OAEP. Private keys come as PKCS#8, public ones as SubjectPublicKeyInfo; what is
//! no key, or does not fit one, gives nothing.

use getrandom::SysRng;
use rsa::pkcs1::{EncodeRsaPrivateKey, UintRef};
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::traits::PublicKeyParts;
use rsa::{BoxedUint, Oaep, Pkcs1v15Sign, PrivateKey, Pss, PublicKey};

use super::derive::with_hash;

/// Shortest and longest keys that are made.
const BITS: std::ops::RangeInclusive<usize> = 1024..=8192;

/// A fresh private key.
pub(super) fn generate(bits: usize, exponent: &[u8]) -> Option<Vec<u8>> {
    let exponent = BoxedUint::from_be_slice_vartime(exponent);
    let key = BITS.contains(&bits).then(|| PrivateKey::new_with_exp(&mut SysRng, bits, exponent).ok())??;
    Some(key.to_pkcs8_der().ok()?.as_bytes().to_vec())
}

/// The public key of a private one.
pub(super) fn public_of(private: &[u8]) -> Option<Vec<u8>> {
    let key = PrivateKey::from_pkcs8_der(private).ok()?.to_public_key();
    Some(key.to_public_key_der().ok()?.as_bytes().to_vec())
}

/// Modulus and exponent of a public key.
pub(super) fn public_parts(public: &[u8]) -> Option<Vec<Vec<u8>>> {
    let key = PublicKey::from_public_key_der(public).ok()?;
    Some(vec![trimmed(&key.n_bytes()), trimmed(&key.e_bytes())])
}

/// Without zeros in front.
fn trimmed(number: &[u8]) -> Vec<u8> {
    number.iter().copied().skip_while(|&byte| byte == 0).collect()
}

/// The eight numbers of a private key in the order of RFC 7518: n, e, d, p, q, dp, dq, qi.
pub(super) fn private_parts(private: &[u8]) -> Option<Vec<Vec<u8>>> {
    let der = PrivateKey::from_pkcs8_der(private).ok()?.to_pkcs1_der().ok()?;
    let key = rsa::pkcs1::RsaPrivateKey::<UintRef<'_>>::try_from(der.as_bytes()).ok()?;
    let all = [
        &key.modulus,
        &key.public_exponent,
        &key.private_exponent,
        &key.prime1,
        &key.prime2,
        &key.exponent1,
        &key.exponent2,
        &key.coefficient,
    ];
    Some(all.into_iter().map(|number| number.as_bytes().to_vec()).collect())
}

/// The public key of its modulus and exponent.
pub(super) fn of_public_parts(parts: &[Vec<u8>]) -> Option<Vec<u8>> {
    let [n, e] = parts else { return None };
    let key = PublicKey::new(BoxedUint::from_be_slice_vartime(n), BoxedUint::from_be_slice_vartime(e)).ok()?;
    Some(key.to_public_key_der().ok()?.as_bytes().to_vec())
}

/// The private key of its numbers; of those behind q nothing is taken, since they follow.
pub(super) fn of_private_parts(parts: &[Vec<u8>]) -> Option<Vec<u8>> {
    let numbers: Vec<_> = parts.iter().map(|part| BoxedUint::from_be_slice_vartime(part)).collect();
    let [n, e, d, p, q, ..] = numbers.as_slice() else { return None };
    let key = PrivateKey::from_components(n.clone(), e.clone(), d.clone(), vec![p.clone(), q.clone()]).ok()?;
    Some(key.to_pkcs8_der().ok()?.as_bytes().to_vec())
}

/// A signature of a digest; `salt` is the length of the salt of PSS, and without it the padding is PKCS#1 v1.5.
pub(super) fn sign(hash: &str, salt: Option<usize>, private: &[u8], digest: &[u8]) -> Option<Vec<u8>> {
    let key = PrivateKey::from_pkcs8_der(private).ok()?;
    macro_rules! of {
        ($hash:ty) => {
            match salt {
                Some(length) => key.sign_with_rng(&mut SysRng, Pss::<$hash>::new_with_salt(length), digest).ok(),
                None => key.sign(Pkcs1v15Sign::new::<$hash>(), digest).ok(),
            }
        };
    }
    with_hash!(hash, of)
}

/// Whether a signature is right.
pub(super) fn verify(hash: &str, salt: Option<usize>, public: &[u8], digest: &[u8], signature: &[u8]) -> Option<bool> {
    let key = PublicKey::from_public_key_der(public).ok()?;
    macro_rules! of {
        ($hash:ty) => {
            Some(match salt {
                Some(length) => key.verify(Pss::<$hash>::new_with_salt(length), digest, signature).is_ok(),
                None => key.verify(Pkcs1v15Sign::new::<$hash>(), digest, signature).is_ok(),
            })
        };
    }
    with_hash!(hash, of)
}

pub(super) fn encrypt(hash: &str, label: &[u8], public: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let key = PublicKey::from_public_key_der(public).ok()?;
    macro_rules! of {
        ($hash:ty) => {
            key.encrypt(&mut SysRng, Oaep::<$hash>::new_with_label(label), data).ok()
        };
    }
    with_hash!(hash, of)
}

pub(super) fn decrypt(hash: &str, label: &[u8], private: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let key = PrivateKey::from_pkcs8_der(private).ok()?;
    macro_rules! of {
        ($hash:ty) => {
            key.decrypt_blinded(&mut SysRng, Oaep::<$hash>::new_with_label(label), data).ok()
        };
    }
    with_hash!(hash, of)
}

//! AES in the modes of WebCrypto. Whatever does not fit – a length, a tag – gives nothing.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::{AeadInOut, KeyInit};

/// What a cipher works with besides the data.
pub(super) struct Terms<'a> {
    /// Whether it encrypts; otherwise it decrypts.
    pub(super) encrypts: bool,
    pub(super) key: &'a [u8],
    /// Initialization vector or first counter block.
    pub(super) start: &'a [u8],
    /// Of GCM: authenticated, not encrypted.
    pub(super) additional: &'a [u8],
    /// Bits of GCM's tag or of CTR's counter.
    pub(super) bits: u32,
}

/// The data encrypted or decrypted; `None` if it does not fit.
pub(super) fn aes(mode: &str, terms: &Terms<'_>, data: Vec<u8>) -> Option<Vec<u8>> {
    macro_rules! with_key {
        ($of:ident) => {
            match terms.key.len() {
                16 => $of!(Aes128),
                24 => $of!(Aes192),
                32 => $of!(Aes256),
                _ => None,
            }
        };
    }
    macro_rules! cbc {
        ($aes:ty) => {
            if terms.encrypts {
                let cipher = cbc::Encryptor::<$aes>::new_from_slices(terms.key, terms.start).ok()?;
                Some(cipher.encrypt_padded_vec::<Pkcs7>(&data))
            } else {
                let cipher = cbc::Decryptor::<$aes>::new_from_slices(terms.key, terms.start).ok()?;
                cipher.decrypt_padded_vec::<Pkcs7>(&data).ok()
            }
        };
    }
    macro_rules! ctr {
        ($aes:ty) => {{
            let mut data = data;
            match terms.bits {
                32 => stream::<ctr::Ctr32BE<$aes>>(terms.key, terms.start, &mut data)?,
                64 => stream::<ctr::Ctr64BE<$aes>>(terms.key, terms.start, &mut data)?,
                bits if bits == 128 || !wraps(terms.start, bits, data.len()) => {
                    stream::<ctr::Ctr128BE<$aes>>(terms.key, terms.start, &mut data)?;
                }
                _ => return None,
            }
            Some(data)
        }};
    }
    macro_rules! gcm {
        ($aes:ty) => {
            match terms.start.len() {
                12 => gcm::<AesGcm<$aes, U12>, ctr::Ctr32BE<$aes>>(terms, data),
                16 if terms.encrypts || terms.bits == 128 => gcm::<AesGcm<$aes, U16>, ctr::Ctr32BE<$aes>>(terms, data),
                _ => None,
            }
        };
    }
    match mode {
        "AES-CBC" => with_key!(cbc),
        "AES-CTR" => with_key!(ctr),
        "AES-GCM" => with_key!(gcm),
        _ => None,
    }
}

fn stream<C: KeyIvInit + StreamCipher>(key: &[u8], start: &[u8], data: &mut [u8]) -> Option<()> {
    C::new_from_slices(key, start).ok()?.try_apply_keystream(data).ok()
}

/// Whether a counter of so many bits at the end of `start` runs over within the data.
fn wraps(start: &[u8], bits: u32, length: usize) -> bool {
    let Ok(block) = <[u8; 16]>::try_from(start) else { return true };
    let most = (1u128 << bits) - 1;
    let blocks = (length as u128).div_ceil(16);
    blocks > 0 && (u128::from_be_bytes(block) & most) + (blocks - 1) > most
}

/// `S` is the stream cipher that the mode is made of: tags shorter than whole ones are compared by making them anew.
fn gcm<C, S>(terms: &Terms<'_>, mut data: Vec<u8>) -> Option<Vec<u8>>
where
    C: AeadInOut + KeyInit,
    S: KeyIvInit + StreamCipher,
{
    let cipher = C::new_from_slice(terms.key).ok()?;
    let nonce = terms.start.try_into().ok()?;
    let length = terms.bits as usize / 8;
    if terms.encrypts {
        let tag = cipher.encrypt_inout_detached(nonce, terms.additional, data.as_mut_slice().into()).ok()?;
        data.extend_from_slice(tag.get(..length)?);
        return Some(data);
    }
    let tag = data.split_off(data.len().checked_sub(length)?);
    if length == 16 {
        let tag = tag.as_slice().try_into().ok()?;
        cipher.decrypt_inout_detached(nonce, terms.additional, data.as_mut_slice().into(), tag).ok()?;
        return Some(data);
    }
    let mut block = [0; 16];
    block.get_mut(..terms.start.len())?.copy_from_slice(terms.start);
    block[15] = 2;
    stream::<S>(terms.key, &block, &mut data)?;
    let mut again = data.clone();
    let whole = cipher.encrypt_inout_detached(nonce, terms.additional, again.as_mut_slice().into()).ok()?;
    (whole.get(..length)? == tag.as_slice()).then_some(data)
}

//! Messages on the wire: a byte that says whether one is packed, four bytes of length, and the message.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::status::code;
use crate::coding::Coding;
use crate::user::GrpcStatus;

/// Bytes in front of each message.
pub(super) const HEAD_BYTES: usize = 5;

/// Appends a message.
pub(super) fn put(to: &mut BytesMut, message: &[u8]) {
    to.put_u8(0);
    to.put_u32(u32::try_from(message.len()).expect("messages are bounded"));
    to.put_slice(message);
}

/// Bytes that came, and the messages in them.
pub(super) struct Frames {
    bytes: BytesMut,
    bytes_max: usize,
    coding: Option<Coding>,
}

impl Frames {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes: BytesMut::new(), bytes_max, coding: None }
    }

    /// How packed messages are packed.
    pub(super) fn encoding(&mut self, name: &str) {
        self.coding = Coding::named(name);
    }

    pub(super) fn add(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
    }

    /// Whether no part of a message is left.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next whole message.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, GrpcStatus> {
        let Some(&[packed, a, b, c, d]) = self.bytes.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > self.bytes_max {
            let text = format!("grpc: received message larger than max ({length} vs. {})", self.bytes_max);
            return Err(GrpcStatus::new(code::RESOURCE_EXHAUSTED, text));
        }
        if self.bytes.len() < HEAD_BYTES + length {
            return Ok(None);
        }
        self.bytes.advance(HEAD_BYTES);
        let message = self.bytes.split_to(length).freeze();
        match (packed, self.coding) {
            (0, _) => Ok(Some(message)),
            (1, Some(coding)) => self.unpacked(coding, &message).map(Some),
            (1, None) => {
                let text = "grpc: the server packed a message without saying how";
                Err(GrpcStatus::new(code::INTERNAL, text))
            }
            (other, _) => {
                let text = format!("grpc: received message with unexpected payload format {other}");
                Err(GrpcStatus::new(code::INTERNAL, text))
            }
        }
    }

    fn unpacked(&self, coding: Coding, message: &Bytes) -> Result<Bytes, GrpcStatus> {
        let unpacked = crate::coding::unpack(message.clone(), coding.name()).map_err(|error| {
            GrpcStatus::new(code::INTERNAL, format!("grpc: cannot unpack a message: {}", error.error))
        })?;
        if unpacked.len() > self.bytes_max {
            let text = format!("grpc: received message larger than max ({} vs. {})", unpacked.len(), self.bytes_max);
            return Err(GrpcStatus::new(code::RESOURCE_EXHAUSTED, text));
        }
        Ok(unpacked)
    }
}

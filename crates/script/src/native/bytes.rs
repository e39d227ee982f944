//! Bytes of script objects, copied: nothing of ours points into memory that a script can change.

use rquickjs::{ArrayBuffer, Value};
use rquickjs_sys as qjs;

/// The bytes of an ArrayBuffer or a Uint8Array; `None` for anything else, and for detached ones.
pub(crate) fn copy_bytes(value: &Value<'_>) -> Option<Vec<u8>> {
    let object = value.as_object()?;
    if let Some(array) = object.as_typed_array::<u8>() {
        // SAFETY: no script code runs while the slice is copied.
        return unsafe { array.as_bytes() }.map(<[u8]>::to_vec);
    }
    // Asked first, since looking for the bytes of something else leaves an exception pending.
    // SAFETY: only reads the class of the value.
    if !unsafe { qjs::JS_IsArrayBuffer(value.as_raw()) } {
        return None;
    }
    let buffer = ArrayBuffer::from_object(object.clone())?;
    // SAFETY: no script code runs while the slice is copied.
    unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec)
}

/// Whether it is an ArrayBuffer or any view of one.
pub(crate) fn is_binary(value: &Value<'_>) -> bool {
    let raw = value.as_raw();
    // SAFETY: the three only read the class of the value.
    unsafe { qjs::JS_IsArrayBuffer(raw) || qjs::JS_IsDataView(raw) || qjs::JS_GetTypedArrayType(raw) >= 0 }
}

/// The bytes of an ArrayBuffer or of any view of one; none of a detached one.
///
/// # Errors
/// If it is nothing of the kind.
pub(crate) fn copy_view(value: &Value<'_>) -> rquickjs::Result<Vec<u8>> {
    if let Some(bytes) = copy_bytes(value) {
        return Ok(bytes);
    }
    let view = value.as_object().ok_or_else(|| rquickjs::Error::new_from_js(value.type_name(), "binary data"))?;
    let bytes = copy_bytes(&view.get::<_, Value<'_>>("buffer")?).unwrap_or_default();
    let (start, length): (usize, usize) = (view.get("byteOffset")?, view.get("byteLength")?);
    Ok(bytes.get(start..start + length).unwrap_or_default().to_vec())
}

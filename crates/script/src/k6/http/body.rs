//! Bodies of requests: text, bytes, forms and multipart, with what k6 makes of each kind of value.

use bytes::Bytes;
use rquickjs::{Array, Ctx, Exception, Object, Result, Value};

use crate::host::text;
use crate::native;

/// Marks what `http.file` made.
pub(super) const FILE_MARK: &str = "FileData";

/// The bytes of a body and the Content-Type that goes with it.
pub(super) fn body_of<'js>(ctx: &Ctx<'js>, body: &Value<'js>) -> Result<(Bytes, Option<String>)> {
    if body.is_undefined() || body.is_null() {
        return Ok((Bytes::new(), None));
    }
    if let Some(string) = body.as_string() {
        return Ok((string.to_string()?.into(), None));
    }
    if let Some(bytes) = native::copy_bytes(body) {
        return Ok((bytes.into(), None));
    }
    match body.as_object() {
        Some(form) if !native::is_binary(body) && !form.is_array() && !form.is_function() => {
            let fields = fields_of(form)?;
            if fields.iter().any(|(_, value)| is_file(value)) {
                let (bytes, content_type) = multipart(ctx, fields)?;
                return Ok((bytes.into(), Some(content_type)));
            }
            Ok((form_of(fields)?.into(), Some("application/x-www-form-urlencoded".to_owned())))
        }
        _ => {
            let wanted = "a text, an object, an ArrayBuffer or a Uint8Array";
            Err(Exception::throw_type(ctx, &format!("the body of a request must be {wanted}")))
        }
    }
}

fn fields_of<'js>(form: &Object<'js>) -> Result<Vec<(String, Value<'js>)>> {
    form.props::<String, Value<'js>>().collect()
}

fn is_file(value: &Value<'_>) -> bool {
    let mark = || {
        let constructor: Object<'_> = value.as_object()?.get("constructor").ok()?;
        constructor.get::<_, String>("name").ok()
    };
    mark().is_some_and(|name| name == FILE_MARK)
}

/// A form: keys sorted, arrays repeat their key.
fn form_of(fields: Vec<(String, Value<'_>)>) -> Result<String> {
    let mut pairs = Vec::new();
    for (key, value) in fields {
        match value.as_array() {
            Some(array) => {
                for element in array.iter::<Value<'_>>() {
                    pairs.push((key.clone(), shown(&element?, 0)?));
                }
            }
            None => pairs.push((key, shown(&value, 0)?)),
        }
    }
    pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

/// A value in a form, in the words of k6: those of Go for what has no place in a form.
fn shown(value: &Value<'_>, level: usize) -> Result<String> {
    const LEVELS_MAX: usize = 8;
    if value.is_null() || value.is_undefined() {
        return Ok("<nil>".to_owned());
    }
    if let Some(number) = value.as_number() {
        return Ok(number_shown(number));
    }
    if let Some(bytes) = native::copy_bytes(value) {
        let words: Vec<_> = bytes.iter().map(u8::to_string).collect();
        return Ok(format!("[{}]", words.join(" ")));
    }
    let Some(object) = value.as_object().filter(|_| level < LEVELS_MAX && !value.is_function()) else {
        return text(value);
    };
    if let Some(array) = value.as_array() {
        let words = array.iter::<Value<'_>>().map(|element| shown(&element?, level + 1)).collect::<Result<Vec<_>>>()?;
        return Ok(format!("[{}]", words.join(" ")));
    }
    let mut words = Vec::new();
    for (key, value) in fields_of(object)? {
        words.push(format!("{key}:{}", shown(&value, level + 1)?));
    }
    words.sort();
    Ok(format!("map[{}]", words.join(" ")))
}

fn number_shown(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        format!("{}", number as i64)
    } else if number != 0.0 && (number.abs() < 1e-4 || number.abs() >= 1e21) || number.fract() == 0.0 {
        // An exponent has two digits at least and a sign.
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').expect("the form has an exponent");
        let exponent: i32 = exponent.parse().expect("an exponent is a number");
        format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    } else {
        format!("{number}")
    }
}

/// A multipart body in the order of the fields, and its Content-Type.
fn multipart<'js>(ctx: &Ctx<'js>, fields: Vec<(String, Value<'js>)>) -> Result<(Vec<u8>, String)> {
    let mut parts = Vec::new();
    for (name, value) in fields {
        let name = quoted(&name);
        if !is_file(&value) {
            let values = match value.as_array() {
                Some(array) => array.iter::<Value<'_>>().collect::<Result<Vec<_>>>()?,
                None => vec![value],
            };
            for value in values {
                let head = format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n");
                parts.push((head, shown(&value, 0)?.into_bytes()));
            }
            continue;
        }
        let file = value.as_object().expect("a file is an object");
        let data: Value<'_> = file.get("data")?;
        let data = match native::copy_bytes(&data) {
            Some(bytes) => bytes,
            None => text(&data)?.into_bytes(),
        };
        let (file_name, kind) = (file.get::<_, Value<'_>>("filename")?, file.get::<_, Value<'_>>("content_type")?);
        let (file_name, kind) = (quoted(&text(&file_name)?), text(&kind)?);
        if kind.contains(['\r', '\n']) {
            return Err(Exception::throw_type(ctx, "the content type of a file must be one line"));
        }
        let head = format!(
            "Content-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: {kind}\r\n\r\n"
        );
        parts.push((head, data));
    }
    let boundary = boundary();
    let mut body = Vec::new();
    for (head, data) in parts {
        body.extend_from_slice(format!("--{boundary}\r\n{head}").as_bytes());
        body.extend_from_slice(&data);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body, format!("multipart/form-data; boundary={boundary}")))
}

/// A name between quotes in a header: nothing in it can end the quotes or the line.
fn quoted(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text that no body holds but by a miracle: the hasher's keys are random.
fn boundary() -> String {
    use std::hash::{BuildHasher, Hasher};
    let number = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}{:016x}", number(), number(), number())
}

/// Adds a value to the list of this name.
pub(super) fn append<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    name: &str,
    value: impl rquickjs::IntoJs<'js>,
) -> Result<()> {
    let list = match object.get::<_, Option<Array<'js>>>(name)? {
        Some(list) => list,
        None => {
            let list = Array::new(ctx.clone())?;
            object.set(name, list.clone())?;
            list
        }
    };
    list.set(list.len(), value)
}

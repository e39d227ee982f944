//! Parameters of `connect` and of calls. Unknown ones are an error, as in k6.

use std::time::Duration;

use bytes::Bytes;
use engine::user::{GrpcConnect, GrpcTls, Metadata};
use rquickjs::{Ctx, Exception, Result, Value};

use crate::host::text;
use crate::native;
use crate::options::parse_duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// k6 takes messages of up to 4 MB, as gRPC does everywhere, and sends any.
const RECEIVE_BYTES_MAX: usize = 4 * 1024 * 1024;
const SEND_BYTES_MAX: usize = i32::MAX as usize;

/// What `connect` is told.
pub(super) struct ConnectParams {
    pub(super) connect: GrpcConnect,
    /// Metadata of reflection calls, if reflection is wanted.
    pub(super) reflects: Option<Metadata>,
}

/// What a call is told.
pub(super) struct CallParams<'js> {
    pub(super) metadata: Metadata,
    pub(super) tags: Option<Value<'js>>,
    pub(super) timeout: Duration,
    pub(super) discards_message: bool,
}

/// What a stream is told.
pub(super) struct StreamParams<'js> {
    pub(super) metadata: Metadata,
    pub(super) tags: Option<Value<'js>>,
    pub(super) timeout: Option<Duration>,
}

/// Reads the parameters of `connect`.
pub(super) fn connect<'js>(ctx: &Ctx<'js>, address: &str, given: Option<&Value<'js>>) -> Result<ConnectParams> {
    let wrong = |what: String| Exception::throw_message(ctx, &format!("invalid grpc.connect() parameters: {what}"));
    let mut connect = GrpcConnect {
        address: address.to_owned(),
        tls: Some(GrpcTls::default()),
        authority: None,
        timeout: CONNECT_TIMEOUT,
        receive_bytes_max: RECEIVE_BYTES_MAX,
        send_bytes_max: SEND_BYTES_MAX,
    };
    let (mut reflects, mut metadata) = (false, Metadata::new());
    let mut plaintext = false;
    for (key, value) in entries(ctx, given, "grpc.connect()")? {
        let flag = |value: &Value<'js>| {
            value.as_bool().ok_or_else(|| wrong(format!("invalid {key} value: it needs to be boolean")))
        };
        let size = |value: &Value<'js>| match value.as_number() {
            Some(bytes) if bytes.fract() == 0.0 && bytes > 0.0 => Ok(bytes as usize),
            Some(_) => Err(wrong(format!("invalid {key} value: it needs to be a positive integer"))),
            None => Err(wrong(format!("invalid {key} value: it needs to be an integer"))),
        };
        match key.as_str() {
            "plaintext" => plaintext = flag(&value)?,
            "reflect" => reflects = flag(&value)?,
            "reflectMetadata" => {
                metadata = metadata_of(&value, &|what| wrong(format!("invalid reflectMetadata param: {what}")))?;
            }
            "timeout" => {
                connect.timeout = timeout(&value).map_err(|error| wrong(format!("invalid timeout value: {error}")))?;
            }
            "maxReceiveSize" => connect.receive_bytes_max = size(&value)?,
            "maxSendSize" => connect.send_bytes_max = size(&value)?,
            "authority" => {
                let given = value
                    .as_string()
                    .ok_or_else(|| wrong("invalid authority value: it needs to be a string".to_owned()))?;
                connect.authority = Some(given.to_string()?);
            }
            "tls" => connect.tls = Some(tls(&value, &wrong)?),
            unknown => return Err(wrong(format!("unknown connect param: \"{unknown}\""))),
        }
    }
    if plaintext {
        connect.tls = None;
    }
    Ok(ConnectParams { connect, reflects: reflects.then_some(metadata) })
}

/// Reads the parameters of a call; `of` names the function.
pub(super) fn call<'js>(ctx: &Ctx<'js>, given: Option<&Value<'js>>, of: &str) -> Result<CallParams<'js>> {
    let wrong = |what: String| Exception::throw_message(ctx, &format!("invalid GRPC's {of} parameters: {what}"));
    let mut params =
        CallParams { metadata: Metadata::new(), tags: None, timeout: CALL_TIMEOUT, discards_message: false };
    for (key, value) in entries(ctx, given, of)? {
        match key.as_str() {
            "metadata" => {
                params.metadata = metadata_of(&value, &|what| wrong(format!("invalid metadata param: {what}")))?;
            }
            "tags" => params.tags = Some(value),
            "timeout" => {
                params.timeout = timeout(&value).map_err(|error| wrong(format!("invalid timeout value: {error}")))?;
            }
            "discardResponseMessage" => {
                let flag = value.as_bool();
                params.discards_message = flag
                    .ok_or_else(|| wrong("invalid discardResponseMessage value: it needs to be boolean".to_owned()))?;
            }
            unknown => return Err(wrong(format!("unknown param: \"{unknown}\""))),
        }
    }
    Ok(params)
}

/// Reads the parameters of a stream.
pub(super) fn stream<'js>(ctx: &Ctx<'js>, given: &Value<'js>) -> Result<StreamParams<'js>> {
    let wrong = |what: String| Exception::throw_message(ctx, &format!("invalid GRPC Stream's parameters: {what}"));
    let mut params = StreamParams { metadata: Metadata::new(), tags: None, timeout: None };
    for (key, value) in entries(ctx, Some(given), "a gRPC stream")? {
        match key.as_str() {
            "metadata" => {
                params.metadata = metadata_of(&value, &|what| wrong(format!("invalid metadata param: {what}")))?;
            }
            "tags" => params.tags = Some(value),
            "timeout" => {
                let timeout = timeout(&value).map_err(|error| wrong(format!("invalid timeout value: {error}")))?;
                params.timeout = (!timeout.is_zero()).then_some(timeout);
            }
            unknown => return Err(wrong(format!("unknown param: \"{unknown}\""))),
        }
    }
    Ok(params)
}

fn entries<'js>(ctx: &Ctx<'js>, given: Option<&Value<'js>>, of: &str) -> Result<Vec<(String, Value<'js>)>> {
    let Some(given) = given.filter(|given| !given.is_undefined() && !given.is_null()) else { return Ok(Vec::new()) };
    let Some(object) = given.as_object() else {
        return Err(Exception::throw_type(ctx, &format!("the parameters of {of} must be an object")));
    };
    object.props::<String, Value<'js>>().collect()
}

fn metadata_of<'js>(given: &Value<'js>, wrong: &dyn Fn(String) -> rquickjs::Error) -> Result<Metadata> {
    if given.is_undefined() || given.is_null() {
        return Ok(Metadata::new());
    }
    let object = given.as_object().filter(|_| !given.is_array());
    let object = object.ok_or_else(|| wrong("must be an object with key-value pairs".to_owned()))?;
    let mut metadata = Metadata::new();
    for pair in object.props::<String, Value<'js>>() {
        let (key, value) = pair?;
        let bytes = if key.ends_with("-bin") {
            native::copy_bytes(&value)
                .map(Bytes::from)
                .ok_or_else(|| wrong(format!("\"{key}\" value must be binary")))?
        } else {
            let text = value.as_string().ok_or_else(|| wrong(format!("\"{key}\" value must be a string")))?;
            text.to_string()?.into()
        };
        if http::HeaderName::from_bytes(key.to_ascii_lowercase().as_bytes()).is_err() {
            return Err(wrong(format!("\"{key}\" is no name of a header")));
        }
        if !key.ends_with("-bin") && http::HeaderValue::from_bytes(&bytes).is_err() {
            return Err(wrong(format!("the value of \"{key}\" cannot be sent in a header")));
        }
        metadata.push((key, bytes));
    }
    Ok(metadata)
}

fn timeout(value: &Value<'_>) -> std::result::Result<Duration, String> {
    let given = text(value).map_err(|_| "it is no duration".to_owned())?;
    parse_duration(&given).map_err(|error| error.to_string())
}

/// `{cert, key, password, cacerts}`, all of them PEM.
fn tls<'js>(value: &Value<'js>, wrong: &dyn Fn(String) -> rquickjs::Error) -> Result<GrpcTls> {
    const KEYS: &str = "expected (optional) keys: cert, key, password, and cacerts";
    let object = value.as_object().ok_or_else(|| wrong(format!("invalid tls value: {KEYS}")))?;
    let pem = |key: &str| match object.get::<_, Value<'js>>(key)? {
        given if given.is_undefined() || given.is_null() => Ok(None),
        given => match given.as_string() {
            Some(pem) => Ok(Some(pem.to_string()?)),
            None => Err(wrong(format!("invalid tls {key} value: it needs to be a PEM formatted string"))),
        },
    };
    let mut tls = GrpcTls::default();
    if pem("password")?.is_some_and(|password| !password.is_empty()) {
        return Err(wrong("tls password: encrypted keys are not supported: give the decrypted key".to_owned()));
    }
    tls.identity = match (pem("cert")?, pem("key")?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err(wrong("tls: cert and key belong together".to_owned())),
    };
    let authorities: Value<'js> = object.get("cacerts")?;
    tls.authorities = match authorities.as_array() {
        Some(list) => list.iter::<Value<'js>>().map(|pem| text(&pem?)).collect::<Result<_>>()?,
        None => pem("cacerts")?.into_iter().collect(),
    };
    Ok(tls)
}

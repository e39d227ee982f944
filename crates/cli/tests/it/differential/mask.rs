//! What necessarily differs between two runs – ports, folders, boundaries, nonces, the programs' names – made equal.
//! Must never mask anything that a script decides.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use super::corpus;

/// Texts of one run and what stands for them.
pub(crate) struct Mask {
    texts: Vec<(String, String)>,
}

/// What the programs call themselves, unless the script says otherwise.
const AGENTS: [&str; 2] = ["Grafana k6/1.1.0", concat!("plimsoll/", env!("CARGO_PKG_VERSION"), " (like k6/1.1)")];

impl Mask {
    pub(crate) fn new(ready: &Value, folder: &Path) -> Self {
        let port = |key: &str| ready[key].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
        let mut texts = vec![
            (folder.to_str().unwrap().to_owned(), "/folder".to_owned()),
            (corpus().canonicalize().unwrap().to_str().unwrap().to_owned(), "/corpus".to_owned()),
            (port("url"), "10001".to_owned()),
            (port("https"), "10002".to_owned()),
            (port("mtls"), "10003".to_owned()),
        ];
        texts.extend(AGENTS.map(|agent| (agent.to_owned(), "AGENT".to_owned())));
        Self { texts }
    }

    pub(crate) fn text(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, (from, to)| replaced(&text, from, to))
    }

    /// Requests with connections numbered as they came.
    pub(crate) fn requests(&self, requests: Vec<Value>) -> Vec<Value> {
        let mut connections = HashMap::new();
        let one = |mut request: Value| {
            if let Some(port) = request["connection"].as_u64() {
                let next = connections.len();
                request["connection"] = json!(connections.entry(port).or_insert(next));
                request["headers"] = self.headers(&request["headers"]);
                let path = self.text(request["path"].as_str().unwrap());
                request["path"] = path.into();
            }
            request
        };
        requests.into_iter().map(one).collect()
    }

    fn headers(&self, headers: &Value) -> Value {
        let all = headers.as_array().unwrap();
        let is_form = all.iter().any(|pair| pair[1].as_str().unwrap().contains("boundary="));
        // The length of a form hangs on that of its boundary.
        let kept = all.iter().filter(|pair| !is_form || pair[0] != "content-length");
        kept.map(|pair| self.header(pair)).collect()
    }

    fn header(&self, pair: &Value) -> Value {
        let (name, value) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        let value = match name {
            "content-type" => value.split("boundary=").next().unwrap().to_owned(),
            "sec-websocket-key" => "key".to_owned(),
            "authorization" if value.starts_with("Digest ") => digest(value),
            _ => self.text(value),
        };
        json!(format!("{name}: {value}"))
    }
}

/// `text` with `to` for each `from`. The digits of a port within a longer word are no port.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let is_number = from.bytes().all(|byte| byte.is_ascii_digit());
    let mut out = String::new();
    let mut last = 0;
    for (at, _) in text.match_indices(from) {
        let (before, behind) = (text[..at].chars().next_back(), text[at + from.len()..].chars().next());
        let is_escaped = text[..at].ends_with("%3A");
        let joined = [before.filter(|_| !is_escaped), behind].into_iter().flatten().any(|c| c.is_ascii_alphanumeric());
        if is_number && joined {
            continue;
        }
        out.push_str(&text[last..at]);
        out.push_str(to);
        last = at + from.len();
    }
    out + &text[last..]
}

/// The parts of a digest in order of their names, without those that hang on the client's nonce.
fn digest(value: &str) -> String {
    let parts = value.trim_start_matches("Digest ").split(',').map(str::trim);
    let kept = parts.filter(|part| !part.starts_with("cnonce") && !part.starts_with("response"));
    let mut kept: Vec<_> = kept.map(|part| part.replace('"', "")).collect();
    kept.sort();
    format!("Digest {}", kept.join(", "))
}

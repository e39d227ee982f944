//! The option `systemTags`: which of k6's own tags samples carry. What it leaves out is hidden from every sample.

use super::read::{Fields, Notes};

/// System tags that k6 sets unless told otherwise.
pub(super) const DEFAULT: [&str; 14] = [
    "proto",
    "subproto",
    "status",
    "method",
    "url",
    "name",
    "group",
    "check",
    "error",
    "error_code",
    "tls_version",
    "scenario",
    "service",
    "expected_response",
];

/// System tags of k6 that samples never carry here.
const NOT_YET: [&str; 4] = ["iter", "vu", "ocsp_status", "ip"];

/// The tags that are to be left out.
pub(super) fn hidden(top: &mut Fields<'_>, notes: &mut Notes) -> Vec<String> {
    let script = match top.value("systemTags") {
        Some(serde_json::Value::String(text)) => Some(text.split(',').map(|part| part.trim().to_owned()).collect()),
        _ => top.texts(notes, "systemTags"),
    };
    let Some(wanted) = script else { return Vec::new() };
    for tag in wanted.iter().filter(|tag| !tag.is_empty()) {
        if NOT_YET.contains(&tag.as_str()) {
            notes.mistake(format!("option `systemTags`: the tag `{tag}` is not supported yet"));
        } else if !DEFAULT.contains(&tag.as_str()) {
            notes.mistake(format!(
                "option `systemTags`: there is no system tag `{tag}`; there are {}",
                DEFAULT.join(", ")
            ));
        }
    }
    DEFAULT.iter().filter(|tag| !wanted.iter().any(|wanted| wanted == *tag)).map(|tag| (*tag).to_owned()).collect()
}

//! Messages and their JSON: protobuf's own mapping, with fields at their default shown, as in k6.

use bytes::Bytes;
use prost::Message;
use prost_reflect::{Cardinality, DynamicMessage, Kind, MessageDescriptor, ReflectMessage, SerializeOptions, Value};

/// A message from its JSON.
///
/// # Errors
/// What does not fit, with line and column.
pub(super) fn encode(shape: MessageDescriptor, json: &str) -> Result<Bytes, String> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let message = DynamicMessage::deserialize(shape, &mut reader).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(message.encode_to_vec().into())
}

/// The JSON of a message.
///
/// # Errors
/// If the bytes are no such message.
pub(super) fn decode(shape: MessageDescriptor, bytes: &[u8]) -> Result<String, String> {
    let message = DynamicMessage::decode(shape, bytes).map_err(|error| error.to_string())?;
    json(&message).map(|value| value.to_string()).map_err(|error| error.to_string())
}

fn json(message: &DynamicMessage) -> Result<serde_json::Value, serde_json::Error> {
    let options = SerializeOptions::new().skip_default_fields(false);
    let mut value = message.serialize_with_options(serde_json::value::Serializer, &options)?;
    complete(message, &mut value);
    Ok(value)
}

/// Adds `null` for messages that are not there: k6 shows every field that has no presence of its own.
fn complete(message: &DynamicMessage, shown: &mut serde_json::Value) {
    // Well-known types have a JSON of their own.
    let shape = message.descriptor();
    if shape.full_name().starts_with("google.protobuf.") {
        return;
    }
    let Some(object) = shown.as_object_mut() else { return };
    for field in shape.fields() {
        let is_message = matches!(field.kind(), Kind::Message(_));
        if !is_message || field.is_map() {
            continue;
        }
        if message.has_field(&field) {
            let Some(shown) = object.get_mut(field.json_name()) else { continue };
            match (&*message.get_field(&field), shown) {
                (Value::Message(inner), shown) => complete(inner, shown),
                (Value::List(list), serde_json::Value::Array(shown)) => {
                    for (inner, shown) in list.iter().zip(shown) {
                        if let Value::Message(inner) = inner {
                            complete(inner, shown);
                        }
                    }
                }
                _ => {}
            }
        } else if field.cardinality() != Cardinality::Repeated && field.containing_oneof().is_none() {
            object.insert(field.json_name().to_owned(), serde_json::Value::Null);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::protos::Protos;
    use super::*;

    const PROTO: &str = r#"
        syntax = "proto3";
        package t;
        import "google/protobuf/timestamp.proto";
        enum Colour { NONE = 0; RED = 1; }
        message Inner { int32 a_number = 1; Inner deeper = 2; }
        message Kinds {
          string text = 1; int64 large = 2; bytes raw = 3; Colour colour = 4; Inner inner = 5; repeated Inner many = 6;
          map<string, int32> by_name = 7; oneof choice { string word = 8; Inner whole = 9; }
          optional string maybe = 10; google.protobuf.Timestamp at = 11; double real = 12;
        }
        service S { rpc M(Kinds) returns (Kinds); }
    "#;

    fn kinds() -> MessageDescriptor {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.proto"), PROTO).unwrap();
        let files = protox::compile(["t.proto"], [folder.path()]).unwrap();
        Protos::of(files).unwrap().method("t.S/M").unwrap().input()
    }

    #[track_caller]
    fn there_and_back(json: &str) -> serde_json::Value {
        let bytes = encode(kinds(), json).unwrap();
        serde_json::from_str(&decode(kinds(), &bytes).unwrap()).unwrap()
    }

    #[test]
    fn an_empty_message_shows_every_field_without_presence() {
        let wanted = serde_json::json!({
            "text": "", "large": "0", "raw": "", "colour": "NONE", "inner": null, "many": [], "byName": {},
            "at": null, "real": 0.0
        });
        assert_eq!(there_and_back("{}"), wanted);
    }

    #[test]
    fn every_kind_of_field_survives() {
        let given = serde_json::json!({
            "text": "a", "large": "9007199254740993", "raw": "aGk=", "colour": "RED",
            "inner": {"aNumber": 3, "deeper": {"aNumber": 4, "deeper": null}}, "many": [{"aNumber": 0, "deeper": null}],
            "byName": {"q": 1}, "word": "w", "maybe": "", "at": "2020-01-02T03:04:05Z", "real": "NaN"
        });
        assert_eq!(there_and_back(&given.to_string()), given);
        assert_eq!(there_and_back(r#"{"inner":{"a_number":2}, "large": 5}"#)["inner"]["aNumber"], 2);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert!(encode(kinds(), r#"{"nope": 1}"#).unwrap_err().contains("nope"));
        assert!(encode(kinds(), r#"{"large": "x"}"#).is_err());
        assert!(decode(kinds(), &[0xff]).is_err());
    }
}

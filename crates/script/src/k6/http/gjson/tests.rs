//! What k6 was seen to find in a document, path by path (`observed.tsv`), and that no path can do harm.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const DOCUMENT: &str = include_str!("document.json");
const OBSERVED: &str = include_str!("observed.tsv");

#[test]
fn paths_find_what_they_find_in_k6() {
    let mut wrong = Vec::new();
    for line in OBSERVED.lines() {
        let (path, expected) = line.split_once('\t').unwrap();
        let found = select(DOCUMENT, path);
        let is_right = match &found {
            None => expected == "undefined",
            Some(found) => {
                // Numbers are those of JavaScript, so 10 and 10.0 are one.
                let [found, expected] = [found.as_ref(), expected].map(serde_json::from_str::<Value>);
                found.ok().zip(expected.ok()).is_some_and(|(found, expected)| same(&found, &expected))
            }
        };
        if !is_right {
            wrong.push(format!("{path}: {found:?}, expected {expected}"));
        }
    }
    assert!(OBSERVED.lines().count() > 200);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

#[test]
fn only_whole_values_are_valid() {
    let parses = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    for text in [
        "{}",
        "[]",
        " [1, {\"a\": [true, null]}] ",
        "-0.5e+3",
        "\"\\u00e9\\n\"",
        "",
        "{",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "[1 2]",
        "01",
        "1.",
        "tru",
        "\"a",
        "\"\\x\"",
        "\"\t\"",
        "{}{}",
        "{\"a\":1,}",
        "]",
        "{]",
        "nul",
        "1e",
        "--1",
        ",",
    ] {
        assert_eq!(is_valid(text), parses(text), "{text}");
    }
}

#[test]
fn what_goes_deep_ends() {
    let document = "[".repeat(1_000) + &"]".repeat(1_000);
    assert!(is_valid(&document));
    for path in ["@flatten:{\"deep\":true}", "@dig:x", "@ugly|@pretty|@tostr", "#.#.#.#", "0.0.0.0.#"] {
        assert!(select(&document, path).is_some(), "{path}");
    }
    for piece in ["[", "{\"a\":", "#(", "#.", "@this|"] {
        assert_eq!(crate::native::with_room(|| select(DOCUMENT, &piece.repeat(10_000))), None, "{piece}");
    }
    assert!(select("[[1]]", &"@dig:".repeat(10_000)).is_some());
    let nested = |levels: usize| format!("{}age{}", "[".repeat(levels), "]".repeat(levels));
    let finds = |levels| crate::native::with_room(|| select(DOCUMENT, &nested(levels)).unwrap().contains("37"));
    assert!(finds(100) && !finds(200));
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[ab.*]{0,2}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_path_the_result_is_json(
        document in json(),
        path in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b", "0", "1", ".", "|", "#", "#(", "#[", ")", ")#", "]", "[", "{", "}", ",", ":", "\"", "\\", "*", "?",
                "==", "!=", "!%", "%", "<", "~true", "~null", "@this", "@keys", "@values", "@flatten", ":{\"deep\":true}",
                "@join", "@group", "@dig:", "@tostr", "@fromstr", "@pretty", "@ugly", "@reverse", "@valid", "!", "é", "..", " ",
            ]),
            0..14,
        ),
    ) {
        let (document, path) = (document.to_string(), path.concat());
        prop_assert!(is_valid(&document));
        if let Some(found) = select(&document, &path) {
            prop_assert!(is_valid(&found), "{path} of {document}: {found}");
        }
    }

    #[test]
    fn text_that_is_no_json_does_no_harm(document in "[\\[\\]{}\",:\\\\a1 é]{0,20}", path in "[\\[\\](){}\",:#.|@!*a1é\\\\=]{0,12}") {
        let _ = is_valid(&document);
        let _ = select(&document, &path);
        prop_assert_eq!(is_valid(&document), serde_json::from_str::<serde::de::IgnoredAny>(&document).is_ok());
    }
}

/// The argument of a modifier is the script's and need not be JSON: a colon in a list was met for ever.
#[test]
fn an_argument_that_is_no_json_ends() {
    for argument in ["[:true}", "[1:2]", "{:", "{\"deep\":}"] {
        assert_eq!(select("[[1]]", &format!("@flatten:{argument}")).as_deref(), Some("[1]"), "{argument}");
    }
}

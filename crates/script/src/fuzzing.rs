//! What a fuzzer calls (`script/fuzz`): each function takes bytes that anybody may have written, and must come back. Never
//! part of a program that people run.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use model::metric::builtin_metrics;
use serde_json::Value;

use crate::link::{LinkError, Sources, link};
use crate::options::{Overrides, ScriptFacts, parse_duration, parse_stages, plan};
use crate::{archive, k6};

/// Makes a plan of options in JSON.
pub fn options(text: &str) {
    if let Ok(options) = serde_json::from_str::<Value>(text) {
        planned(&options, &Overrides::default());
    }
}

/// Makes a plan of variables, one NAME=VALUE a line.
pub fn environment(text: &str) {
    let variables: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
    let overrides = Overrides::from_env(|name| variables.get(name).map(|&value| value.to_owned()));
    if let Ok(overrides) = overrides {
        let _ = overrides.check_flags();
        planned(&Value::Null, &overrides);
    }
}

fn planned(options: &Value, overrides: &Overrides) {
    let exports = ["default", "setup", "teardown", "handleSummary", "other"].map(str::to_owned).to_vec();
    let facts = ScriptFacts { exports, metrics: builtin_metrics().into_iter().take(2).collect() };
    if let Ok(planned) = plan("any.js", options, &facts, overrides) {
        assert!(!planned.plan.scenarios.is_empty(), "a plan offers something");
        for scenario in &planned.plan.scenarios {
            let _ = scenario.executor.duration();
        }
    }
}

/// Reads a duration and stages.
pub fn duration(text: &str) {
    if let Ok(length) = parse_duration(text) {
        let again = parse_duration(&format!("{}ns", length.as_nanos()));
        assert_eq!(again, Ok(length), "a duration is so many nanoseconds");
    }
    let _ = parse_stages(text);
}

/// Reads a k6 archive.
pub fn archive(bytes: &[u8]) {
    let _ = archive::looks_like_one(bytes);
    if let Ok(archive) = archive::read(bytes) {
        assert!(archive.files.contains_key(&archive.entry), "the script is among the files");
        let held: usize = archive.files.values().map(|file| file.len()).sum();
        assert!(held <= bytes.len(), "an archive is not packed");
    }
}

/// Reads a table: five bytes say how, the rest is the table.
pub fn csv(bytes: &[u8]) {
    let [delimiter, at, from, to, kind, table @ ..] = bytes else { return };
    k6::csv::read_any(*delimiter, [*at, *from, *to], kind & 1 == 1, table);
}

/// Follows a selector of `response.json()`, the first line, through a document, the rest.
pub fn json_selector(text: &str) {
    if let Some((path, document)) = text.split_once('\n') {
        k6::http::gjson::select_any(document, path);
    }
}

/// Links a script of this text, once as TypeScript and once as JavaScript; what it imports has the same text.
pub fn modules(text: &str) {
    for entry in ["any.ts", "any.js"] {
        linked(entry, text);
    }
}

fn linked(entry: &str, text: &str) {
    let read = |path: &Path| match path.to_str() {
        Some("any.ts" | "any.js" | "other.cjs" | "index.js") => Ok(text.to_owned()),
        Some("data.json") => Ok("{\"a\": 1}".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let sources = Sources { read: &read, fetch: &|url| Err(format!("{url} is far")), builtins: &k6::check };
    match link(Path::new(entry), &sources) {
        Ok(bundle) => {
            assert_eq!(bundle.modules[bundle.entry].path, entry);
            // The factory of a file has its lines and one more.
            let lines = text.matches('\n').count() + 1;
            assert_eq!(bundle.modules[bundle.entry].source.matches('\n').count(), lines, "lines are kept");
        }
        Err(error @ LinkError::FileMissing { importer: None, .. }) => panic!("the script is there: {error}"),
        // Writing it must not fail either.
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    /// Everything that the fuzzer once found worth keeping.
    fn corpus(target: &str, read: fn(&[u8])) {
        let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let inputs = fs::read_dir(folder).expect("the corpus is kept").map(|entry| fs::read(entry.unwrap().path()));
        assert!(inputs.map(|input| read(&input.unwrap())).count() > 0);
    }

    fn texts(target: &str, read: fn(&str)) {
        let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let inputs = fs::read_dir(folder).expect("the corpus is kept").map(|entry| fs::read(entry.unwrap().path()));
        let texts = inputs.filter_map(|input| String::from_utf8(input.unwrap()).ok());
        assert!(texts.map(|text| read(&text)).count() > 0);
    }

    #[test]
    fn the_corpus_of_each_target_is_read_to_its_end() {
        texts("options", super::options);
        texts("environment", super::environment);
        texts("duration", super::duration);
        texts("json_selector", super::json_selector);
        corpus("archive", super::archive);
        corpus("csv", super::csv);
    }

    /// With the stack that the program gives its parser.
    #[test]
    fn the_corpus_of_scripts_is_read_to_its_end() {
        let thread = std::thread::Builder::new().stack_size(crate::load::PARSER_STACK_BYTES);
        let reader = thread.spawn(|| texts("modules", super::modules)).expect("a thread starts");
        assert!(reader.join().is_ok());
    }
}

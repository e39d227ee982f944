//! Packages in folders `node_modules`: which file a bare name means, by the rules of `package.json`.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::locate::{Finder, normal};
use super::parse::Way;

/// The package in a name: `a/b` of `a`, `@a/b/c` of `@a/b`.
pub(super) fn name_of(specifier: &str) -> String {
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    specifier.split('/').take(parts).collect::<Vec<_>>().join("/")
}

/// The file of the nearest package of that name, looking upward from `importer`; a sentence if the package is there and
/// does not give it.
pub(super) fn find(finder: &Finder<'_>, importer: &Path, specifier: &str, way: Way) -> Result<Option<PathBuf>, String> {
    let name = name_of(specifier);
    let rest = specifier[name.len().min(specifier.len())..].trim_start_matches('/');
    // Above the folder that the script was named in, the way leads through the machine's own paths.
    let start = std::path::absolute(importer).map_err(|error| error.to_string())?;
    let near = importer.ancestors().skip(1).map(Path::to_owned);
    let far = start.ancestors().skip(1).map(Path::to_owned);
    let folders: Vec<PathBuf> = if importer.is_absolute() { near.collect() } else { near.chain(far).collect() };
    for folder in folders.iter().filter(|folder| !folder.ends_with("node_modules")) {
        let package = normal(&folder.join("node_modules").join(&name));
        let manifest = finder.peek(&package.join("package.json"));
        if let Some(manifest) = manifest {
            let manifest: Json = serde_json::from_str(&manifest)
                .map_err(|error| format!("{} is not JSON: {error}", package.join("package.json").display()))?;
            let found = inside(finder, &package, &manifest, rest, way);
            return found
                .map(Some)
                .ok_or_else(|| format!("the package `{name}` in {} has no file for `{specifier}`", package.display()));
        }
        if let Some(found) = finder.existing(&normal(&package.join(rest))) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// What `rest` is of a package.
fn inside(finder: &Finder<'_>, package: &Path, manifest: &Json, rest: &str, way: Way) -> Option<PathBuf> {
    let file = |path: &str| finder.existing(&normal(&package.join(path)));
    match manifest.get("exports") {
        Some(exports) if !exports.is_null() => {
            let wanted = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
            return exported(exports, &wanted, way).and_then(|path| file(&path));
        }
        _ => {}
    }
    if !rest.is_empty() {
        return file(rest);
    }
    let fields: &[&str] = if way == Way::Require { &["main", "module"] } else { &["module", "main"] };
    let named = fields.iter().filter_map(|field| manifest.get(*field)?.as_str());
    named.chain(["index"]).find_map(file)
}

/// The path that `exports` gives for `wanted`, which is `.` or begins with `./`.
fn exported(exports: &Json, wanted: &str, way: Way) -> Option<String> {
    let table = exports.as_object().filter(|table| table.keys().any(|key| key.starts_with('.')));
    let Some(table) = table else { return if wanted == "." { chosen(exports, way, "") } else { None } };
    if let Some(value) = table.get(wanted) {
        return chosen(value, way, "");
    }
    let matches = table.iter().filter_map(|(key, value)| {
        let (before, behind) = key.split_once('*').or_else(|| key.ends_with('/').then_some((key.as_str(), "")))?;
        let middle = wanted.strip_prefix(before)?.strip_suffix(behind)?;
        Some((before.len(), value, middle))
    });
    // The longest pattern wins.
    let (_, value, middle) = matches.max_by_key(|(length, ..)| *length)?;
    chosen(value, way, middle).map(|path| if path.ends_with('/') { format!("{path}{middle}") } else { path })
}

/// The first path whose conditions hold, with `middle` in place of the star.
fn chosen(value: &Json, way: Way, middle: &str) -> Option<String> {
    match value {
        Json::String(path) => Some(path.replace('*', middle)),
        Json::Array(all) => all.iter().find_map(|one| chosen(one, way, middle)),
        Json::Object(conditions) => {
            let holds = |condition: &str| match condition {
                "import" | "module" => way != Way::Require,
                "require" => way == Way::Require,
                "k6" | "browser" | "default" => true,
                _ => false,
            };
            conditions.iter().filter(|(condition, _)| holds(condition)).find_map(|(_, one)| chosen(one, way, middle))
        }
        _ => None,
    }
}

//! Our own equivalents of the libraries that scripts import most: they work without a network, under every version that
//! an address may name. Written from what their documentation says; a call that one lacks throws a sentence.

use url::Url;

/// A library.
struct Library {
    /// Its name at jslib.k6.io, if it is there.
    jslib: Option<&'static str>,
    /// Its name in other places: that of a package, or `owner/repository`.
    package: Option<&'static str>,
    source: &'static str,
}

const fn jslib(name: &'static str, source: &'static str) -> Library {
    Library { jslib: Some(name), package: None, source }
}

/// All libraries there are.
const LIBRARIES: &[Library] = &[
    // All functions of its documentation.
    jslib("k6-utils", include_str!("../../jslib/k6-utils.js")),
    // textSummary, jUnit, humanizeValue.
    jslib("k6-summary", include_str!("../../jslib/k6-summary.js")),
    // parse and unparse of texts; no downloads and no workers.
    Library { jslib: Some("papaparse"), package: Some("papaparse"), source: include_str!("../../jslib/papaparse.js") },
    // URL and URLSearchParams; hosts in ASCII.
    jslib("url", include_str!("../../jslib/url.js")),
    // describe, expect with chai's BDD words; no plug-ins.
    jslib("k6chaijs", include_str!("../../jslib/k6chaijs.js")),
    // Sessions, batches, async methods.
    jslib("httpx", include_str!("../../jslib/httpx.js")),
    // FormData: append, body, boundary.
    jslib("formdata", include_str!("../../jslib/formdata.js")),
    // v1, v4, v7, parse, stringify, validate, version.
    Library { jslib: Some("uuid"), package: Some("uuid"), source: include_str!("../../jslib/uuid.js") },
    // htmlReport.
    Library { jslib: None, package: Some("benc-uk/k6-reporter"), source: include_str!("../../jslib/k6-reporter.js") },
];

/// The text of the library that an address means.
pub(super) fn find(url: &Url) -> Option<&'static str> {
    let host = url.host_str()?;
    let parts: Vec<&str> = url.path_segments()?.collect();
    let is_meant = |library: &&Library| match host {
        "jslib.k6.io" => library.jslib.is_some_and(|name| parts.first() == Some(&name)),
        _ => library.package.is_some_and(|name| package(host, &parts).as_deref() == Some(name)),
    };
    LIBRARIES.iter().find(is_meant).map(|library| library.source)
}

/// The package that an address of one of the known places gives as a whole: `name`, or `owner/repository`.
fn package(host: &str, parts: &[&str]) -> Option<String> {
    let bare = |part: &str| part.split('@').next().unwrap_or_default().to_owned();
    match (host, parts) {
        ("cdn.jsdelivr.net", ["gh", owner, name, ..]) => Some(format!("{owner}/{}", bare(name))),
        ("cdn.jsdelivr.net", ["npm", name, ..]) => Some(bare(name)),
        ("cdnjs.cloudflare.com", ["ajax", "libs", name, ..]) => Some(bare(name).to_lowercase()),
        ("raw.githubusercontent.com", [owner, name, ..]) => Some(format!("{owner}/{name}")),
        ("unpkg.com" | "esm.sh" | "cdn.skypack.dev", [name, ..]) => Some(bare(name).to_lowercase()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_every_place_is_found() {
        let start = |url: &str| find(&Url::parse(url).unwrap()).map(|source| source.lines().next().unwrap());
        for version in ["1.0.0/index.js", "1.4.0/index.js", "9.9/x.min.js"] {
            let found = start(&format!("https://jslib.k6.io/k6-utils/{version}"));
            assert!(found.is_some_and(|line| line.contains("k6-utils")), "{found:?}");
        }
        for url in [
            "https://raw.githubusercontent.com/benc-uk/k6-reporter/main/dist/bundle.js",
            "https://raw.githubusercontent.com/benc-uk/k6-reporter/2.4.0/dist/bundle.js",
            "https://cdn.jsdelivr.net/gh/benc-uk/k6-reporter@3.0/dist/bundle.js",
        ] {
            assert!(start(url).is_some_and(|line| line.contains("htmlReport")), "{url}");
        }
        for url in [
            "https://unpkg.com/papaparse@5.4.1/papaparse.min.js",
            "https://cdnjs.cloudflare.com/ajax/libs/PapaParse/5.3.0/papaparse.min.js",
            "https://cdn.jsdelivr.net/npm/papaparse@5/+esm",
        ] {
            assert!(start(url).is_some_and(|line| line.contains("papaparse")), "{url}");
        }
        for url in
            ["https://jslib.k6.io/k6-utils-extra/1.0.0/index.js", "https://example.org/uuid", "https://unpkg.com/uuidx"]
        {
            assert_eq!(start(url), None, "{url}");
        }
    }
}

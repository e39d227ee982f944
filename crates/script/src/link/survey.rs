//! What a script uses of k6, and which of it is not here: the same files as in a link, but read to their end whatever is
//! wrong with one of them. Runs nothing.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::Path;

use url::Url;

use super::error::{LinkError, Spot};
use super::locate::{Finder, Place};
use super::parse::{ImportedName, Origin, Parsed, Part, Way, parse};
use super::{BuiltinCheck, Sources, jslib};

/// All that is known of a script without running it.
#[derive(Debug, Default)]
pub struct Survey {
    /// What is used of k6, by module and name.
    pub apis: Vec<Api>,
    /// Remote modules, in the order in which they were met.
    pub remote: Vec<RemoteModule>,
    /// How many files were read, the script and remote modules included.
    pub files: usize,
    /// What is wrong with the files: what cannot be read, parsed or found.
    pub mistakes: Vec<LinkError>,
}

/// Something of k6 that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Api {
    /// `k6`, `k6/http`, …
    pub module: String,
    /// A name that it exports; none where the module is used as a whole.
    pub name: Option<String>,
    /// The first file and line that use it.
    pub place: String,
    /// In how many places it is used, imports apart.
    pub uses: usize,
    /// Why it is not supported; none if it is.
    pub lack: Option<String>,
}

/// A module that is imported by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteModule {
    /// The address.
    pub url: String,
    /// Where its text comes from.
    pub state: RemoteState,
}

/// Where the text of a remote module comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteState {
    /// From this program: an equivalent of its own.
    BuiltIn,
    /// From the cache.
    Cached,
    /// From the network, just now.
    Fetched,
    /// From the network, which could not be asked.
    Missing,
}

/// Reads `entry` and all that it imports; `is_kept` tells what is in the cache.
///
/// # Errors
/// If the script itself cannot be read.
pub(crate) fn survey(entry: &Path, sources: &Sources<'_>, is_kept: &dyn Fn(&Url) -> bool) -> Result<Survey, LinkError> {
    let (path, text) = sources.entry(entry)?;
    let mut surveyor = Surveyor {
        sources,
        is_kept,
        finder: Finder::new(sources.read),
        known: HashSet::new(),
        waiting: VecDeque::new(),
        apis: BTreeMap::new(),
        survey: Survey::default(),
    };
    surveyor.meet(Place::File(path), text);
    while let Some((place, text)) = surveyor.waiting.pop_front() {
        surveyor.file(&place, text);
    }
    let apis = surveyor.apis.into_values().collect();
    Ok(Survey { apis, ..surveyor.survey })
}

struct Surveyor<'f> {
    sources: &'f Sources<'f>,
    is_kept: &'f dyn Fn(&Url) -> bool,
    finder: Finder<'f>,
    /// Names of the files that have been met.
    known: HashSet<String>,
    waiting: VecDeque<(Place, String)>,
    apis: BTreeMap<(String, Option<String>), Api>,
    survey: Survey,
}

impl Surveyor<'_> {
    fn meet(&mut self, place: Place, text: String) {
        self.known.insert(place.name());
        self.waiting.push_back((place, text));
    }

    fn file(&mut self, place: &Place, text: String) {
        self.survey.files += 1;
        let parsed = match parse(&place.name(), text) {
            Ok(parsed) => parsed,
            Err(error) => return self.survey.mistakes.push(error),
        };
        for (index, request) in parsed.requests.iter().enumerate() {
            let spot = parsed.spot(request.offset);
            if request.specifier == "k6" || request.specifier.starts_with("k6/") {
                self.builtin(&parsed, index, &spot);
            } else if let Err(error) = self.follow(place, &request.specifier, request.way, &spot)
                // A file that asks in a call may catch the error, or never ask.
                && request.way == Way::Import
            {
                self.survey.mistakes.push(error);
            }
        }
    }

    /// Meets the file that a request leads to.
    fn follow(&mut self, importer: &Place, specifier: &str, way: Way, spot: &Spot) -> Result<(), LinkError> {
        let place = self.finder.place(importer, specifier, way, spot)?;
        if self.known.contains(&place.name()) {
            return Ok(());
        }
        let text = match &place {
            Place::File(path) => self.finder.text(path).map_err(|reason| LinkError::FileMissing {
                path: path.clone(),
                importer: Some(Box::new(spot.clone())),
                reason,
            })?,
            Place::Url(url) => {
                // Once is enough, be it there or not.
                self.known.insert(place.name());
                let (state, text) = self.remote(url);
                self.survey.remote.push(RemoteModule { url: url.to_string(), state });
                if state == RemoteState::BuiltIn {
                    return Ok(());
                }
                text.map_err(|message| LinkError::Import { spot: spot.clone(), message })?
            }
        };
        self.meet(place, text);
        Ok(())
    }

    fn remote(&self, url: &Url) -> (RemoteState, Result<String, String>) {
        if jslib::find(url).is_some() {
            // What we wrote ourselves uses nothing that is not there.
            return (RemoteState::BuiltIn, Ok(String::new()));
        }
        let is_kept = (self.is_kept)(url);
        let text = (self.sources.fetch)(url);
        let state = match (&text, is_kept) {
            (Ok(_), true) => RemoteState::Cached,
            (Ok(_), false) => RemoteState::Fetched,
            (Err(_), _) => RemoteState::Missing,
        };
        (state, text)
    }

    /// Notes what a file uses of the module of k6 that a request names.
    fn builtin(&mut self, parsed: &Parsed, request: usize, spot: &Spot) {
        let module = &parsed.requests[request].specifier;
        let mut is_named = false;
        for import in parsed.imports.iter().filter(|import| import.request == request) {
            is_named = true;
            for (name, uses, offset) in used(import) {
                self.note(module, name, uses, &parsed.spot(offset));
            }
        }
        for export in &parsed.exports {
            if let Origin::Other { request: of, part } = &export.origin
                && *of == request
            {
                is_named = true;
                let name = if let Part::Name(name) = part { Some(name.as_str()) } else { None };
                self.note(module, name.filter(|name| *name != "default"), 0, &parsed.spot(export.offset));
            }
        }
        if !is_named {
            self.note(module, None, 0, spot);
        }
    }

    fn note(&mut self, module: &str, name: Option<&str>, uses: usize, spot: &Spot) {
        let key = (module.to_owned(), name.map(str::to_owned));
        let api = self.apis.entry(key).or_insert_with_key(|(module, name)| Api {
            module: module.clone(),
            name: name.clone(),
            place: format!("{}:{}", spot.path, spot.line),
            uses: 0,
            lack: lack((self.sources.builtins)(module), module, name.as_deref()),
        });
        api.uses += uses;
    }
}

/// What is used by an import: names, how often, and where first. Nothing but `default` or the namespace is a name of its
/// own: what counts then is the members.
fn used(import: &ImportedName) -> Vec<(Option<&str>, usize, usize)> {
    match &import.part {
        Part::Name(name) if name != "default" => vec![(Some(name), import.uses.len(), import.offset)],
        _ if import.uses.is_empty() => vec![(None, 0, import.offset)],
        _ => import.uses.iter().map(|one| (one.member.as_deref(), 1, one.span.start as usize)).collect(),
    }
}

fn lack(check: BuiltinCheck, module: &str, name: Option<&str>) -> Option<String> {
    match (check, name) {
        (BuiltinCheck::Known(names), Some(name)) if name != "default" && !names.contains(&name) => {
            Some(format!("{module} has no `{name}` here"))
        }
        (BuiltinCheck::Known(_), _) => None,
        (BuiltinCheck::Unsupported(sentence) | BuiltinCheck::Gone(sentence), _) => Some(sentence),
        (BuiltinCheck::Unknown, _) => Some(format!("k6 has no module `{module}`")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io;

    use super::*;

    fn surveyed(files: &[(&str, &str)]) -> Survey {
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        let read = |path: &Path| {
            files.get(path.to_str().unwrap()).map(|&text| text.to_owned()).ok_or_else(|| io::ErrorKind::NotFound.into())
        };
        let fetch = |url: &Url| match url.path() {
            "/gone.js" => Err(format!("cannot import {url}: gone")),
            _ => Ok("import { check } from 'k6'; check(1, {});".to_owned()),
        };
        let builtins = |specifier: &str| match specifier {
            "k6" => BuiltinCheck::Known(&["check", "sleep"]),
            "k6/http" => BuiltinCheck::Known(&["get", "post"]),
            "k6/browser" => BuiltinCheck::Unsupported("k6/browser is not supported: no pages".to_owned()),
            _ => BuiltinCheck::Unknown,
        };
        let sources = Sources { read: &read, fetch: &fetch, builtins: &builtins };
        survey(Path::new("main.ts"), &sources, &|url| url.path() == "/kept.js").unwrap()
    }

    /// `module name place uses lack` of each.
    fn apis(survey: &Survey) -> Vec<String> {
        let line = |api: &Api| {
            let (name, lack) = (api.name.as_deref().unwrap_or("*"), api.lack.as_deref().unwrap_or("ok"));
            format!("{} {name} {} {} {lack}", api.module, api.place, api.uses)
        };
        survey.apis.iter().map(line).collect()
    }

    #[test]
    fn every_use_of_k6_is_listed_with_its_first_place() {
        let survey = surveyed(&[
            (
                "main.ts",
                "import http, { post } from 'k6/http';\nimport * as k6 from 'k6';\nimport './lib';\nimport { browser } from 'k6/browser';\n\
                 const a: number = 1;\nhttp.get('');\nhttp.get('');\nhttp.nope();\nk6.sleep(1);\nuse(http, browser);\npost('');\n",
            ),
            ("lib.ts", "import sql from 'k6/x/sql';\nexport { check } from 'k6';\nsql.open();\n"),
        ]);
        let expected = [
            "k6 check lib.ts:2 0 ok",
            "k6 sleep main.ts:9 1 ok",
            "k6/browser browser main.ts:4 1 k6/browser is not supported: no pages",
            "k6/http * main.ts:10 1 ok",
            "k6/http get main.ts:6 2 ok",
            "k6/http nope main.ts:8 1 k6/http has no `nope` here",
            "k6/http post main.ts:1 1 ok",
            "k6/x/sql open lib.ts:3 1 k6 has no module `k6/x/sql`",
        ];
        assert_eq!(apis(&survey), expected);
        assert_eq!((survey.files, survey.mistakes.len()), (2, 0));
    }

    #[test]
    fn a_file_that_is_wrong_does_not_hide_the_others() {
        let survey = surveyed(&[
            (
                "main.ts",
                "import './gone.js';\nimport './bad.js';\nimport './good.js';\ntry { require('./neither') } catch {}\n",
            ),
            ("bad.js", "let = ;"),
            ("good.js", "import { sleep } from 'k6';\nsleep(1);"),
        ]);
        assert_eq!(apis(&survey), ["k6 sleep good.js:1 1 ok"]);
        let mistakes: Vec<_> = survey.mistakes.iter().map(LinkError::to_string).collect();
        assert!(mistakes[0].contains("gone.js") && mistakes[1].starts_with("bad.js:1"), "{mistakes:?}");
        assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    }

    #[test]
    fn remote_modules_are_read_and_their_state_is_told() {
        let own = "https://jslib.k6.io/k6-utils/1.4.0/index.js".to_owned();
        let urls = ["kept", "new", "gone"].map(|name| format!("https://a.b/{name}.js")).into_iter().chain([own]);
        let lines: Vec<_> = urls.map(|url| format!("import '{url}';")).collect();
        let survey = surveyed(&[("main.ts", &lines.join("\n"))]);
        let states: Vec<_> = survey.remote.iter().map(|one| one.state).collect();
        assert_eq!(states, [RemoteState::Cached, RemoteState::Fetched, RemoteState::Missing, RemoteState::BuiltIn]);
        assert_eq!(apis(&survey), ["k6 check https://a.b/kept.js:1 2 ok"]);
        assert_eq!(survey.mistakes.len(), 1);
    }
}

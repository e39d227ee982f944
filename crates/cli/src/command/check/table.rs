//! The survey of a script as a table for people.

use std::fmt::Write;

use script::link::{Api, RemoteState, Survey};
use view::Style;

/// The table: one line for each thing of k6 that is used, then the remote modules.
pub(super) fn table(script: &str, survey: &Survey, style: Style) -> String {
    let lacking = survey.apis.iter().filter(|api| api.lack.is_some()).count();
    let files = if survey.files == 1 { "1 file".to_owned() } else { format!("{} files", survey.files) };
    let mut text = format!("{script}: {files}, {} APIs of k6, ", survey.apis.len());
    text += if lacking == 0 { "all supported\n" } else { "not all of them supported\n" };
    let rows: Vec<_> = survey.apis.iter().map(|api| (api, named(api), places(api))).collect();
    let names = rows.iter().map(|(_, name, _)| name.chars().count()).max().unwrap_or(0);
    let sites = rows.iter().map(|(_, _, places)| places.chars().count()).max().unwrap_or(0);
    let (passed, failed) = (style.passed(), style.failed());
    for (api, name, places) in &rows {
        match &api.lack {
            None => writeln!(text, "  {passed:<2} {name:names$}  {places}"),
            Some(lack) => writeln!(text, "  {failed:<2} {name:names$}  {places:sites$}  {lack}"),
        }
        .expect("a String takes all");
    }
    for remote in &survey.remote {
        let (mark, state) = match remote.state {
            RemoteState::BuiltIn => (passed, "built in"),
            RemoteState::Cached => (passed, "in the cache"),
            RemoteState::Fetched => (passed, "fetched"),
            RemoteState::Missing => (failed, "must be fetched"),
        };
        writeln!(text, "  {mark:<2} {}  {state}", super::mask::mask(&remote.url)).expect("a String takes all");
    }
    text
}

/// The module, and the name if one is meant.
fn named(api: &Api) -> String {
    match &api.name {
        Some(name) => format!("{} {name}", api.module),
        None => api.module.clone(),
    }
}

fn places(api: &Api) -> String {
    match api.uses {
        0 | 1 => api.place.clone(),
        uses => format!("{} ({uses} uses)", api.place),
    }
}

#[cfg(test)]
mod tests {
    use script::link::RemoteModule;

    use super::*;

    #[test]
    fn what_is_not_supported_stands_out() {
        let api = |name: Option<&str>, uses, lack: Option<&str>| Api {
            module: "k6/http".into(),
            name: name.map(str::to_owned),
            place: "a.js:1".into(),
            uses,
            lack: lack.map(str::to_owned),
        };
        let survey = Survey {
            apis: vec![api(Some("get"), 3, None), api(None, 1, Some("it is gone"))],
            remote: vec![RemoteModule { url: "https://u:p@a.b/c.js".into(), state: RemoteState::Missing }],
            files: 1,
            ..Survey::default()
        };
        let expected = "a.js: 1 file, 2 APIs of k6, not all of them supported\n  \
            ok k6/http get  a.js:1 (3 uses)\n  x  k6/http      a.js:1           it is gone\n  \
            x  https://u:***@a.b/c.js  must be fetched\n";
        assert_eq!(table("a.js", &survey, Style::default()), expected);
    }
}

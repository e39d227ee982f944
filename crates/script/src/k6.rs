//! The modules that scripts import from k6: one file each, one list. A module that is not in the list fails when the
//! script is loaded, with a sentence that names it.

mod core;
mod data;
mod encoding;
mod execution;
mod http;
mod metrics;

use std::rc::Rc;

use rquickjs::{Ctx, Object, Result};

use crate::host::Host;
use crate::link::BuiltinCheck;

pub(crate) use http::{CookieJar, HttpResponse};

/// A module.
struct Builtin {
    name: &'static str,
    exports: &'static [&'static str],
    /// Makes the object that holds the exports, for all users of a realm.
    make: for<'js> fn(&Ctx<'js>, &Rc<Host>) -> Result<Object<'js>>,
}

/// All modules there are.
const MODULES: &[&Builtin] =
    &[&core::MODULE, &http::MODULE, &metrics::MODULE, &execution::MODULE, &data::MODULE, &encoding::MODULE];

/// Modules of k6 that are still missing, and what to do instead where there is something.
const MISSING: &[(&str, &str)] = &[
    ("k6/crypto", ""),
    ("k6/crypto/x509", ""),
    ("k6/html", ""),
    ("k6/ws", ""),
    ("k6/websockets", ""),
    ("k6/experimental/websockets", ""),
    ("k6/net/grpc", ""),
    ("k6/timers", "use sleep() of k6"),
    ("k6/secrets", "use __ENV"),
    ("k6/browser", "only protocol-level scripts run here"),
    ("k6/experimental/fs", "use open()"),
    ("k6/experimental/csv", "use open() and split the text"),
    ("k6/experimental/streams", ""),
    ("k6/experimental/redis", ""),
];

/// What the linker must know of a specifier.
pub(crate) fn check(specifier: &str) -> BuiltinCheck {
    if let Some(module) = MODULES.iter().find(|module| module.name == specifier) {
        return BuiltinCheck::Known(module.exports);
    }
    let extension = specifier.starts_with("k6/x/").then_some((specifier, "extensions of k6 cannot be loaded"));
    match MISSING.iter().copied().find(|(name, _)| *name == specifier).or(extension) {
        Some((name, "")) => BuiltinCheck::Unsupported(format!("{name} is not supported yet")),
        Some((name, hint)) => BuiltinCheck::Unsupported(format!("{name} is not supported yet: {hint}")),
        None => BuiltinCheck::Unknown,
    }
}

/// The object with the exports of a module.
pub(crate) fn module<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, name: &str) -> Result<Object<'js>> {
    let module = MODULES.iter().find(|module| module.name == name);
    (module.expect("the linker lets no other module through").make)(ctx, host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_so_by_name() {
        let BuiltinCheck::Unsupported(sentence) = check("k6/ws") else { panic!("k6/ws is there") };
        assert_eq!(sentence, "k6/ws is not supported yet");
        let BuiltinCheck::Unsupported(sentence) = check("k6/x/sql") else { panic!("k6/x/sql is there") };
        assert_eq!(sentence, "k6/x/sql is not supported yet: extensions of k6 cannot be loaded");
        assert_eq!(check("k6/nonsense"), BuiltinCheck::Unknown);
        assert!(matches!(check("k6"), BuiltinCheck::Known(names) if names.contains(&"check")));
    }
}

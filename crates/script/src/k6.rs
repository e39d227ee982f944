//! The modules that scripts import from k6: one file each, one list. A module that is not in the list fails when the
//! script is loaded, with a sentence that names it.

mod core;
pub(crate) mod crypto;
pub(crate) mod csv;
mod data;
mod encoding;
mod execution;
mod files;
mod grpc;
mod html;
pub(crate) mod http;
mod metrics;
mod missing;
mod secrets;
mod sockets;
mod streams;
mod timers;
mod x509;

use std::rc::Rc;

use rquickjs::{Ctx, Object, Result};

use crate::host::Host;
use crate::link::BuiltinCheck;

pub(crate) use grpc::protos::{Protos, ProtosKey};
pub(crate) use grpc::{GrpcClient, GrpcStreamHandle};
pub(crate) use html::HtmlPage;
pub(crate) use http::{CookieJar, HttpResponse};
use missing::{GONE, MISSING};
pub(crate) use sockets::SocketHandle;
pub(crate) use timers::make as timers;

/// A module.
struct Builtin {
    name: &'static str,
    exports: &'static [&'static str],
    /// Makes the object that holds the exports, for all users of a realm.
    make: for<'js> fn(&Ctx<'js>, &Rc<Host>) -> Result<Object<'js>>,
}

/// All modules there are.
const MODULES: &[&Builtin] = &[
    &core::MODULE,
    &http::MODULE,
    &html::MODULE,
    &metrics::MODULE,
    &execution::MODULE,
    &data::MODULE,
    &encoding::MODULE,
    &grpc::MODULE,
    &timers::MODULE,
    &sockets::WS,
    &sockets::WEBSOCKETS,
    &sockets::EXPERIMENTAL_WEBSOCKETS,
    &crypto::MODULE,
    &x509::MODULE,
    &files::MODULE,
    &csv::MODULE,
    &streams::MODULE,
    &secrets::MODULE,
];

/// What the linker must know of a specifier.
pub(crate) fn check(specifier: &str) -> BuiltinCheck {
    if let Some(module) = MODULES.iter().find(|module| module.name == specifier) {
        return BuiltinCheck::Known(module.exports);
    }
    if let Some((_, sentence)) = MISSING.iter().find(|(name, _)| *name == specifier) {
        return BuiltinCheck::Unsupported((*sentence).to_owned());
    }
    if let Some((_, sentence)) = GONE.iter().find(|(name, _)| *name == specifier) {
        return BuiltinCheck::Gone((*sentence).to_owned());
    }
    if specifier.starts_with("k6/x/") {
        return BuiltinCheck::Unsupported(format!(
            "{specifier} is not supported yet: extensions of k6 cannot be loaded"
        ));
    }
    BuiltinCheck::Unknown
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
        let BuiltinCheck::Unsupported(sentence) = check("k6/browser") else { panic!("k6/browser is there") };
        assert!(sentence.starts_with("k6/browser is not supported: "), "{sentence}");
        let BuiltinCheck::Gone(sentence) = check("k6/experimental/timers") else { panic!("it is there again") };
        assert!(sentence.starts_with("k6/experimental/timers is gone from k6: "), "{sentence}");
        let BuiltinCheck::Unsupported(sentence) = check("k6/x/sql") else { panic!("k6/x/sql is there") };
        assert_eq!(sentence, "k6/x/sql is not supported yet: extensions of k6 cannot be loaded");
        assert_eq!(check("k6/nonsense"), BuiltinCheck::Unknown);
        assert!(matches!(check("k6"), BuiltinCheck::Known(names) if names.contains(&"check")));
    }
}

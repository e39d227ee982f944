//! The methods of responses that read the body as a page: `html`, `submitForm`, `clickLink`.

use std::rc::Rc;

use rquickjs::{Class, Ctx, Function, Object, Result, Value};

use super::HttpResponse;
use crate::host::Host;
use crate::k6::html;
use crate::realm::evaluate_own;

/// Gives all responses of a realm the methods; `request` is `http.request`.
pub(super) fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, request: &Value<'js>) -> Result<()> {
    let prototype = Class::<HttpResponse>::prototype(ctx)?.expect("a response has a prototype");
    let make = evaluate_own(ctx, "k6/forms.js", include_str!("forms.js"))?;
    let make: &Function<'js> = make.as_function().expect("forms.js is a function");
    let methods: Object<'js> = make.call((html::library(ctx, host)?, request.clone()))?;
    for method in methods.props::<String, Value<'js>>() {
        let (name, method) = method?;
        prototype.set(name, method)?;
    }
    Ok(())
}

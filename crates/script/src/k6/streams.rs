//! `k6/experimental/streams`: streams of values between producers and readers, all of it in `streams.js`.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Result};

use super::Builtin;
use crate::host::Host;
use crate::realm::evaluate_own;

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/experimental/streams",
    exports: &[
        "CountQueuingStrategy",
        "ReadableStream",
        "ReadableStreamDefaultReader",
        "WritableStream",
        "WritableStreamDefaultWriter",
    ],
    make,
};

fn make<'js>(ctx: &Ctx<'js>, _: &Rc<Host>) -> Result<Object<'js>> {
    let module = evaluate_own(ctx, "k6/streams.js", include_str!("streams.js"))?;
    module.as_function().expect("streams.js is a function").call(())
}

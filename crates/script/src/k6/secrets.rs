//! `k6/secrets`: values that never show up in logs.

use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, text};
use crate::realm::evaluate_own;

pub(super) const MODULE: Builtin = Builtin { name: "k6/secrets", exports: &["get", "source"], make };

/// Promises around what answers at once.
const SHAPE: &str = "(function (read) {
  'use strict';
  const from = (source) => async function get(key) { return read(`${key}`, source); };
  const source = function source(name) { return { get: from(name === undefined ? undefined : `${name}`) }; };
  return { get: from(undefined), source };
})";

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let of = host.clone();
    let read = move |ctx: Ctx<'js>, key: String, source: Opt<Value<'js>>| {
        let source = source.0.filter(|source| !source.is_undefined()).as_ref().map(text).transpose()?;
        let value = of.world.secrets.get(source.as_deref(), &key);
        value.map_err(|sentence| Exception::throw_message(&ctx, &format!("cannot read a secret: {sentence}")))
    };
    let module = evaluate_own(ctx, "k6/secrets.js", SHAPE)?;
    module.as_function().expect("it is a function").call((Function::new(ctx.clone(), read)?,))
}

//! `structuredClone`.

use rquickjs::{Ctx, Object, Result};

use super::Family;
use crate::realm::evaluate_own;

pub(super) const FAMILY: Family = Family { names: &["structuredClone"], make };

fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let make = evaluate_own(ctx, "web/clone.js", include_str!("clone.js"))?;
    make.as_function().expect("clone.js is a function").call(())
}

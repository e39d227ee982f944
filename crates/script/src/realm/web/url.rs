//! `URL` and `URLSearchParams` by the rules of the WHATWG.

use rquickjs::function::Opt;
use rquickjs::{Array, Ctx, Function, Object, Result};
use url::{Url, form_urlencoded, quirks};

use super::Family;
use crate::realm::evaluate_own;

pub(super) const FAMILY: Family = Family { names: &["URL", "URLSearchParams"], make };

fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let parse = |input: String, base: Opt<String>| -> Option<String> {
        let base = match base.0 {
            Some(base) => Some(Url::parse(&base).ok()?),
            None => None,
        };
        Url::options().base_url(base.as_ref()).parse(&input).ok().map(String::from)
    };
    native.set("parse", Function::new(ctx.clone(), parse)?)?;
    native.set("part", Function::new(ctx.clone(), |href: String, name: String| part(&href, &name))?)?;
    let change = |href: String, name: String, value: String| change(&href, &name, &value);
    native.set("change", Function::new(ctx.clone(), change)?)?;
    let pairs = |ctx: Ctx<'js>, text: String| -> Result<Array<'js>> {
        let pairs = Array::new(ctx.clone())?;
        for (index, (key, value)) in form_urlencoded::parse(text.as_bytes()).enumerate() {
            let pair = Array::new(ctx.clone())?;
            pair.set(0, &*key)?;
            pair.set(1, &*value)?;
            pairs.set(index, pair)?;
        }
        Ok(pairs)
    };
    native.set("pairs", Function::new(ctx.clone(), pairs)?)?;
    let join = |pairs: Vec<Vec<String>>| {
        let mut text = form_urlencoded::Serializer::new(String::new());
        for pair in &pairs {
            text.append_pair(&pair[0], &pair[1]);
        }
        text.finish()
    };
    native.set("join", Function::new(ctx.clone(), join)?)?;
    let make = evaluate_own(ctx, "web/url.js", include_str!("url.js"))?;
    make.as_function().expect("url.js is a function").call((native,))
}

/// A part of a URL under its name in scripts.
fn part(href: &str, name: &str) -> Option<String> {
    let url = Url::parse(href).ok()?;
    Some(match name {
        "origin" => quirks::origin(&url),
        "protocol" => quirks::protocol(&url).to_owned(),
        "username" => quirks::username(&url).to_owned(),
        "password" => quirks::password(&url).to_owned(),
        "host" => quirks::host(&url).to_owned(),
        "hostname" => quirks::hostname(&url).to_owned(),
        "port" => quirks::port(&url).to_owned(),
        "pathname" => quirks::pathname(&url).to_owned(),
        "search" => quirks::search(&url).to_owned(),
        "hash" => quirks::hash(&url).to_owned(),
        _ => return None,
    })
}

/// The URL with one part changed; what is no such part changes nothing, as the rules say.
fn change(href: &str, name: &str, value: &str) -> Option<String> {
    let mut url = Url::parse(href).ok()?;
    match name {
        "protocol" => drop(quirks::set_protocol(&mut url, value)),
        "username" => drop(quirks::set_username(&mut url, value)),
        "password" => drop(quirks::set_password(&mut url, value)),
        "host" => drop(quirks::set_host(&mut url, value)),
        "hostname" => drop(quirks::set_hostname(&mut url, value)),
        "port" => drop(quirks::set_port(&mut url, value)),
        "pathname" => quirks::set_pathname(&mut url, value),
        "search" => quirks::set_search(&mut url, value),
        "hash" => quirks::set_hash(&mut url, value),
        _ => return None,
    }
    Some(url.into())
}

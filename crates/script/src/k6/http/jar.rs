//! `http.CookieJar`: what scripts do with the cookies of their user, or with jars of their own.

use std::rc::Rc;

use engine::user::{SharedJar, cookie_date};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use url::Url;

use crate::host::{Host, text};

/// A jar, held by an object of a script.
pub(crate) struct CookieJar(SharedJar);

impl<'js> Trace<'js> for CookieJar {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

type This1<'js> = This<Class<'js, CookieJar>>;

impl<'js> JsClass<'js> for CookieJar {
    const NAME: &'static str = "CookieJar";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        let prototype = Object::new(ctx.clone())?;
        let list = |ctx: Ctx<'js>, this: This1<'js>, url: Opt<Value<'js>>| {
            by_name(&ctx, this.0.borrow().0.matching(&url_of(&ctx, url.0.as_ref())?))
        };
        prototype.set("cookiesForURL", Function::new(ctx.clone(), list)?.with_name("cookiesForURL")?)?;
        let set = |ctx: Ctx<'js>,
                   this: This1<'js>,
                   url: Value<'js>,
                   name: Value<'js>,
                   value: Opt<Value<'js>>,
                   options: Opt<Value<'js>>| {
            let header = header(&ctx, &name, value.0.as_ref(), options.0.as_ref())?;
            this.0.borrow().0.store(&header, &url_of(&ctx, Some(&url))?);
            Ok::<_, rquickjs::Error>(true)
        };
        prototype.set("set", Function::new(ctx.clone(), set)?.with_name("set")?)?;
        let delete = |ctx: Ctx<'js>, this: This1<'js>, url: Value<'js>, name: Value<'js>| {
            let url = url_of(&ctx, Some(&url))?;
            this.0.borrow().0.store(&format!("{}=; Max-Age=-1", text(&name)?), &url);
            Ok::<_, rquickjs::Error>(())
        };
        prototype.set("delete", Function::new(ctx.clone(), delete)?.with_name("delete")?)?;
        let clear = |ctx: Ctx<'js>, this: This1<'js>, url: Opt<Value<'js>>| {
            let url = url_of(&ctx, url.0.as_ref())?;
            let jar = &this.0.borrow().0;
            for (name, _) in jar.matching(&url) {
                jar.store(&format!("{name}=; Max-Age=-1"), &url);
            }
            Ok::<_, rquickjs::Error>(())
        };
        prototype.set("clear", Function::new(ctx.clone(), clear)?.with_name("clear")?)?;
        Ok(Some(prototype))
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// Adds `CookieJar` and `cookieJar` to the module.
pub(super) fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, module: &Object<'js>) -> Result<()> {
    let create = |ctx: Ctx<'js>| Class::instance(ctx, CookieJar(SharedJar::default()));
    let constructor = Function::new(ctx.clone(), create)?.with_name("CookieJar")?.with_constructor(true);
    if let Some(prototype) = Class::<CookieJar>::prototype(ctx)? {
        constructor.set("prototype", prototype)?;
    }
    module.set("CookieJar", constructor)?;
    let of = host.clone();
    let own = move |ctx: Ctx<'js>| {
        let seat = of.seat_in_iteration(&ctx, "http.cookieJar()")?;
        Class::instance(ctx, CookieJar(seat.jar.clone()))
    };
    module.set("cookieJar", Function::new(ctx.clone(), own)?.with_name("cookieJar")?)
}

/// The jar that a value holds, if it is one.
pub(crate) fn jar_of(value: &Value<'_>) -> Option<SharedJar> {
    Class::<CookieJar>::from_value(value).ok().map(|jar| jar.borrow().0.clone())
}

fn url_of(ctx: &Ctx<'_>, url: Option<&Value<'_>>) -> Result<Url> {
    let url = url.map_or(Ok("nothing".to_owned()), text)?;
    let wrong =
        |error| Exception::throw_type(ctx, &format!("a cookie jar needs an absolute URL, '{url}' is none: {error}"));
    Url::parse(&url).map_err(wrong)
}

/// A cookie as a service would send it.
fn header<'js>(
    ctx: &Ctx<'js>,
    name: &Value<'js>,
    value: Option<&Value<'js>>,
    options: Option<&Value<'js>>,
) -> Result<String> {
    let given =
        |value: &Value<'js>| if value.is_undefined() || value.is_null() { Ok(String::new()) } else { text(value) };
    let mut header = format!("{}={}", text(name)?, value.map_or(Ok(String::new()), given)?);
    let Some(options) = options.and_then(Value::as_object) else { return Ok(header) };
    for pair in options.props::<String, Value<'js>>() {
        let (key, value) = pair?;
        match key.as_str() {
            "domain" => header += &format!("; Domain={}", given(&value)?),
            "path" => header += &format!("; Path={}", given(&value)?),
            "max_age" => match value.as_number() {
                Some(seconds) if seconds != 0.0 => header += &format!("; Max-Age={}", seconds as i64),
                _ => {}
            },
            "expires" => {
                let date = given(&value)?;
                if !date.is_empty() && cookie_date(&date).is_none() {
                    let wanted = "a date such as 'Mon, 02 Jan 2034 15:04:05 GMT' is expected";
                    return Err(Exception::throw_type(ctx, &format!("the cookie's 'expires' is '{date}': {wanted}")));
                }
                header += &format!("; Expires={date}");
            }
            "secure" if value.as_bool() == Some(true) => header += "; Secure",
            _ => {}
        }
    }
    Ok(header)
}

/// Values by name.
fn by_name<'js>(ctx: &Ctx<'js>, cookies: Vec<(String, String)>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in cookies {
        super::append(ctx, &object, &name, value)?;
    }
    Ok(object)
}

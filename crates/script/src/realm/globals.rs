//! Globals of a script: `__ENV`, `open`, `console`, timers and `queueMicrotask`. (`__VU` and `__ITER` are set on each user's own global.)

use std::path::PathBuf;
use std::rc::Rc;

use model::record::Level;
use rquickjs::function::{Opt, Rest};
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, IntoJs, Object, Persistent, Result, Value};

use super::{evaluate_own, web};
use crate::host::{Host, text};
use crate::k6;
use crate::link::normal;
use crate::thrown::Thrown;

/// Puts the globals in place and returns the functions of `realm.js`.
pub(super) fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let env = Object::new(ctx.clone())?;
    for (key, value) in &host.world.env {
        env.set(key, value)?;
    }
    let native = Object::new(ctx.clone())?;
    native.set("env", env)?;
    let make = evaluate_own(ctx, "realm.js", include_str!("realm.js"))?;
    let own = make.as_function().expect("realm.js is a function").call((native,))?;

    let globals = ctx.globals();
    let opener = host.clone();
    let open = move |ctx: Ctx<'js>, path: String, mode: Opt<String>| open(&ctx, &opener, &path, mode.0.as_deref());
    globals.set("open", Function::new(ctx.clone(), open)?.with_name("open")?)?;
    globals.set("console", console(ctx, host, &own)?)?;
    for timer in k6::timers(ctx, host)?.props::<String, Value<'js>>() {
        let (name, function) = timer?;
        globals.set(name, function)?;
    }
    web::install(ctx)?;
    Ok(own)
}

/// `open`: the text of a file, or its bytes.
fn open<'js>(ctx: &Ctx<'js>, host: &Host, path: &str, mode: Option<&str>) -> Result<Value<'js>> {
    host.in_init(ctx, "open()")?;
    if path.is_empty() {
        return Err(Exception::throw_type(ctx, "open() needs the path of a file"));
    }
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.contains("://") {
        let hint = "open() reads files of this machine; get it with http.get() in setup(), or download it beforehand";
        return Err(Exception::throw_message(ctx, &format!("cannot open {path}: {hint}")));
    }
    let path = normal(&host.folder().join(path));
    let is_binary = match mode {
        None | Some("") => false,
        Some("b") => true,
        Some(other) => {
            return Err(Exception::throw_type(ctx, &format!("open() knows the mode 'b' and no other: '{other}'")));
        }
    };
    if is_binary {
        return ArrayBuffer::new_copy(ctx.clone(), read_file(ctx, host, &path)?).map(ArrayBuffer::into_value);
    }
    if let Some(known) = host.texts.borrow().get(&path) {
        return known.clone().restore(ctx);
    }
    let bytes = read_file(ctx, host, &path)?;
    let value = String::from_utf8_lossy(&bytes).into_js(ctx)?;
    host.texts.borrow_mut().insert(path, Persistent::save(ctx, value.clone()));
    Ok(value)
}

/// Reads a file once for all users. When the first run of the init code is over, no other files are read.
pub(crate) fn read_file(ctx: &Ctx<'_>, host: &Host, path: &PathBuf) -> Result<std::sync::Arc<[u8]>> {
    let mut files = host.world.files.lock().expect("no panic while the lock is held");
    if let Some(bytes) = files.get(path) {
        return Ok(bytes.clone());
    }
    if host.created.is_none() {
        let hint = "it was not opened in the first run of the init code, in which __VU is 0";
        return Err(Exception::throw_message(ctx, &format!("cannot open {}: {hint}", path.display())));
    }
    let bytes = std::fs::read(path)
        .map_err(|error| Exception::throw_message(ctx, &format!("cannot open {}: {error}", path.display())))?;
    Ok(files.entry(path.clone()).or_insert(bytes.into()).clone())
}

fn console<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, own: &Object<'js>) -> Result<Value<'js>> {
    let host = host.clone();
    let log = move |level: String, values: Rest<Value<'js>>| -> Result<()> {
        let level = match level.as_str() {
            "debug" => Level::Debug,
            "warn" => Level::Warn,
            "error" => Level::Error,
            _ => Level::Info,
        };
        let words = values.iter().map(word).collect::<Result<Vec<_>>>()?;
        host.meter.log(level, words.join(" "));
        Ok(())
    };
    let make: Function<'js> = own.get("console")?;
    make.call((Function::new(ctx.clone(), log)?,))
}

/// A value as the console shows it: errors with what they say and where they come from. Objects are texts already.
fn word(value: &Value<'_>) -> Result<String> {
    if value.is_error() {
        return Ok(Thrown::new(value).to_string());
    }
    match value.as_symbol() {
        Some(symbol) => text(&symbol.description()?).map(|name| format!("Symbol({name})")),
        None => text(value),
    }
}

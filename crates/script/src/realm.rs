//! A realm: one JavaScript engine with the host's functions and the compiled script in it, ready to start users.

mod globals;
mod web;

use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{Array, Ctx, Exception, Function, IntoJs, Object, Persistent, Value};

use crate::event_loop;
use crate::host::{Host, Phase, Seat};
use crate::k6;
use crate::link::{Import, Lead, Module, ModuleKind};
use crate::native::{Engine, EngineError, Isolation, Lane};
use crate::thrown::{OWN_CODE, Thrown};

pub(crate) use globals::read_file;

/// Users that share an engine: more save little memory, and make collecting cyclic garbage take longer at once.
pub(crate) const USERS_PER_REALM: u32 = 250;

/// One engine with everything in it.
pub(crate) struct Realm {
    starter: Persistent<Function<'static>>,
    /// Functions of `realm.js`.
    pub(crate) own: Persistent<Object<'static>>,
    pub(crate) host: Rc<Host>,
    pub(crate) engine: Rc<Engine>,
}

/// Why a realm or a user in it could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RealmError {
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The init code threw.
    #[error("{}{}", .0.place().map_or(String::new(), |place| format!("{place}: ")), .0)]
    Threw(Thrown),
    /// The init code called `test.abort`.
    #[error("test aborted: {0}")]
    Aborted(String),
}

impl Realm {
    /// Makes a realm and compiles the script in it.
    pub(crate) fn new(host: Host) -> Result<Rc<Self>, RealmError> {
        let engine = Rc::new(Engine::new(host.world.isolation, host.world.memory_per_user_bytes)?);
        let host = Rc::new(host);
        let tracker = host.clone();
        engine.track_rejections(move |ctx, promise, reason, is_handled| {
            tracker.note_rejection(ctx, promise, reason, is_handled);
        });
        let prepared = engine.with(|ctx| {
            let prepare = || -> rquickjs::Result<_> {
                let own = globals::install(ctx, &host)?;
                let starter = starter(ctx, &host, &own)?;
                Ok((Persistent::save(ctx, starter), Persistent::save(ctx, own)))
            };
            prepare().map_err(|error| RealmError::Threw(Thrown::catch(ctx, &error)))
        });
        let (starter, own) = prepared?;
        Ok(Rc::new(Self { starter, own, host, engine }))
    }

    /// Whether it takes `users` users.
    pub(crate) fn takes(&self, users: u32) -> bool {
        users <= if self.host.world.isolation == Isolation::Shared { USERS_PER_REALM } else { 1 }
    }

    /// Runs the init code for a user, and returns its lane and the namespace of the script.
    pub(crate) fn start(&self, seat: &Rc<Seat>) -> Result<(Lane, Persistent<Object<'static>>), RealmError> {
        let mut lane = Lane::new(&self.engine);
        let host = &self.host;
        seat.phase.set(Phase::Init);
        host.sit(seat);
        let result = lane.enter(|| {
            self.engine.with(|ctx| {
                let start = || -> rquickjs::Result<_> {
                    ctx.globals().set("__VU", seat.vu)?;
                    let started: Value<'_> = self.starter.clone().restore(ctx)?.call(())?;
                    event_loop::run_early(ctx, seat)?;
                    let exports = settled(ctx, started)?;
                    self.consolidate(ctx, &exports)?;
                    Ok(Persistent::save(ctx, exports))
                };
                start().map_err(|error| Thrown::catch(ctx, &error))
            })
        });
        seat.events.clear();
        let rejection = seat.rejections.take().into_iter().next();
        let mask = |text: &str| host.world.secrets.mask(text).into_owned();
        if let Some(engine::user::Ending::Aborted(text)) = seat.ending.take() {
            return Err(RealmError::Aborted(mask(&text)));
        }
        let exports = result.map_err(|thrown| {
            RealmError::Threw(Thrown { headline: mask(&thrown.headline), stack: mask(&thrown.stack) })
        })?;
        if let Some((_, text)) = rejection.map(|(promise, text)| (promise, mask(&text))) {
            return Err(RealmError::Threw(Thrown {
                headline: format!("unhandled rejection: {text}"),
                stack: String::new(),
            }));
        }
        seat.phase.set(Phase::Iteration);
        Ok((lane, exports))
    }
}

impl Realm {
    /// Gives the exported `options` what is different in this run.
    fn consolidate<'js>(&self, ctx: &Ctx<'js>, exports: &Object<'js>) -> rquickjs::Result<()> {
        let options = self.host.world.options.lock().expect("nobody panics holding it").clone();
        let Some(changes) = options.as_ref().and_then(|options| options.changes.as_deref()) else { return Ok(()) };
        let own = exports.get::<_, Value<'js>>("options")?;
        let Some(own) = own.as_object() else { return Ok(()) };
        let assign: Function<'js> = self.own.clone().restore(ctx)?.get("assign")?;
        assign.call((own.clone(), ctx.json_parse(changes)?))
    }
}

impl Drop for Realm {
    fn drop(&mut self) {
        // The host outlives the engine's values in its own functions; what it keeps of them must go first.
        self.host.texts.borrow_mut().clear();
        self.host.leave();
    }
}

/// Evaluates our own code.
pub(crate) fn evaluate_own<'js>(ctx: &Ctx<'js>, name: &str, code: &str) -> rquickjs::Result<Value<'js>> {
    evaluate(ctx, &format!("{OWN_CODE}{name}"), code)
}

fn evaluate<'js>(ctx: &Ctx<'js>, path: &str, code: &str) -> rquickjs::Result<Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(path.to_owned());
    ctx.eval_with_options(code, options)
}

/// The function that starts a user: all factories, what each imports, and the k6 modules that any of them imports.
fn starter<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, own: &Object<'js>) -> rquickjs::Result<Function<'js>> {
    let bundle = &host.world.bundle;
    let plans = Array::new(ctx.clone())?;
    let modules = Object::new(ctx.clone())?;
    for (index, module) in bundle.modules.iter().enumerate() {
        plans.set(index, plan(ctx, host, module, &modules)?)?;
    }
    let locator = host.clone();
    let locate = move |ctx: Ctx<'js>, from: usize, name: String| match locator.world.bundle.locate(from, &name) {
        Some(import) => lead(&ctx, &import),
        None => Err(Exception::throw_message(
            &ctx,
            &format!(
                "cannot find module '{name}': a name that is made while the script runs can lead only to modules that \
                some file names in its text, such as require('./file.js')"
            ),
        )),
    };
    let locate = Function::new(ctx.clone(), locate)?;
    let of = host.clone();
    let enter = Function::new(ctx.clone(), move |module: usize| of.running.replace(module))?;
    let make: Function<'_> = own.get("starter")?;
    host.running.set(bundle.entry);
    make.call((plans, modules, bundle.entry, locate, enter))
}

/// What `realm.js` must know of a module; the modules of k6 that it imports are added to `modules`.
fn plan<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, module: &Module, modules: &Object<'js>) -> rquickjs::Result<Object<'js>> {
    let plan = Object::new(ctx.clone())?;
    let (imports, leads) = (Array::new(ctx.clone())?, Object::new(ctx.clone())?);
    let nowhere = Object::new(ctx.clone())?;
    let known = |import: &Import| match import {
        Import::Builtin(name) if !modules.contains_key(name)? => modules.set(name, k6::module(ctx, host, name)?),
        _ => Ok(()),
    };
    for (position, import) in module.imports.iter().enumerate() {
        known(import)?;
        imports.set(position, lead(ctx, import)?)?;
    }
    for (name, to) in &module.leads {
        match to {
            Lead::Import(import) => {
                known(import)?;
                leads.set(name, lead(ctx, import)?)?;
            }
            Lead::Nowhere(sentence) => nowhere.set(name, sentence)?,
        }
    }
    let kind = match module.kind {
        ModuleKind::Script => "script",
        ModuleKind::Awaiting => "awaiting",
        ModuleKind::CommonJs => "common",
    };
    plan.set("factory", evaluate(ctx, &module.path, &module.source)?)?;
    plan.set("imports", imports)?;
    plan.set("meta", meta(ctx, module)?)?;
    plan.set("kind", kind)?;
    plan.set("needs", module.needs.clone())?;
    plan.set("leads", leads)?;
    plan.set("nowhere", nowhere)?;
    Ok(plan)
}

/// An import as `realm.js` has it: the number of a module, or the name of one of k6.
fn lead<'js>(ctx: &Ctx<'js>, import: &Import) -> rquickjs::Result<Value<'js>> {
    match import {
        Import::Module(number) => number.into_js(ctx),
        Import::Builtin(name) => name.into_js(ctx),
    }
}

/// What the init code gave, when all that it waits for has come.
fn settled<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Object<'js>> {
    while ctx.execute_pending_job() {}
    let Some(promise) = value.as_promise() else { return Object::from_value(value) };
    promise.result().unwrap_or_else(|| {
        let sentence = "an `await` outside of a function waits for something that cannot come in the init code, \
            such as a timer or a request: await it in an async function";
        Err(Exception::throw_message(ctx, sentence))
    })
}

/// What `import.meta` is.
fn meta<'js>(ctx: &Ctx<'js>, module: &Module) -> rquickjs::Result<Object<'js>> {
    // The path of an address would be that of a folder.
    let remote = url::Url::parse(&module.path).ok().filter(|url| matches!(url.scheme(), "https" | "http"));
    let path = std::path::absolute(&module.path).unwrap_or_else(|_| module.path.clone().into());
    let base = remote.or_else(|| url::Url::from_file_path(path).ok());
    let meta = Object::new(ctx.clone())?;
    meta.set("url", base.as_ref().map(url::Url::to_string))?;
    let resolve = move |ctx: Ctx<'js>, specifier: String| {
        let resolved = base.as_ref().and_then(|base| base.join(&specifier).ok());
        resolved.map(|url| url.to_string()).ok_or_else(|| {
            Exception::throw_type(&ctx, &format!("import.meta.resolve: '{specifier}' is no path or URL"))
        })
    };
    meta.set("resolve", Function::new(ctx.clone(), resolve)?.with_name("resolve")?)?;
    Ok(meta)
}

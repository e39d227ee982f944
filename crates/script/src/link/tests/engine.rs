//! Runs linked modules in the engine, and the same files as the engine's own ES modules: the oracle.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rquickjs::context::EvalOptions;
use rquickjs::loader::{BuiltinLoader, BuiltinResolver};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Module as NativeModule, Object, Runtime, Value};

use crate::link::{BuiltinCheck, Bundle, Import, LinkError, Sources, link};

/// Files by path.
pub(super) type Files = BTreeMap<String, String>;

/// What a run showed: its log, then how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) log: Vec<String>,
    /// Name of the error that ended it.
    pub(super) error: Option<String>,
    /// Its stack.
    pub(super) stack: String,
}

/// Modules of k6 that the tests know, and their sources for the oracle.
const BUILTINS: [(&str, &[&str], &str); 2] = [
    (
        "k6",
        &["check", "sleep"],
        "export const check = () => 'check', sleep = () => 'sleep'; export default {check, sleep};",
    ),
    ("k6/http", &["get"], "export const get = url => 'GET ' + url; export default {get, name: 'http'};"),
];

/// `log(…)` and `later(…)` for the scripts, and `show(…)`, which tells apart what must be equal.
const PRELUDE: &str = r"
    globalThis.lines = [];
    globalThis.laters = [];
    globalThis.log = (...all) => { lines.push(all.map(String).join(' ')) };
    globalThis.later = what => { laters.push(what) };
    globalThis.show = what => typeof what === 'function' ? `function ${what.name}`
        : typeof what === 'object' && what !== null ? `keys ${Reflect.ownKeys(what).filter(key => typeof key === 'string')}`
        : String(what);
    globalThis.finish = entry => {
        for (const what of laters) try { what() } catch (error) { log('later', error.name) }
        for (const key of Reflect.ownKeys(entry)) if (typeof key === 'string')
            try { log(key, '=', show(entry[key])) } catch (error) { log(key, 'throws', error.name) }
    };
";

/// How a host drives a bundle; the protocol is described at [`crate::link::Module`].
const DRIVER: &str = r"(factories, imports, builtins, entry) => {
    const spaces = factories.map(() => Object.create(null));
    const runs = factories.map((factory, own) => factory.call(
        undefined,
        index => typeof imports[own][index] === 'number' ? spaces[imports[own][index]] : builtins[imports[own][index]],
        (name, get) => Object.defineProperty(spaces[own], name, { get, enumerable: true }),
        { url: 'file:///script.js' },
    ));
    for (const run of runs) run.next();
    for (const space of spaces) Object.preventExtensions(space);
    for (const run of runs) run.next();
    return spaces[entry];
}";

pub(super) fn files(list: &[(&str, &str)]) -> Files {
    list.iter().map(|&(path, source)| (path.to_owned(), source.to_owned())).collect()
}

pub(super) fn link_files(files: &Files, entry: &str) -> Result<Bundle, LinkError> {
    let read = |path: &Path| {
        files
            .get(path.to_str().expect("paths of tests are text"))
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    let builtins = |specifier: &str| match specifier {
        "k6/ws" => BuiltinCheck::Unsupported("`k6/ws` is not supported yet".to_owned()),
        _ => BUILTINS
            .iter()
            .find(|(name, ..)| *name == specifier)
            .map_or(BuiltinCheck::Unknown, |&(_, names, _)| BuiltinCheck::Known(names)),
    };
    let fetch = |url: &url::Url| Err(format!("no network for {url}"));
    link(Path::new(entry), &Sources { read: &read, fetch: &fetch, builtins: &builtins })
}

/// Runs a bundle.
pub(super) fn run(bundle: &Bundle) -> Outcome {
    in_engine(&Runtime::new().unwrap(), |ctx| {
        let builtins = Object::new(ctx.clone())?;
        for (name, _, source) in BUILTINS {
            let (module, _) = NativeModule::declare(ctx.clone(), name, source)?.eval()?;
            builtins.set(name, module.namespace()?)?;
        }
        let mut factories: Vec<Value<'_>> = Vec::new();
        let mut imports: Vec<Vec<Value<'_>>> = Vec::new();
        for module in &bundle.modules {
            let mut options = EvalOptions::default();
            options.strict = false;
            options.filename = Some(module.path.clone());
            factories.push(ctx.eval_with_options(module.source.as_str(), options)?);
            let to_value = |import: &Import| match import {
                Import::Module(index) => Ok(Value::new_int(ctx.clone(), i32::try_from(*index).unwrap())),
                Import::Builtin(name) => Ok(rquickjs::String::from_str(ctx.clone(), name)?.into_value()),
            };
            imports.push(module.imports.iter().map(to_value).collect::<rquickjs::Result<_>>()?);
        }
        let driver: Function<'_> = ctx.eval(DRIVER)?;
        driver.call((factories, imports, builtins, bundle.entry))
    })
}

/// Runs the files as the engine's own modules.
pub(super) fn run_native(files: &Files, entry: &str) -> Outcome {
    let mut resolver = BuiltinResolver::default();
    let mut loader = BuiltinLoader::default();
    let builtins = BUILTINS.iter().map(|&(name, _, source)| (name, source));
    for (path, source) in files.iter().map(|(path, source)| (path.as_str(), source.as_str())).chain(builtins) {
        resolver.add_module(path);
        loader.add_module(path, source);
    }
    let runtime = Runtime::new().unwrap();
    runtime.set_loader(resolver, loader);
    in_engine(&runtime, |ctx| {
        let (module, promise) = NativeModule::declare(ctx.clone(), entry, files[entry].as_str())?.eval()?;
        promise.finish::<()>()?;
        module.namespace()
    })
}

fn in_engine(runtime: &Runtime, body: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<Object<'js>>) -> Outcome {
    let context = Context::full(runtime).unwrap();
    context.with(|ctx| {
        ctx.eval::<(), _>(PRELUDE).unwrap();
        let (mut error, mut stack) = (None, String::new());
        match body(&ctx).catch(&ctx) {
            Ok(namespace) => {
                let finish: Function<'_> = ctx.globals().get("finish").unwrap();
                finish.call::<_, ()>((namespace,)).unwrap();
            }
            Err(rquickjs::CaughtError::Exception(exception)) => {
                error = Some(exception.get("name").unwrap_or_default());
                stack =
                    format!("{}\n{}", exception.message().unwrap_or_default(), exception.stack().unwrap_or_default());
            }
            Err(other) => error = Some(other.to_string()),
        }
        Outcome { log: ctx.globals().get("lines").unwrap(), error, stack }
    })
}

//! Loading: the script's files are linked, its init code runs once, and what it exports is read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use engine::meter::{LogLine, Meter};
use model::plan::Plan;
use rquickjs::{Ctx, Object, Value};
use serde_json::Value as Json;
use url::Url;

use crate::host::{Clock, Host, Seat, SetupData, ShownOptions, World};
use crate::k6;
use crate::link::{Bundle, LinkError, Sources, Survey, link, survey};
use crate::native::{Engine, EngineError, Isolation, MEMORY_PER_USER_BYTES_DEFAULT, STACK_BYTES_DEFAULT};
use crate::options::{self, OptionsError, Overrides, Planned, ScriptFacts};
use crate::realm::{Realm, RealmError};
use crate::remote::{ModuleSettings, Remote};
use crate::secret::{SecretSource, Secrets};
use crate::thrown::Thrown;
use crate::user::ScriptUsers;

/// How a script is run.
#[derive(Clone)]
pub struct LoadSettings {
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Whether users share engines.
    pub isolation: Isolation,
    /// Virtual stack of each user, in bytes.
    pub stack_bytes: usize,
    /// What each user may hold, in bytes.
    pub memory_per_user_bytes: usize,
    /// Tells the time, for `group_duration`; without it there are no samples of it.
    pub clock: Option<Clock>,
    /// Files that are not read from disk: a script from standard input, all files of an archive.
    pub files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Where remote modules come from.
    pub modules: ModuleSettings,
    /// What `k6/secrets` reads.
    pub secrets: Vec<SecretSource>,
}

impl Default for LoadSettings {
    fn default() -> Self {
        let (env, isolation) = (BTreeMap::new(), Isolation::Shared);
        let modules = ModuleSettings::default();
        let (files, secrets) = (BTreeMap::new(), Vec::new());
        let (stack_bytes, memory_per_user_bytes) = (STACK_BYTES_DEFAULT, MEMORY_PER_USER_BYTES_DEFAULT);
        Self { env, isolation, stack_bytes, memory_per_user_bytes, clock: None, files, modules, secrets }
    }
}

/// Why a script cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file is missing (255), or its text or its imports are wrong (107).
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The init code threw (107). Begins with the place where there is one.
    #[error("{0}")]
    Init(String),
    /// The init code called `test.abort` (108).
    #[error("test aborted: {0}")]
    Aborted(String),
    /// There is nothing to run (255).
    #[error("{path} exports no function: export a default function, or those that its scenarios name")]
    NoFunction {
        /// The script.
        path: String,
    },
    /// The JavaScript engine does not start (255).
    #[error("{0}")]
    Engine(String),
}

/// A script, ready to run.
pub struct Loaded {
    /// What it exports and which metrics it makes.
    pub facts: ScriptFacts,
    /// Its `options`; null if it exports none.
    pub options: Json,
    /// What its init code logged.
    pub log: Vec<LogLine>,
    /// What is different from what was wished, one sentence each.
    pub warnings: Vec<String>,
    target: String,
    world: Arc<World>,
}

/// Reads a script and all that it imports, and runs its init code once.
///
/// # Errors
/// If anything of it is wrong.
pub fn load(entry: &Path, settings: LoadSettings) -> Result<Loaded, LoadError> {
    let (bundle, warning) = linked(entry, &settings)?;
    let mut loaded = load_bundle(entry, bundle, settings)?;
    loaded.warnings.extend(warning);
    Ok(loaded)
}

/// Stack of the parser, in bytes. It descends once per nesting, and a bundler writes sums of many thousand parts.
pub(crate) const PARSER_STACK_BYTES: usize = 512 * 1024 * 1024;

/// The linked files of a script and what is to be said of them.
fn linked(entry: &Path, settings: &LoadSettings) -> Result<(Bundle, Option<String>), LinkError> {
    reading(entry, settings, |sources, _| link(entry, sources))
}

/// What a script uses of k6 and which of it is not here; runs nothing of it.
///
/// # Errors
/// If the script itself cannot be read. What is wrong with its files stands in the survey.
pub fn survey(entry: &Path, settings: &LoadSettings) -> Result<Survey, LinkError> {
    reading(entry, settings, |sources, is_kept| survey::survey(entry, sources, is_kept)).map(|(survey, _)| survey)
}

/// Lets `read` read files, on a thread with a stack that deeply nested text does not overflow, and pins the remote
/// modules that it read; if that is not possible, the sentence says so.
fn reading<T: Send>(
    entry: &Path,
    settings: &LoadSettings,
    read: impl Fn(&Sources<'_>, &dyn Fn(&Url) -> bool) -> Result<T, LinkError> + Sync,
) -> Result<(T, Option<String>), LinkError> {
    let text = |path: &Path| match settings.files.get(path) {
        Some(bytes) => String::from_utf8(bytes.to_vec()).map_err(std::io::Error::other),
        None => std::fs::read_to_string(path),
    };
    let read = || {
        let remote = RefCell::new(Remote::new(entry, &settings.modules));
        let fetch = |url: &Url| remote.borrow_mut().text(url).map_err(|error| error.to_string());
        let is_kept = |url: &Url| remote.borrow().keeps(url);
        let sources = Sources { read: &text, fetch: &fetch, builtins: &k6::check };
        let result = read(&sources, &is_kept)?;
        Ok((result, remote.into_inner().finish()))
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("parser".to_owned()).stack_size(PARSER_STACK_BYTES);
        match thread.spawn_scoped(scope, read) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // Where so much address space is not to be had, the stack of this thread must do.
            Err(_) => read(),
        }
    })
}

fn load_bundle(entry: &Path, bundle: Bundle, settings: LoadSettings) -> Result<Loaded, LoadError> {
    let mut warnings = Vec::new();
    let started = Engine::new(settings.isolation, settings.memory_per_user_bytes).map(drop);
    let isolation = possible(settings.isolation, started, &mut warnings)?;
    let world = Arc::new(World {
        bundle,
        folder: entry.parent().unwrap_or(Path::new("")).to_owned(),
        env: settings.env,
        isolation,
        stack_bytes: settings.stack_bytes,
        memory_per_user_bytes: settings.memory_per_user_bytes,
        clock: settings.clock,
        options: Default::default(),
        files: Mutex::new(settings.files.into_iter().collect()),
        secrets: Secrets::new(settings.secrets),
        arrays: Default::default(),
        protos: Default::default(),
    });
    let target = entry.display().to_string();
    let meter = Meter::new(Arc::new(trial_plan(&target)));
    let mut host = Host::new(world.clone(), meter.clone(), SetupData::default());
    host.created = Some(RefCell::default());
    let realm = Realm::new(host).map_err(LoadError::from)?;
    let (facts, options) = read(&realm)?;
    if facts.exports.is_empty() {
        return Err(LoadError::NoFunction { path: target });
    }
    Ok(Loaded { facts, options, log: meter.take_log(), warnings, target, world })
}

impl Loaded {
    /// The plan of the script under these overrides, and warnings.
    ///
    /// # Errors
    /// If the options are wrong.
    pub fn plan(&self, overrides: &Overrides) -> Result<(Plan, Vec<String>), OptionsError> {
        let planned = options::plan(&self.target, &self.options, &self.facts, overrides)?;
        let Planned { plan, warnings, options, changes } = planned;
        let changes = changes.as_object().is_some_and(|changes| !changes.is_empty()).then(|| changes.to_string());
        let shown = ShownOptions { all: options.to_string(), changes };
        *self.world.options.lock().expect("nobody panics holding it") = Some(shown.into());
        Ok((plan, self.warnings.iter().cloned().chain(warnings).collect()))
    }

    /// Makes the users of one run: what `setup()` returns is kept for this run alone.
    pub fn factory(&self) -> Arc<ScriptUsers> {
        Arc::new(ScriptUsers::new(self.world.clone()))
    }

    #[cfg(test)]
    pub(crate) fn world_of_tests(&self) -> Arc<World> {
        self.world.clone()
    }
}

/// The isolation that this program can give, seeing how a trial start went.
fn possible(
    wished: Isolation,
    started: Result<(), EngineError>,
    warnings: &mut Vec<String>,
) -> Result<Isolation, LoadError> {
    match started {
        Ok(()) => Ok(wished),
        Err(EngineError::Fields(error)) => {
            warnings.push(format!("every user gets an engine of its own, which takes more memory: {error}"));
            Ok(Isolation::Full)
        }
        Err(error @ EngineError::Start(_)) => Err(LoadError::Engine(error.to_string())),
    }
}

/// A plan for the one run of the init code: nothing but the metrics that every run has.
fn trial_plan(target: &str) -> Plan {
    Plan { target: target.to_owned(), ..Plan::default() }
}

/// Runs the init code and reads what it exports.
fn read(realm: &Rc<Realm>) -> Result<(ScriptFacts, Json), LoadError> {
    let seat = Seat::new(0);
    let (mut lane, exports) = realm.start(&seat)?;
    lane.enter(|| {
        realm.engine.with(|ctx| {
            let read = || -> rquickjs::Result<_> {
                let exports = exports.restore(ctx)?;
                let names = functions(&exports)?;
                Ok((names, options_of(ctx, &exports)?))
            };
            let (exports, options) =
                read().map_err(|error| LoadError::Init(format!("options: {}", Thrown::catch(ctx, &error))))?;
            let metrics = realm.host.created.as_ref().map(RefCell::take).unwrap_or_default();
            Ok((ScriptFacts { exports, metrics }, options))
        })
    })
}

/// Names of the functions that are exported.
fn functions(exports: &Object<'_>) -> rquickjs::Result<Vec<String>> {
    let mut names = Vec::new();
    for pair in exports.props::<String, Value<'_>>() {
        let (name, value) = pair?;
        if value.is_function() {
            names.push(name);
        }
    }
    Ok(names)
}

fn options_of<'js>(ctx: &Ctx<'js>, exports: &Object<'js>) -> rquickjs::Result<Json> {
    let json = match ctx.json_stringify(exports.get::<_, Value<'js>>("options")?)? {
        Some(json) => json.to_string()?,
        None => return Ok(Json::Null),
    };
    Ok(serde_json::from_str(&json).expect("the engine writes valid JSON"))
}

impl From<RealmError> for LoadError {
    fn from(error: RealmError) -> Self {
        match error {
            RealmError::Aborted(reason) => Self::Aborted(reason),
            RealmError::Threw(_) => Self::Init(error.to_string()),
            RealmError::Engine(error) => Self::Engine(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::FieldsError;

    #[test]
    fn an_engine_that_cannot_be_shared_is_not_shared() {
        let mut warnings = Vec::new();
        let error = Err(EngineError::Fields(FieldsError("its version is another".into())));
        assert_eq!(possible(Isolation::Shared, error, &mut warnings).ok(), Some(Isolation::Full));
        assert!(warnings[0].contains("an engine of its own") && warnings[0].contains("version"), "{warnings:?}");
        assert_eq!(possible(Isolation::Shared, Ok(()), &mut warnings).ok(), Some(Isolation::Shared));
        assert_eq!(warnings.len(), 1);
    }
}

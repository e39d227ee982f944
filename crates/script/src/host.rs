//! What host functions work with: the world that all users share, the host of one realm, and the seat of one user.
//! Holds no sockets and no clock but the one it is given.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use engine::meter::{Meter, TagSet};
use engine::user::{Assignment, Ending, ExpectedStatuses, SharedJar};
use model::metric::Metric;
use rquickjs::{Ctx, Exception, Function, Persistent, Result, Value};

use crate::event_loop::EventLoop;
use crate::k6::{Protos, ProtosKey};
use crate::link::Bundle;
use crate::native::{self, Isolation};
use crate::secret::Secrets;
use crate::thrown::Thrown;

/// Tells the time since some moment before the run; `group_duration` is measured with it.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// What all users of all workers share. Nothing of it changes once the script is loaded.
pub(crate) struct World {
    /// The script.
    pub(crate) bundle: Bundle,
    /// Paths given to `open` are relative to this folder.
    pub(crate) folder: PathBuf,
    /// `__ENV`.
    pub(crate) env: BTreeMap<String, String>,
    /// Whether users share engines.
    pub(crate) isolation: Isolation,
    /// Virtual stack of each user.
    pub(crate) stack_bytes: usize,
    /// What each user may hold.
    pub(crate) memory_per_user_bytes: usize,
    /// For durations of groups; without it there are none.
    pub(crate) clock: Option<Clock>,
    /// All options of the run; `None` until there is a plan.
    pub(crate) options: Mutex<Option<Arc<ShownOptions>>>,
    /// Files that `open` has read.
    pub(crate) files: Mutex<HashMap<PathBuf, Arc<[u8]>>>,
    /// Secrets, and which of them have been read.
    pub(crate) secrets: Secrets,
    /// Elements of each SharedArray, as JSON.
    pub(crate) arrays: Mutex<HashMap<String, Arc<[String]>>>,
    /// What gRPC clients have compiled.
    pub(crate) protos: Mutex<HashMap<ProtosKey, Protos>>,
}

/// The options of a run as scripts see them, as JSON.
pub(crate) struct ShownOptions {
    /// What `test.options` is.
    pub(crate) all: String,
    /// What users' own `options` must be given, if anything.
    pub(crate) changes: Option<String>,
}

/// The JSON of what `setup()` returned; `None` inside if it returned nothing.
pub(crate) type SetupData = Arc<OnceLock<Option<String>>>;

/// Groups whose tags are remembered.
const GROUPS_MAX: usize = 1000;

/// What the host functions of one realm share.
pub(crate) struct Host {
    pub(crate) world: Arc<World>,
    pub(crate) meter: Rc<Meter>,
    pub(crate) setup_data: SetupData,
    /// Metrics that the script creates; only while it is loaded, later the plan knows them.
    pub(crate) created: Option<RefCell<Vec<Metric>>>,
    /// Texts of files, one string for all users of the realm.
    pub(crate) texts: RefCell<HashMap<PathBuf, Persistent<Value<'static>>>>,
    /// The module whose init code runs.
    pub(crate) running: Cell<usize>,
    groups: RefCell<HashMap<(TagSet, Rc<str>), TagSet>>,
    seat: RefCell<Option<Rc<Seat>>>,
}

/// Where a user is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// In its init code.
    Init,
    /// In an iteration, `setup` or `teardown`.
    Iteration,
}

/// What host functions know of the user who runs.
pub(crate) struct Seat {
    /// Its number.
    pub(crate) vu: u32,
    pub(crate) phase: Cell<Phase>,
    /// Iterations that it has begun.
    pub(crate) begun: Cell<u64>,
    /// Iterations that it has begun in its scenario.
    pub(crate) begun_in_scenario: Cell<u64>,
    /// Number of the iteration in the test.
    pub(crate) iteration_in_test: Cell<u64>,
    pub(crate) assignment: RefCell<Option<Rc<Assignment>>>,
    /// Path of the group it is in, in k6's form; empty outside of groups.
    pub(crate) group: RefCell<Rc<str>>,
    /// Tags of samples outside of groups.
    pub(crate) root_tags: Cell<TagSet>,
    /// Tags of samples now.
    pub(crate) tags: Cell<TagSet>,
    /// What `vu.metrics.metadata` holds.
    pub(crate) metadata: RefCell<BTreeMap<String, String>>,
    /// Statuses expected of responses unless a request says otherwise; `None` does not judge them.
    pub(crate) expected: RefCell<Option<ExpectedStatuses>>,
    /// Its cookies.
    pub(crate) jar: SharedJar,
    /// How the iteration ends, if the script has decided it.
    pub(crate) ending: RefCell<Option<Ending>>,
    /// Rejected promises that nobody has handled yet, and why they were rejected.
    pub(crate) rejections: RefCell<Vec<(Persistent<Value<'static>>, String)>>,
    /// Whether an iteration ended for lack of memory.
    pub(crate) ran_out: Cell<bool>,
    /// What it has begun and not waited for.
    pub(crate) events: EventLoop,
}

impl Host {
    /// A host whose users write to `meter`.
    pub(crate) fn new(world: Arc<World>, meter: Rc<Meter>, setup_data: SetupData) -> Self {
        let masked = world.clone();
        meter.mask_log(Rc::new(move |text| match masked.secrets.mask(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(masked) => masked,
        }));
        let (texts, groups, running) = (RefCell::default(), RefCell::default(), Cell::new(0));
        Self { world, meter, setup_data, created: None, texts, running, groups, seat: RefCell::new(None) }
    }

    /// What paths of the module whose init code runs are relative to: the folder of its file. Remote modules have none,
    /// so that theirs are those of the script.
    pub(crate) fn folder(&self) -> &Path {
        let module = self.world.bundle.modules.get(self.running.get());
        let file = module.map(|module| module.path.as_str()).filter(|path| !path.contains("://"));
        file.and_then(|path| Path::new(path).parent()).unwrap_or(&self.world.folder)
    }

    /// Makes `seat` the one whose code runs.
    pub(crate) fn sit(&self, seat: &Rc<Seat>) {
        self.seat.replace(Some(seat.clone()));
    }

    /// Forgets who ran last.
    pub(crate) fn leave(&self) {
        self.seat.replace(None);
    }

    /// The user whose code runs.
    pub(crate) fn seat(&self) -> Rc<Seat> {
        self.seat.borrow().clone().expect("script code runs only for a user")
    }

    /// The user whose code runs, if it is beyond its init code.
    ///
    /// # Errors
    /// A TypeError that names `what` otherwise.
    pub(crate) fn seat_in_iteration(&self, ctx: &Ctx<'_>, what: &str) -> Result<Rc<Seat>> {
        let seat = self.seat();
        match seat.phase.get() {
            Phase::Iteration => Ok(seat),
            Phase::Init => {
                let hint = "call it in an iteration, in setup() or in teardown()";
                Err(Exception::throw_type(ctx, &format!("{what} is not possible in the init code: {hint}")))
            }
        }
    }

    /// # Errors
    /// A TypeError that names `what` if the user is beyond its init code.
    pub(crate) fn in_init(&self, ctx: &Ctx<'_>, what: &str) -> Result<Rc<Seat>> {
        let seat = self.seat();
        match seat.phase.get() {
            Phase::Init => Ok(seat),
            Phase::Iteration => {
                Err(Exception::throw_type(ctx, &format!("{what} is only possible in the init code of the script")))
            }
        }
    }

    /// `base` with the `group` tag.
    pub(crate) fn group_tags(&self, base: TagSet, path: &Rc<str>) -> TagSet {
        let mut groups = self.groups.borrow_mut();
        // Scripts that invent names must not fill the memory.
        if groups.len() >= GROUPS_MAX {
            groups.clear();
        }
        *groups.entry((base, path.clone())).or_insert_with(|| self.meter.tags(base, &[("group", path)]))
    }

    /// Changes a tag of all samples to come of a user; an empty value removes it.
    pub(crate) fn retag(&self, seat: &Seat, key: &str, value: &str) {
        seat.root_tags.set(self.meter.tags(seat.root_tags.get(), &[(key, value)]));
        let path = seat.group.borrow().clone();
        seat.tags.set(self.tags_in(seat.root_tags.get(), &path));
    }

    /// `root` in the group of this path.
    pub(crate) fn tags_in(&self, root: TagSet, path: &Rc<str>) -> TagSet {
        if path.is_empty() { root } else { self.group_tags(root, path) }
    }

    /// `base` with the tags of a script's object.
    ///
    /// # Errors
    /// A TypeError for values that are neither text nor number nor boolean.
    pub(crate) fn script_tags<'js>(&self, ctx: &Ctx<'js>, base: TagSet, tags: &Value<'js>) -> Result<TagSet> {
        let pairs = tag_pairs(ctx, tags)?;
        if pairs.is_empty() {
            return Ok(base);
        }
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        Ok(self.meter.tags(base, &pairs))
    }

    /// Notes a rejected promise, or that somebody handles it after all.
    pub(crate) fn note_rejection<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: &Value<'js>,
        reason: &Value<'js>,
        is_handled: bool,
    ) {
        let seat = self.seat();
        let is_it =
            |known: &Persistent<Value<'static>>| known.clone().restore(ctx).is_ok_and(|known| known == *promise);
        if is_handled {
            seat.rejections.borrow_mut().retain(|(known, _)| !is_it(known));
        } else if !native::is_cancelled() {
            let text = Thrown::new(reason).to_string();
            seat.rejections.borrow_mut().push((Persistent::save(ctx, promise.clone()), text));
        }
    }
}

impl Seat {
    /// A seat for user number `vu`, in its init code.
    pub(crate) fn new(vu: u32) -> Rc<Self> {
        Rc::new(Self {
            vu,
            phase: Cell::new(Phase::Init),
            begun: Cell::new(0),
            begun_in_scenario: Cell::new(0),
            iteration_in_test: Cell::new(0),
            assignment: RefCell::new(None),
            group: RefCell::new(Rc::from("")),
            root_tags: Cell::new(TagSet::RUN),
            tags: Cell::new(TagSet::RUN),
            metadata: RefCell::default(),
            expected: RefCell::new(Some(ExpectedStatuses::default())),
            jar: SharedJar::default(),
            ending: RefCell::new(None),
            rejections: RefCell::default(),
            ran_out: Cell::new(false),
            events: EventLoop::default(),
        })
    }

    /// Whether the iteration is ended from outside of the script, or by a decision that nothing can change.
    pub(crate) fn is_over(&self) -> bool {
        native::is_cancelled() || self.ending.borrow().is_some()
    }

    /// Ends the run for what k6 has and we do not have, since every other iteration would fail alike: no `catch` of
    /// the script sees it. In the init code, which ends the run anyway, it is an ordinary exception.
    pub(crate) fn unsupported(&self, ctx: &Ctx<'_>, sentence: &str) -> rquickjs::Error {
        let error = Exception::throw_message(ctx, sentence);
        if self.phase.get() == Phase::Init {
            return error;
        }
        let thrown = Thrown::catch(ctx, &error);
        let place = thrown.place().map_or(String::new(), |place| format!("{place}: "));
        self.ending.replace(Some(Ending::Unsupported(format!("{place}{sentence}"))));
        native::unwind(ctx)
    }
}

/// The tags in a script's object.
///
/// # Errors
/// A TypeError for values that are neither text nor number nor boolean.
pub(crate) fn tag_pairs<'js>(ctx: &Ctx<'js>, tags: &Value<'js>) -> Result<Vec<(String, String)>> {
    if tags.is_null() || tags.is_undefined() {
        return Ok(Vec::new());
    }
    let Some(object) = tags.as_object() else {
        return Err(Exception::throw_type(ctx, "tags must be an object"));
    };
    let mut pairs = Vec::new();
    for pair in object.props::<String, Value<'js>>() {
        let (key, value) = pair?;
        let value = scalar(ctx, &format!("tag '{key}'"), &value)?;
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// A text, number or boolean as text.
///
/// # Errors
/// A TypeError that names `what` for anything else.
pub(crate) fn scalar(ctx: &Ctx<'_>, what: &str, value: &Value<'_>) -> Result<String> {
    if value.is_string() || value.is_number() || value.is_bool() {
        return text(value);
    }
    let wanted = "a text, a number or a boolean is expected";
    Err(Exception::throw_type(ctx, &format!("{what} is {}: {wanted}", value.type_name())))
}

/// A value as text, as `String(value)` makes it.
///
/// # Errors
/// If its own conversion throws.
pub(crate) fn text(value: &Value<'_>) -> Result<String> {
    let text = match value.as_string() {
        Some(string) => string.to_string(),
        None => value.get::<rquickjs::Coerced<String>>().map(|text| text.0),
    };
    match text {
        // Halves of surrogate pairs, which Rust's text cannot hold, become replacement characters.
        Err(rquickjs::Error::Utf8(_)) => {
            let repair: Function<'_> = value.ctx().eval("(value) => `${value}`.toWellFormed()")?;
            repair.call((value.clone(),))
        }
        text => text,
    }
}

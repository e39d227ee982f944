//! Where samples go: one meter per worker, written to without locks or allocation. Tags are interned once, and for
//! each pair of metric and tags the totals that it counts in are looked up once.

mod blocks;
mod errors;
mod requests;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::FixedState;
use model::expression::{Breaks, Exceedance, Selector};
use model::metric::MetricId;
use model::plan::{Plan, SummaryMode};
use model::record::Level;
use model::summary::{MetricTotal, RequestErrors, Summary, Total};
use model::window::{OTHER, PromiseCount, Window};

use crate::outlet::Outlet;
use crate::progress::Progress;
use blocks::Blocks;
use requests::Endpoints;
pub(crate) use requests::{Endpoint, Finished};

/// An interned set of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagSet(u32);

impl TagSet {
    /// The tags of the run, and nothing else.
    pub const RUN: Self = Self(0);

    /// Counted from 0, without gaps.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How many different tag sets one worker tells apart. Sets beyond it lose the tags that made them new, so that memory
/// stays flat however many values a script invents.
pub const TAG_SETS_MAX: usize = 50_000;

/// How many checks are told apart by one worker; further ones count as `other`.
pub const CHECKS_MAX: usize = 2_000;

/// Bytes of log lines that are kept until they are taken.
const LOG_BYTES_MAX: usize = 16 * 1024 * 1024;
const TAG_SETS_LIMIT: &str = "more than 50,000 different sets of tags: later ones lost the tags that made them new (thresholds and outputs miss them)";
const CHECKS_LIMIT: &str = "more than 2,000 different checks: later ones count as the check `other`";
const ENDPOINTS_LIMIT: &str =
    "more than 200 different request names: later ones count as `other` (give requests a `name` tag)";

/// A log line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub text: String,
}

/// Takes out of a log line what nobody shall see.
type Mask = Rc<dyn Fn(String) -> String>;

/// The samples of one worker. All methods take `&self`, since users, connections and the scheduler of one thread share
/// it; none of them calls back.
pub struct Meter {
    plan: Arc<Plan>,
    progress: Arc<Progress>,
    worker: usize,
    mask: RefCell<Option<Mask>>,
    ids: HashMap<String, MetricId, FixedState>,
    submetrics: Vec<(MetricId, Selector)>,
    exceedances: Vec<Option<(MetricId, Exceedance)>>,
    /// Whether scenarios and groups have totals of their own.
    in_blocks: bool,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    sets: Vec<TagEntry>,
    known: HashMap<Tags, TagSet, FixedState>,
    texts: HashSet<Rc<str>, FixedState>,
    derived: HashMap<(TagSet, u64), Derived, FixedState>,
    totals: Vec<Total>,
    /// Of each total, whether it got a sample: a sum of nothing is not the same as no sample.
    used: Vec<bool>,
    window: Window,
    endpoints: Endpoints,
    checks: Vec<CheckCount>,
    checked: HashMap<(TagSet, u64), usize, FixedState>,
    log: Vec<LogLine>,
    /// Bytes of the log, and lines that were too much for it.
    log_size: (usize, u64),
    errors: BTreeMap<String, RequestErrors>,
    sent_again: u64,
    blocks: Blocks,
    /// Exceptions, and what was too much.
    extra: Summary,
    outlet: Option<Outlet>,
}

type Tags = Rc<[(Rc<str>, Rc<str>)]>;

struct TagEntry {
    tags: Tags,
    sinks: Vec<Option<Sinks>>,
}

/// The answer to an earlier call of [`Meter::tags`] whose arguments hash alike.
struct Derived {
    pairs: Tags,
    set: TagSet,
}

/// A check in one group with one set of tags.
struct CheckCount {
    group: Rc<str>,
    name: Rc<str>,
    tags: TagSet,
    passes: u64,
    fails: u64,
}

/// Where a sample of one metric with one set of tags counts, besides its metric's own total. Most count nowhere else:
/// empty boxes do not allocate.
struct Sinks {
    totals: Box<[u32]>,
    promises: Box<[u32]>,
}

/// The subprotocol of a WebSocket: none is an empty one.
const EMPTY_TAG: &str = "subproto";

impl Meter {
    /// A meter for the metrics, thresholds and promises of `plan`, of a run that nobody knows the progress of.
    pub fn new(plan: Arc<Plan>) -> Rc<Self> {
        Self::of_run(plan, Arc::new(Progress::none()), 0, None)
    }

    /// The meter of one worker of a run; each sample goes to `outlet` too.
    pub(crate) fn of_run(plan: Arc<Plan>, progress: Arc<Progress>, worker: usize, outlet: Option<Outlet>) -> Rc<Self> {
        let ids: HashMap<_, _, _> =
            (0u32..).zip(&plan.metrics).map(|(id, metric)| (metric.name.clone(), MetricId(id))).collect();
        let mut selectors = vec![Selector {
            metric: "http_req_duration".to_owned(),
            tags: vec![("expected_response".to_owned(), "true".to_owned())],
        }];
        for threshold in &plan.thresholds {
            if !threshold.selector.tags.is_empty() && !selectors.contains(&threshold.selector) {
                selectors.push(threshold.selector.clone());
            }
        }
        let with_id = |selector: Selector| Some((*ids.get(&selector.metric)?, selector));
        let submetrics: Vec<_> = selectors.into_iter().filter_map(with_id).collect();
        let exceedance =
            |promise: &model::expression::Promise| Some((*ids.get(&promise.selector.metric)?, promise.exceedance()?));
        let exceedances = plan.promises.iter().map(exceedance).collect();
        let kinds = plan.metrics.iter().map(|metric| metric.kind);
        let sub_kinds = submetrics.iter().map(|(id, _)| plan.metrics[id.0 as usize].kind);
        let totals: Vec<_> = kinds.chain(sub_kinds).map(Total::new).collect();
        let inner = Inner { used: vec![false; totals.len()], totals, outlet, ..Inner::default() };
        let inner = RefCell::new(inner);
        let in_blocks = plan.summary_mode == SummaryMode::Full;
        let mask = RefCell::default();
        let meter = Self { plan, progress, worker, mask, ids, submetrics, exceedances, in_blocks, inner };
        let run =
            meter.plan.tags.iter().map(|(key, value)| (Rc::from(key.as_str()), Rc::from(value.as_str()))).collect();
        meter.inner.borrow_mut().intern(run, meter.plan.metrics.len());
        meter.inner.borrow_mut().window.promises = vec![PromiseCount::default(); meter.plan.promises.len()];
        Rc::new(meter)
    }

    /// The plan it was made for.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Lets `mask` take out of log lines and exceptions what nobody shall see.
    pub fn mask_log(&self, mask: Rc<dyn Fn(String) -> String>) {
        self.mask.replace(Some(mask));
    }

    /// How far the run is, all workers together.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The worker whose meter it is.
    pub(crate) fn worker(&self) -> usize {
        self.worker
    }

    /// The metric of this name.
    pub fn metric(&self, name: &str) -> Option<MetricId> {
        self.ids.get(name).copied()
    }

    /// `base` with `pairs` added or replaced; an empty value removes the tag, unless it is one that k6 gives empty too.
    pub fn tags(&self, base: TagSet, pairs: &[(&str, &str)]) -> TagSet {
        let key = (base, FixedState::default().hash_one(pairs));
        let same = |known: &Tags| {
            known.len() == pairs.len()
                && known.iter().zip(pairs).all(|((k, v), (key, value))| **k == **key && **v == **value)
        };
        if let Some(derived) = self.inner.borrow().derived.get(&key).filter(|derived| same(&derived.pairs)) {
            return derived.set;
        }
        let mut inner = self.inner.borrow_mut();
        let pairs: Tags = pairs.iter().map(|&(key, value)| (inner.text(key), inner.text(value))).collect();
        let mut tags = inner.sets[base.0 as usize].tags.to_vec();
        for (key, value) in pairs.iter() {
            tags.retain(|(known, _)| known != key);
            let is_there = !value.is_empty() || **key == *EMPTY_TAG;
            if is_there && !self.plan.hidden_tags.iter().any(|hidden| **hidden == **key) {
                tags.push((key.clone(), value.clone()));
            }
        }
        tags.sort();
        if inner.sets.len() >= TAG_SETS_MAX && !inner.known.contains_key(tags.as_slice()) {
            inner.limited(TAG_SETS_LIMIT);
            return base;
        }
        let set = inner.intern(tags.into(), self.plan.metrics.len());
        if inner.derived.len() < 2 * TAG_SETS_MAX {
            inner.derived.insert(key, Derived { pairs, set });
        }
        set
    }

    /// The value of a tag.
    pub fn tag(&self, tags: TagSet, key: &str) -> Option<Rc<str>> {
        let inner = self.inner.borrow();
        inner.sets[tags.0 as usize].tags.iter().find(|(known, _)| **known == *key).map(|(_, value)| value.clone())
    }

    /// All tags of a set, by name.
    pub fn all_tags(&self, tags: TagSet) -> Vec<(Rc<str>, Rc<str>)> {
        self.inner.borrow().sets[tags.0 as usize].tags.to_vec()
    }

    /// Adds a sample.
    pub fn add(&self, metric: MetricId, value: f64, tags: TagSet) {
        self.add_answered(metric, value, tags, true);
    }

    /// Adds a sample that belongs to a request; a latency of a request that `answered` wrongly or not at all breaks
    /// every promise on it.
    pub fn add_answered(&self, metric: MetricId, value: f64, tags: TagSet, answered: bool) {
        let inner = &mut *self.inner.borrow_mut();
        inner.stamp();
        self.add_to(inner, metric, value, tags, answered);
    }

    fn add_to(&self, inner: &mut Inner, metric: MetricId, value: f64, tags: TagSet, answered: bool) {
        let entry = &mut inner.sets[tags.0 as usize];
        if let Some(outlet) = &mut inner.outlet {
            outlet.add(metric, value, tags, || shared(&entry.tags));
        }
        let sinks = match &mut entry.sinks[metric.0 as usize] {
            Some(sinks) => sinks,
            missing => {
                let mut sinks = self.sinks(metric, &entry.tags);
                inner.used[metric.0 as usize] = true;
                sinks.totals.iter().for_each(|&total| inner.used[total as usize] = true);
                if self.in_blocks {
                    let kind = self.plan.metrics[metric.0 as usize].kind;
                    let more = inner.blocks.totals_for((metric, kind), &entry.tags, &mut inner.totals);
                    sinks.totals = sinks.totals.iter().copied().chain(more).collect();
                }
                missing.insert(sinks)
            }
        };
        inner.totals[metric.0 as usize].add(value);
        for &total in &sinks.totals {
            inner.totals[total as usize].add(value);
        }
        for &promise in &sinks.promises {
            let Some((_, exceedance)) = self.exceedances[promise as usize] else { continue };
            let broken = match exceedance.breaks {
                Breaks::Over(limit) => value > limit || !answered,
                Breaks::NonZero => value != 0.0,
                Breaks::Zero => value == 0.0,
            };
            let count = &mut inner.window.promises[promise as usize];
            count.samples += 1;
            count.broken += u64::from(broken);
        }
    }

    fn sinks(&self, metric: MetricId, tags: &Tags) -> Sinks {
        let holds = |selector: &Selector| {
            selector.tags.iter().all(|(key, value)| tags.iter().any(|(k, v)| **k == **key && **v == **value))
        };
        let first = self.plan.metrics.len();
        let totals = self.submetrics.iter().enumerate();
        let totals = totals.filter(|(_, (id, selector))| *id == metric && holds(selector));
        let totals = totals.map(|(index, _)| u32::try_from(first + index).expect("few submetrics")).collect();
        let speaks = |(index, of): &(u32, &Option<(MetricId, Exceedance)>)| {
            of.is_some_and(|(id, _)| id == metric) && holds(&self.plan.promises[*index as usize].selector)
        };
        let promises = (0u32..).zip(&self.exceedances).filter(speaks);
        Sinks { totals, promises: promises.map(|(index, _)| index).collect() }
    }

    /// Counts a check in the group that `tags` name, and adds the `checks` sample.
    pub fn check(&self, name: &str, passed: bool, tags: TagSet) {
        let key = (tags, FixedState::default().hash_one(name));
        let known = self.inner.borrow().checked.get(&key).copied();
        let known = known.filter(|&index| *self.inner.borrow().checks[index].name == *name);
        let index = known.unwrap_or_else(|| self.first_check(name, tags, key));
        let inner = &mut *self.inner.borrow_mut();
        let check = &mut inner.checks[index];
        check.passes += u64::from(passed);
        check.fails += u64::from(!passed);
        let tags = check.tags;
        inner.stamp();
        self.add_to(inner, MetricId::CHECKS, f64::from(u8::from(passed)), tags, true);
    }

    fn first_check(&self, name: &str, tags: TagSet, key: (TagSet, u64)) -> usize {
        let group = self.tag(tags, "group").unwrap_or_default();
        let tags = self.tags(tags, &[("check", name)]);
        let mut inner = self.inner.borrow_mut();
        let same = |check: &CheckCount| check.tags == tags && check.group == group && *check.name == *name;
        let known = inner.checks.iter().position(same);
        if known.is_none() && inner.checks.len() >= CHECKS_MAX {
            return inner.other_check();
        }
        let index = known.unwrap_or_else(|| {
            let name = inner.text(name);
            inner.checks.push(CheckCount { group, name, tags, passes: 0, fails: 0 });
            inner.checks.len() - 1
        });
        if inner.checked.len() < TAG_SETS_MAX {
            inner.checked.insert(key, index);
        }
        index
    }

    /// An iteration ended by an exception of this text, to which its place belongs.
    pub fn exception(&self, text: &str) {
        let text = self.masked(text.to_owned());
        self.inner.borrow_mut().extra.threw(&text, 1);
    }

    fn masked(&self, text: String) -> String {
        match &*self.mask.borrow() {
            Some(mask) => mask(text),
            None => text,
        }
    }

    /// Passes on a log line of a script.
    pub fn log(&self, level: Level, text: impl Into<String>) {
        let text = text.into();
        let text = self.masked(text);
        let inner = &mut *self.inner.borrow_mut();
        inner.log_size.0 += text.len();
        if inner.log_size.0 > LOG_BYTES_MAX && !inner.log.is_empty() {
            inner.log_size.1 += 1;
            return;
        }
        inner.log.push(LogLine { level, text });
    }

    /// Takes the log lines that came since the last call.
    pub fn take_log(&self) -> Vec<LogLine> {
        let inner = &mut *self.inner.borrow_mut();
        let (_, lost) = std::mem::take(&mut inner.log_size);
        if lost > 0 {
            let text = format!("{lost} lines of the script are left out here: it logs more than can be kept");
            inner.log.push(LogLine { level: Level::Warn, text });
        }
        std::mem::take(&mut inner.log)
    }

    /// Changes the window that is being filled.
    pub fn window<R>(&self, change: impl FnOnce(&mut Window) -> R) -> R {
        change(&mut self.inner.borrow_mut().window)
    }

    /// Takes the window that was being filled and begins an empty one.
    pub fn take_window(&self) -> Window {
        let mut inner = self.inner.borrow_mut();
        let promises = vec![PromiseCount::default(); self.plan.promises.len()];
        let mut window = std::mem::replace(&mut inner.window, Window { promises, ..Window::default() });
        inner.endpoints.take(&mut window);
        if let Some(outlet) = &mut inner.outlet {
            outlet.flush();
        }
        window
    }

    /// The totals so far: every metric and submetric with a sample or a threshold, and every group.
    pub fn summary(&self) -> Summary {
        let inner = self.inner.borrow();
        let all = self.plan.metrics.iter().map(|metric| Selector::all(&metric.name));
        let selectors = all.chain(self.submetrics.iter().map(|(_, selector)| selector.clone()));
        let wanted = |selector: &Selector| {
            let speaks = |of: &Selector| of == selector || selector.tags.is_empty() && of.metric == selector.metric;
            self.plan.thresholds.iter().any(|rule| speaks(&rule.selector))
        };
        let mut summary = inner.extra.clone();
        // A group is worth a place even if nothing was checked in it.
        let entered = inner.sets.iter().filter(|entry| entry.sinks[MetricId::GROUP_DURATION.0 as usize].is_some());
        let groups = entered.flat_map(|entry| entry.tags.iter().filter(|(key, _)| **key == *"group"));
        groups.for_each(|(_, path)| _ = summary.root.at(path));
        for check in &inner.checks {
            summary.root.at(&check.group).count(&check.name, check.passes, check.fails);
        }
        if inner.endpoints.full {
            summary.limits.insert(ENDPOINTS_LIMIT.to_owned());
        }
        summary.errors.clone_from(&inner.errors);
        summary.sent_again = inner.sent_again;
        for ((selector, total), used) in selectors.zip(&inner.totals).zip(&inner.used) {
            if !used && !wanted(&selector) {
                continue;
            }
            let metric = &self.plan.metrics[self.ids[&selector.metric].0 as usize];
            let (kind, contains) = (metric.kind, metric.contains);
            let total = MetricTotal { selector: selector.clone(), kind, contains, total: total.clone() };
            summary.metrics.insert(selector.to_string(), total);
        }
        if self.in_blocks {
            inner.blocks.write(&mut summary, &self.plan.metrics, &inner.totals);
            for check in &inner.checks {
                let scenario = inner.sets[check.tags.0 as usize].tags.iter().find(|(key, _)| **key == *"scenario");
                let scenario = scenario.map_or("", |(_, value)| value);
                for group in if check.group.is_empty() { vec![""] } else { vec!["", &check.group] } {
                    summary.block(scenario, group).count(&check.name, check.passes, check.fails);
                }
            }
        }
        summary
    }
}

/// The tags in a form that can leave the thread.
fn shared(tags: &Tags) -> model::sample::Tags {
    tags.iter().map(|(key, value)| (Box::from(&**key), Box::from(&**value))).collect()
}

impl Inner {
    /// Samples that come from here on were taken now.
    fn stamp(&mut self) {
        if let Some(outlet) = &mut self.outlet {
            outlet.stamp();
        }
    }

    /// Notes that something was too much to be told apart.
    fn limited(&mut self, sentence: &str) {
        if !self.extra.limits.contains(sentence) {
            self.extra.limits.insert(sentence.to_owned());
        }
    }

    /// The check that stands for all that were too many.
    fn other_check(&mut self) -> usize {
        self.limited(CHECKS_LIMIT);
        let is_other = |check: &CheckCount| check.tags == TagSet::RUN && *check.name == *OTHER;
        self.checks.iter().position(is_other).unwrap_or_else(|| {
            let (group, name) = (self.text(""), self.text(OTHER));
            self.checks.push(CheckCount { group, name, tags: TagSet::RUN, passes: 0, fails: 0 });
            self.checks.len() - 1
        })
    }

    /// One copy of each text, whoever mentions it.
    fn text(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let new: Rc<str> = Rc::from(text);
        if self.texts.len() < 4 * TAG_SETS_MAX {
            self.texts.insert(new.clone());
        }
        new
    }

    fn intern(&mut self, tags: Tags, metrics: usize) -> TagSet {
        if let Some(set) = self.known.get(&tags) {
            return *set;
        }
        let set = TagSet(u32::try_from(self.sets.len()).expect("the number of tag sets is capped"));
        self.sets.push(TagEntry { tags: tags.clone(), sinks: std::iter::repeat_with(|| None).take(metrics).collect() });
        self.known.insert(tags, set);
        set
    }
}

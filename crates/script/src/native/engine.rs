//! Engines and the lanes of users in them. In a shared engine a lane holds the user's own frames, globals and jobs
//! while others run; an engine that belongs to one user needs none of that.

use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

use rquickjs::{Context, Ctx, Runtime, Value};
use rquickjs_sys::{self as qjs, JSContext, JSRuntime};

use super::fiber;
use super::fields::{Fields, FieldsError, Saved};
use super::memory::{Account, Ledger};

/// Stack that code on the thread's own stack may use: the init code of scripts.
const THREAD_STACK_BYTES: usize = 1024 * 1024;

/// How far users are kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Many users in one engine, each with its own globals and module state: a few kilobytes each.
    #[default]
    Shared,
    /// An engine for each user: about two hundred kilobytes each.
    Full,
}

/// An engine could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    /// Users cannot share it.
    #[error(transparent)]
    Fields(#[from] FieldsError),
    /// It does not start.
    #[error("the JavaScript engine does not start")]
    Start(#[from] rquickjs::Error),
}

/// A JavaScript engine. Everything that holds its values must be gone before it is.
pub(crate) struct Engine {
    context: Context,
    /// `None` in an engine that is not shared.
    fields: Option<Fields>,
    ledger: Ledger,
}

impl Engine {
    /// Starts an engine, each of whose users may hold so many bytes.
    ///
    /// # Errors
    /// If it shall be shared and cannot be, or does not start.
    pub(crate) fn new(isolation: Isolation, memory_per_user: usize) -> Result<Self, EngineError> {
        let fields = match isolation {
            Isolation::Shared => Some(Fields::get()?),
            Isolation::Full => None,
        };
        let runtime = Runtime::new()?;
        let context = Context::full(&runtime)?;
        let engine = Self { context, fields, ledger: Ledger::new(memory_per_user) };
        // SAFETY: the runtime is alive; the handler reads nothing but what belongs to the thread and the runtime.
        unsafe { qjs::JS_SetInterruptHandler(engine.raw_runtime(), Some(on_interrupt), null_mut()) };
        Ok(engine)
    }

    /// Runs `f` on the thread's own stack. Not to be called by code that runs in a fiber: it uses [`Self::inside`].
    pub(crate) fn with<R>(&self, f: impl for<'js> FnOnce(&Ctx<'js>) -> R) -> R {
        let here = 0u8;
        let lowest = ((&raw const here) as usize).saturating_sub(THREAD_STACK_BYTES);
        limit_stack(self.raw_runtime(), lowest);
        self.inside(f)
    }

    /// Runs `f` on whatever stack we are.
    pub(super) fn inside<R>(&self, f: impl for<'js> FnOnce(&Ctx<'js>) -> R) -> R {
        // SAFETY: the context is alive and used by this thread alone. The lock of `Context::with` is left out on
        // purpose: it could not be held by several suspended users.
        let ctx = unsafe { Ctx::from_raw(NonNull::new_unchecked(self.raw_context())) };
        f(&ctx)
    }

    /// Calls `track` when a promise is rejected that nobody handles (false), and when somebody does after all (true).
    pub(crate) fn track_rejections(
        &self,
        track: impl for<'js> Fn(&Ctx<'js>, &Value<'js>, &Value<'js>, bool) + 'static,
    ) {
        let tracker: rquickjs::runtime::RejectionTracker =
            Box::new(move |ctx, promise, reason, is_handled| track(&ctx, &promise, &reason, is_handled));
        self.context.runtime().set_host_promise_rejection_tracker(Some(tracker));
    }

    /// Collects cyclic garbage. The engine does so by itself when its heap has grown by half, which with the users of
    /// one realm takes well under a millisecond.
    pub(crate) fn collect(&self) {
        // SAFETY: the runtime is alive, and no user is in the middle of an operation of the engine.
        unsafe { self.ledger.collect(self.raw_runtime()) }
    }

    /// Whether the user who runs holds more memory than it may.
    pub(super) fn is_over_memory(&self) -> bool {
        // SAFETY: the runtime is alive; it is asked for at interrupts and in host calls, where garbage may be collected.
        unsafe { self.ledger.is_over(self.raw_runtime()) }
    }

    /// What one user may hold, in bytes.
    pub(crate) fn memory_per_user(&self) -> usize {
        self.ledger.bound()
    }

    /// Bytes in use and objects alive. Walks the whole heap.
    #[cfg(test)]
    pub(crate) fn usage(&self) -> (i64, i64) {
        // SAFETY: the struct is plain numbers that the call fills in.
        unsafe {
            let mut usage: qjs::JSMemoryUsage = std::mem::zeroed();
            qjs::JS_ComputeMemoryUsage(self.raw_runtime(), &raw mut usage);
            (usage.malloc_size, usage.obj_count)
        }
    }

    /// Gets rid of pending jobs by public calls alone: runs them without stack, so that
    /// whatever they call fails. Jobs that make jobs for ever are left after a while.
    fn starve_jobs(&self) {
        const JOBS_MAX: usize = 10_000;
        self.with(|ctx| {
            limit_stack(self.raw_runtime(), usize::MAX);
            let _ = (0..JOBS_MAX).take_while(|_| ctx.execute_pending_job()).count();
        });
    }

    pub(super) fn raw_context(&self) -> *mut JSContext {
        self.context.as_raw().as_ptr()
    }

    pub(super) fn raw_runtime(&self) -> *mut JSRuntime {
        self.context.get_runtime_ptr()
    }

    pub(super) fn fields(&self) -> Option<Fields> {
        self.fields
    }
}

/// Lets script code use the stack that we are on down to this address.
pub(super) fn limit_stack(runtime: *mut JSRuntime, lowest: usize) {
    let here = 0u8;
    let bytes = ((&raw const here) as usize).saturating_sub(lowest).max(1);
    // SAFETY: the runtime is alive; both calls only set numbers.
    unsafe {
        qjs::JS_SetMaxStackSize(runtime, bytes as qjs::size_t);
        qjs::JS_UpdateStackTop(runtime);
    }
}

/// Called every some thousand steps of script code.
unsafe extern "C" fn on_interrupt(_: *mut JSRuntime, _: *mut c_void) -> c_int {
    c_int::from(!fiber::tick())
}

/// The place of one user in an engine.
pub(crate) struct Lane {
    saved: Option<Box<Saved>>,
    account: Rc<Account>,
    engine: Rc<Engine>,
}

impl Lane {
    /// A lane with globals of its own.
    pub(crate) fn new(engine: &Rc<Engine>) -> Self {
        let context = engine.raw_context();
        // SAFETY: no user is entered while one is made: `enter` does not nest.
        let saved = engine.fields.map(|fields| unsafe { fields.new_state(context) });
        // SAFETY: the runtime is alive.
        let account = unsafe { engine.ledger.open(engine.raw_runtime()) };
        Self { saved, account, engine: engine.clone() }
    }

    /// Runs `f` as this user. Does not nest.
    pub(crate) fn enter<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _settle = Settle::new(&self.engine, &self.account);
        let (Some(fields), Some(saved)) = (self.engine.fields, self.saved.as_mut()) else { return f() };
        let _leave = Leave::new(fields, self.engine.raw_context(), saved);
        f()
    }

    /// Whether the user holds so much memory that it will be at its bound again soon.
    pub(crate) fn holds_much(&self) -> bool {
        self.engine.ledger.holds_much(&self.account)
    }

    /// Drops the promise jobs that are pending, unrun.
    pub(crate) fn drop_jobs(&mut self) {
        let context = self.engine.raw_context();
        match self.saved.as_mut() {
            // SAFETY: the state was made for this context and is not entered, since we hold it mutably.
            Some(saved) => unsafe { Fields::drop_jobs(context, saved) },
            None => self.engine.starve_jobs(),
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if let Some(saved) = self.saved.as_mut() {
            // SAFETY: the state was made for this context and is not entered, since we own it.
            unsafe { Fields::free_state(self.engine.raw_context(), saved) }
        }
        self.engine.ledger.close(&self.account);
    }
}

/// Puts what the engine grows by onto the account of who runs, however the code inside ends.
struct Settle<'engine>(&'engine Engine);

impl<'engine> Settle<'engine> {
    fn new(engine: &'engine Engine, account: &Rc<Account>) -> Self {
        // SAFETY: the engine is alive.
        unsafe { engine.ledger.enter(engine.raw_runtime(), account) };
        Self(engine)
    }
}

impl Drop for Settle<'_> {
    fn drop(&mut self) {
        // SAFETY: the engine is alive.
        unsafe { self.0.ledger.leave(self.0.raw_runtime()) }
    }
}

/// Leaves a lane however the code inside ends.
struct Leave<'lane> {
    fields: Fields,
    context: *mut JSContext,
    saved: &'lane mut Saved,
}

impl<'lane> Leave<'lane> {
    fn new(fields: Fields, context: *mut JSContext, saved: &'lane mut Saved) -> Self {
        // SAFETY: the lane keeps its engine alive; the exchange is undone by `drop`.
        unsafe { fields.exchange(context, saved) };
        Self { fields, context, saved }
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        // SAFETY: undoes the exchange of `new`.
        unsafe { self.fields.exchange(self.context, self.saved) }
    }
}

//! Code on a stack of its own that can stop in the middle of a host call and go on later. A fiber is never dropped
//! while it is suspended: it is cancelled, so that everything on its stack is given back in order.

use std::cell::{Cell, RefCell};
use std::io;
use std::ptr::null;
use std::rc::Rc;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use engine::user::{Answer, Ask, Ending};
use rquickjs::{Ctx, Error, Exception};
use rquickjs_sys as qjs;

use super::engine::{Engine, limit_stack};

/// Virtual stack of a user unless a setting says otherwise: about 700 calls deep, of which a typical user touches two
/// pages.
pub const STACK_BYTES_DEFAULT: usize = 512 * 1024;

/// The least that a stack may have.
pub const STACK_BYTES_MIN: usize = 128 * 1024;

/// Stack kept for host functions below the limit of script code. Unoptimised ones need more.
const HOST_STACK_BYTES: usize = if cfg!(debug_assertions) { 64 * 1024 } else { 24 * 1024 };

/// Interrupts (each some 10,000 calls and loops, a fraction of a millisecond) until a busy user lets others run.
const TICKS_PER_SLICE: u32 = 10;

thread_local! {
    /// The fiber that runs on this thread.
    static RUNNING: Cell<*const Running> = const { Cell::new(null()) };
}

/// What host functions see of the fiber they run in. Lives at the base of its stack.
struct Running {
    yielder: *const Yielder<Answer, Ask>,
    engine: Rc<Engine>,
    lowest: usize,
    ticks: Cell<u32>,
    cancelled: Cell<bool>,
    /// Whether it was cancelled since it holds more memory than it may.
    ran_out: Cell<bool>,
}

/// Stacks that are not in use.
pub(crate) struct StackPool {
    bytes: usize,
    free: RefCell<Vec<DefaultStack>>,
}

impl StackPool {
    /// A pool of stacks of this size.
    pub(crate) fn new(bytes: usize) -> Rc<Self> {
        Rc::new(Self { bytes: bytes.max(STACK_BYTES_MIN), free: RefCell::default() })
    }

    /// Bytes of each stack.
    pub(crate) fn stack_bytes(&self) -> usize {
        self.bytes
    }

    fn take(&self) -> io::Result<DefaultStack> {
        let free = self.free.borrow_mut().pop();
        free.map_or_else(|| DefaultStack::new(self.bytes), Ok)
    }
}

/// What a fiber did.
pub(crate) enum Step {
    /// It asks for something.
    Asks(Ask),
    /// It is over.
    Ends(Ending),
}

/// Code on a stack of its own.
pub(crate) struct Fiber {
    coroutine: Option<Coroutine<Answer, Ask, Ending, DefaultStack>>,
    running: *const Running,
    pool: Rc<StackPool>,
}

impl Fiber {
    /// A fiber that will run `body` in `engine`; the first answer is given to it.
    ///
    /// # Errors
    /// If there is no memory for its stack.
    pub(crate) fn new(
        pool: &Rc<StackPool>,
        engine: Rc<Engine>,
        body: impl for<'js> FnOnce(&Ctx<'js>, Answer) -> Ending + 'static,
    ) -> io::Result<Self> {
        let stack = pool.take()?;
        let lowest = stack.limit().get() + HOST_STACK_BYTES;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<Answer, Ask>, first| {
            let (ticks, cancelled, ran_out) = (Cell::new(0), Cell::new(false), Cell::new(false));
            let running = Running { yielder, engine, lowest, ticks, cancelled, ran_out };
            RUNNING.set(&raw const running);
            limit_stack(running.engine.raw_runtime(), lowest);
            running.engine.inside(|ctx| body(ctx, first))
        });
        Ok(Self { coroutine: Some(coroutine), running: null(), pool: pool.clone() })
    }

    /// Goes on with `answer`.
    ///
    /// # Panics
    /// If it is over.
    pub(crate) fn resume(&mut self, answer: Answer) -> Step {
        let coroutine = self.coroutine.as_mut().expect("a fiber that is over is not resumed");
        let outer = Outer(RUNNING.replace(self.running));
        let result = coroutine.resume(answer);
        self.running = RUNNING.get();
        drop(outer);
        match result {
            CoroutineResult::Yield(ask) => Step::Asks(ask),
            CoroutineResult::Return(ending) => {
                let stack = self.coroutine.take().map(Coroutine::into_stack);
                self.pool.free.borrow_mut().extend(stack);
                Step::Ends(ending)
            }
        }
    }

    /// Whether it is suspended in the middle of something.
    pub(crate) fn is_suspended(&self) -> bool {
        self.coroutine.as_ref().is_some_and(|coroutine| coroutine.started() && !coroutine.done())
    }
}

/// Whoever ran before a fiber was resumed; runs again when that is over, be it by a panic.
struct Outer(*const Running);

impl Drop for Outer {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// Suspends the fiber that runs, to go on with the answer.
///
/// # Errors
/// A TypeError where nothing can be waited for; an error that scripts cannot catch when the user is cancelled.
pub(crate) fn ask(ctx: &Ctx<'_>, ask: Ask) -> Result<Answer, Error> {
    let pointer = RUNNING.get();
    if pointer.is_null() {
        return Err(Exception::throw_type(ctx, "this call waits for something, which is not possible here"));
    }
    // SAFETY: the pointer is set while the fiber that it belongs to runs, and we run on that fiber's stack.
    let running = unsafe { &*pointer };
    if running.cancelled.get() {
        return Err(unwind(ctx));
    }
    if !can_suspend(running) {
        return Err(Exception::throw_type(ctx, "this call waits for something, which is not possible in here"));
    }
    match suspend(running, ask) {
        Answer::Cancel => Err(unwind(ctx)),
        _ if is_out_of_memory(running) => Err(unwind(ctx)),
        answer => Ok(answer),
    }
}

/// Whether the fiber that runs was cancelled.
pub(crate) fn is_cancelled() -> bool {
    let pointer = RUNNING.get();
    // SAFETY: as in `ask`.
    !pointer.is_null() && unsafe { &*pointer }.cancelled.get()
}

/// How much memory the user of the fiber that runs may hold, in bytes, if it was cancelled for holding more.
pub(crate) fn ran_out_of() -> Option<usize> {
    let pointer = RUNNING.get();
    if pointer.is_null() {
        return None;
    }
    // SAFETY: as in `ask`.
    let running = unsafe { &*pointer };
    running.ran_out.get().then(|| running.engine.memory_per_user())
}

/// Cancels who holds more memory than it may.
fn is_out_of_memory(running: &Running) -> bool {
    if !running.cancelled.get() && running.engine.is_over_memory() {
        running.ran_out.set(true);
        running.cancelled.set(true);
    }
    running.ran_out.get()
}

/// Throws what no `catch` and no `finally` of a script sees.
pub(crate) fn unwind(ctx: &Ctx<'_>) -> Error {
    let _ = Exception::throw_internal(ctx, "interrupted");
    let error = ctx.catch();
    // SAFETY: the value is an error object that was just made.
    unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), error.as_raw()) };
    ctx.throw(error)
}

/// Counts an interrupt, and lets others run when it is time. False if the script must stop.
pub(super) fn tick() -> bool {
    let pointer = RUNNING.get();
    if pointer.is_null() {
        return true;
    }
    // SAFETY: as in `ask`.
    let running = unsafe { &*pointer };
    running.ticks.set(running.ticks.get() + 1);
    if running.ticks.get() >= TICKS_PER_SLICE && !running.cancelled.get() && can_suspend(running) {
        suspend(running, Ask::Yield);
    }
    !running.cancelled.get() && !is_out_of_memory(running)
}

fn can_suspend(running: &Running) -> bool {
    let engine = &running.engine;
    // SAFETY: the engine is alive: the fiber holds it.
    engine.fields().is_none_or(|fields| unsafe { fields.can_switch(engine.raw_context()) })
}

fn suspend(running: &Running, ask: Ask) -> Answer {
    running.ticks.set(0);
    // SAFETY: the yielder lives at the base of the stack we are on.
    let answer = unsafe { &*running.yielder }.suspend(ask);
    limit_stack(running.engine.raw_runtime(), running.lowest);
    if matches!(answer, Answer::Cancel) {
        running.cancelled.set(true);
    }
    answer
}

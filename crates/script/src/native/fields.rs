//! The private fields of quickjs-ng 0.16.2 that hold what belongs to the user who runs: its chain of frames, its
//! globals and its pending jobs. Found and verified once per process on a trial engine; whatever looks different is an
//! error, upon which engines are not shared.

use std::ffi::{CStr, c_int, c_void};
use std::mem::offset_of;
use std::ptr::{self, null_mut};
use std::sync::OnceLock;

use rquickjs_sys::{self as qjs, JSContext, JSRuntime, JSValue};

/// The version that the layout below was read from.
const VERSION: &CStr = c"0.16.2";

/// Words of `JSContext` that are surely there: the field we look for lies before them.
const CONTEXT_WORDS: usize = 80;

/// The private layout is not what this program was made for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the JavaScript engine is not laid out as expected: {0}")]
pub(crate) struct FieldsError(pub(crate) String);

/// Where the fields lie, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    /// `JSRuntime.stack_size`; the others of the runtime follow at fixed distances.
    stack_size: usize,
    /// `JSContext.global_obj`; `global_var_obj` follows.
    global: usize,
}

/// `struct list_head` of the engine's C code.
#[repr(C)]
#[derive(Clone, Copy)]
struct List {
    next: *mut List,
    previous: *mut List,
}

/// `JSJobEntry` of the engine's C code; `argc` values follow.
#[repr(C)]
struct Job {
    link: List,
    context: *mut JSContext,
    function: qjs::JSJobFunc,
    argc: c_int,
    arguments: [JSValue; 0],
}

/// What a user keeps of its own while it does not run. Never moves while in use: the list head points to itself.
pub(super) struct Saved {
    frame: *mut c_void,
    global: JSValue,
    global_variables: JSValue,
    jobs: List,
}

impl Fields {
    /// The layout, verified.
    pub(super) fn get() -> Result<Self, FieldsError> {
        static FOUND: OnceLock<Result<Fields, FieldsError>> = OnceLock::new();
        FOUND.get_or_init(|| probe(VERSION)).clone()
    }

    fn frame(self) -> usize {
        self.stack_size + 48
    }

    fn is_building_stack_trace(self) -> usize {
        self.stack_size + 41
    }

    fn parent_promise(self) -> usize {
        self.stack_size + 88
    }

    fn jobs(self) -> usize {
        self.stack_size + 112
    }

    /// A user's own state: an empty chain of frames, no jobs, and a global object whose prototype is the shared one.
    ///
    /// # Safety
    /// `context` is alive, and no user's state is in it.
    pub(super) unsafe fn new_state(self, context: *mut JSContext) -> Box<Saved> {
        // SAFETY: the context is alive; the fields were verified by the probe. All values are owned by `Saved`.
        unsafe {
            let shared = qjs::JS_GetGlobalObject(context);
            let global = qjs::JS_NewObjectProto(context, shared);
            qjs::JS_FreeValue(context, shared);
            let itself = qjs::JS_DupValue(context, global);
            let flags = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE;
            let flags = c_int::try_from(flags).expect("property flags are small");
            qjs::JS_DefinePropertyValueStr(context, global, c"globalThis".as_ptr(), itself, flags);
            let variables = *at::<JSValue>(context.cast(), self.global + size_of::<JSValue>());
            let global_variables = qjs::JS_DupValue(context, variables);
            let jobs = List { next: null_mut(), previous: null_mut() };
            let mut saved = Box::new(Saved { frame: null_mut(), global, global_variables, jobs });
            empty(&raw mut saved.jobs);
            saved
        }
    }

    /// Exchanges the state in the engine with `saved`: once to enter a user and once to leave it.
    ///
    /// # Safety
    /// `context` is alive and `saved` was made for it; entering and leaving nest.
    pub(super) unsafe fn exchange(self, context: *mut JSContext, saved: &mut Saved) {
        // SAFETY: the probe has verified that the fields lie where we write and hold what we exchange.
        unsafe {
            let runtime = qjs::JS_GetRuntime(context);
            ptr::swap(at(runtime.cast(), self.frame()), &raw mut saved.frame);
            ptr::swap(at(context.cast(), self.global), &raw mut saved.global);
            let variables = at(context.cast(), self.global + size_of::<JSValue>());
            ptr::swap(variables, &raw mut saved.global_variables);
            exchange_lists(at(runtime.cast(), self.jobs()), &raw mut saved.jobs);
        }
    }

    /// Gives up what `saved` holds, its pending jobs unrun.
    ///
    /// # Safety
    /// `context` is the one that `saved` was made for, and is alive; `saved` is not entered.
    pub(super) unsafe fn free_state(context: *mut JSContext, saved: &mut Saved) {
        // SAFETY: the values are owned by `saved` and given up once; the list belongs to it alone.
        unsafe {
            free_jobs(context, &raw mut saved.jobs);
            qjs::JS_FreeValue(context, std::mem::replace(&mut saved.global, qjs::JS_UNDEFINED));
            qjs::JS_FreeValue(context, std::mem::replace(&mut saved.global_variables, qjs::JS_UNDEFINED));
        }
    }

    /// Drops the jobs that a user who is not entered has pending.
    ///
    /// # Safety
    /// As for [`Self::free_state`].
    pub(super) unsafe fn drop_jobs(context: *mut JSContext, saved: &mut Saved) {
        // SAFETY: the list belongs to `saved` alone.
        unsafe { free_jobs(context, &raw mut saved.jobs) }
    }

    /// Whether the engine is in none of the short states that only one user can be in.
    ///
    /// # Safety
    /// `runtime` is alive.
    pub(super) unsafe fn can_switch(self, context: *mut JSContext) -> bool {
        // SAFETY: both fields were verified by the probe and are only read.
        unsafe {
            let runtime = qjs::JS_GetRuntime(context);
            !qjs::JS_HasException(context)
                && *at::<u8>(runtime.cast(), self.is_building_stack_trace()) == 0
                && (*at::<*mut c_void>(runtime.cast(), self.parent_promise())).is_null()
        }
    }
}

/// # Safety
/// A `T` lies at `offset` bytes behind `base`.
unsafe fn at<T>(base: *mut c_void, offset: usize) -> *mut T {
    // SAFETY: promised by the caller.
    unsafe { base.cast::<u8>().add(offset).cast() }
}

unsafe fn empty(list: *mut List) {
    // SAFETY: only called for list heads that are alive.
    unsafe { *list = List { next: list, previous: list } }
}

/// Makes the neighbours of a head that was moved point to it.
unsafe fn adopt(list: *mut List) {
    // SAFETY: only called for heads of lists that are not empty, whose links are alive.
    unsafe {
        (*(*list).next).previous = list;
        (*(*list).previous).next = list;
    }
}

unsafe fn settle(list: *mut List, is_empty: bool) {
    // SAFETY: as for the two.
    unsafe {
        if is_empty {
            empty(list);
        } else {
            adopt(list);
        }
    }
}

unsafe fn exchange_lists(a: *mut List, b: *mut List) {
    // SAFETY: both are heads of intrusive lists; a head that ends up empty points to itself.
    unsafe {
        let (a_is_empty, b_is_empty) = ((*a).next == a, (*b).next == b);
        if a_is_empty && b_is_empty {
            return;
        }
        ptr::swap(a, b);
        settle(a, b_is_empty);
        settle(b, a_is_empty);
    }
}

unsafe fn free_jobs(context: *mut JSContext, list: *mut List) {
    // SAFETY: every link of the list is the first field of a job that the engine allocated with its `js_malloc`; the
    // job owns its arguments, not its context.
    unsafe {
        let mut link = (*list).next;
        empty(list);
        while link != list {
            let job = link.cast::<Job>();
            link = (*link).next;
            let arguments = (&raw mut (*job).arguments).cast::<JSValue>();
            for index in 0..usize::try_from((*job).argc).unwrap_or(0) {
                qjs::JS_FreeValue(context, *arguments.add(index));
            }
            qjs::js_free(context, job.cast());
        }
    }
}

fn probe(version: &CStr) -> Result<Fields, FieldsError> {
    // SAFETY: `JS_GetVersion` returns a constant C string.
    let found = unsafe { CStr::from_ptr(qjs::JS_GetVersion()) };
    check(found == version, || format!("its version is {found:?}, not {version:?}"))?;
    check(size_of::<usize>() == 8 && size_of::<JSValue>() == 16, || "it is not a 64-bit little-endian build".into())?;
    // SAFETY: both are fresh, used only here, and freed in the order that the engine asks for.
    unsafe {
        let runtime = qjs::JS_NewRuntime();
        check(!runtime.is_null(), || "no memory for a trial".into())?;
        let context = qjs::JS_NewContext(runtime);
        let fields =
            if context.is_null() { Err(FieldsError("no memory for a trial".into())) } else { find(runtime, context) };
        let fields = fields.and_then(|fields| verify(fields, runtime, context).map(|()| fields));
        if !context.is_null() {
            qjs::JS_FreeContext(context);
        }
        // A layout that is not ours may have been left with our marks in it: freeing it could go wrong, so keep it.
        if fields.is_ok() {
            qjs::JS_FreeRuntime(runtime);
        }
        fields
    }
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), FieldsError> {
    if holds { Ok(()) } else { Err(FieldsError(what())) }
}

unsafe extern "C" fn never_interrupts(_: *mut JSRuntime, _: *mut c_void) -> c_int {
    0
}

/// Looks for the stack size by giving it a value that nothing else has, and for the pointer to the global object.
unsafe fn find(runtime: *mut JSRuntime, context: *mut JSContext) -> Result<Fields, FieldsError> {
    const MARK: usize = 0x0051_3a7b_2c68;
    // SAFETY: reads stay within the block that malloc gave for the runtime, and within a part of the context that is
    // there in every build of this version.
    unsafe {
        qjs::JS_SetMaxStackSize(runtime, MARK as qjs::size_t);
        let words = libc::malloc_usable_size(runtime.cast()) / 8;
        let word = |index: usize| runtime.cast::<usize>().add(index);
        let mark = (0..words.saturating_sub(20)).find(|&index| *word(index) == MARK);
        let mark = mark.ok_or_else(|| FieldsError("the stack size was not found".into()))?;
        check(*word(mark + 2) == (*word(mark + 1)).wrapping_sub(MARK), || "the stack limit was not found".into())?;
        qjs::JS_SetMaxStackSize(runtime, 0);
        let global = qjs::JS_GetGlobalObject(context);
        let pointer = qjs::JS_VALUE_GET_PTR(global) as usize;
        qjs::JS_FreeValue(context, global);
        let word = |index: usize| context.cast::<usize>().add(index);
        let tag = qjs::JS_TAG_OBJECT as usize;
        let is_global = |&index: &usize| *word(index) == pointer && *word(index + 1) == tag;
        let global = (0..CONTEXT_WORDS).find(is_global);
        let global = global.ok_or_else(|| FieldsError("the global object was not found".into()))?;
        Ok(Fields { stack_size: mark * 8, global: global * 8 })
    }
}

/// Verifies each field by an effect that the public interface has on it.
unsafe fn verify(fields: Fields, runtime: *mut JSRuntime, context: *mut JSContext) -> Result<(), FieldsError> {
    // SAFETY: the offsets lie within the runtime, since a stack size with the limit behind it was found there; fields
    // are only read until each is known to be what it should be.
    unsafe {
        let word = |offset: usize| *at::<usize>(runtime.cast(), offset);
        let mark = 0x1234_5678usize;
        qjs::JS_SetInterruptHandler(runtime, Some(never_interrupts), mark as *mut c_void);
        let handler = (word(fields.stack_size + 56), word(fields.stack_size + 64));
        qjs::JS_SetInterruptHandler(runtime, None, null_mut());
        let expected: unsafe extern "C" fn(*mut JSRuntime, *mut c_void) -> c_int = never_interrupts;
        check(handler == (expected as usize, mark), || "the interrupt handler was not found".into())?;

        let jobs = at::<List>(runtime.cast(), fields.jobs());
        check((*jobs).next == jobs && (*jobs).previous == jobs, || "the list of jobs was not found".into())?;
        verify_job(jobs, context)?;

        let exception = *at::<i64>(runtime.cast(), fields.stack_size + 32);
        check(exception == i64::from(qjs::JS_TAG_UNINITIALIZED), || "the exception was not found".into())?;
        check(word(fields.frame()) == 0, || "the frame was not found".into())?;
        check(word(fields.parent_promise()) == 0, || "the parent promise was not found".into())?;
        check(fields.can_switch(context), || "a fresh engine cannot be switched".into())?;
        verify_exchange(fields, context)
    }
}

/// A job must lie in the list with everything where it is freed from.
unsafe fn verify_job(jobs: *mut List, context: *mut JSContext) -> Result<(), FieldsError> {
    unsafe extern "C" fn job(_: *mut JSContext, _: c_int, _: *mut JSValue) -> JSValue {
        qjs::JS_UNDEFINED
    }
    // SAFETY: `jobs` was verified to be an empty list; the one job in it was made here and is freed here.
    unsafe {
        let mut argument = qjs::JS_NewObject(context);
        qjs::JS_EnqueueJob(context, Some(job), 1, &raw mut argument);
        let entry = (*jobs).next.cast::<Job>();
        let first = *at::<JSValue>(entry.cast(), offset_of!(Job, arguments));
        let given = qjs::JS_VALUE_GET_PTR(first) == qjs::JS_VALUE_GET_PTR(argument);
        let is_same = (*entry).context == context && (*entry).argc == 1 && given;
        qjs::JS_FreeValue(context, argument);
        check(is_same && (*jobs).previous.cast() == entry, || "a job is not laid out as expected".into())?;
        free_jobs(context, jobs);
        check(!qjs::JS_IsJobPending(qjs::JS_GetRuntime(context)), || "a job could not be taken back".into())
    }
}

/// A user's own global must be what code sees inside, and not outside; the frame must lie on this stack in a call.
unsafe fn verify_exchange(fields: Fields, context: *mut JSContext) -> Result<(), FieldsError> {
    unsafe extern "C" fn frame(context: *mut JSContext, _: JSValue, _: c_int, argv: *mut JSValue) -> JSValue {
        // SAFETY: called by the engine with one argument: the offset of the frame.
        unsafe {
            let offset = usize::try_from(qjs::JS_VALUE_GET_INT(*argv)).unwrap_or(0);
            let frame = *at::<usize>(qjs::JS_GetRuntime(context).cast(), offset);
            let here = (&raw const offset) as usize;
            if frame.abs_diff(here) < 64 * 1024 { qjs::JS_TRUE } else { qjs::JS_FALSE }
        }
    }
    let evaluate = |code: &CStr| {
        // SAFETY: evaluates constant code in a context that is alive.
        unsafe {
            let flags = c_int::try_from(qjs::JS_EVAL_TYPE_GLOBAL).expect("evaluation flags are small");
            let length = code.to_bytes().len() as qjs::size_t;
            let result = qjs::JS_Eval(context, code.as_ptr(), length, c"probe".as_ptr(), flags);
            let truth = qjs::JS_VALUE_GET_TAG(result) == qjs::JS_TAG_BOOL && qjs::JS_VALUE_GET_BOOL(result);
            qjs::JS_FreeValue(context, result);
            truth
        }
    };
    // SAFETY: all values are made and freed here; entering and leaving nest.
    unsafe {
        let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
        let function = qjs::JS_NewCFunction2(context, Some(frame), c"probe".as_ptr(), 1, kind, 0);
        let offset = i32::try_from(fields.frame()).expect("the runtime is a few hundred bytes");
        let mut offset = qjs::JS_MKVAL(qjs::JS_TAG_INT, offset);
        let result = qjs::JS_Call(context, function, qjs::JS_UNDEFINED, 1, &raw mut offset);
        let is_frame = qjs::JS_VALUE_GET_TAG(result) == qjs::JS_TAG_BOOL && qjs::JS_VALUE_GET_BOOL(result);
        qjs::JS_FreeValue(context, result);
        qjs::JS_FreeValue(context, function);
        check(is_frame, || "the frame of a running call was not found".into())?;

        let mut saved = fields.new_state(context);
        fields.exchange(context, &mut saved);
        let inside = evaluate(c"globalThis.probe = 1; Promise.resolve().then(() => {}); probe === 1 && !!Math");
        let job_inside = qjs::JS_IsJobPending(qjs::JS_GetRuntime(context));
        fields.exchange(context, &mut saved);
        let outside = evaluate(c"typeof probe === 'undefined'");
        let job_outside = qjs::JS_IsJobPending(qjs::JS_GetRuntime(context));
        Fields::free_state(context, &mut saved);
        check(inside && outside, || "globals could not be exchanged".into())?;
        check(job_inside && !job_outside, || "jobs could not be exchanged".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_as_expected() {
        assert_eq!(Fields::get(), probe(VERSION));
        assert!(Fields::get().is_ok(), "{:?}", Fields::get());
    }

    #[test]
    fn another_version_is_an_error_and_no_crash() {
        let error = probe(c"0.99").unwrap_err().to_string();
        assert!(error.contains("version is \"0.16.2\", not \"0.99\""), "{error}");
    }

    #[test]
    fn lists_are_exchanged_whatever_is_in_them() {
        // SAFETY: the links live on this stack for the whole test.
        unsafe {
            let mut heads = [List { next: null_mut(), previous: null_mut() }; 2];
            let mut link = List { next: null_mut(), previous: null_mut() };
            let (a, b) = (&raw mut heads[0], &raw mut heads[1]);
            let link = &raw mut link;
            empty(a);
            empty(b);
            *a = List { next: link, previous: link };
            *link = List { next: a, previous: a };
            for (full, other) in [(b, a), (a, b)] {
                exchange_lists(a, b);
                assert!((*full).next == link && (*full).previous == link && (*link).next == full);
                assert!((*link).previous == full && (*other).next == other && (*other).previous == other);
            }
        }
    }
}

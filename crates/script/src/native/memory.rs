//! How much memory each user of an engine holds, and a bound for it. What the engine's heap grows by while a user runs
//! is that user's. Costs nothing while a script runs: the heap's size is a field of the engine, read when a user is
//! entered, when it is left, and at interrupts. Ends nobody by itself: it says who is over the bound.
//!
//! These figures are estimates, since garbage in cycles is collected while somebody else may run. Before they are held
//! against a user, garbage is collected, and all of them are scaled to what the heap then has.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::OnceLock;

use rquickjs_sys::{self as qjs, JSRuntime};

/// What one user may hold unless a setting says otherwise.
pub const MEMORY_PER_USER_BYTES_DEFAULT: usize = 256 * 1024 * 1024;

/// What is left to a user that holds more than it may, so that it can end.
const SLACK_BYTES: usize = 1024 * 1024;

thread_local! {
    /// Bytes outside of the engines that objects of scripts hold on this thread.
    static OUTSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Bytes outside of the engine that an object of a script holds: the body of a response.
#[derive(Debug)]
pub(crate) struct HeldBytes(usize);

impl HeldBytes {
    /// Counts so many bytes until it is dropped.
    pub(crate) fn new(bytes: usize) -> Self {
        OUTSIDE.set(OUTSIDE.get() + bytes);
        Self(bytes)
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        OUTSIDE.set(OUTSIDE.get().saturating_sub(self.0));
    }
}

/// Where the engine counts the bytes of its heap, in bytes from the beginning of its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gauge(usize);

impl Gauge {
    /// The gauge, verified; `None` if the engine is not laid out as expected, upon which single allocations alone are
    /// bounded.
    fn get() -> Option<Self> {
        static FOUND: OnceLock<Option<Gauge>> = OnceLock::new();
        *FOUND.get_or_init(probe)
    }

    /// # Safety
    /// `runtime` is alive.
    unsafe fn read(self, runtime: *mut JSRuntime) -> usize {
        // SAFETY: the probe has verified the place; it is only read.
        unsafe { *runtime.cast::<u8>().add(self.0).cast() }
    }
}

/// Looks for the limit of the heap by giving it a value that nothing else has: the size lies before it.
fn probe() -> Option<Gauge> {
    const MARK: usize = 0x0073_1c5d_2e49;
    // SAFETY: the runtime is fresh and used only here; reads stay within the block that malloc gave for it.
    unsafe {
        let runtime = qjs::JS_NewRuntime();
        if runtime.is_null() {
            return None;
        }
        qjs::JS_SetMemoryLimit(runtime, MARK as qjs::size_t);
        let words = libc::malloc_usable_size(runtime.cast::<c_void>()) / 8;
        let mark = (1..words).find(|&index| *runtime.cast::<usize>().add(index) == MARK);
        qjs::JS_SetMemoryLimit(runtime, 0);
        let gauge = mark.map(|mark| Gauge((mark - 1) * 8)).filter(|gauge| gauge.agrees(runtime));
        qjs::JS_FreeRuntime(runtime);
        gauge
    }
}

impl Gauge {
    /// Whether it shows what the engine's own statistics show, before and behind an allocation.
    ///
    /// # Safety
    /// `runtime` is alive.
    unsafe fn agrees(self, runtime: *mut JSRuntime) -> bool {
        // SAFETY: promised by the caller; the statistics are plain numbers that the call fills in.
        unsafe {
            let matches = || {
                let mut usage: qjs::JSMemoryUsage = std::mem::zeroed();
                qjs::JS_ComputeMemoryUsage(runtime, &raw mut usage);
                usize::try_from(usage.malloc_size) == Ok(self.read(runtime))
            };
            let before = matches();
            let block = qjs::js_malloc_rt(runtime, 100_000);
            let behind = matches();
            qjs::js_free_rt(runtime, block);
            before && behind
        }
    }
}

/// What one user holds, as far as that is known.
#[derive(Debug)]
pub(super) struct Account {
    held: Cell<usize>,
    /// From how much on it is looked at closely.
    suspicious: Cell<usize>,
}

/// The accounts of the users of one engine.
pub(super) struct Ledger {
    gauge: Option<Gauge>,
    bound: usize,
    accounts: RefCell<Vec<Rc<Account>>>,
    running: RefCell<Option<Rc<Account>>>,
    /// All bytes when the user who runs was entered.
    entered_at: Cell<usize>,
    /// All bytes before the first user.
    base: Cell<usize>,
}

impl Ledger {
    /// A ledger without users, each of whom may hold so many bytes.
    pub(super) fn new(bound: usize) -> Self {
        let (accounts, running) = (RefCell::default(), RefCell::default());
        let (entered_at, base) = (Cell::default(), Cell::default());
        Self { gauge: Gauge::get(), bound, accounts, running, entered_at, base }
    }

    /// The bound, in bytes.
    pub(super) fn bound(&self) -> usize {
        self.bound
    }

    /// An account for one more user.
    ///
    /// # Safety
    /// `runtime` is alive and that of this ledger, here and below.
    pub(super) unsafe fn open(&self, runtime: *mut JSRuntime) -> Rc<Account> {
        let mut accounts = self.accounts.borrow_mut();
        if accounts.is_empty() {
            // SAFETY: promised by the caller.
            self.base.set(unsafe { self.total(runtime) });
        }
        let account = Rc::new(Account { held: Cell::new(0), suspicious: Cell::new(self.bound / 2) });
        accounts.push(account.clone());
        account
    }

    /// The user is gone.
    pub(super) fn close(&self, account: &Rc<Account>) {
        self.accounts.borrow_mut().retain(|known| !Rc::ptr_eq(known, account));
    }

    /// From now on this user runs. It cannot allocate much more than it may hold.
    ///
    /// # Safety
    /// As for [`Self::open`].
    pub(super) unsafe fn enter(&self, runtime: *mut JSRuntime, account: &Rc<Account>) {
        // SAFETY: promised by the caller; the limit is only a number.
        unsafe {
            self.entered_at.set(self.total(runtime));
            let most = self.bound + self.bound / 4;
            let left = most.saturating_sub(account.held.get()).max(SLACK_BYTES);
            let heap = self.gauge.map_or(0, |gauge| gauge.read(runtime));
            qjs::JS_SetMemoryLimit(runtime, heap.saturating_add(left) as qjs::size_t);
        }
        self.running.replace(Some(account.clone()));
    }

    /// The user who ran does not run any more.
    ///
    /// # Safety
    /// As for [`Self::open`].
    pub(super) unsafe fn leave(&self, runtime: *mut JSRuntime) {
        // SAFETY: promised by the caller; without a limit what is no user's code runs.
        unsafe {
            self.settle(runtime);
            qjs::JS_SetMemoryLimit(runtime, 0);
        }
        self.running.replace(None);
    }

    /// Whether the user who runs holds more than it may. If so it has no limit any more: it is to end.
    ///
    /// # Safety
    /// As for [`Self::open`]; no code runs that the collection of garbage would disturb.
    pub(super) unsafe fn is_over(&self, runtime: *mut JSRuntime) -> bool {
        let Some(account) = self.running.borrow().clone() else { return false };
        // SAFETY: promised by the caller.
        unsafe {
            self.settle(runtime);
            if account.held.get() <= account.suspicious.get() {
                return false;
            }
            self.collect(runtime);
            let held = account.held.get();
            account.suspicious.set((self.bound / 2).max(held + self.bound / 8));
            if held > self.bound {
                qjs::JS_SetMemoryLimit(runtime, 0);
            }
            held > self.bound
        }
    }

    /// Whether what a user holds is so much that it will be at its bound again soon.
    pub(super) fn holds_much(&self, account: &Account) -> bool {
        account.held.get() > self.bound / 2
    }

    /// Collects garbage, and makes the accounts agree with what is left.
    ///
    /// # Safety
    /// As for [`Self::is_over`].
    pub(super) unsafe fn collect(&self, runtime: *mut JSRuntime) {
        // SAFETY: promised by the caller. Values on suspended stacks own counted references, so that the collector
        // needs to see none of them.
        let total = unsafe {
            self.settle(runtime);
            qjs::JS_RunGC(runtime);
            self.settle(runtime);
            self.total(runtime).saturating_sub(self.base.get())
        };
        let accounts = self.accounts.borrow();
        let sum: usize = accounts.iter().map(|account| account.held.get()).sum();
        if sum > total {
            let share = total as f64 / sum as f64;
            accounts.iter().for_each(|account| account.held.set((account.held.get() as f64 * share) as usize));
        }
    }

    /// Puts what has changed since the last look onto the account of who runs.
    unsafe fn settle(&self, runtime: *mut JSRuntime) {
        // SAFETY: promised by the caller.
        let total = unsafe { self.total(runtime) };
        let before = self.entered_at.replace(total);
        if let Some(account) = &*self.running.borrow() {
            account.held.set((account.held.get() + total).saturating_sub(before));
        }
    }

    unsafe fn total(&self, runtime: *mut JSRuntime) -> usize {
        // SAFETY: promised by the caller.
        self.gauge.map_or(0, |gauge| unsafe { gauge.read(runtime) }) + OUTSIDE.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gauge_is_found() {
        assert!(Gauge::get().is_some());
        assert_eq!(Gauge::get(), probe());
    }

    #[test]
    fn figures_that_garbage_has_made_too_large_are_scaled_to_what_is_there() {
        // SAFETY: the runtime is used only here, and freed once.
        unsafe {
            let runtime = qjs::JS_NewRuntime();
            let ledger = Ledger::new(10_000_000);
            let (hog, idler) = (ledger.open(runtime), ledger.open(runtime));
            // What others have collected meanwhile still stands on both accounts.
            hog.held.set(6_000_000);
            idler.held.set(2_000_000);
            ledger.enter(runtime, &hog);
            let block = qjs::js_malloc_rt(runtime, 4_500_000);
            assert!(!block.is_null() && qjs::js_malloc_rt(runtime, 4_500_000).is_null(), "the limit holds");
            assert!(!ledger.is_over(runtime), "only 4,500,000 bytes are there");
            assert!((3_000_000..4_600_000).contains(&hog.held.get()), "{}", hog.held.get());
            assert!(idler.held.get() < 1_100_000, "{}", idler.held.get());
            ledger.leave(runtime);
            ledger.enter(runtime, &hog);
            let more = qjs::js_malloc_rt(runtime, 6_500_000);
            assert!(!more.is_null() && ledger.is_over(runtime));
            qjs::js_free_rt(runtime, block);
            qjs::js_free_rt(runtime, more);
            ledger.leave(runtime);
            assert!(!ledger.holds_much(&hog), "{}", hog.held.get());
            ledger.close(&hog);
            assert_eq!(ledger.accounts.borrow().len(), 1);
            qjs::JS_FreeRuntime(runtime);
        }
    }
}

//! A large stack for work of the host that may go deep: users have little of it. What runs there must not touch the
//! JavaScript engine and cannot wait.

use std::cell::RefCell;

use corosensei::stack::DefaultStack;

const STACK_BYTES: usize = 1024 * 1024;

thread_local! {
    /// One stack for each thread, unless it is in use.
    static STACK: RefCell<Option<DefaultStack>> = const { RefCell::new(None) };
}

/// Runs `work` on a large stack, or on this one if there is no memory for it.
pub(crate) fn with_room<R>(work: impl FnOnce() -> R) -> R {
    let stack = STACK.with(RefCell::take).or_else(|| DefaultStack::new(STACK_BYTES).ok());
    let Some(mut stack) = stack else { return work() };
    let result = corosensei::on_stack(&mut stack, work);
    STACK.with(|kept| kept.replace(Some(stack)));
    result
}

//! The only unsafe code of this room: many users in one JavaScript engine, each on a stack of its own. Knows nothing
//! of k6 and of scripts; everything it lets out is safe to use.
//!
//! The layers: [`fields`] finds and exchanges private fields of the engine, [`engine`] owns engines and the lane of
//! each user in one, [`memory`] knows what each of them holds, [`fiber`] runs code on a stack of its own and suspends it
//! in the middle of a host call.
#![expect(unsafe_code, reason = "the engine has no public way to hold several suspended users; see decision 0002")]

mod bytes;
mod engine;
mod fiber;
mod fields;
mod memory;
mod roomy;

pub(crate) use bytes::{copy_bytes, copy_view, is_binary};
pub use engine::Isolation;
pub(crate) use engine::{Engine, EngineError, Lane};
pub(crate) use fiber::{Fiber, StackPool, Step, ask, is_cancelled, ran_out_of, unwind};
pub use fiber::{STACK_BYTES_DEFAULT, STACK_BYTES_MIN};
#[cfg(test)]
pub(crate) use fields::FieldsError;
pub(crate) use memory::HeldBytes;
pub use memory::MEMORY_PER_USER_BYTES_DEFAULT;
pub(crate) use roomy::with_room;

/// Marks a type without JavaScript values in it as something that a JavaScript object may hold.
macro_rules! holds_no_javascript {
    ($type:ty) => {
        // SAFETY: the type has no lifetime parameter, so there is none to get wrong.
        unsafe impl<'js> rquickjs::JsLifetime<'js> for $type {
            type Changed<'to> = $type;
        }
    };
}
holds_no_javascript!(crate::k6::GrpcClient);
holds_no_javascript!(crate::k6::GrpcStreamHandle);
holds_no_javascript!(crate::k6::HtmlPage);
holds_no_javascript!(crate::k6::HttpResponse);
holds_no_javascript!(crate::k6::CookieJar);
holds_no_javascript!(crate::k6::SocketHandle);

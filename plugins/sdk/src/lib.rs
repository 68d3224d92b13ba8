//! Write step types and output mappers for Stepwell in Rust.
//!
//! A plugin is a pure function: it gets its configuration, its own state and one event, and returns its next
//! state and a list of effects. Implement [`Step`] or [`Mapper`], then name the type in [`export_step!`] or
//! [`export_mapper!`]. Everything compiles natively too, so that a plugin's logic has plain unit tests.

#[expect(missing_docs, reason = "generated from wit/, where every item is documented")]
pub mod bindings;
pub mod duration;
#[cfg(target_arch = "wasm32")]
pub mod heap;
pub mod log;
pub mod mapper;
pub mod step;

pub use bindings::step::stepwell::plugin::types::{
    Context, CustomItem, Effect, Event, Failure, HeartbeatPolicy, HttpRequest, HttpResult, Message,
    Notification, Outcome, PluginError, RetryPolicy, Subscription, TaskFailure, TaskResult, TaskSpec,
    TimerSpec, Transition,
};
pub use mapper::{MapContext, Mapper};
pub use serde_json;
pub use step::{Next, Step};

/// Makes calls cheaper: a heap that begins in the memory that an instance has already.
#[macro_export]
macro_rules! heap {
    () => {
        #[cfg(target_arch = "wasm32")]
        #[global_allocator]
        static HEAP: $crate::heap::Heap = $crate::heap::Heap::new();
    };
}

/// Serves a type that implements [`Step`] as this component's step plugin.
#[macro_export]
macro_rules! export_step {
    ($step:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Exported = $crate::step::Adapter<$step>;
    $crate::bindings::step::export!(Exported with_types_in $crate::bindings::step);
        };
    };
}

/// Serves a type that implements [`Mapper`] as this component's mapper plugin.
#[macro_export]
macro_rules! export_mapper {
    ($mapper:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Exported = $crate::mapper::Adapter<$mapper>;
    $crate::bindings::mapper::export!(Exported with_types_in $crate::bindings::mapper);
        };
    };
}

//! The sandbox, with real components: every limit, every fault, every way of being no good.

mod calls;
mod faults;
mod kit;
mod limits;
mod load;
mod names;
mod speed;

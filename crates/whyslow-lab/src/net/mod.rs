//! Namespaces, devices, routes and sysctls: the hosts of a path on one machine.

pub mod config;
mod contain;
mod device;
mod error;
mod memory;
mod namespace;
mod nat;
mod path;
mod sysctl;

pub use crate::port::Epoch;
pub use crate::tap::{Tap, TapOutcome};
pub use error::Error;
pub use namespace::{Namespace, enter, enter_on_exec};
pub use path::{Drops, Outcome, Path};
pub use sysctl::DEFAULT_SYSCTLS;

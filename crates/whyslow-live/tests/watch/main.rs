//! Packets of real devices, in network namespaces that vanish with their thread. If none can be
//! created a test reports it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

mod flood;
mod join;
mod keep;
mod load;
mod net;
mod refusals;
mod ring;
mod sys;

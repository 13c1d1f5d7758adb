//! `whyslow prove`: the transfer that was captured, made again on this machine's own TCP, without
//! and with its fix.
//!
//! ```text
//!   capture ─▶ Analysis, packets ─▶ scenario ─▶ lab ─▶ captures ─▶ Analysis
//!                      └──────────── compared ────────────────────────┘
//! ```
//!
//! The lab knows nothing of the explanation, and the explanation nothing of the lab: only here they
//! meet.

#[cfg(target_os = "linux")]
mod agreement;
pub(crate) mod args;
#[cfg(target_os = "linux")]
mod built;
#[cfg(target_os = "linux")]
mod captured;
#[cfg(target_os = "linux")]
mod conversation;
#[cfg(target_os = "linux")]
mod curves;
#[cfg(target_os = "linux")]
mod fit;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod json;
#[cfg(target_os = "linux")]
mod keep;
#[cfg(target_os = "linux")]
mod make;
#[cfg(target_os = "linux")]
mod outcome;
#[cfg(target_os = "linux")]
mod packets;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod path;
#[cfg(target_os = "linux")]
mod remedy;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod trial;

use crate::output::Output;
use args::Prove;
use std::process::ExitCode;

/// Makes the transfer again, and mends it.
///
/// # Errors
/// When the capture cannot be read, holds no transfer that can be made again, or namespaces are
/// forbidden.
#[cfg(target_os = "linux")]
pub(crate) fn run(task: &Prove, out: Output) -> anyhow::Result<ExitCode> {
    make::run(task, out)
}

/// There is no lab here.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &Prove, _: Output) -> anyhow::Result<ExitCode> {
    anyhow::bail!(
        "prove makes the transfer again on Linux' TCP, in network namespaces: run it on a Linux machine or in a virtual \
         one, with the same file; `whyslow FILE` explains it here"
    )
}

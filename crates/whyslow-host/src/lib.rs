//! What of this machine makes its transfers slow.
//!
//! ```text
//!   look: Host ─▶ narrow ─▶ Snapshot ─▶ rules ─▶ findings ─▶ page, JSON
//!  (what there is) (peer, process) (one namespace)        └ groups (peers)
//! ```
//!
//! `history` takes looks together and has them judged; `causes` names what can be found, `rules`
//! has a file for each; a finding exists only where a live connection or a counter shows that it
//! costs. Nothing is changed.

#![cfg(target_os = "linux")]

pub mod causes;
mod finding;
mod groups;
mod history;
pub mod json;
mod page;
mod report;
mod rules;
mod scope;
mod settings;
mod snapshot;

pub use finding::{Finding, Slug};
pub use history::History;
pub use page::page;
pub use report::{Change, HostReport};
pub use settings::{Process, Settings};
pub use whyslow_live::host::{Host, Namespaces, Prefix};

use thiserror::Error;

/// No network namespace could be read.
#[derive(Debug, Error)]
#[error("no network namespace could be read: {why}")]
pub struct Unreadable {
    why: String,
}

/// Reads the machine, and keeps what the settings ask for.
///
/// # Errors
/// If no network namespace could be read.
pub fn look(settings: &Settings) -> Result<Host, Unreadable> {
    let mut host = Host::read(&settings.options());
    if host.namespaces.is_empty() {
        let why: Vec<String> =
            host.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.why)).collect();
        return Err(Unreadable { why: why.join("; ") });
    }
    scope::narrow(&mut host, settings);
    Ok(host)
}

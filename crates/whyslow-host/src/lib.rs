//! The causes in this machine for slow transfers.
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

use rules::is_suspect;
use snapshot::{Again, live};
use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};
use thiserror::Error;
use whyslow_live::host::{Options, Scope};

/// After this time suspected connections are read again, seconds; longer where their round trips
/// are long.
const AGAIN_S: (f64, f64) = (0.3, 2.0);
/// In round trips: what one answer fills is acknowledged by then.
const AGAIN_ROUNDS: f64 = 2.5;

/// No network namespace could be read.
#[derive(Debug, Error)]
#[error("no network namespace could be read: {why}")]
pub struct Unreadable {
    why: String,
}

/// A machine as it was read.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The data of the machine.
    pub host: Host,
    /// Connections that looked limited for an instant, read again.
    again: Option<Again>,
}

/// Reads the machine, and keeps what the settings ask for. If a connection looks limited for an
/// instant, it takes up to 2 s more, to read it again.
///
/// # Errors
/// If no network namespace could be read.
pub fn look(settings: &Settings) -> Result<Look, Unreadable> {
    let mut host = Host::read(&settings.options());
    let read = Instant::now();
    if host.namespaces.is_empty() {
        let why: Vec<String> =
            host.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.why)).collect();
        return Err(Unreadable { why: why.join("; ") });
    }
    scope::narrow(&mut host, settings);
    let again = look_again(&host, &settings.options(), read);
    Ok(Look { host, again })
}

/// Reads suspected connections again; `None` if there are none.
fn look_again(host: &Host, options: &Options, read: Instant) -> Option<Again> {
    let sockets = host.namespaces.iter().flat_map(|namespace| &namespace.sockets);
    let suspects: Vec<_> = sockets.filter_map(live).filter(is_suspect).collect();
    let cookies: HashSet<u64> = suspects.iter().filter_map(|live| live.socket.cookie).collect();
    let longest = suspects.iter().filter_map(snapshot::Live::rtt).max_by(f64::total_cmp)?;
    let pause = Duration::from_secs_f64((AGAIN_ROUNDS * longest).clamp(AGAIN_S.0, AGAIN_S.1));
    sleep(pause.saturating_sub(read.elapsed()));
    let seconds = read.elapsed().as_secs_f64();
    let later = Host::read(&Options { scope: Scope::Sockets, ..options.clone() });
    let sockets = later.namespaces.into_iter().flat_map(|namespace| namespace.sockets);
    let known = sockets.filter_map(|socket| Some((socket.cookie.filter(|cookie| cookies.contains(cookie))?, socket)));
    Some(Again { sockets: known.collect(), seconds })
}

//! Warnings for an operator at the start: files that are open to others, and causes of slow
//! transfers that a command would fix.

#[cfg(target_os = "linux")]
mod initial_window;

use super::super::backend::Backend;
use super::super::options::Admin;
use super::settings::Settings;
use std::net::SocketAddr;
use std::path::Path;
use whyslow_gateway::pool::{Rights, WindowKeeping};
use whyslow_gateway::store::{Bodies, StoreError};

/// Sentences, the most important ones first.
pub(super) async fn of(settings: &Settings, backend: &Backend, listen: SocketAddr) -> Vec<String> {
    let mut all = Vec::new();
    if settings.tls.is_none() && !listen.ip().is_loopback() {
        all.push(format!(
            "warning: clients reach {listen} without TLS: what they store can be read on the way here (--tls-cert, --tls-key)"
        ));
    }
    if let Admin::At(address) = settings.admin
        && !address.ip().is_loopback()
    {
        all.push(format!("warning: whoever reaches {address} sees the names of objects and clients (--admin)"));
    }
    all.extend(settings.secret_files.iter().filter_map(|file| open_to_others(file)));
    let Some(s3) = &backend.s3 else { return all };
    if let Some(bucket) = &backend.bucket {
        all.extend(bodies(s3.bodies(bucket).await, &backend.name));
    }
    let pool = match &backend.bucket {
        Some(bucket) => s3.pool(bucket).ok(),
        None => s3.pools().into_iter().next(),
    };
    let Some(pool) = pool else { return all };
    if !pool.endpoint().is_tls {
        all.push(format!(
            "note: {} is reached without TLS: objects are sealed, their names may not be",
            pool.endpoint()
        ));
    }
    if settings.pool.warmth.connections > 0 && backend.bucket.is_none() {
        all.push("note: no connection is kept warm, as no bucket is named: --store s3://BUCKET".to_owned());
    }
    if pool.closes_after_answers() {
        all.push(format!(
            "warning: {} closes each connection with its answer (Connection: close): every request pays for a handshake and \
             slow start, and nothing can be kept warm. Have it keep connections (versitygw: --keep-alive)",
            pool.endpoint()
        ));
    } else {
        all.extend(windows(pool.keeping(), pool.rights()));
    }
    #[cfg(target_os = "linux")]
    all.extend(initial_window::of(&pool).await);
    all
}

/// A file with a secret that other users of this machine can read.
#[cfg(unix)]
fn open_to_others(file: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().ok()?.permissions().mode() & 0o777;
    let name = file.display();
    (mode & 0o077 != 0).then(|| {
        format!("warning: others can read or change {name} (mode {mode:04o}), which has a secret: chmod 600 {name}")
    })
}

#[cfg(not(unix))]
fn open_to_others(_: &Path) -> Option<String> {
    None
}

/// The store's behaviour when a body is cut.
fn bodies(found: Result<&Bodies, StoreError>, store: &str) -> Option<String> {
    Some(match found {
        Ok(Bodies::Chunked) => return None,
        Ok(Bodies::Plain { no_chunks }) => format!(
            "note: {store} takes no bodies in chunks ({no_chunks}); it drops those that are cut, so they go by their length"
        ),
        Ok(Bodies::Uploads { no_chunks }) => format!(
            "warning: {store} stores bodies that are cut, and takes none in chunks ({no_chunks}): each object goes as an \
             upload of one part, with two requests more, so that it is the old one or the new one"
        ),
        Ok(Bodies::Untried { why }) => format!(
            "warning: {store} was not tried out ({why}): if it stores bodies that are cut, a client that leaves halfway \
             destroys the object that was there"
        ),
        Err(error) => format!("warning: {store} was not tried out: {error}; it is when the first object is stored"),
    })
}

/// The cost of idle connections.
fn windows(keeping: WindowKeeping, rights: &Rights) -> Option<String> {
    match keeping {
        WindowKeeping::Sysctl => None,
        WindowKeeping::Bbr => Some(
            "note: net.ipv4.tcp_slow_start_after_idle is 1, so BBR is used to the storage, which keeps its pace through \
             idle time"
                .to_owned(),
        ),
        // Without a report of the kernel there is no warning.
        WindowKeeping::OnDemand if rights.slow_start_after_idle.is_none() => None,
        WindowKeeping::OnDemand => {
            let how = if rights.can_set_sysctl {
                "start with --may-set-sysctl"
            } else {
                "as root: sysctl -w net.ipv4.tcp_slow_start_after_idle=0"
            };
            let bbr = if rights.has_bbr { "--no-bbr was given" } else { "BBR is not loaded, or not allowed" };
            Some(format!(
                "warning: connections lose their windows while they are idle (net.ipv4.tcp_slow_start_after_idle is 1, \
                 and {bbr}): an upload that comes at once starts with 10 segments. {how}"
            ))
        }
    }
}

//! Captures that URLs name.

use std::sync::atomic::{AtomicBool, Ordering};
use whyslow_io::Input;

/// Whether redirects may lead to this machine and its network.
static ALL_REDIRECTS: AtomicBool = AtomicBool::new(false);

/// Follows redirects to this machine and its network: `--allow-local-redirects`.
pub fn allow_local_redirects() {
    ALL_REDIRECTS.store(true, Ordering::Relaxed);
}

/// The objects that a URL names.
///
/// # Errors
/// When it cannot be understood, or its pattern matches nothing.
#[cfg(feature = "remote")]
pub(super) fn inputs(url: &str) -> anyhow::Result<Vec<Input>> {
    use anyhow::Context;
    use std::sync::OnceLock;
    use whyslow_remote::{Redirects, Remote};

    static REMOTE: OnceLock<Remote> = OnceLock::new();
    let remote = match REMOTE.get() {
        Some(remote) => remote,
        None => {
            let redirects = if ALL_REDIRECTS.load(Ordering::Relaxed) { Redirects::All } else { Redirects::Wider };
            let remote = Remote::new().with_context(|| url.to_owned())?.with_redirects(redirects);
            REMOTE.get_or_init(|| remote)
        }
    };
    Ok(remote.inputs(url)?)
}

/// # Errors
/// Always: what reads URLs is not there.
#[cfg(not(feature = "remote"))]
pub(super) fn inputs(url: &str) -> anyhow::Result<Vec<Input>> {
    anyhow::bail!("{url}: this whyslow was built without the feature `remote`, and reads files alone")
}

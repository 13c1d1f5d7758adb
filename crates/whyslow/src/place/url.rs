//! Captures that URLs name.

use whyslow_io::Input;

/// The objects that a URL names.
///
/// # Errors
/// When it cannot be understood, or its pattern matches nothing.
#[cfg(feature = "remote")]
pub(super) fn inputs(url: &str) -> anyhow::Result<Vec<Input>> {
    use anyhow::Context;
    use std::sync::OnceLock;
    use whyslow_remote::Remote;

    static REMOTE: OnceLock<Remote> = OnceLock::new();
    let remote = match REMOTE.get() {
        Some(remote) => remote,
        None => {
            let remote = Remote::new().with_context(|| url.to_owned())?;
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

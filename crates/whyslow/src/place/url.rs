//! Captures that URLs name.

use whyslow_io::Input;

/// Whether this is a URL: a scheme (RFC 3986 section 3.1) and `://`.
pub(super) fn is_url(name: &str) -> bool {
    let scheme = name.split_once("://").map_or("", |(scheme, _)| scheme);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_part)
}

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

#[cfg(test)]
mod tests {
    use super::is_url;

    #[test]
    fn a_url_has_a_scheme() {
        assert!(["s3://bucket/key", "HTTPS://x", "git+ssh://x"].into_iter().all(is_url));
        assert!(!["a.pcap", "://x", "1s://x", "a b://x", "./s3://x", "s3:/x", "C:\\x"].into_iter().any(is_url));
    }
}

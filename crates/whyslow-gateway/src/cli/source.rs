//! [`Source`]: where a secret is, as it is typed.

use whyslow_gateway::keys::{SecretSource, SourceSyntax};

/// Where a secret is, or a text that says nothing of the kind: it may be a secret, and clap would
/// print it.
#[derive(Clone, Debug)]
pub(crate) struct Source(pub Result<SecretSource, SourceSyntax>);

impl Source {
    #[expect(clippy::unnecessary_wraps, reason = "clap's parsers can fail")]
    pub(super) fn new(text: &str) -> Result<Self, SourceSyntax> {
        Ok(Self(text.parse()))
    }

    /// The source, for the option of this name.
    pub(super) fn get(&self, option: &str) -> anyhow::Result<&SecretSource> {
        self.0.as_ref().map_err(|error| anyhow::anyhow!("{option}: {error}"))
    }
}

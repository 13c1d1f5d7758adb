//! [`Source`]: the place of a secret, as typed.

use whyslow_gateway::keys::{SecretSource, SourceSyntax};

/// The place of a secret, or another text: that may be a secret itself, and clap would print it.
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

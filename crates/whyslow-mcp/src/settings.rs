//! [`Settings`]: what the server may read and do.

use crate::allowed::Allowed;
use crate::folders::Folders;
use std::path::PathBuf;
use whyslow_report::words::Lang;

/// The permitted inputs and actions of the server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The only folders whose files it reads.
    pub folders: Folders,
    /// Language of the sentences.
    pub lang: Lang,
    /// Tools that look at more than captures.
    pub allowed: Allowed,
    /// The `whyslow` program, which is run for these tools.
    pub program: PathBuf,
}

//! [`NewFolders`]: folders for several files, which go again unless all of these are written.

use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that were made, the innermost first; empty ones go unless they are kept.
pub(super) struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Makes a folder and those above it that are missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn folder(folder: &Path) -> anyhow::Result<Self> {
        let missing = |folder: &&Path| *folder != Path::new("") && !folder.exists();
        let made = Self(folder.ancestors().take_while(missing).map(Path::to_owned).collect());
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        Ok(made)
    }

    /// All was written into them.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        // A folder that another process has filled is left.
        self.0.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

//! `whyslow merge`: which condensed captures a folder holds.

use crate::condense::SUFFIX;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// The condensed captures: files as they are named, and those of each folder, by name.
///
/// # Errors
/// When a folder cannot be read, or holds none.
pub(crate) fn files(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if named.is_empty() {
        bail!("name the condensed captures, or the folder that `whyslow condense` wrote them to");
    }
    let mut files = Vec::new();
    for path in named {
        if path.is_dir() { add_folder(path, &mut files)? } else { files.push(path.clone()) }
    }
    Ok(files)
}

fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let name = folder.display();
    let entries = fs::read_dir(folder).with_context(|| name.to_string())?;
    let paths = entries.map(|entry| Ok(entry.with_context(|| name.to_string())?.path()));
    let mut found = paths.collect::<anyhow::Result<Vec<_>>>()?;
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(SUFFIX)));
    if found.is_empty() {
        bail!(
            "{name}: holds no condensed capture (*{SUFFIX}): make some with `whyslow condense FILE... --output {name}`"
        );
    }
    found.sort();
    files.append(&mut found);
    Ok(())
}

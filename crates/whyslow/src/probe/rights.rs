//! [`give_up`]: a probe talks to strangers, and does not do that as root.
//!
//! The packet socket is open by then. What is still used by its name decides which user it may
//! become: files that are read for each request, and files that get their place at the end.

use super::args::Probe;
use std::path::Path;

/// Gives up all rights that are no longer needed. `packets` is where the packets are kept for the
/// page.
///
/// # Errors
/// When rights are left.
#[cfg(target_os = "linux")]
pub(super) fn give_up(task: &Probe, packets: Option<&Path>) -> anyhow::Result<()> {
    use whyslow_live::watch::{FileUse, Rights, drop_rights};
    let outputs = [task.capture.as_deref(), task.report.as_deref()].into_iter().flatten();
    // A pipe or a device is open already, and is never opened again.
    let outputs = outputs.filter(|path| std::fs::metadata(path).map_or(true, |there| there.is_file()));
    let mut files: Vec<(&Path, FileUse)> = outputs.map(|path| (path, FileUse::Replace)).collect();
    let inputs = task.inputs();
    files.extend(inputs.iter().map(|path| (path.as_path(), FileUse::Read)));
    files.extend(packets.filter(|path| path.exists()).map(|path| (path, FileUse::Read)));
    Ok(drop_rights(Rights::least(&files))?)
}

/// Other systems have no such rights.
#[cfg(not(target_os = "linux"))]
pub(super) fn give_up(_: &Probe, _: Option<&Path>) -> anyhow::Result<()> {
    Ok(())
}

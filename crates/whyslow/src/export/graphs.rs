//! Graphs for xplot: eight files in a folder, all of them or none.

use super::Packets;
use crate::output::{Sources, Target};
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};
use whyslow_core::analysis::End;
use whyslow_report::render::xplot::{self, Xplot};
use whyslow_report::text::harmless;

/// What can be said of the folder before anything is read.
///
/// # Errors
/// When it is something else.
pub(super) fn check(folder: &Path) -> anyhow::Result<()> {
    match fs::metadata(folder) {
        Ok(there) if !there.is_dir() => bail!("{}: is no folder, as --xplot needs", folder.display()),
        _ => Ok(()),
    }
}

/// Writes the graphs of a connection of this capture, and says how they are called.
///
/// # Errors
/// When one of them is an input or cannot be written, or the packets cannot be read: then there is
/// none of them.
pub(super) fn write(packets: &Packets<'_>, folder: &Path, capture: &str, sources: &Sources) -> anyhow::Result<()> {
    let mut made = Made::folder(folder)?;
    let stem = match capture {
        "-" => "stdin".into(),
        path => Path::new(path).file_name().map_or("capture".into(), |name| name.to_string_lossy()),
    };
    let open = |way: &str, kind: &str| {
        let name = format!("{stem}.{}.{way}_{kind}.xpl", packets.connection.id);
        Target::open(Some(&folder.join(name)), sources)
    };
    let mut graphs = Vec::new();
    for (end, way) in [(End::Client, "c2s"), (End::Server, "s2c")] {
        let [sequence, throughput, rtt, outstanding] = xplot::KINDS;
        let files = [open(way, sequence)?, open(way, throughput)?, open(way, rtt)?, open(way, outstanding)?];
        graphs.push(Xplot::new(end, &packets.title(), files)?);
    }
    packets.each(|point| graphs.iter_mut().try_for_each(|graph| graph.push(point)))?;
    let files: Vec<Target> =
        graphs.into_iter().map(Xplot::finish).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let names: Vec<String> = files.iter().map(|file| file.name().to_owned()).collect();
    Target::finish_all(files)?;
    made.keep();
    for name in names {
        anstream::eprintln!("{}", harmless(&name));
    }
    Ok(())
}

/// Folders that were made, the innermost first; empty ones go unless they are kept.
struct Made(Vec<PathBuf>);

impl Made {
    fn folder(folder: &Path) -> anyhow::Result<Self> {
        let missing = |folder: &&Path| *folder != Path::new("") && !folder.exists();
        let made = Self(folder.ancestors().take_while(missing).map(Path::to_owned).collect());
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        Ok(made)
    }

    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // One that is not empty by now is somebody else's too.
        self.0.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

//! Graphs for xplot: eight files in a folder, all of them or none.

use super::folders::NewFolders;
use super::packets::ConnectionPackets;
use anyhow::bail;
use std::fs;
use std::path::Path;
use whyslow_analysis::End;
use whyslow_cli::output::{Sources, Target, notify};
use whyslow_report::render::xplot::{self, Xplot};

/// Checks the folder before anything is read.
///
/// # Errors
/// When it is something else.
pub(super) fn check(folder: &Path) -> anyhow::Result<()> {
    match fs::metadata(folder) {
        Ok(there) if !there.is_dir() => bail!("{}: is no folder, as --xplot needs", folder.display()),
        _ => Ok(()),
    }
}

/// Writes the graphs of a connection of this capture, and prints their names.
///
/// # Errors
/// When one of them is an input or cannot be written, or the packets cannot be read: then there is
/// none of them.
pub(super) fn write(
    packets: &ConnectionPackets<'_>,
    folder: &Path,
    capture: &str,
    sources: &Sources,
) -> anyhow::Result<()> {
    let mut made = NewFolders::folder(folder)?;
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
        notify(&name);
    }
    Ok(())
}

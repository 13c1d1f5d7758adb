//! The page with a probe's requests and the analysis of their packets: in a file, or served on this
//! machine.

use super::args::Probe;
use crate::settings::PageTask;
use crate::view;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use whyslow_cli::output::{Sources, Target};
use whyslow_cli::{SpooledInputs, reading};
use whyslow_io::{Input, Scratch};
use whyslow_probe::report::json;
use whyslow_probe::{NAME, Results};
use whyslow_serve::Opening;

/// A page that is wanted: made sure of before anything is asked for.
pub(super) struct Wanted {
    /// The output file; `None` if the page is served.
    target: Option<Target>,
    packets: Packets,
}

/// The packets for the page's graphs.
enum Packets {
    /// The user's own file.
    Kept(PathBuf),
    Temporary(NamedTempFile),
}

impl Wanted {
    /// `None` if no page is requested.
    ///
    /// # Errors
    /// When the page's file, or one for the packets, cannot be written, or the program was built
    /// without the page.
    pub(super) fn by(task: &Probe, scratch: &Scratch, sources: &Sources) -> anyhow::Result<Option<Self>> {
        if task.report.is_none() && !task.view {
            return Ok(None);
        }
        let target = task.report.as_deref().map(|path| Target::open(Some(path), sources)).transpose()?;
        whyslow_serve::page()?;
        let packets = match &task.capture {
            Some(path) => Packets::Kept(path.to_path_buf()),
            None => Packets::Temporary(scratch.file(".pcapng").context("a file for the packets")?),
        };
        Ok(Some(Self { target, packets }))
    }

    /// The file for the packets.
    pub(super) fn packets(&self) -> &Path {
        match &self.packets {
            Packets::Kept(path) => path,
            Packets::Temporary(file) => file.path(),
        }
    }

    /// Their name, if they have one.
    pub(super) fn name(&self) -> Option<&'static str> {
        matches!(self.packets, Packets::Temporary(_)).then_some(NAME)
    }

    /// Writes the page, or shows it until it is interrupted.
    ///
    /// # Errors
    /// When there are no packets, or it cannot be written or shown.
    pub(super) fn deliver(self, results: &Results) -> anyhow::Result<()> {
        if let Err(why) = &results.recorded {
            bail!("there is no page without packets: {why}");
        }
        let input = Input::Path(self.packets().to_owned());
        let named = self.name().map(|name| (input.name(), name.to_owned()));
        let probe = json::without_analysis(results).context("the page")?;
        let opening =
            Opening { names: named.into_iter().collect(), probe: Some(probe), ..Opening::of(vec![input.clone()]) };
        match self.target {
            Some(target) => reading::write_page(reading::read(&opening)?, &opening, target),
            None => {
                let mut inputs = SpooledInputs::new(&[input])?;
                view::show(Some(opening), None, &mut inputs, PageTask { port: 0, open: false })
            }
        }
    }
}

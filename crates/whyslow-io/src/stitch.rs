//! [`stitch`]: condensed captures, explained as the captures that they were made of.

use crate::error::Error;
use crate::input::{Input, Progress};
use crate::options::ExplainOptions;
use crate::scratch::Scratch;
use crate::source::{Block, Filled, Source};
use crate::stop::Stop;
use std::io::{self, Write};
use tempfile::NamedTempFile;
use whyslow_analysis::{Analysis, Capture, Problem};
use whyslow_core::capture::{CaptureOrigin, Packet, Reader, Sink};
use whyslow_diagnosis::condense::ConnectionShard;

/// Bytes of an input that are looked at.
const LOOK: usize = 64 << 10;

/// Explains condensed captures together: the analysis is the one that
/// [`explain_on`](crate::explain_on) gives of the captures that they were made of, in any order,
/// and names those. One that is missing or torn costs only itself, and its [`Capture`] has a
/// problem that reports it.
///
/// # Errors
/// If a file is of another version of the format, or none can be read.
pub fn stitch(
    options: ExplainOptions,
    inputs: &[Input],
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Analysis, Error> {
    let Sorted { readable, lost } = sorted(inputs, ConnectionShard::ALL)?;
    if let ([], Some((_, why))) = (readable.as_slice(), lost.first()) {
        return Err(Error::NoneReadable(why.clone()));
    }
    let mut analysis = crate::explain_on(options, &readable, stop, progress)?;
    analysis.captures.extend(lost.into_iter().map(|(name, why)| lost_capture(name, &why)));
    Ok(analysis)
}

/// Condensed captures by whether they can be read.
pub(crate) struct Sorted {
    pub(crate) readable: Vec<Input>,
    /// The others' names, and why.
    pub(crate) lost: Vec<(String, String)>,
}

/// Sorts those of a share of the connections.
///
/// # Errors
/// If one is not a readable condensed capture, or belongs to another share.
pub(crate) fn sorted(inputs: &[Input], share: ConnectionShard) -> Result<Sorted, Error> {
    let (mut readable, mut lost) = (Vec::new(), Vec::new());
    for input in inputs {
        match look(input, share)? {
            None => readable.push(input.clone()),
            Some(why) => lost.push((input.name(), why)),
        }
    }
    Ok(Sorted { readable, lost })
}

/// Why an input cannot be read at all, if it cannot.
///
/// # Errors
/// If it is not a readable condensed capture, or belongs to another share.
fn look(input: &Input, share: ConnectionShard) -> Result<Option<String>, Error> {
    let mut source = match Source::open(input, &Stop::default()) {
        Ok(source) => source,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let (mut reader, mut ignored, mut block) = (Reader::new(), OriginShare(share), Block::with_room(LOOK));
    match source.fill(&mut block) {
        Ok(Filled::Bytes) => {}
        Ok(Filled::End | Filled::Torn(_)) => return Ok(Some(format!("{}: holds no capture", input.name()))),
        Err(error) => return Ok(Some(error.to_string())),
    }
    let bytes = block.get(..).unwrap_or_default();
    reader.push(bytes, &mut ignored).map_err(|error| source.no_capture(error))?;
    if ignored.0 != share {
        return Err(Error::share(input.name(), ignored.0));
    }
    Ok(reader.finish(&mut ignored).err().map(|error| source.no_capture(error).to_string()))
}

/// The shard of connections in a condensed capture.
struct OriginShare(ConnectionShard);

impl Sink for OriginShare {
    fn packet(&mut self, _: &Packet<'_>) {}

    fn condensed(&mut self, origin: &CaptureOrigin) {
        self.0 = origin.share;
    }
}

pub(crate) fn lost_capture(path: String, why: &str) -> Capture {
    let problem = Problem::new("unread", 1, format!("it could not be read: {why}"));
    Capture {
        path,
        format: "unread".into(),
        link_types: Vec::new(),
        packets: 0,
        tcp_packets: 0,
        first_time: None,
        duration_s: None,
        problems: vec![problem],
        pings: Vec::new(),
        lookups: Vec::new(),
    }
}

/// Condensed captures that come as rows, as a task of a cluster is given them. They are kept in
/// temporary files until they are explained: connections that two captures hold are read twice.
#[derive(Debug, Default)]
pub struct RowFiles {
    scratch: Scratch,
    files: Vec<(String, NamedTempFile)>,
}

impl RowFiles {
    /// Adds a row of the file of this name, or path. A file's rows come in order and together.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn push(&mut self, file: &str, row: &[u8]) -> io::Result<()> {
        let is_same = self.files.last().is_some_and(|(name, _)| name == file);
        if !is_same {
            self.files.push((file.to_owned(), self.scratch.file(".condensed")?));
        }
        match self.files.last_mut() {
            Some((_, kept)) => kept.write_all(row),
            None => Ok(()),
        }
    }

    /// Explains the rows so far.
    ///
    /// # Errors
    /// As [`stitch`].
    pub fn explain(
        self,
        options: ExplainOptions,
        stop: &Stop,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Analysis, Error> {
        let mut analysis = stitch(options, &self.inputs(), stop, progress)?;
        for capture in &mut analysis.captures {
            if let Some(name) = self.name_of(&capture.path) {
                name.clone_into(&mut capture.path);
            }
        }
        Ok(analysis)
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// The files in which the rows are kept.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.files.iter().map(|(_, kept)| Input::Path(kept.path().to_owned())).collect()
    }

    /// The name of the capture that the file of this path holds.
    pub(crate) fn name_of(&self, path: &str) -> Option<&str> {
        let (name, _) = self.files.iter().find(|(_, kept)| kept.path().display().to_string() == path)?;
        Some(name)
    }
}

#[cfg(test)]
mod tests;

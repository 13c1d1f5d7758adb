//! [`scan`]: a capture becomes a condensed one, which gives the same analysis.

use crate::capture_group::WaitingInput;
use crate::error::Error;
use crate::feed::InputReader;
use crate::hash_seed::hash_seed;
use crate::input::{Input, Progress};
use crate::stop::Stop;
use std::io::{self, Write};
use whyslow_core::capture::{CaptureOrigin, Problem, Summary};
use whyslow_diagnosis::condense::{Condenser, ConnectionShard};

/// The level of zstd: a higher one takes twice the time for a tenth less.
const LEVEL: i32 = 3;

/// The result of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Packets of the capture.
    pub packets: u64,
    /// Rows that were given.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether a [`Stop`] request kept it from being read to its end.
    pub partial: bool,
}

/// Why a capture could not be scanned.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] Error),
    /// The condensed capture could not be written.
    #[error("{name}: what it was condensed to cannot be written: {cause}")]
    Write {
        /// The capture.
        name: String,
        /// The system's error.
        cause: io::Error,
    },
}

/// Condenses a capture of any kind. Gives its rows in order, each of at most
/// [`MAX_ROW`](whyslow_core::capture::MAX_ROW) bytes; the first and the last one describe the
/// capture, and the others need only the first. Memory is bounded by the open connections.
///
/// # Errors
/// When the capture cannot be read, or `give` fails.
pub fn scan(
    input: &Input,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
    give: &mut dyn FnMut(Vec<u8>) -> io::Result<()>,
) -> Result<Scanned, ScanError> {
    scan_shares(input, 1, stop, progress, &mut |_, row| give(row))
}

/// Condenses a capture into one condensed capture for each of `shares` shares (1 to
/// [`ConnectionShard::MOST`]) of its connections, by a hash of the four-tuple that is the same
/// everywhere. Gives each row with the number of its share, from 0; those of a share in order.
///
/// # Errors
/// As [`scan`], and for a capture that holds a share alone.
pub fn scan_shares(
    input: &Input,
    shares: usize,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
    give: &mut dyn FnMut(usize, Vec<u8>) -> io::Result<()>,
) -> Result<Scanned, ScanError> {
    let name = input.name();
    let WaitingInput { opening, source } = WaitingInput::open(input, stop)?;
    if opening.share != ConnectionShard::ALL {
        return Err(Error::share(name, opening.share).into());
    }
    let origin = opening.origin(&name);
    let (mut scanned, mut failed) = (Scanned::default(), None);
    let mut condenser = Condenser::new(&origin, shares, |share, row: Vec<u8>| {
        if failed.is_none() {
            scanned.rows += 1;
            scanned.bytes += row.len() as u64;
            failed = give(share, row).err();
        }
    });
    condenser.set_hash_seed(hash_seed());
    let mut source = source.open(stop)?;
    let summary = InputReader::new([input], progress).read(&mut source, &mut condenser)?;
    condenser.finish(&summary);
    match failed {
        Some(cause) => Err(ScanError::Write { name, cause }),
        None => Ok(Scanned { packets: summary.packets, partial: stop.is_cut(), ..scanned }),
    }
}

/// Does the same, and writes the rows compressed (zstd) to `out`, which is given back.
///
/// # Errors
/// As [`scan`].
pub fn scan_into<W: Write>(
    input: &Input,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
    out: W,
) -> Result<(Scanned, W), ScanError> {
    let unwritten = |cause| ScanError::Write { name: input.name(), cause };
    let mut encoder = compressed(out).map_err(unwritten)?;
    let scanned = scan(input, stop, progress, &mut |row| encoder.write_all(&row))?;
    Ok((scanned, encoder.finish().map_err(unwritten)?))
}

/// Writes the condensed capture of an unreadable input, with the reason.
///
/// # Errors
/// When it cannot be written.
pub fn unread<W: Write>(input: &Input, why: &str, out: W) -> io::Result<W> {
    let origin = CaptureOrigin { name: input.name(), ..CaptureOrigin::default() };
    let mut encoder = compressed(out)?;
    let mut written = Ok(());
    let condenser = Condenser::new(&origin, 1, |_, row: Vec<u8>| {
        if written.is_ok() {
            written = encoder.write_all(&row);
        }
    });
    let problem = Problem { slug: "unread".into(), count: 1, detail: format!("it could not be read: {why}") };
    condenser.finish(&Summary { format: "unread", problems: vec![problem], ..Summary::default() });
    written?;
    encoder.finish()
}

fn compressed<W: Write>(out: W) -> io::Result<zstd::Encoder<'static, W>> {
    let mut encoder = zstd::Encoder::new(out, LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

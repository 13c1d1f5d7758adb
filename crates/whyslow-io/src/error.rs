//! Why an input could not be read. Each message names the input, the place in it if known, and what
//! to do.

use std::io;
use whyslow_core::capture::CaptureError;
use whyslow_diagnosis::condense::ConnectionShard;

/// The name of an input; standard input has none.
fn shown(name: &str) -> &str {
    if name == "-" { "stdin" } else { name }
}

impl Error {
    pub(crate) fn share(name: String, share: ConnectionShard) -> Self {
        Self::Share { name, number: share.number(), of: share.of() }
    }
}

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be opened.
    #[error("{name}: {cause}")]
    Open {
        /// The input.
        name: String,
        /// The system's error.
        cause: io::Error,
    },
    /// It is a directory.
    #[error("{name}: is a directory; name the capture files in it, as in {name}/*.pcap")]
    Directory {
        /// The input.
        name: String,
    },
    /// Reading failed on the way.
    #[error("{name}: byte {offset}: {cause}")]
    Read {
        /// The input.
        name: String,
        /// How far it was read, in bytes.
        offset: u64,
        /// The system's error.
        cause: io::Error,
    },
    /// It is a pipe, and cannot be spooled to be read twice.
    #[error("{name}: cannot be kept in a temporary file, to be read twice: {cause}")]
    Keep {
        /// The input.
        name: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The second reading found less than the first.
    #[error("{name}: has changed while it was read: {before} {what} at first, and {now} now")]
    Changed {
        /// The input.
        name: String,
        /// The counted thing.
        what: &'static str,
        /// At first.
        before: u64,
        /// The second time.
        now: u64,
    },
    /// What memory has no room for cannot be kept in temporary files.
    #[error(
        "{}: rows wait there until all is read: {cause}; make room, or name another folder with TMPDIR",
        std::env::temp_dir().display()
    )]
    NoRoom {
        /// The system's error.
        cause: io::Error,
    },
    /// Packets are requested from an input that cannot be read twice.
    #[error("a capture came through a pipe, and packets are read twice: write it to a file first")]
    Pipe,
    /// There is nothing to stitch.
    #[error("none of the condensed captures can be read; the first: {0}")]
    NoneReadable(String),
    /// It holds one share of the connections, and is not to be read by itself.
    #[error("{name}: holds shard {number} of {of} alone: `stitch_shard` and `merge` read it in Python")]
    Share {
        /// The input.
        name: String,
        /// Number of the shard, from 0.
        number: usize,
        /// How many there are.
        of: usize,
    },
    /// Shards cannot be merged.
    #[error("the shards cannot be merged: {0}")]
    Merge(String),
    /// It is empty.
    #[error("{} is empty: it holds no capture", shown(.name))]
    Empty {
        /// The input.
        name: String,
    },
    /// Its compressed stream is damaged from the start.
    #[error("{name}: byte {offset}: the {kind} stream cannot be read: {detail}")]
    Compressed {
        /// The input.
        name: String,
        /// How far the compressed bytes were read.
        offset: u64,
        /// The compression.
        kind: &'static str,
        /// The error.
        detail: String,
    },
    /// It is not a capture.
    #[error("{name}: {}byte {}: {}", if *.compressed { "decompressed " } else { "" }, .cause.offset, .cause.message)]
    Capture {
        /// The input.
        name: String,
        /// Whether the offset counts decompressed bytes.
        compressed: bool,
        /// The place and the reason.
        cause: CaptureError,
    },
}

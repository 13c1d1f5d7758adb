//! JSON for the page, compressed where it is sent.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::{BufWriter, Write};
use whyslow_report::render::json;

/// Bytes that are written at once.
const PIECE: usize = 1 << 16;

/// gzip of a value's JSON.
pub(crate) fn compress(content: &impl Serialize) -> Vec<u8> {
    gzip(content, Compression::default())
}

/// The same, slightly larger and much faster: for an estimate of the size.
pub fn compress_quickly(content: &impl Serialize) -> Vec<u8> {
    gzip(content, Compression::fast())
}

/// The same as it is.
pub(crate) fn plain(content: &impl Serialize) -> Vec<u8> {
    let mut json = Vec::new();
    write(content, &mut json);
    json
}

fn gzip(content: &impl Serialize, how: Compression) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), how);
    write(content, &mut gzip);
    gzip.finish().unwrap_or_default()
}

/// Writing to memory does not fail, and no map here has keys that JSON cannot write.
fn write(content: &impl Serialize, out: &mut dyn Write) {
    // JSON comes in pieces of a few bytes, each of which would be a step of the compression.
    let mut out = BufWriter::with_capacity(PIECE, out);
    let written = json::to_people(content, &mut out).is_ok() && out.flush().is_ok();
    debug_assert!(written);
}

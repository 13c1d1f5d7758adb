//! The header of a row: magic number, version, kind, length.

/// Largest size of a row.
pub const MAX_ROW: usize = 1 << 20;
/// The first bytes of every row, which no text and no other format has.
pub(in crate::capture) const MAGIC: [u8; 4] = [0xd7, b'w', b'h', b'y'];
/// Version of the format. Other versions are rejected.
pub const CONDENSED_VERSION: u8 = 2;
/// Length of magic number, version, kind, and the length field.
pub(super) const ROW_HEADER: usize = 10;

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    Origin = 1,
    Packets = 2,
    Summary = 3,
}

/// Writes the header of a row into the space before its bytes.
pub(super) fn frame_row(row: &mut [u8], kind: RowKind) {
    let length = (row.len().saturating_sub(ROW_HEADER) as u32).to_le_bytes();
    let head = MAGIC.into_iter().chain([CONDENSED_VERSION, kind as u8]).chain(length);
    row.iter_mut().zip(head).for_each(|(place, byte)| *place = byte);
}

/// A row's kind and length; `None` if there are too few bytes.
///
/// # Errors
/// If the row has another version or an invalid header.
pub(super) fn row_head(bytes: &[u8]) -> Result<Option<(u8, usize)>, String> {
    let Some(&[a, b, c, d, version, kind, e, f, g, h]) = bytes.first_chunk::<ROW_HEADER>() else { return Ok(None) };
    let length = u32::from_le_bytes([e, f, g, h]) as usize;
    if [a, b, c, d] != MAGIC || length > MAX_ROW {
        return Err("what stands here is no row of a condensed capture".to_owned());
    }
    if version != CONDENSED_VERSION {
        return Err(format!(
            "this condensed capture is of version {version} of the format, and this whyslow reads version \
             {CONDENSED_VERSION}: use the same whyslow everywhere, and scan the capture again"
        ));
    }
    Ok(Some((kind, length)))
}

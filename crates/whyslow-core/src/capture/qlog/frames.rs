//! Frames of qlog's events, as QUIC has them on the wire.

use super::record::varint;
use serde_json::Value;

/// Longest packet that is written: a datagram holds no more (RFC 768).
const MAX_PACKET: usize = 60_000;
/// Maximum number of ranges of an ACK frame that are written.
const MAX_RANGES: usize = 1_024;

/// Writes the frames of a packet's event. Returns how many were not understood.
pub(super) fn write(frames: &[Value], to: &mut Vec<u8>) -> u64 {
    let mut unread = 0;
    for frame in frames {
        if to.len() < MAX_PACKET {
            unread += u64::from(one(frame, to).is_none());
        }
    }
    unread
}

/// A number, which JSON may hold as text because it is large.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn one(frame: &Value, to: &mut Vec<u8>) -> Option<()> {
    let field = |name: &str| frame.get(name).and_then(number);
    match frame.get("frame_type")?.as_str()? {
        "ack" => ack(frame, to)?,
        "stream" => {
            let raw = frame.get("raw");
            let of_raw = |name: &str| raw.and_then(|raw| raw.get(name)).and_then(number);
            let length = field("length").or_else(|| of_raw("payload_length")).or_else(|| of_raw("length")).unwrap_or(0);
            let length = usize::try_from(length).ok().filter(|length| *length <= MAX_PACKET - to.len())?;
            let is_last = frame.get("fin").and_then(Value::as_bool).unwrap_or(false);
            to.push(0x0e | u8::from(is_last));
            varint(to, field("stream_id")?);
            varint(to, field("offset").unwrap_or(0));
            varint(to, length as u64);
            to.resize(to.len() + length, 0);
        }
        "crypto" => {
            // The handshake itself is not read; whether it begins again is.
            to.push(0x06);
            varint(to, field("offset").unwrap_or(0));
            to.push(0);
        }
        "max_data" => {
            to.push(0x10);
            varint(to, field("maximum").or_else(|| field("maximum_data"))?);
        }
        "max_stream_data" => {
            to.push(0x11);
            varint(to, field("stream_id")?);
            varint(to, field("maximum").or_else(|| field("maximum_stream_data"))?);
        }
        "data_blocked" => {
            to.push(0x14);
            varint(to, field("limit").unwrap_or(0));
        }
        "stream_data_blocked" => {
            to.push(0x15);
            varint(to, field("stream_id")?);
            varint(to, field("limit").unwrap_or(0));
        }
        "reset_stream" => {
            to.push(0x04);
            varint(to, field("stream_id")?);
            to.extend([0, 0]);
        }
        // Nothing that is read; a PING stands for them.
        _ => to.push(0x01),
    }
    Some(())
}

fn ack(frame: &Value, to: &mut Vec<u8>) -> Option<()> {
    let ranges = frame.get("acked_ranges")?.as_array()?;
    let range = |value: &Value| {
        let both = value.as_array()?;
        let first = number(both.first()?)?;
        let last = both.get(1).map_or(Some(first), number)?;
        (first <= last && last < 1 << 62).then_some((first, last))
    };
    let mut ranges: Vec<(u64, u64)> = ranges.iter().take(MAX_RANGES).filter_map(range).collect();
    ranges.sort_unstable_by(|a, b| b.cmp(a));
    // Ranges that touch are merged: a gap has at least one packet.
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(above) if last + 1 >= above.0 => above.0 = above.0.min(first),
            _ => merged.push((first, last)),
        }
    }
    let (first, last) = *merged.first()?;
    let marks = frame.get("ce").and_then(number);
    to.push(if marks.is_some() { 0x03 } else { 0x02 });
    varint(to, last);
    to.push(0);
    varint(to, merged.len() as u64 - 1);
    varint(to, last - first);
    for pair in merged.windows(2) {
        let [(above, _), (first, last)] = pair else { continue };
        varint(to, above - last - 2);
        varint(to, last - first);
    }
    if let Some(marks) = marks {
        to.extend([0, 0]);
        varint(to, marks);
    }
    Some(())
}

/// A HEADERS frame of HTTP/3 with these fields, without any table (RFC 9204 section 4.5.6).
pub(super) fn headers(fields: &[Value]) -> Vec<u8> {
    let mut block = vec![0, 0];
    for field in fields.iter().take(64) {
        let text = |name: &str| field.get(name).and_then(Value::as_str).filter(|text| text.len() <= 2_048);
        if let (Some(name), Some(value)) = (text("name"), text("value")) {
            prefixed(&mut block, 0x20, 3, name.len());
            block.extend_from_slice(name.as_bytes());
            prefixed(&mut block, 0, 7, value.len());
            block.extend_from_slice(value.as_bytes());
        }
    }
    let mut frame = vec![1];
    varint(&mut frame, block.len() as u64);
    frame.extend(block);
    frame
}

/// A number whose first bits share a byte (RFC 7541 section 5.1).
fn prefixed(to: &mut Vec<u8>, first: u8, bits: u32, number: usize) {
    let most = (1usize << bits) - 1;
    if number < most {
        to.push(first | number as u8);
        return;
    }
    to.push(first | most as u8);
    let mut rest = number - most;
    while rest >= 128 {
        to.push(rest as u8 & 127 | 128);
        rest >>= 7;
    }
    to.push(rest as u8);
}

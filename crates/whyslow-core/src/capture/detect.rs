//! Detects the capture format from the first bytes, or the kind of an unsupported file.

use super::CaptureError;
use super::bytes::{Order, section_order};
use super::condensed;
use super::pcap::Variant;
use super::qlog;

/// Number of first bytes that are always enough.
pub(super) const ENOUGH: usize = 512;

/// Type of the pcapng section header block; equal in either byte order.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// A supported format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Pcap(Variant),
    PcapNg,
    Text,
    Qlog { is_sequence: bool },
    Condensed,
}

/// The format that begins with `head`; `None` if more bytes are needed, which is never the case if
/// `head` has [`ENOUGH`] bytes (more are ignored) or is `all` of the input.
pub(super) fn detect(head: &[u8], all: bool) -> Result<Option<Format>, CaptureError> {
    let more = !all && head.len() < ENOUGH;
    let head = head.get(..ENOUGH).unwrap_or(head);
    if let Some(magic) = head.first_chunk() {
        if let Some(variant) = Variant::from_magic(*magic) {
            return Ok(Some(Format::Pcap(variant)));
        }
        if *magic == condensed::MAGIC {
            return Ok(Some(Format::Condensed));
        }
        if *magic == SECTION_HEADER {
            match head.get(8..12) {
                Some(_) if section_order(head).is_some() => return Ok(Some(Format::PcapNg)),
                None if more => return Ok(None),
                _ => {}
            }
        }
    }
    if more {
        return Ok(None);
    }
    if let Some(is_sequence) = qlog::detect(head) {
        return Ok(Some(Format::Qlog { is_sequence }));
    }
    match refusal(head) {
        Some(message) => Err(CaptureError { offset: 0, message }),
        None => Ok(Some(Format::Text)),
    }
}

/// How to convert an unsupported format.
#[derive(Clone, Copy)]
enum Remedy {
    /// Wireshark can convert it.
    Convert,
    /// It must be decompressed.
    Decompress(&'static str),
    /// An archive holds several files.
    Unpack,
    /// No remedy: it contains no packets.
    None,
}

/// Magic numbers of files that people pass to packet tools by mistake.
const KNOWN: &[(&[u8], &str, Remedy)] = &[
    (b"\x1f\x8b", "gzip data", Remedy::Decompress("gunzip")),
    (b"\x28\xb5\x2f\xfd", "zstd data", Remedy::Decompress("zstd -d")),
    (b"\x04\x22\x4d\x18", "lz4 data", Remedy::Decompress("lz4 -d")),
    (b"\x02\x21\x4c\x18", "legacy lz4 data", Remedy::Decompress("lz4 -d")),
    (b"\xfd7zXZ\0", "xz data", Remedy::Decompress("xz -d")),
    (b"BZh", "bzip2 data", Remedy::Decompress("bunzip2")),
    (b"\x1f\x9d", "compress (.Z) data", Remedy::Decompress("gunzip")),
    (b"PK\x03\x04", "a zip archive", Remedy::Unpack),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", Remedy::Unpack),
    (b"Rar!\x1a\x07", "a RAR archive", Remedy::Unpack),
    (b"snoop\0\0\0", "a Sun snoop capture", Remedy::Convert),
    (b"btsnoop\0", "a Bluetooth (btsnoop) capture", Remedy::None),
    (b"GMBU", "a Microsoft Network Monitor capture", Remedy::Convert),
    (b"RTSS", "a Microsoft Network Monitor capture", Remedy::Convert),
    (b"TRSNIFF data    \x1a", "a Sniffer capture", Remedy::Convert),
    (b"XCP\0", "a NetXRay or Windows Sniffer capture", Remedy::Convert),
    (b"\x7fver", "an OmniPeek (tagged) capture", Remedy::Convert),
    (b"iptrace 1.0", "an AIX iptrace capture", Remedy::Convert),
    (b"iptrace 2.0", "an AIX iptrace capture", Remedy::Convert),
    (b"\x7fELF", "a program (ELF)", Remedy::None),
    (b"%PDF", "a PDF document", Remedy::None),
    (b"\x89PNG", "a PNG image", Remedy::None),
    (b"\xff\xd8\xff", "a JPEG image", Remedy::None),
    (b"SQLite format 3\0", "an SQLite database", Remedy::None),
];

/// Why `head` begins neither a capture nor a text; `None` if it may be a text.
fn refusal(head: &[u8]) -> Option<String> {
    if head.is_empty() {
        return Some("the input is empty".to_owned());
    }
    if let Some((_, name, remedy)) = KNOWN.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Some(match remedy {
            Remedy::Convert => format!("this is {name}, which is not read: {CONVERT}"),
            Remedy::Decompress(tool) => {
                format!("this is {name}, perhaps compressed twice: decompress it first (`{tool} FILE`)")
            }
            Remedy::Unpack => format!("this is {name}: unpack it, and give the captures that it holds"),
            Remedy::None => format!("this is {name}, in which there are no IP packets to read"),
        });
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some(
            "this is text in UTF-16 (PowerShell's `>` writes it): save it as UTF-8, or better, let tcpdump write \
             a capture with `-w FILE`"
                .to_owned(),
        );
    }
    if !looks_like_text(head) {
        if looks_like_erf(head) {
            return Some(format!("this looks like an ERF capture (Endace), which is not read: {CONVERT}"));
        }
        let start: Vec<String> = head.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        return Some(format!(
            "this is neither pcap, pcapng nor tcpdump's text: it starts with the bytes {}; if Wireshark opens it, \
             convert it with `editcap -F pcapng FILE out.pcapng`",
            start.join(" ")
        ));
    }
    None
}

const CONVERT: &str = "convert it with `editcap -F pcapng FILE out.pcapng` (it comes with Wireshark)";

/// Whether it may be text: no NUL and few other control characters; letters beyond ASCII may have
/// any encoding.
fn looks_like_text(head: &[u8]) -> bool {
    let control = head.iter().filter(|byte| byte.is_ascii_control() && !b"\t\n\r\x0b\x0c\x08\x1b".contains(byte));
    !head.contains(&0) && control.count() * 20 <= head.len()
}

/// Whether it may be ERF, which has no magic number: two consecutive records must be plausible. A
/// record starts with a little-endian 32.32 fixed-point time, then type, flags, and big-endian
/// record length, loss counter and wire length.
fn looks_like_erf(head: &[u8]) -> bool {
    let record = |at: usize| {
        let seconds = Order::Little.u32_at(head, at + 4)?;
        let kind = head.get(at + 8)? & 0x7f;
        let length = usize::from(Order::Big.u16_at(head, at + 10)?);
        // Types are numbers from 1 to 48; all captures are from after 1990.
        ((1..=48).contains(&kind) && length >= 16 && seconds > 631_152_000).then_some((seconds, length))
    };
    record(0).is_some_and(|(first, length)| record(length).is_some_and(|(second, _)| second.abs_diff(first) < 86_400))
}

#[cfg(test)]
mod tests;

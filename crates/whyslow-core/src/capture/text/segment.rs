//! Writes the segment of a line as the bytes of a packet.

use super::echoes::SegmentTimestamps;
use super::tcp_line::TcpLine;
use super::{TextReader, build, names, options, relative};
use crate::capture::Sink;

/// A segment that was written as a packet.
#[derive(Clone, Copy)]
pub(super) struct WrittenSegment {
    /// Its length on the wire.
    pub(super) original_len: u32,
    pub(super) stamps: Option<SegmentTimestamps>,
}

impl TextReader {
    /// Writes the segment of `line` to `out`. Returns `None` if an address or port cannot be read.
    pub(super) fn segment<S: Sink>(
        &mut self,
        line: &TcpLine,
        out: &mut Vec<u8>,
        sink: &mut S,
    ) -> Option<WrittenSegment> {
        let pending = &self.pending;
        let text = &pending.text;
        let pair = line.pair;
        let [src_port, dst_port] = [pair.src_port.of(text), pair.dst_port.of(text)];
        let stamps = options::timestamps(line.options.of(text)).map(|(value, echo)| {
            let nowhere = (std::net::Ipv4Addr::UNSPECIFIED.into(), 0);
            let echo = Some(echo).filter(|_| line.ack.is_some() && line.flags & relative::RST == 0);
            SegmentTimestamps { from: nowhere, to: nowhere, value, echo }
        });
        let dumped = pending.dump.segment(names::number(src_port), names::number(dst_port), line.window.unwrap_or(0));
        if let Some(found) = dumped {
            self.names.set_address(pair.src.of(text), found.src, sink);
            self.names.set_address(pair.dst.of(text), found.dst, sink);
            let printed_len = found.headers.saturating_add(line.payload_len());
            let original_len = found.original_len.unwrap_or(printed_len);
            let (from, to) = ((found.src, found.src_port), (found.dst, found.dst_port));
            let length = original_len.saturating_sub(found.headers);
            let (seq, ack) = (Some(found.seq), Some(found.ack));
            self.conversations.follow(from, to, &relative::SegmentNumbers { flags: found.flags, seq, ack, length });
            out.clear();
            out.extend_from_slice(found.bytes);
            let original_len = original_len.max(out.len() as u32);
            let stamps = stamps.map(|stamps| SegmentTimestamps { from, to, ..stamps });
            return Some(WrittenSegment { original_len, stamps });
        }
        let src = self.names.end([pair.src.of(text), src_port], pair.v6, sink);
        let dst = self.names.end([pair.dst.of(text), dst_port], pair.v6, sink);
        let (src, dst) = src.zip(dst).filter(|(src, dst)| src.0.is_ipv4() == dst.0.is_ipv4())?;
        let ((src, src_port), (dst, dst_port)) = (src, dst);
        let stamps = stamps.map(|stamps| SegmentTimestamps { from: (src, src_port), to: (dst, dst_port), ..stamps });
        let payload_len = line.payload_len();
        let printed = relative::SegmentNumbers { flags: line.flags, seq: line.seq, ack: line.ack, length: payload_len };
        let ends = ((src, src_port), (dst, dst_port));
        let numbers = match line.as_printed {
            true => self.conversations.as_printed(ends.0, ends.1, &printed),
            false => self.conversations.resolve(ends.0, ends.1, &printed),
        };
        if line.flags & (relative::SYN | relative::ACK) == relative::SYN {
            self.sections.see_syn([ends.0, ends.1], numbers.seq, pending.stamp);
        }
        let options = options_of(line, text, &numbers);
        self.unread_options.add(u64::from(options.unread), pending.line);
        let payload = pending.http.get(..pending.http.len().min(payload_len as usize)).unwrap_or(&[]);
        let segment = build::SegmentToWrite {
            src,
            dst,
            src_port,
            dst_port,
            seq: numbers.seq,
            ack: numbers.ack,
            flags: line.flags,
            window: line.window.unwrap_or(u16::MAX),
            urgent: line.urgent,
            options: options.as_slice(),
            payload,
            payload_len,
            checksum: line.checksum,
            ip: line.ip,
        };
        Some(WrittenSegment { original_len: build::segment(out, &segment), stamps })
    }
}

/// The options of a line. tcpdump prints the window of every segment: a line without one was
/// shortened by hand, and lacks the options as well. Then no window is known to be full.
fn options_of(line: &TcpLine, text: &str, numbers: &relative::WireNumbers) -> options::OptionBytes {
    let mut options = options::encode(line.options.of(text), numbers);
    let is_shortened = line.window.is_none() || options.elided;
    if is_shortened && line.flags & relative::SYN != 0 {
        options.end_unfinished();
    }
    options
}

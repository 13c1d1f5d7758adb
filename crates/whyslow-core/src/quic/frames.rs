//! [`Frame`]: the frames in a decrypted packet (RFC 9000 section 19, RFC 9221).

use super::header::Fields;

/// A frame with the relevant fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// Acknowledges packets.
    Ack(Ack<'a>),
    /// Bytes of the TLS handshake.
    Crypto { offset: u64, data: &'a [u8] },
    /// Bytes of a stream.
    Stream(Piece<'a>),
    /// The connection may receive up to this many bytes.
    MaxData(u64),
    /// A stream may receive up to this many bytes.
    MaxStreamData { stream: u64, most: u64 },
    /// The sender has filled the connection's window.
    DataBlocked,
    /// The sender has filled a stream's window.
    StreamDataBlocked,
    /// The stream ends without more data.
    ResetStream { stream: u64 },
    /// Another connection ID of the sender.
    NewConnectionId(&'a [u8]),
    /// The connection ends.
    Close,
    /// Anything else.
    Other,
}

/// A STREAM frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) stream: u64,
    pub(super) offset: u64,
    pub(super) data: &'a [u8],
    pub(super) fin: bool,
}

/// An ACK frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ack<'a> {
    /// Largest acknowledged packet number.
    pub(super) largest: u64,
    /// Number of acknowledged packets directly below it, then the encoded further ranges.
    first: u64,
    ranges: &'a [u8],
    count: u64,
    /// Packets that arrived with a congestion mark.
    pub(super) congestion_marks: u64,
}

impl<'a> Ack<'a> {
    fn read(fields: &mut Fields<'a>, with_ecn: bool) -> Option<Self> {
        let largest = fields.varint()?;
        fields.varint()?;
        let count = fields.varint()?;
        let first = fields.varint()?;
        let ranges = fields.0;
        // Each range has at least two bytes, so the packet's size limits the loop.
        for _ in 0..count {
            fields.varint()?;
            fields.varint()?;
        }
        let ranges = ranges.get(..ranges.len() - fields.0.len())?;
        let mut congestion_marks = 0;
        for _ in 0..if with_ecn { 3 } else { 0 } {
            congestion_marks = fields.varint()?;
        }
        Some(Self { largest, first, ranges, count, congestion_marks })
    }

    /// The ranges, the highest first: the first and the last packet number of each.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let mut fields = Fields(self.ranges);
        let mut next = self.largest.checked_sub(self.first).map(|low| (low, self.largest));
        let mut left = self.count;
        std::iter::from_fn(move || {
            let range = next.take()?;
            if left > 0 {
                left -= 1;
                next = below(&mut fields, range.0);
            }
            Some(range)
        })
    }
}

/// The range of an ACK frame after one that ends at `low`.
fn below(fields: &mut Fields<'_>, low: u64) -> Option<(u64, u64)> {
    let (gap, length) = (fields.varint()?, fields.varint()?);
    let high = low.checked_sub(gap.checked_add(2)?)?;
    Some((high.checked_sub(length)?, high))
}

/// Parses the frames of a packet, up to the first malformed one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames<'a>(Fields<'a>);

impl<'a> Frames<'a> {
    pub(super) fn new(packet: &'a [u8]) -> Self {
        Self(Fields(packet))
    }

    fn read(&mut self) -> Option<Frame<'a>> {
        let fields = &mut self.0;
        let kind = fields.varint()?;
        Some(match kind {
            0x02 | 0x03 => Frame::Ack(Ack::read(fields, kind == 0x03)?),
            0x04 => {
                let stream = fields.varint()?;
                fields.varint()?;
                fields.varint()?;
                Frame::ResetStream { stream }
            }
            0x06 => {
                let offset = fields.varint()?;
                let length = fields.varint();
                Frame::Crypto { offset, data: fields.prefixed(length)? }
            }
            0x08..=0x0f => Frame::Stream(Self::stream(fields, kind)?),
            0x10 => Frame::MaxData(fields.varint()?),
            0x11 => Frame::MaxStreamData { stream: fields.varint()?, most: fields.varint()? },
            0x14 => {
                fields.varint()?;
                Frame::DataBlocked
            }
            0x15 => {
                fields.varint()?;
                fields.varint()?;
                Frame::StreamDataBlocked
            }
            0x18 => {
                fields.varint()?;
                fields.varint()?;
                let length = fields.u8().map(u64::from);
                let id = fields.prefixed(length)?;
                fields.take(16)?;
                Frame::NewConnectionId(id)
            }
            0x1c | 0x1d => Frame::Close,
            _ => {
                Self::skip(fields, kind)?;
                Frame::Other
            }
        })
    }

    fn stream(fields: &mut Fields<'a>, kind: u64) -> Option<Piece<'a>> {
        let stream = fields.varint()?;
        let offset = if kind & 4 != 0 { fields.varint()? } else { 0 };
        let length = if kind & 2 != 0 { fields.varint() } else { Some(fields.0.len() as u64) };
        let data = fields.prefixed(length)?;
        offset.checked_add(data.len() as u64)?;
        Some(Piece { stream, offset, data, fin: kind & 1 != 0 })
    }

    /// Skips an irrelevant frame; `None` if its length is unknown.
    fn skip(fields: &mut Fields<'a>, kind: u64) -> Option<()> {
        match kind {
            // PADDING, PING, HANDSHAKE_DONE.
            0x00 | 0x01 | 0x1e => {}
            // STOP_SENDING.
            0x05 => {
                fields.varint()?;
                fields.varint()?;
            }
            // NEW_TOKEN.
            0x07 => {
                let length = fields.varint();
                fields.prefixed(length)?;
            }
            // MAX_STREAMS, STREAMS_BLOCKED, RETIRE_CONNECTION_ID.
            0x12 | 0x13 | 0x16 | 0x17 | 0x19 => {
                fields.varint()?;
            }
            // PATH_CHALLENGE, PATH_RESPONSE.
            0x1a | 0x1b => {
                fields.take(8)?;
            }
            // DATAGRAM.
            0x30 => fields.0 = &[],
            0x31 => {
                let length = fields.varint();
                fields.prefixed(length)?;
            }
            _ => return None,
        }
        Some(())
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        // Skips all padding at once, which may fill a whole packet.
        while let [0, rest @ ..] = self.0.0 {
            self.0.0 = rest;
        }
        let frame = self.read();
        if frame.is_none() {
            self.0.0 = &[];
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_of_a_packet_are_read_in_order() {
        let packet =
            [0, 0, 1, 0x02, 20, 0, 1, 2, 3, 4, 0x10, 0x44, 0, 0x11, 4, 9, 0x0f, 4, 7, 2, b'a', b'b', 0x08, 8, b'c'];
        let frames: Vec<_> = Frames::new(&packet).collect();
        let [Frame::Other, Frame::Ack(ack), rest @ ..] = &frames[..] else { panic!("{frames:?}") };
        assert_eq!(ack.ranges().collect::<Vec<_>>(), [(18, 20), (9, 13)]);
        let piece = |stream, offset, data, fin| Frame::Stream(Piece { stream, offset, data, fin });
        let expected = [
            Frame::MaxData(1024),
            Frame::MaxStreamData { stream: 4, most: 9 },
            piece(4, 7, &b"ab"[..], true),
            piece(8, 0, b"c", false),
        ];
        assert_eq!(rest, expected);
    }

    #[test]
    fn impossible_ack_ranges_end_the_list() {
        let frames: Vec<_> = Frames::new(&[0x02, 5, 0, 1, 2, 3, 4]).collect();
        let [Frame::Ack(ack)] = &frames[..] else { panic!("{frames:?}") };
        assert_eq!(ack.ranges().collect::<Vec<_>>(), [(3, 5)]);
    }

    proptest! {
        #[test]
        fn hostile_frames_end(packet in prop::collection::vec(any::<u8>(), 0..200)) {
            let frames: Vec<_> = Frames::new(&packet).collect();
            prop_assert!(frames.len() <= packet.len());
            for frame in frames {
                if let Frame::Ack(ack) = frame {
                    prop_assert!(ack.ranges().count() <= packet.len());
                    ack.ranges().for_each(|(low, high)| assert!(low <= high));
                }
            }
        }
    }
}

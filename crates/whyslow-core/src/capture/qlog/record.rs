//! [`Record`]: what an event of a qlog says, as the payload of a datagram of its own link type.
//!
//! So later stages have one input: packets. Frames have the form that they have on the wire, with
//! zeros in the place of data, which a qlog does not hold.

use crate::capture::LinkType;
use whyslow_analysis::types::TransportParameters;

/// Packets that stand for events: an IP header follows. No registered link type is as high.
pub(crate) const LINK: LinkType = LinkType(0xfe51);
/// The server's port, which distinguishes the ends.
pub(crate) const SERVER_PORT: u16 = 443;

/// A long header of version 1, so that the datagram is one of QUIC.
const HEAD: [u8; 5] = [0xc0, 0, 0, 0, 1];
const ABSENT: u64 = u64::MAX;

/// The packet number spaces (RFC 9000 section 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Application,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record<'a> {
    /// The parameters that an end offers.
    Parameters { is_client: bool, offered: TransportParameters },
    /// A packet, with its frames as on the wire.
    Packet { space: Space, number: u64, frames: &'a [u8] },
    /// A HEADERS frame of HTTP/3.
    Headers { stream: u64, frame: &'a [u8] },
    /// The application's protocol.
    Alpn(&'a str),
    /// The server asks the client to prove its address.
    Retry,
}

impl<'a> Record<'a> {
    /// Appends it to a datagram's payload.
    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        to.extend(HEAD);
        match self {
            Self::Parameters { is_client, offered } => {
                to.extend([0, u8::from(*is_client)]);
                let all = [
                    offered.initial_max_data,
                    offered.initial_max_stream_data_bidi_local,
                    offered.initial_max_stream_data_bidi_remote,
                    offered.initial_max_stream_data_uni,
                    offered.max_idle_timeout_ms,
                ];
                all.iter().for_each(|one| to.extend(one.unwrap_or(ABSENT).to_be_bytes()));
            }
            Self::Packet { space, number, frames } => {
                to.extend([1, *space as u8]);
                to.extend(number.to_be_bytes());
                to.extend_from_slice(frames);
            }
            Self::Headers { stream, frame } => {
                to.push(2);
                to.extend(stream.to_be_bytes());
                to.extend_from_slice(frame);
            }
            Self::Alpn(name) => {
                to.push(3);
                to.extend_from_slice(name.as_bytes());
            }
            Self::Retry => to.push(4),
        }
    }

    /// Reads it; `None` if the payload is none.
    pub(crate) fn read(payload: &'a [u8]) -> Option<Self> {
        let rest = payload.strip_prefix(&HEAD)?;
        let (kind, rest) = rest.split_first()?;
        Some(match kind {
            0 => {
                let (who, mut rest) = rest.split_first()?;
                let mut next = || {
                    let (value, after) = number(rest)?;
                    rest = after;
                    Some(Some(value).filter(|value| *value != ABSENT))
                };
                let offered = TransportParameters {
                    initial_max_data: next()?,
                    initial_max_stream_data_bidi_local: next()?,
                    initial_max_stream_data_bidi_remote: next()?,
                    initial_max_stream_data_uni: next()?,
                    max_idle_timeout_ms: next()?,
                    ..TransportParameters::default()
                };
                Self::Parameters { is_client: *who == 1, offered }
            }
            1 => {
                let (space, rest) = rest.split_first()?;
                let space = *[Space::Initial, Space::Handshake, Space::Application].get(usize::from(*space))?;
                let (number, frames) = number(rest)?;
                Self::Packet { space, number, frames }
            }
            2 => {
                let (stream, frame) = number(rest)?;
                Self::Headers { stream, frame }
            }
            3 => Self::Alpn(std::str::from_utf8(rest).ok()?),
            4 => Self::Retry,
            _ => return None,
        })
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first_chunk()?;
    Some((u64::from_be_bytes(*first), rest))
}

/// A number in QUIC's encoding (RFC 9000 section 16), which holds 62 bits.
pub(super) fn varint(to: &mut Vec<u8>, number: u64) {
    let number = number.min((1 << 62) - 1);
    match number {
        0..0x40 => to.push(number as u8),
        0x40..0x4000 => to.extend((number as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => to.extend((number as u32 | 0x8000_0000).to_be_bytes()),
        _ => to.extend((number | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let offered = TransportParameters { initial_max_data: Some(5), ..TransportParameters::default() };
        let all = [
            Record::Parameters { is_client: true, offered },
            Record::Packet { space: Space::Application, number: 7, frames: &[1, 2] },
            Record::Headers { stream: 4, frame: &[1, 0] },
            Record::Alpn("h3"),
            Record::Retry,
        ];
        for record in all {
            let mut bytes = Vec::new();
            record.write(&mut bytes);
            assert_eq!(Record::read(&bytes).unwrap(), record);
        }
        assert_eq!(Record::read(&[0xc0, 0, 0, 0, 1, 1]), None);
    }
}

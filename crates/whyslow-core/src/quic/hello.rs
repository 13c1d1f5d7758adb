//! The client's TLS hello (RFC 8446 section 4.1.2) in CRYPTO frames of Initial packets.

use super::header::Fields;
use whyslow_analysis::types::TransportParameters;

/// Maximum bytes of a hello: with post-quantum keys it has about 1,800.
const MAX_HELLO: usize = 16_384;

/// Maximum number of separate pieces: Chrome sends its hello in up to about 20, in any order.
const MAX_PIECES: usize = 64;

/// Reassembles the CRYPTO frames of a hello.
#[derive(Debug, Default)]
pub(super) struct CryptoStream {
    bytes: Vec<u8>,
    /// The received ranges, sorted.
    have: Vec<(usize, usize)>,
}

impl CryptoStream {
    /// Processes the frames of a packet. Returns whether its CRYPTO frames contain only old data,
    /// or `None` if it has no such frames.
    pub(super) fn take(&mut self, frames: &[u8]) -> Option<bool> {
        let mut fields = Fields(frames);
        let mut repeated = None;
        while let Some(kind) = fields.varint() {
            match kind {
                // PADDING, PING.
                0 | 1 => {}
                2 | 3 => skip_ack(&mut fields, kind == 3)?,
                6 => {
                    let start = usize::try_from(fields.varint()?).ok()?;
                    let length = fields.varint();
                    let data = fields.prefixed(length)?;
                    let was_here = self.add(start, data);
                    repeated = Some(repeated.unwrap_or(true) && was_here);
                }
                // CONNECTION_CLOSE, or a frame that is not allowed here.
                _ => break,
            }
        }
        repeated
    }

    fn add(&mut self, start: usize, data: &[u8]) -> bool {
        let Some(end) = start.checked_add(data.len()).filter(|&end| end <= MAX_HELLO) else { return true };
        if self.have.iter().any(|&(from, to)| from <= start && end <= to) {
            return true;
        }
        if self.have.len() >= MAX_PIECES {
            return true;
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        if let Some(place) = self.bytes.get_mut(start..end) {
            place.copy_from_slice(data);
        }
        self.have.push((start, end));
        self.have.sort_unstable();
        self.have.dedup_by(|next, one| {
            let joins = next.0 <= one.1;
            if joins {
                one.1 = one.1.max(next.1);
            }
            joins
        });
        false
    }

    /// The body of the first message, if it is of this kind and complete.
    fn message(&self, kind: u8) -> Option<Fields<'_>> {
        let &(0, end) = self.have.first()? else { return None };
        let mut fields = Fields(self.bytes.get(..end)?);
        if fields.u8()? != kind {
            return None;
        }
        let length = fields.take(3)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        fields.prefixed(Some(length)).map(Fields)
    }

    /// Adds the data of a CRYPTO frame.
    pub(super) fn add_piece(&mut self, offset: u64, data: &[u8]) {
        if let Ok(offset) = usize::try_from(offset) {
            self.add(offset, data);
        }
    }

    /// The hello, once it is complete.
    pub(super) fn hello(&self) -> Option<Hello> {
        let &(0, end) = self.have.first()? else { return None };
        Hello::read(self.bytes.get(..end)?)
    }
}

fn skip_ack(fields: &mut Fields<'_>, with_ecn: bool) -> Option<()> {
    fields.varint()?;
    fields.varint()?;
    let ranges = fields.varint()?;
    fields.varint()?;
    // Each range has at least two bytes, so the packet's size limits the loop.
    for _ in 0..ranges {
        fields.varint()?;
        fields.varint()?;
    }
    for _ in 0..if with_ecn { 3 } else { 0 } {
        fields.varint()?;
    }
    Some(())
}

/// The relevant fields of a client's hello.
#[derive(Debug, Default)]
pub(super) struct Hello {
    /// The random number, which identifies the connection in a key log.
    pub(super) random: [u8; 32],
    pub(super) server_name: Option<String>,
    pub(super) alpn: Vec<String>,
    pub(super) parameters: TransportParameters,
}

impl Hello {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.u8()? != 1 {
            return None;
        }
        let length = fields.take(3)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let mut hello = Fields(fields.prefixed(Some(length))?);
        hello.u16()?;
        let random = *hello.take(32)?.first_chunk()?;
        let length = hello.u8().map(u64::from);
        hello.prefixed(length)?;
        let length = hello.u16().map(u64::from);
        hello.prefixed(length)?;
        let length = hello.u8().map(u64::from);
        hello.prefixed(length)?;
        let length = hello.u16().map(u64::from);
        let mut extensions = Fields(hello.prefixed(length)?);
        let mut read = Self { random, ..Self::default() };
        while let Some(kind) = extensions.u16() {
            let length = extensions.u16().map(u64::from);
            let Some(body) = extensions.prefixed(length) else { break };
            match kind {
                0 => read.server_name = server_name(body),
                16 => read.alpn = protocols(body).unwrap_or_default(),
                0x39 => read.parameters = parameters(body),
                _ => {}
            }
        }
        Some(read)
    }
}

/// The cipher suite that a ServerHello chooses (RFC 8446 section 4.1.3).
pub(super) fn chosen_suite(stream: &CryptoStream) -> Option<u16> {
    let mut hello = stream.message(2)?;
    hello.take(34)?;
    let length = hello.u8().map(u64::from);
    hello.prefixed(length)?;
    hello.u16()
}

/// The server's EncryptedExtensions (RFC 8446 section 4.3.1): its transport parameters and the
/// chosen protocol.
pub(super) fn server_extensions(stream: &CryptoStream) -> Option<(TransportParameters, Option<String>)> {
    let mut body = stream.message(8)?;
    let length = body.u16().map(u64::from);
    let mut extensions = Fields(body.prefixed(length)?);
    let (mut found, mut alpn) = (TransportParameters::default(), None);
    while let Some(kind) = extensions.u16() {
        let length = extensions.u16().map(u64::from);
        let Some(body) = extensions.prefixed(length) else { break };
        match kind {
            16 => alpn = protocols(body).unwrap_or_default().pop(),
            0x39 => found = parameters(body),
            _ => {}
        }
    }
    Some((found, alpn))
}

/// A valid host name from the SNI extension; other names are never shown.
fn server_name(body: &[u8]) -> Option<String> {
    let mut fields = Fields(body);
    fields.u16()?;
    if fields.u8()? != 0 {
        return None;
    }
    let length = fields.u16().map(u64::from);
    let name = fields.prefixed(length)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (!name.is_empty() && name.len() <= 253 && name.iter().all(is_name))
        .then(|| String::from_utf8_lossy(name).into_owned())
}

fn protocols(body: &[u8]) -> Option<Vec<String>> {
    let mut fields = Fields(body);
    fields.u16()?;
    let mut all = Vec::new();
    while let Some(length) = fields.u8() {
        let name = fields.prefixed(Some(u64::from(length)))?;
        if all.len() < 8 && name.len() <= 32 && name.iter().all(u8::is_ascii_graphic) {
            all.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    Some(all)
}

fn parameters(body: &[u8]) -> TransportParameters {
    let mut fields = Fields(body);
    let mut all = TransportParameters::default();
    while let Some(id) = fields.varint() {
        let length = fields.varint();
        let Some(value) = fields.prefixed(length) else { break };
        let number = Fields(value).varint();
        match id {
            0x01 => all.max_idle_timeout_ms = number,
            0x03 => all.max_udp_payload_size = number,
            0x04 => all.initial_max_data = number,
            0x05 => all.initial_max_stream_data_bidi_local = number,
            0x06 => all.initial_max_stream_data_bidi_remote = number,
            0x07 => all.initial_max_stream_data_uni = number,
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_in_any_order_are_reassembled() {
        let mut stream = CryptoStream::default();
        assert_eq!(stream.take(&[6, 2, 2, b'c', b'd', 0, 1]), Some(false));
        assert!(stream.hello().is_none());
        assert_eq!(stream.take(&[6, 0, 2, b'a', b'b']), Some(false));
        assert_eq!((stream.bytes.as_slice(), stream.have.as_slice()), (&b"abcd"[..], &[(0, 4)][..]));
        assert_eq!(stream.take(&[6, 1, 2, b'b', b'c']), Some(true), "sent again");
        assert_eq!(stream.take(&[0, 1]), None, "no hello");
    }

    proptest! {
        #[test]
        fn hostile_frames_are_bounded(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..40)) {
            let mut stream = CryptoStream::default();
            for packet in &packets {
                stream.take(packet);
            }
            prop_assert!(stream.bytes.len() <= MAX_HELLO);
            stream.hello();
            for packet in &packets {
                Hello::read(packet);
                parameters(packet);
            }
        }
    }
}

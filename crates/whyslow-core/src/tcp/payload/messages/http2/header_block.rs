//! [`HeaderDecoder`]: decodes HTTP/2 header blocks (RFC 7541).

use loona_hpack::Decoder;

/// Longest header block that is decoded: nginx's `large_client_header_buffers` and Go's
/// `MaxHeaderBytes` allow 32 KiB and 1 MiB, and real ones have less than 16 KiB.
pub(super) const MAX_BLOCK: usize = 64 << 10;
/// Largest supported dynamic table, bytes: Chrome and Firefox request 64 KiB.
const MAX_TABLE: usize = 64 << 10;
/// Longest field value that is kept.
const MAX_VALUE: usize = 256;

/// The relevant fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp::payload) struct Fields {
    pub(in crate::tcp::payload) method: Option<String>,
    pub(in crate::tcp::payload) path: Option<String>,
    pub(in crate::tcp::payload) authority: Option<String>,
    pub(in crate::tcp::payload) status: Option<u16>,
    pub(in crate::tcp::payload) grpc_status: Option<u16>,
    /// Whether the length of the body is given.
    pub(in crate::tcp::payload) has_length: bool,
    /// The value of a Server or User-Agent field.
    pub(in crate::tcp::payload) product: Option<Vec<u8>>,
}

/// Decodes the blocks of one direction in order.
#[derive(Default)]
pub(super) struct HeaderDecoder {
    decoder: Option<Box<Decoder<'static>>>,
    /// A block was not decoded: then later ones cannot be decoded either.
    lost: bool,
}

impl std::fmt::Debug for HeaderDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeaderDecoder").field("lost", &self.lost).finish_non_exhaustive()
    }
}

/// A clone decodes no more blocks: connections are only cloned to be finished.
impl Clone for HeaderDecoder {
    fn clone(&self) -> Self {
        Self { decoder: None, lost: true }
    }
}

impl HeaderDecoder {
    /// Decodes a complete block; `None` on failure.
    pub(super) fn decode(&mut self, block: &[u8]) -> Option<Fields> {
        if self.lost {
            return None;
        }
        let decoder = self.decoder.get_or_insert_with(|| {
            let mut decoder = Box::new(Decoder::new());
            decoder.set_max_allowed_table_size(MAX_TABLE);
            decoder
        });
        let mut fields = Fields::default();
        let decoded = decoder.decode_with_cb(block, |name, value| fields.add(&name, &value));
        self.lost = decoded.is_err();
        (!self.lost).then_some(fields)
    }

    /// Records that a block was incomplete.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }
}

impl Fields {
    pub(in crate::tcp::payload) fn add(&mut self, name: &[u8], value: &[u8]) {
        let text = || String::from_utf8_lossy(value.get(..MAX_VALUE).unwrap_or(value)).into_owned();
        match name {
            b":method" => self.method = Some(text()),
            b":path" => self.path = Some(text()),
            b":authority" => self.authority = Some(text()),
            b":status" => self.status = text().parse().ok(),
            b"content-length" => self.has_length = true,
            b"grpc-status" => self.grpc_status = text().parse().ok(),
            b"server" | b"user-agent" if self.product.is_none() => {
                self.product = Some(value.get(..MAX_VALUE).unwrap_or(value).to_vec());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    /// RFC 7541 appendix C.4.1.
    const REQUEST: [u8; 17] =
        [0x82, 0x86, 0x84, 0x41, 0x8c, 0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];

    #[test]
    fn blocks_of_the_standard_are_decoded() {
        let mut decoder = HeaderDecoder::default();
        let fields = decoder.decode(&REQUEST).unwrap();
        assert_eq!((fields.method.as_deref(), fields.path.as_deref()), (Some("GET"), Some("/")));
        assert_eq!(fields.authority.as_deref(), Some("www.example.com"));
        // Appendix C.4.2 refers to this field.
        let again = decoder.decode(&[0x82, 0x86, 0x84, 0xbe, 0x58, 0x86, 0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]);
        assert_eq!(again.unwrap().authority.as_deref(), Some("www.example.com"));
    }

    #[test]
    fn blocks_after_a_lost_one_are_not_decoded() {
        let mut decoder = HeaderDecoder::default();
        assert_eq!(decoder.decode(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(decoder.decode(&REQUEST), None);
    }

    proptest! {
        #[test]
        fn any_block_is_read(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..20)) {
            let mut decoder = HeaderDecoder::default();
            for block in blocks {
                let _ = decoder.decode(&block);
            }
        }
    }
}

//! [`Qpack`]: decodes HTTP/3 header blocks of one direction (RFC 9204).

use crate::tcp::payload::messages::http2::HeaderFields;
use loona_hpack::huffman::HuffmanDecoder;
use std::collections::VecDeque;

/// Longest string that is decoded.
const MAX_STRING: u64 = 16 << 10;
/// Largest supported dynamic table, bytes: Chrome and Firefox request 64 KiB.
const MAX_TABLE: u64 = 64 << 10;
/// Size of an entry without its strings (RFC 9204 section 3.2.1).
const ENTRY: u64 = 32;
/// Maximum number of buffered bytes of an incomplete instruction.
const MAX_WAITING: usize = 32 << 10;
/// Maximum number of decoded fields of a block.
const MAX_FIELDS: usize = 256;

/// A field: name and value.
type Field = (Vec<u8>, Vec<u8>);

/// The dynamic table that one side's encoder stream has built.
#[derive(Clone, Debug, Default)]
pub(super) struct Qpack {
    /// The remaining entries, oldest first.
    table: VecDeque<Field>,
    /// Number of all insertions.
    inserted: u64,
    size: u64,
    capacity: u64,
    /// The largest capacity so far, which bounds Required Insert Counts.
    largest_capacity: u64,
    /// An incomplete instruction.
    waiting: Vec<u8>,
    /// The encoder stream is incomplete or invalid.
    lost: bool,
}

/// Result of decoding a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// The fields.
    Decoded(Box<HeaderFields>),
    /// It needs entries that have not arrived.
    Blocked,
    /// It cannot be decoded.
    Lost,
}

impl Qpack {
    /// Takes bytes of the encoder stream, in order.
    pub(super) fn instructions(&mut self, bytes: &[u8]) {
        if self.lost {
            return;
        }
        let mut all = std::mem::take(&mut self.waiting);
        all.extend_from_slice(bytes);
        let mut rest = Reader(&all);
        loop {
            let before = rest;
            if rest.0.is_empty() || self.instruction(&mut rest).is_none() {
                rest = before;
                break;
            }
        }
        self.lost |= rest.0.len() > MAX_WAITING;
        if !self.lost {
            self.waiting = rest.0.to_vec();
        }
    }

    /// Records a hole in the encoder stream that is not filled.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    /// Parses one instruction. `None` if it is incomplete.
    fn instruction(&mut self, rest: &mut Reader<'_>) -> Option<()> {
        let first = *rest.0.first()?;
        match first {
            // Insert with name reference.
            0x80.. => {
                let index = rest.number(6)?;
                let value = rest.string(7)?;
                let name = if first & 0x40 != 0 {
                    static_field(index).map(|(name, _)| name.to_vec())
                } else {
                    self.relative(index)
                };
                self.insert(name, value);
            }
            // Insert with literal name.
            0x40..=0x7f => {
                let name = rest.string(5)?;
                let value = rest.string(7)?;
                self.insert(Some(name), value);
            }
            // Set capacity.
            0x20..=0x3f => {
                self.capacity = rest.number(5)?.min(MAX_TABLE);
                self.largest_capacity = self.largest_capacity.max(self.capacity);
                self.evict(0);
            }
            // Duplicate.
            _ => {
                let index = rest.number(5)?;
                let entry = self.place(index).and_then(|place| self.table.get(place).cloned());
                let (name, value) = entry.unzip();
                self.insert(name, value.unwrap_or_default());
            }
        }
        Some(())
    }

    fn place(&self, relative: u64) -> Option<usize> {
        self.table.len().checked_sub(1)?.checked_sub(usize::try_from(relative).ok()?)
    }

    fn relative(&self, index: u64) -> Option<Vec<u8>> {
        self.table.get(self.place(index)?).map(|(name, _)| name.clone())
    }

    fn insert(&mut self, name: Option<Vec<u8>>, value: Vec<u8>) {
        let Some(name) = name else {
            self.lost = true;
            return;
        };
        let size = (name.len() + value.len()) as u64 + ENTRY;
        self.evict(size);
        if size <= self.capacity {
            self.size += size;
            self.table.push_back((name, value));
        }
        self.inserted += 1;
    }

    /// Evicts entries to make room for one of this size.
    fn evict(&mut self, size: u64) {
        while self.size + size > self.capacity
            && let Some((name, value)) = self.table.pop_front()
        {
            self.size -= (name.len() + value.len()) as u64 + ENTRY;
        }
    }

    /// Decodes a block.
    pub(super) fn decode(&self, block: &[u8]) -> Block {
        let mut rest = Reader(block);
        let Some(encoded) = rest.number(8) else { return Block::Lost };
        let Some(required) = self.required(encoded) else { return Block::Lost };
        if required > self.inserted {
            return if self.lost { Block::Lost } else { Block::Blocked };
        }
        let is_negative = rest.0.first().is_some_and(|first| first & 0x80 != 0);
        let Some(delta) = rest.number(7) else { return Block::Lost };
        let base = if is_negative { required.checked_sub(delta + 1) } else { required.checked_add(delta) };
        let Some(base) = base else { return Block::Lost };
        let mut fields = HeaderFields::default();
        for _ in 0..MAX_FIELDS {
            if rest.0.is_empty() {
                break;
            }
            let Some((name, value)) = self.field(&mut rest, base) else { return Block::Lost };
            fields.add(&name, &value);
        }
        Block::Decoded(Box::new(fields))
    }

    /// The Required Insert Count (RFC 9204 section 4.5.1.1). The decoder's limit is unknown here,
    /// but the encoder sets its capacity to that limit or less.
    fn required(&self, encoded: u64) -> Option<u64> {
        if encoded == 0 {
            return Some(0);
        }
        let max_entries = self.largest_capacity / ENTRY;
        let full = 2 * max_entries;
        if full == 0 {
            // The encoder stream has not arrived.
            return Some(u64::MAX);
        }
        if encoded > full {
            return None;
        }
        let max_value = self.inserted + max_entries;
        let mut required = (max_value / full) * full + encoded - 1;
        if required > max_value {
            required = required.checked_sub(full)?;
        }
        Some(required)
    }

    fn field(&self, rest: &mut Reader<'_>, base: u64) -> Option<Field> {
        let first = *rest.0.first()?;
        match first {
            // Indexed.
            0x80.. => {
                let index = rest.number(6)?;
                if first & 0x40 != 0 {
                    return static_field(index).map(owned);
                }
                self.absolute(base.checked_sub(index.checked_add(1)?)?)
            }
            // Literal with name reference.
            0x40..=0x7f => {
                let index = rest.number(4)?;
                let name = if first & 0x10 != 0 {
                    static_field(index)?.0.to_vec()
                } else {
                    self.absolute(base.checked_sub(index.checked_add(1)?)?)?.0
                };
                Some((name, rest.string(7)?))
            }
            // Literal with literal name.
            0x20..=0x3f => {
                let name = rest.string(3)?;
                Some((name, rest.string(7)?))
            }
            // Indexed with post-base index.
            0x10..=0x1f => {
                let index = rest.number(4)?;
                self.absolute(base.checked_add(index)?)
            }
            // Literal with post-base name reference.
            _ => {
                let index = rest.number(3)?;
                let name = self.absolute(base.checked_add(index)?)?.0;
                Some((name, rest.string(7)?))
            }
        }
    }

    fn absolute(&self, index: u64) -> Option<Field> {
        let oldest = self.inserted.checked_sub(self.table.len() as u64)?;
        self.table.get(usize::try_from(index.checked_sub(oldest)?).ok()?).cloned()
    }
}

fn owned((name, value): (&'static [u8], &'static [u8])) -> Field {
    (name.to_vec(), value.to_vec())
}

/// Reads integers and strings (RFC 9204 section 4.1).
#[derive(Clone, Copy, Debug)]
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self, prefix: u32) -> Option<u64> {
        let (&first, mut rest) = self.0.split_first()?;
        let most = (1u64 << prefix) - 1;
        let mut number = u64::from(first) & most;
        if number == most {
            let mut shift = 0;
            loop {
                let (&byte, behind) = rest.split_first()?;
                rest = behind;
                number = number.checked_add(u64::from(byte & 0x7f).checked_shl(shift)?)?;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
                if shift > 56 {
                    return None;
                }
            }
        }
        self.0 = rest;
        Some(number)
    }

    fn string(&mut self, prefix: u32) -> Option<Vec<u8>> {
        let is_huffman = self.0.first()? >> prefix & 1 == 1;
        let len = self.number(prefix).filter(|len| *len <= MAX_STRING)?;
        let (text, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        if !is_huffman {
            return Some(text.to_vec());
        }
        // An invalid string becomes an empty one, because its entry still counts.
        Some(HuffmanDecoder::new().decode(text).unwrap_or_default())
    }
}

/// The supported fields of the static table (RFC 9204 appendix A); others have no name.
fn static_field(index: u64) -> Option<(&'static [u8], &'static [u8])> {
    Some(match index {
        0 => (b":authority", b""),
        1 => (b":path", b"/"),
        4 => (b"content-length", b"0"),
        15 => (b":method", b"CONNECT"),
        16 => (b":method", b"DELETE"),
        17 => (b":method", b"GET"),
        18 => (b":method", b"HEAD"),
        19 => (b":method", b"OPTIONS"),
        20 => (b":method", b"POST"),
        21 => (b":method", b"PUT"),
        24 => (b":status", b"103"),
        25 => (b":status", b"200"),
        26 => (b":status", b"304"),
        27 => (b":status", b"404"),
        28 => (b":status", b"503"),
        63 => (b":status", b"100"),
        64 => (b":status", b"204"),
        65 => (b":status", b"206"),
        66 => (b":status", b"302"),
        67 => (b":status", b"400"),
        68 => (b":status", b"403"),
        69 => (b":status", b"421"),
        70 => (b":status", b"425"),
        71 => (b":status", b"500"),
        92 => (b"server", b""),
        95 => (b"user-agent", b""),
        2..=98 => (b"", b""),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn fields(block: Block) -> HeaderFields {
        let Block::Decoded(fields) = block else { panic!("{block:?}") };
        *fields
    }

    /// RFC 9204 appendix B.1: a literal with a static name.
    #[test]
    fn literal_with_static_name_is_decoded() {
        let block = [&[0x00, 0x00, 0x51, 0x0b][..], b"/index.html"].concat();
        assert_eq!(fields(Qpack::default().decode(&block)).path.as_deref(), Some("/index.html"));
    }

    /// RFC 9204 appendix B.2 to B.4: the dynamic table.
    #[test]
    fn dynamic_table_of_the_standard_is_followed() {
        let mut qpack = Qpack::default();
        let block = [0x03, 0x81, 0x10, 0x11];
        assert_eq!(qpack.decode(&block), Block::Blocked);
        let inserts =
            [&[0x3f, 0xbd, 0x01, 0xc0, 0x0f][..], b"www.example.com", &[0xc1, 0x0c], b"/sample/path"].concat();
        let (first, second) = inserts.split_at(12);
        qpack.instructions(first);
        assert_eq!(qpack.decode(&block), Block::Blocked);
        qpack.instructions(second);
        let found = fields(qpack.decode(&block));
        assert_eq!(
            (found.authority.as_deref(), found.path.as_deref()),
            (Some("www.example.com"), Some("/sample/path"))
        );
        // A duplicate of the first entry, and a reference to it.
        qpack.instructions(&[0x02 - 1]);
        assert_eq!(fields(qpack.decode(&[0x04, 0x00, 0x80])).authority.as_deref(), Some("www.example.com"));
    }

    proptest! {
        #[test]
        fn hostile_blocks_and_instructions_are_bounded(
            talk in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..80)), 0..40),
        ) {
            let mut qpack = Qpack::default();
            for (is_block, bytes) in talk {
                if is_block {
                    qpack.decode(&bytes);
                } else {
                    qpack.instructions(&bytes);
                }
                prop_assert!(qpack.size <= MAX_TABLE && qpack.waiting.len() <= MAX_WAITING);
            }
        }
    }
}

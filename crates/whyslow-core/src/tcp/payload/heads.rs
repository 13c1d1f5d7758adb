//! Compact storage of HTTP heads: start, end of the message and label of each, and the first Host.

use super::protocol::LIST_MAX;

/// A list of heads. It allocates only once for most connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    /// For each head: its start + 1 (0 marks the host), the length of its message (0 if unknown)
    /// and of its text as LEB128 numbers, and the text.
    bytes: Vec<u8>,
    count: u16,
    named: bool,
}

impl Heads {
    /// Adds a head at `start`, with the length of its message if known, its label and the host in
    /// UTF-8. Drops heads beyond the first [`LIST_MAX`].
    pub fn push(&mut self, start: u64, announced: Option<u64>, label: &[u8], host: Option<&[u8]>) {
        let host = host.filter(|_| !self.named);
        let listed = usize::from(self.count) < LIST_MAX;
        if self.bytes.is_empty() {
            // Two numbers of up to two bytes, text lengths of one, and a message length of three.
            self.bytes.reserve_exact(label.len() + host.map_or(6, |host| host.len() + 10));
        }
        if listed {
            self.count += 1;
            self.entry([start.saturating_add(1), announced.unwrap_or(0)], label);
        }
        if let Some(host) = host {
            self.named = true;
            self.entry([0, 0], host);
        }
    }

    fn entry(&mut self, [start, announced]: [u64; 2], text: &[u8]) {
        for mut number in [start, announced, text.len() as u64] {
            while number >= 0x80 {
                self.bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            self.bytes.push(number as u8);
        }
        self.bytes.extend_from_slice(text);
    }

    /// Drops the heads before this position.
    pub fn forget(&mut self, before: u64) {
        let UnpackedHeads { heads, announced, host } = self.unpack();
        *self = Self { named: self.named, ..Self::default() };
        host.iter().for_each(|host| self.entry([0, 0], host.as_bytes()));
        for (start, label) in heads.iter().filter(|(start, _)| *start >= before) {
            let end = announced.iter().find(|(of, _)| of == start).map(|(_, end)| end - start);
            self.push(*start, end, label.as_bytes(), None);
        }
    }

    /// Returns the heads and the host.
    pub fn unpack(&self) -> UnpackedHeads {
        let (mut heads, mut announced, mut host) = (Vec::with_capacity(self.count.into()), Vec::new(), None);
        let mut rest = &self.bytes[..];
        while !rest.is_empty() {
            let (start, message) = (number(&mut rest), number(&mut rest));
            let len = usize::try_from(number(&mut rest)).unwrap_or(usize::MAX);
            let (text, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            rest = behind;
            let text = String::from_utf8_lossy(text).into_owned();
            match start.checked_sub(1) {
                Some(start) => {
                    heads.push((start, text));
                    announced.extend((message > 0).then(|| (start, start.saturating_add(message))));
                }
                None => host = Some(text),
            }
        }
        UnpackedHeads { heads, announced, host }
    }
}

/// The unpacked heads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UnpackedHeads {
    /// Start and label of each.
    pub heads: Vec<(u64, String)>,
    /// Start and end of the messages with a known length.
    pub announced: Vec<(u64, u64)>,
    /// The first Host.
    pub host: Option<String>,
}

fn number(rest: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0u64, 0u32);
    while let Some((&byte, behind)) = rest.split_first() {
        *rest = behind;
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Creating the heads takes nearly all of the time: a hundred kilobytes for each case.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn heads_roundtrip(
            heads in prop::collection::vec(
                (0..u64::MAX / 2, prop::option::of(1..u64::MAX / 2), "[ -~]{0,200}…?", prop::option::of("[!-~]{1,255}")),
                0..600,
            ),
        ) {
            let mut list = Heads::default();
            for (start, length, label, host) in &heads {
                list.push(*start, *length, label.as_bytes(), host.as_ref().map(String::as_bytes));
            }
            let listed = || heads.iter().take(LIST_MAX);
            let unpacked = UnpackedHeads {
                heads: listed().map(|(start, _, label, _)| (*start, label.clone())).collect(),
                announced: listed().filter_map(|(start, length, ..)| Some((*start, *start + (*length)?))).collect(),
                host: heads.iter().find_map(|(.., host)| host.clone()),
            };
            prop_assert_eq!(list.unpack(), unpacked);
        }
    }
}

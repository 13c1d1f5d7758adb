//! HTTP heads in few bytes: where each starts, and its label; and the first host that one of them
//! names.

use super::protocol::LIST_MAX;

/// A list of heads. It allocates once for most connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    /// For each: 1 more than its start (0: this is the host) and the length of its text, as numbers
    /// of seven bits a byte (LEB128), and the text.
    bytes: Vec<u8>,
    count: u16,
    named: bool,
}

impl Heads {
    /// A head at `start`, its label and the host that it names, in UTF-8. Those beyond the first
    /// [`LIST_MAX`] are not listed.
    pub fn push(&mut self, start: u64, label: &[u8], host: Option<&[u8]>) {
        let host = host.filter(|_| !self.named);
        let listed = usize::from(self.count) < LIST_MAX;
        if self.bytes.is_empty() {
            // Two numbers of up to two bytes, and two lengths of one.
            self.bytes.reserve_exact(label.len() + host.map_or(3, |host| host.len() + 6));
        }
        if listed {
            self.count += 1;
            self.entry(start.saturating_add(1), label);
        }
        if let Some(host) = host {
            self.named = true;
            self.entry(0, host);
        }
    }

    fn entry(&mut self, start: u64, text: &[u8]) {
        for mut number in [start, text.len() as u64] {
            while number >= 0x80 {
                self.bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            self.bytes.push(number as u8);
        }
        self.bytes.extend_from_slice(text);
    }

    /// Gives up the heads before this position.
    pub fn forget(&mut self, before: u64) {
        let (heads, host) = self.unpack();
        *self = Self { named: self.named, ..Self::default() };
        host.iter().for_each(|host| self.entry(0, host.as_bytes()));
        for (start, label) in heads.iter().filter(|(start, _)| *start >= before) {
            self.push(*start, label.as_bytes(), None);
        }
    }

    /// The heads, and the host.
    pub fn unpack(&self) -> (Vec<(u64, String)>, Option<String>) {
        let (mut heads, mut host) = (Vec::with_capacity(self.count.into()), None);
        let mut rest = &self.bytes[..];
        while !rest.is_empty() {
            let start = number(&mut rest);
            let len = usize::try_from(number(&mut rest)).unwrap_or(usize::MAX);
            let (text, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            rest = behind;
            let text = String::from_utf8_lossy(text).into_owned();
            match start.checked_sub(1) {
                Some(start) => heads.push((start, text)),
                None => host = Some(text),
            }
        }
        (heads, host)
    }
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
        // Making the heads takes nearly all of the time: a hundred kilobytes for each case.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_listed_is_told(
            heads in prop::collection::vec((0..u64::MAX, "[ -~]{0,200}…?", prop::option::of("[!-~]{1,255}")), 0..600),
        ) {
            let mut list = Heads::default();
            heads.iter().for_each(|(start, label, host)| list.push(*start, label.as_bytes(), host.as_ref().map(String::as_bytes)));
            let first: Vec<_> = heads.iter().take(LIST_MAX).map(|(start, label, _)| (*start, label.clone())).collect();
            let host = heads.iter().find_map(|(.., host)| host.clone());
            prop_assert_eq!(list.unpack(), (first, host));
        }
    }
}

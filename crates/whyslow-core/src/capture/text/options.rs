//! Converts the options list of a line to the bytes of TCP options.
//!
//! Options that the analysis needs are written exactly; others with the information in the text
//! (Multipath TCP: only its presence and length). If the list exceeds the header's 40 bytes,
//! padding is dropped first.

use super::relative::WireNumbers;

/// The bytes of an options list, padded to complete 32-bit words.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionBytes {
    bytes: [u8; Self::MAX],
    len: usize,
    /// Number of unreadable items.
    pub(super) unread: u32,
    /// Dots in the text stand for omitted items.
    pub(super) elided: bool,
}

impl OptionBytes {
    const MAX: usize = 40;

    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len.next_multiple_of(4)).unwrap_or(&self.bytes)
    }

    /// Ends the list with an invalid option (of length 0), so that a missing option does not count
    /// as one that the host did not offer.
    pub(super) fn end_unfinished(&mut self) {
        self.len = self.len.min(Self::MAX - 2);
        self.put(&[&[2, 0]]);
    }

    /// Adds an option, or nothing if it does not fit.
    fn put(&mut self, parts: &[&[u8]]) -> bool {
        let mut at = self.len;
        for part in parts {
            let Some(room) = self.bytes.get_mut(at..at + part.len()) else { return false };
            room.copy_from_slice(part);
            at += part.len();
        }
        self.len = at;
        true
    }
}

/// The bytes for `list`, which is the text between the brackets of `options [mss 1460,nop,wscale
/// 7]`, or between the `<` and `>` of tcpdump before 4.0.
pub(super) fn encode(list: &str, numbers: &WireNumbers) -> OptionBytes {
    let mut all = OptionBytes { bytes: [0; OptionBytes::MAX], len: 0, unread: 0, elided: false };
    if items(list).all(|item| all.add(item, numbers, false)) {
        return all;
    }
    let mut meant = OptionBytes { bytes: [0; OptionBytes::MAX], len: 0, unread: 0, elided: false };
    for item in items(list) {
        meant.add(item, numbers, true);
    }
    meant
}

/// The timestamps in `list`: the sender's, and the echoed one.
pub(super) fn timestamps(list: &str) -> Option<(u32, u32)> {
    let (_, value) = list.split_once("TS val ").or_else(|| list.split_once("timestamp "))?;
    let mut words = value.split([' ', ',']).filter(|word| *word != "ecr");
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// Number of items in `list` that differ from tcpdump's form.
pub(super) fn irregularities(list: &str) -> u32 {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let odd = |item: &&str| {
        let (word, rest) = item.split_once(' ').unwrap_or((item, ""));
        let words = rest.split(' ');
        !match word {
            "nop" | "eol" | "sackOK" => rest.is_empty(),
            "mss" | "wscale" => is_number(rest),
            "TS" => rest
                .strip_prefix("val ")
                .and_then(|rest| rest.split_once(" ecr "))
                .is_some_and(|(val, ecr)| is_number(val) && is_number(ecr)),
            "timestamp" => words.clone().count() == 2 && words.clone().all(is_number),
            "sack" => rest.split('{').skip(1).all(|block| {
                let (edges, after) = block.split_once('}').unwrap_or((block, "x"));
                after.trim().is_empty() && edges.split(':').all(is_number)
            }),
            _ => encode(item, &WireNumbers::default()).unread == 0,
        }
    };
    items(list).filter(odd).count() as u32
}

/// The items of a list. A comma separates them, except in braces and before a space: `md5` is
/// explained in a sentence. Before version 4.0 a space precedes ` sack` as well.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let mut chars = list.char_indices().peekable();
    let mut start = 0;
    let mut done = list.is_empty();
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        while let Some((at, c)) = chars.next() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth <= 0
                    && (chars.peek().is_none_or(|&(_, next)| next != ' ')
                        || list.get(at + 1..).is_some_and(|rest| rest.starts_with(" sack "))) =>
                {
                    let item = list.get(start..at);
                    start = at + 1;
                    return item;
                }
                _ => {}
            }
        }
        done = true;
        list.get(start..)
    })
    .map(str::trim)
    .filter(|item| !item.is_empty())
}

impl OptionBytes {
    /// Adds an item; returns `false` if it does not fit. `meant_only`: skips padding and options
    /// that the analysis does not use.
    fn add(&mut self, item: &str, numbers: &WireNumbers, meant_only: bool) -> bool {
        let (word, rest) = item.split_once([' ', ':', '[']).unwrap_or((item, ""));
        let filler = |out: &mut Self, parts: &[&[u8]]| meant_only || out.put(parts);
        match word {
            "eol" => filler(self, &[&[0]]),
            "nop" => filler(self, &[&[1]]),
            "mss" => self.put(&[&[2, 4], &(value(rest) as u16).to_be_bytes()]),
            "wscale" => self.put(&[&[3, 3, value(rest) as u8]]),
            "sackOK" => self.put(&[&[4, 2]]),
            "sack" => self.add_sack(rest, numbers),
            "TS" | "timestamp" => {
                let mut values =
                    rest.split_ascii_whitespace().filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
                let [val, ecr] = [values.next(), values.next()].map(|part| part.map_or(0, value).to_be_bytes());
                self.put(&[&[8, 10], &val, &ecr])
            }
            "tfo" | "exp-tfo" => {
                let (cookie, len) = hex(rest.trim_start().strip_prefix("cookie ").unwrap_or(""));
                let cookie = cookie.get(..len.min(16)).unwrap_or(&[]);
                if word == "tfo" {
                    self.put(&[&[34, 2 + cookie.len() as u8], cookie])
                } else {
                    self.put(&[&[254, 4 + cookie.len() as u8, 0xf9, 0x89], cookie])
                }
            }
            "mptcp" => self.add_mptcp(rest, meant_only),
            "echo" => filler(self, &[&[6, 6], &value(rest).to_be_bytes()]),
            "echoreply" => filler(self, &[&[7, 6], &value(rest).to_be_bytes()]),
            "cc" => filler(self, &[&[11, 6], &value(rest).to_be_bytes()]),
            "ccnew" => filler(self, &[&[12, 6], &value(rest).to_be_bytes()]),
            "ccecho" => filler(self, &[&[13, 6], &value(rest).to_be_bytes()]),
            "md5" => filler(self, &[&[19, 18], &[0; 16]]),
            "scps" => filler(self, &[&[20, 4, 0, 0]]),
            "uto" => filler(self, &[&[28, 4, 0, 0]]),
            "tcp-ao" => {
                let mac = rest.split_once("mac 0x").map_or(0, |(_, mac)| hex(mac).1) as u8;
                let body = [0; 40];
                filler(self, &[&[29, 4 + mac.min(36)], body.get(..2 + usize::from(mac.min(36))).unwrap_or(&[])])
            }
            _ => {
                let Some(parts) = unnamed(word, rest) else {
                    self.elided |= word.contains("..") || word.contains('…');
                    self.unread += u32::from(!meant_only);
                    return true;
                };
                let (kind, (body, len)) = parts;
                let body = body.get(..len.min(38)).unwrap_or(&[]);
                filler(self, &[&[kind, 2 + body.len() as u8], body])
            }
        }
    }

    fn add_mptcp(&mut self, rest: &str, meant_only: bool) -> bool {
        const SUBTYPES: [&str; 9] =
            ["capable", "join", "dss", "add-addr", "rem-addr", "prio", "fail", "fast-close", "tcprst"];
        let subtype = rest.split(' ').find_map(|part| SUBTYPES.iter().position(|known| part == *known));
        let subtype = subtype.unwrap_or(0xf) as u8;
        if meant_only {
            return self.put(&[&[30, 4, subtype << 4, 0]]);
        }
        let len = value(rest).clamp(4, 40) as u8;
        let body = [0; 40];
        self.put(&[&[30, len, subtype << 4], body.get(..usize::from(len) - 3).unwrap_or(&[])])
    }

    fn add_sack(&mut self, rest: &str, numbers: &WireNumbers) -> bool {
        let mut edges = [0_u8; 32];
        let mut len = 0;
        for block in rest.split('{').skip(1).take(4) {
            let (left, right) = block.split_once(':').unwrap_or((block, ""));
            for edge in [left, right] {
                if let Some(room) = edges.get_mut(len..len + 4) {
                    room.copy_from_slice(&numbers.edge(value(edge)).to_be_bytes());
                    len += 4;
                }
            }
        }
        let edges = edges.get(..len).unwrap_or(&[]);
        edges.is_empty() || self.put(&[&[5, 2 + len as u8], edges])
    }
}

/// Kind and body of an option without a name in tcpdump: `unknown-27 0x0102`, `opt-30:0102`,
/// `exp-acc0`.
fn unnamed(word: &str, rest: &str) -> Option<(u8, ([u8; 40], usize))> {
    if let Some(magic) = word.strip_prefix("exp-") {
        return Some((254, hex(magic)));
    }
    let kind = word.strip_prefix("unknown-").or_else(|| word.strip_prefix("opt-"))?.parse().ok()?;
    Some((kind, hex(rest.trim_start().trim_start_matches("0x"))))
}

/// The decimal number at the start of `text`, after spaces; 0 if there is none.
fn value(text: &str) -> u32 {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Up to 40 hexadecimal bytes at the start of `text`.
fn hex(text: &str) -> ([u8; 40], usize) {
    let mut bytes = [0; 40];
    let mut len = 0;
    for (pair, slot) in text.as_bytes().chunks_exact(2).zip(&mut bytes) {
        let digits = std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(byte) = digits.and_then(|pair| u8::from_str_radix(pair, 16).ok()) else { break };
        *slot = byte;
        len += 1;
    }
    (bytes, len)
}

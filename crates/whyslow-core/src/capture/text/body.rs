//! Parses a segment from its flags on: `Flags [P.], seq 1:3, ack 1, win 502, length 2`.

use super::tcp_line::{Class, Span, TcpLine};

/// A parser of `text` at offset `at`.
pub(super) struct Body<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Body<'a> {
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let (value, len) = decimal(self.rest())?;
        self.at += len;
        Some(value)
    }

    /// Consumes the text up to `end`, and `end` itself.
    fn until(&mut self, end: &str) -> Option<Span> {
        let len = self.rest().find(end)?;
        let span = Span { start: self.at, end: self.at + len };
        self.at += len + end.len();
        Some(span)
    }

    /// `S.], seq 1:3, ack 1, win 502, options [nop], length 2: HTTP`
    pub(super) fn read(mut self, line: &mut TcpLine) -> Class {
        let Some(letters) = self.until("]") else { return Class::Partial(None) };
        match flags(letters.of(self.text)) {
            Some(flags) => line.flags = flags,
            None => return Class::Bad,
        }
        loop {
            let rest = self.rest();
            let ends_here = rest.trim().is_empty() || rest.trim() == ",";
            if ends_here || rest.trim() == "..." || rest.trim_start_matches([',', ' ']).starts_with('…') {
                return line.partial();
            }
            if rest.trim_start().starts_with("[bad hdr") {
                return Class::Cut;
            }
            if rest.trim_start().starts_with("[|tcp]") {
                return line.window.map_or(Class::Cut, |_| Class::Tcp(*line));
            }
            if !self.take(",") {
                return Class::Bad;
            }
            while self.take(" ") {}
            match self.field(line) {
                Field::Read => {}
                Field::Last => return Class::Tcp(*line),
                Field::Short => return line.partial(),
                Field::Wrong => return Class::Bad,
            }
        }
    }

    fn field(&mut self, line: &mut TcpLine) -> Field {
        const WORDS: [&str; 7] = ["cksum 0x", "seq ", "ack ", "win ", "urg ", "options [", "length "];
        let Some(word) = WORDS.into_iter().find(|word| self.take(word)) else {
            let rest = self.rest();
            if WORDS.iter().any(|word| word.starts_with(rest)) {
                return Field::Short;
            }
            // `[ack 5 != 0 while ACK flag not set]` describes a meaningless field.
            let note = rest.starts_with('[') && self.until("]").is_some();
            return if note { Field::Read } else { Field::Wrong };
        };
        let at_end = |body: &Self| body.rest().is_empty();
        if at_end(self) {
            return Field::Short;
        }
        let read = match word {
            "cksum 0x" => self.checksum(line),
            "seq " => {
                line.seq = self.number();
                if self.take(":") {
                    if at_end(self) {
                        return Field::Short;
                    }
                    line.seq_end = self.number();
                }
                line.seq.is_some()
            }
            "ack " => {
                line.ack = self.number();
                line.ack.is_some()
            }
            "win " => {
                line.window = self.number().and_then(|window| u16::try_from(window).ok());
                line.window.is_some()
            }
            "urg " => self.number().is_some_and(|urgent| {
                line.urgent = urgent as u16;
                urgent <= 0xffff
            }),
            "options [" => return self.options(line),
            _ => {
                line.length = self.number();
                line.tail = Span { start: self.at, end: self.text.len() };
                let range = line.seq_end.zip(line.seq).map(|(end, seq)| end.wrapping_sub(seq));
                if at_end(self) && range.is_some() && range != line.length {
                    line.length = None;
                    return Field::Short;
                }
                return if line.length.is_some() { Field::Last } else { Field::Wrong };
            }
        };
        if read { Field::Read } else { Field::Wrong }
    }

    /// `1a2b (correct)`, `1a2b (incorrect -> 0x3c4d)`
    pub(super) fn checksum(&mut self, line: &mut TcpLine) -> bool {
        let digits = self.rest().bytes().take_while(u8::is_ascii_hexdigit).count();
        let value = hex(self.rest()) as u16;
        self.at += digits;
        let right = self.take(" (correct)");
        let wrong = !right && self.take(" (incorrect") && self.until(")").is_some();
        // Before 4.0 a wrong one was `(incorrect (-> 0x3c4d)`, with an unclosed bracket.
        line.checksum = (right || wrong).then_some((value, right));
        digits > 0
    }

    fn options(&mut self, line: &mut TcpLine) -> Field {
        if let Some(options) = self.until("], length ") {
            line.options = options;
            self.at -= ", length ".len();
            return Field::Read;
        }
        let rest = self.rest();
        let broken = rest.find("[|tcp]").or_else(|| rest.find("[bad opt]"));
        line.options = Span { start: self.at, end: self.at + broken.unwrap_or(rest.len()) };
        if broken.is_some() { Field::Last } else { Field::Short }
    }
}

enum Field {
    Read,
    Last,
    Short,
    Wrong,
}

/// The flags for tcpdump's letters, in the order of RFC 9293 section 3.1; `e` is accurate ECN.
pub(super) fn flags(letters: &str) -> Option<u16> {
    if letters == "none" {
        return Some(0);
    }
    let mut flags = 0;
    for letter in letters.bytes() {
        flags |= match letter {
            b'F' => 0x001,
            b'S' => 0x002,
            b'R' => 0x004,
            b'P' => 0x008,
            b'.' => 0x010,
            b'U' => 0x020,
            b'E' => 0x040,
            b'W' => 0x080,
            b'e' => 0x100,
            _ => return None,
        };
    }
    (!letters.is_empty()).then_some(flags)
}

/// The decimal number at the start of `text`, if it fits into 32 bits, and its length.
pub(super) fn decimal(text: &str) -> Option<(u32, usize)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text.get(..len)?.parse().ok()?, len))
}

/// The hexadecimal number at the start of `text`, or 0.
pub(super) fn hex(text: &str) -> u32 {
    let len = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    text.get(..len).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

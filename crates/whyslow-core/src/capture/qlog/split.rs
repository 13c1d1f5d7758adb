//! [`Splitter`]: the objects of a qlog, out of bytes in any split.
//!
//! A log of JSON is one object, which may be larger than memory: only the objects in it that say
//! something are kept, one at a time. Of JSON-SEQ and of lines of JSON each record is one.

/// Longest object that is kept: a packet's event has some hundred bytes, and one of a kilobyte a
/// frame.
const MAX_OBJECT: usize = 1 << 20;
/// Objects of a trace's own fields.
const OF_TRACE: u32 = 3;
/// Events: objects in a list of the trace.
const OF_EVENTS: u32 = 4;

/// A result of the splitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// Another trace begins.
    Trace,
    /// An object, whole.
    Object(&'a [u8]),
    /// An object that was too long.
    TooLong,
}

#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// Each record is an object of its own.
    is_sequence: bool,
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The object that is collected, and at which depth it began.
    object: Vec<u8>,
    began: Option<u32>,
    too_long: bool,
    /// Bytes that were taken.
    pub(super) offset: u64,
}

impl Splitter {
    pub(super) fn new(is_sequence: bool) -> Self {
        Self { is_sequence, ..Self::default() }
    }

    /// Nothing is open: the log ends here.
    pub(super) fn is_at_end(&self) -> bool {
        self.depth == 0
    }

    pub(super) fn push(&mut self, bytes: &[u8], give: &mut dyn FnMut(Found<'_>)) {
        for &byte in bytes {
            self.offset += 1;
            if self.is_sequence && matches!(byte, 0x1e) {
                // A record begins, whatever became of the last one.
                (self.depth, self.in_string, self.began) = (0, false, None);
                continue;
            }
            if self.in_string {
                self.keep(byte);
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.keep(byte);
                }
                b'{' | b'[' => self.open(byte, give),
                b'}' | b']' => self.close(byte, give),
                _ => self.keep(byte),
            }
        }
    }

    fn open(&mut self, byte: u8, give: &mut dyn FnMut(Found<'_>)) {
        if self.began.is_none() && byte == b'{' {
            let is_wanted = match (self.is_sequence, self.depth) {
                (true, 0) | (false, OF_TRACE | OF_EVENTS) => true,
                (false, 2) => {
                    give(Found::Trace);
                    false
                }
                _ => false,
            };
            if is_wanted {
                self.began = Some(self.depth);
                self.object.clear();
                self.too_long = false;
            }
        }
        self.depth = self.depth.saturating_add(1);
        self.keep(byte);
    }

    fn close(&mut self, byte: u8, give: &mut dyn FnMut(Found<'_>)) {
        self.keep(byte);
        self.depth = self.depth.saturating_sub(1);
        if self.began == Some(self.depth) {
            self.began = None;
            give(if self.too_long { Found::TooLong } else { Found::Object(&self.object) });
            self.object.shrink_to(1 << 16);
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.began.is_none() {
            return;
        }
        if self.object.len() < MAX_OBJECT {
            self.object.push(byte);
        } else {
            self.too_long = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(is_sequence: bool, text: &str, size: usize) -> Vec<String> {
        let mut splitter = Splitter::new(is_sequence);
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            splitter.push(piece, &mut |one| {
                found.push(match one {
                    Found::Trace => "trace".to_owned(),
                    Found::Object(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    Found::TooLong => "long".to_owned(),
                });
            });
        }
        found
    }

    #[test]
    fn events_are_found_in_any_split() {
        let text = r#"{"qlog_version":"0.3","traces":[{"common_fields":{"a":[1]},"events":[{"name":"x}\"","data":{"b":{}}},{"c":1}]}]}"#;
        for size in [1, 7, 1_000] {
            let expected = ["trace", r#"{"a":[1]}"#, r#"{"name":"x}\"","data":{"b":{}}}"#, r#"{"c":1}"#];
            assert_eq!(split(false, text, size), expected);
        }
    }

    #[test]
    fn torn_record_of_a_sequence_is_passed_over() {
        let text = "\u{1e}{\"a\":1}\n\u{1e}{\"torn\":\"\u{1e}{\"b\":{\"c\":[]}}\n";
        assert_eq!(split(true, text, 3), [r#"{"a":1}"#, r#"{"b":{"c":[]}}"#]);
    }

    #[test]
    fn long_object_is_left_out() {
        let text = format!("{{\"a\":\"{}\"}}{{\"b\":1}}", "x".repeat(MAX_OBJECT));
        assert_eq!(split(true, &text, 4_096), ["long", r#"{"b":1}"#]);
    }
}

//! The packet whose lines are being read.
//!
//! A packet's first line may be followed by the rest of it: the segment under the IP line of `-v`,
//! a tunnel's inner packet, the pieces of a wrapped line, an HTTP head, a dump. The packet is done
//! when the next one starts.

use super::dump::HexDump;
use super::errors;
use super::grammar::{self, MAX_TEXT};
use super::line;
use super::tcp_line::Class;
use super::time::TextTime;

/// How many lines are put together to one, and how many that do not fit may come between.
const MAX_JOINED: u32 = 12;
/// How much of the packet that an ICMP error quotes is kept.
const MAX_QUOTED: usize = 1024;
/// How much of an HTTP head is kept.
const MAX_HTTP: usize = 8 * 1024;

/// A packet's text so far, and what it is.
#[derive(Default)]
pub(super) struct PendingPacket {
    pub(super) class: Option<Class>,
    pub(super) text: String,
    pub(super) stamp: Option<TextTime>,
    /// Digits of the time's fraction.
    pub(super) digits: usize,
    /// Packets were left out of the text before it.
    pub(super) left_out: bool,
    pub(super) frame: u64,
    /// The number of its first line.
    pub(super) line: u64,
    pub(super) dump: HexDump,
    /// The HTTP head as far as it is known: the first bytes of the payload.
    pub(super) http: Vec<u8>,
    /// The lines of a packet that this one quotes.
    pub(super) quoted: String,
    in_http: bool,
    in_ascii: bool,
    tried: u32,
    spare: String,
}

/// What a line is to the pending packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineRole {
    /// A part of it.
    Taken,
    /// Perhaps a part of the characters that `-A` dumps: anything may stand there.
    Characters,
    /// No part of it.
    None,
}

impl PendingPacket {
    /// Begins a packet with the text behind its time.
    pub(super) fn begin(&mut self, class: Class, text: &str) {
        self.class = Some(class);
        self.text.clear();
        self.text.push_str(grammar::head(text));
        self.tried = 0;
        self.in_ascii = false;
        self.dump.clear();
        self.http.clear();
        self.quoted.clear();
        self.begin_http();
    }

    /// Whether the packet's text ends too early.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self.class, Some(Class::Partial(_)))
    }

    /// Takes a line that starts no packet, if it is a part of this one.
    pub(super) fn take(&mut self, line: &str) -> LineRole {
        let Some(class) = self.class else { return LineRole::None };
        if self.dump.take(line) {
            return LineRole::Taken;
        }
        let indented = line.starts_with([' ', '\t']) && !line::is_ellipsis(line);
        let taken = match class {
            Class::Partial(_) => self.join(line),
            Class::Ip(_) if indented && errors::is_quoted(&self.text, line) => {
                if self.quoted.len() + line.len() < MAX_QUOTED {
                    self.quoted.push_str(line);
                    self.quoted.push('\n');
                }
                true
            }
            // A tunnel under -v: the inner packet begins on a line of its own.
            Class::Ip(_) if line.contains("IP (tos ") || line.contains("IP6 (") => {
                self.join_inner(line.trim());
                true
            }
            Class::Tcp(_) if self.in_http && indented => {
                self.take_http(line.trim());
                true
            }
            // Before version 4.0 the options came last.
            Class::Tcp(tcp) if unquoted(line).starts_with('<') && tcp.options.of(&self.text).is_empty() => {
                let text = self.joined(unquoted(line), " ");
                let class = grammar::classify(&text);
                let is_more = matches!(&class, Class::Tcp(tcp) | Class::Partial(Some(tcp)) if tcp.options.start > 0);
                if is_more {
                    self.accept(text, class);
                } else {
                    self.spare = text;
                }
                is_more || indented
            }
            Class::Tcp(_) => {
                // The first character of -A is the IP version and header length.
                self.in_ascii |= line.starts_with(['E', '`', 'F', 'G']) && line.contains("..");
                if self.in_ascii {
                    return LineRole::Characters;
                }
                indented
            }
            _ => indented,
        };
        if taken { LineRole::Taken } else { LineRole::None }
    }

    /// Whether `line` goes on where the text stopped: after the IP line of `-v`, or in a wrapped
    /// line.
    fn join(&mut self, line: &str) -> bool {
        // A mark may be the packet's own: between its ends, or behind its options.
        let marked = line.trim().trim_start_matches("> ").len() < line.trim().len();
        let line = unquoted(line);
        let goes_on = line.starts_with(|c: char| c.is_ascii_alphanumeric() || ",.:[](){}<>".contains(c));
        if !goes_on || self.tried >= MAX_JOINED || line::is_ellipsis(line) {
            return false;
        }
        self.tried += 1;
        // Where the line was broken at a space, the space may be gone; where it was broken at a
        // width, there was none.
        let mut text = self.joined(line, " ");
        let mut joined = Joined::of(&text, line);
        if joined.rank > 0 {
            let unspaced = format!("{}{line}", self.text.trim_end());
            let other = Joined::of(&unspaced, line);
            if other.rank < joined.rank {
                (text, joined) = (unspaced, other);
            }
        }
        if joined.rank > 0 && marked {
            let kept = format!("{} > {line}", self.text.trim_end());
            let other = Joined::of(&kept, line);
            if other.rank < joined.rank {
                (text, joined) = (kept, other);
            }
        }
        let useful = joined.rank != Joined::USELESS;
        if useful {
            self.accept(text, joined.class);
        } else {
            self.spare = text;
        }
        useful
    }

    fn join_inner(&mut self, line: &str) {
        if self.tried >= MAX_JOINED {
            return;
        }
        self.tried += 1;
        let text = self.joined(line, " ");
        match grammar::classify(&text) {
            class @ (Class::Partial(_) | Class::Tcp(_)) => self.accept(text, class),
            _ => self.spare = text,
        }
    }

    /// The text with `line` added, in the spare buffer.
    fn joined(&mut self, line: &str, glue: &str) -> String {
        let mut joined = std::mem::take(&mut self.spare);
        joined.clear();
        joined.push_str(self.text.trim_end());
        joined.push_str(glue);
        joined.push_str(line);
        joined
    }

    fn accept(&mut self, text: String, class: Class) {
        self.spare = std::mem::replace(&mut self.text, text);
        self.text.truncate(self.text.floor_char_boundary(MAX_TEXT));
        self.class = Some(class);
        self.begin_http();
    }

    /// Notes the head of an HTTP message: all of it comes on indented lines under `-v`, else its
    /// first line.
    fn begin_http(&mut self) {
        self.in_http = false;
        let Some(Class::Tcp(line)) = self.class else { return };
        let tail = line.tail.of(&self.text);
        if let Some(head) = tail.strip_prefix(": HTTP: ") {
            // A start line has no "<": what follows one is the page's.
            let head = head.split('<').next().unwrap_or(head).trim_end();
            if is_start_line(head) {
                self.http.extend_from_slice(head.as_bytes());
                self.http.extend_from_slice(b"\r\n");
            }
        }
        self.in_http = tail.starts_with(": HTTP, length");
    }

    fn take_http(&mut self, line: &str) {
        if self.http.is_empty() && !line.contains("HTTP/") {
            self.in_http = false;
        } else if self.http.len() < MAX_HTTP {
            self.http.extend_from_slice(line.as_bytes());
            self.http.extend_from_slice(b"\r\n");
        }
    }

    /// A blank line ends the head of an HTTP message.
    pub(super) fn take_blank(&mut self) {
        if self.in_http && !self.http.is_empty() {
            self.http.extend_from_slice(b"\r\n");
            self.in_http = false;
        }
    }
}

/// What a packet's text is with one more line, and how good that is: less is better.
struct Joined {
    class: Class,
    rank: u32,
}

impl Joined {
    const USELESS: u32 = u32::MAX;
    const UNFINISHED: u32 = 1_000;

    fn of(text: &str, line: &str) -> Self {
        let class = grammar::classify(text);
        let rank = match &class {
            Class::Tcp(tcp) => tcp.irregularities(text),
            Class::Partial(Some(tcp)) => Self::UNFINISHED + tcp.irregularities(text),
            Class::Partial(None) if is_begun(text, line) => 2 * Self::UNFINISHED,
            Class::Quiet | Class::Cut => 0,
            Class::Ip(_) if line.contains(" > ") => 0,
            _ => Self::USELESS,
        };
        Self { class, rank }
    }
}

/// The line without the marks of a mail that quotes it.
fn unquoted(line: &str) -> &str {
    line.trim().trim_start_matches("> ")
}

/// Whether a text that `line` does not complete is a packet's all the same: it has its flags, or
/// the line has words before the addresses, or numbers in the form of before version 4.0.
fn is_begun(text: &str, line: &str) -> bool {
    let first = line.split(' ').next().unwrap_or("");
    let is_pair = line.ends_with(" >") || line.ends_with(": Flags") || line.ends_with(':') && line.contains('.');
    let is_old = first.ends_with(')') || matches!(first, "ack" | "win");
    text.contains(": Flags [") || grammar::is_ethernet_head(text) || is_pair || is_old
}

/// Whether all of an HTTP/1 message's first line is there (RFC 9112 sections 3 and 4).
fn is_start_line(head: &str) -> bool {
    let version = |word: &str| word.starts_with("HTTP/1.") && word.len() == 8;
    let mut words = head.split(' ');
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if version(first) {
        return second.len() == 3 && second.bytes().all(|b| b.is_ascii_digit());
    }
    words.next().is_some_and(version)
}

//! The packet whose lines are currently read.
//!
//! A packet's first line may be followed by more of it: the segment after the IP line of `-v`, a
//! tunnel's inner packet, the parts of a wrapped line, an HTTP head, a dump. The packet ends when
//! the next one starts.

use super::dump::HexDump;
use super::errors;
use super::grammar::{self, MAX_TEXT};
use super::line;
use super::tcp_line::Class;
use super::time::TextTime;

/// Maximum number of lines that are joined to one, and of unrelated lines between them.
const MAX_JOINED: u32 = 12;
/// Maximum bytes kept of the packet that an ICMP error quotes.
const MAX_QUOTED: usize = 1024;
/// Maximum bytes kept of an HTTP head.
const MAX_HTTP: usize = 8 * 1024;

/// A packet's text so far, and its kind.
#[derive(Default)]
pub(super) struct PendingPacket {
    pub(super) class: Option<Class>,
    pub(super) text: String,
    pub(super) stamp: Option<TextTime>,
    /// Number of fractional digits of the time.
    pub(super) digits: usize,
    /// Packets are missing before it in the text.
    pub(super) left_out: bool,
    pub(super) frame: u64,
    /// Number of its first line.
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

/// The role of a line for the pending packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineRole {
    /// Part of the packet.
    Taken,
    /// Possibly a part of the characters that `-A` dumps, which may be anything.
    Characters,
    /// Not a part of the packet.
    None,
}

impl PendingPacket {
    /// Begins a packet with the text after its time.
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

    /// Whether the packet's text is incomplete.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self.class, Some(Class::Partial(_)))
    }

    /// Takes a line that does not start a packet, if it is a part of this one.
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
            // A tunnel with -v: the inner packet has its own line.
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

    /// Whether `line` continues the text: after the IP line of `-v`, or in a wrapped line.
    fn join(&mut self, line: &str) -> bool {
        // A mark may belong to the packet: between its ends, or after its options.
        let marked = line.trim().trim_start_matches("> ").len() < line.trim().len();
        let line = unquoted(line);
        let goes_on = line.starts_with(|c: char| c.is_ascii_alphanumeric() || ",.:[](){}<>".contains(c));
        if !goes_on || self.tried >= MAX_JOINED || line::is_ellipsis(line) {
            return false;
        }
        self.tried += 1;
        // A line broken at a space may have lost the space; one broken at a fixed width had none.
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

    /// Begins the head of an HTTP message: `-v` prints all of it on indented lines, otherwise only
    /// its first line is printed.
    fn begin_http(&mut self) {
        self.in_http = false;
        let Some(Class::Tcp(line)) = self.class else { return };
        let tail = line.tail.of(&self.text);
        if let Some(head) = tail.strip_prefix(": HTTP: ") {
            // A start line has no "<": the text from one on belongs to the web page.
            let head = head.split('<').next().unwrap_or(head).trim_end();
            if is_start_line(head) {
                self.http.extend_from_slice(head.as_bytes());
                self.http.extend_from_slice(b"\r\n");
            }
        }
        self.in_http = tail.starts_with(": HTTP, length");
        if let Some(head) = super::rpc_line::head(tail) {
            self.http.clear();
            self.http.extend_from_slice(&head);
        }
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

/// A packet's text with one more line, and its number of irregularities.
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

/// The line without the marks of a quoting mail.
fn unquoted(line: &str) -> &str {
    line.trim().trim_start_matches("> ")
}

/// Whether a text that `line` does not complete is still a packet: it has flags, or the line has
/// words before the addresses, or numbers in the form of before version 4.0.
fn is_begun(text: &str, line: &str) -> bool {
    let first = line.split(' ').next().unwrap_or("");
    let is_pair = line.ends_with(" >") || line.ends_with(": Flags") || line.ends_with(':') && line.contains('.');
    let is_old = first.ends_with(')') || matches!(first, "ack" | "win");
    text.contains(": Flags [") || grammar::is_ethernet_head(text) || is_pair || is_old
}

/// Whether the first line of an HTTP/1 message is complete (RFC 9112 sections 3 and 4).
fn is_start_line(head: &str) -> bool {
    let version = |word: &str| word.starts_with("HTTP/1.") && word.len() == 8;
    let mut words = head.split(' ');
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if version(first) {
        return second.len() == 3 && second.bytes().all(|b| b.is_ascii_digit());
    }
    words.next().is_some_and(version)
}

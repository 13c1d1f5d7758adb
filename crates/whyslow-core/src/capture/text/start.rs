//! Finds the start of a packet in a line.
//!
//! A packet starts with a time; with `-t`, with a word that only tcpdump writes. Pages, mails and
//! tools may add text before every line: spaces, quotation marks, line numbers, a tag, a
//! container's name, or a log's time followed by host and program. Of several times the last one is
//! tcpdump's; a single time from a log is used if there is no other.

use super::grammar;
use super::prefix::MAX_WORDS;
use super::tcp_line::Class;
use super::time::{self, PrintedTime, TextTime};

/// The start of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    pub(super) stamp: Option<TextTime>,
    /// Number of fractional digits of the time.
    pub(super) digits: usize,
    /// The time comes from a log: tcpdump's own is missing.
    pub(super) logged: bool,
    /// The packet's number from `-#`, which is followed by two spaces.
    pub(super) number: Option<u64>,
    /// End of the text that was added before the line.
    pub(super) prefix: usize,
    /// Start of the text after the time.
    pub(super) text: usize,
    /// Whether the line is certainly tcpdump's: other programs may start their lines with a time as
    /// well.
    pub(super) certain: bool,
}

/// Maximum number of elements before the time.
const MAX_PREFIXES: usize = 12;
/// Maximum number of logs that have processed a line, one after the other.
const MAX_LOGS: u32 = 2;

/// The start of a packet in `line`, if any. `timed`: whether the text's packets begin with a time;
/// `time_is_enough`: whether a time is sufficient to recognise one.
pub(super) fn find(line: &str, timed: Option<bool>, time_is_enough: bool) -> Option<Start> {
    let mut at = 0;
    let mut number = None;
    let mut named = None;
    let mut untimed = None;
    let mut log: Option<PrintedTime> = None;
    for _ in 0..MAX_PREFIXES {
        let rest = line.get(at..)?;
        at += rest.len() - rest.trim_start().len();
        let rest = line.get(at..)?;
        let before = number.map_or(at, |(_, before)| before);
        let start = |time: Option<PrintedTime>, prefix: usize, text: usize, certain: bool| Start {
            stamp: time.map(|time| time.stamp),
            digits: time.map_or(0, |time| time.digits),
            logged: time.is_some_and(|time| time.logged),
            number: number.map(|(number, _)| number),
            prefix,
            text,
            certain,
        };
        if let Some(time) = time::parse(rest) {
            let after = at + time.len;
            let body = line.get(after..)?;
            if let Some(words) = message(body, 1).filter(|_| log.is_none()) {
                (log, at) = (Some(PrintedTime { logged: true, ..time }), after + words);
                if time::parse(line.get(at..)?).is_none() && begins_untimed(line.get(at..)?) {
                    return Some(start(log, at, at, true));
                }
                continue;
            }
            let (text, certain) = (after + 1, is_tcpdump(body));
            let prefix = if time.logged { text } else { before };
            let alone =
                time_is_enough && time.digits >= 6 && named.is_none() && !time.logged && !body.trim().is_empty();
            return (certain || alone).then_some(start(Some(time), prefix, text, certain));
        }
        let may_start = untimed.is_none() && (named != Some(Tag::Word) && timed != Some(true) || log.is_some());
        if may_start && !line.starts_with('\t') && starts_untimed(rest) {
            untimed = Some(start(log, before, at, true));
            // The rest is tcpdump's: an Ethernet address looks like a time.
            if begins_untimed(rest) {
                break;
            }
        }
        at += match prefix(rest)? {
            Prefix::Number { len, value } => {
                number = value.map_or(number, |value| value.map(|value| (value, at)));
                len
            }
            Prefix::Mark(len) => len,
            Prefix::Tag(tag, len) if named.is_none() => {
                named = Some(tag);
                len
            }
            Prefix::Tag(..) | Prefix::None => break,
        };
    }
    untimed
}

/// The elements that others add before a line.
enum Prefix {
    /// A number; with its value, if it fits and may be the one from `-#`.
    Number {
        len: usize,
        value: Option<Option<u64>>,
    },
    /// A punctuation mark, or a tag of a web page.
    Mark(usize),
    Tag(Tag, usize),
    None,
}

/// The prefix at the start of `rest`; `None` if the line has no packet.
fn prefix(rest: &str) -> Option<Prefix> {
    Some(match rest.chars().next()? {
        '0'..='9' => {
            let len = rest.bytes().take_while(u8::is_ascii_digit).count();
            let after = rest.get(len..)?;
            if !after.starts_with([' ', '\t', ':', '.', '|', ')', ']', '-', '+']) {
                return Some(Prefix::None);
            }
            let value = after.starts_with("  ").then(|| rest.get(..len).and_then(|digits| digits.parse().ok()));
            Prefix::Number { len, value }
        }
        c @ ('>' | '|' | '#' | ':' | '.' | ')' | '-' | '*' | '+' | '[' | ']' | '»' | '│' | '`') => {
            Prefix::Mark(c.len_utf8())
        }
        '<' => Prefix::Mark(rest.find('>').filter(|&end| end < 64)? + 1),
        _ => tag(rest).map_or(Prefix::None, |(tag, len)| Prefix::Tag(tag, len)),
    })
}

/// Kinds of tags that name the source of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// A word with a colon, which prose also has; a day of the week.
    Word,
    /// A form that only programs write: `web-1  |`, `host tcpdump[123]:`, `[pod/x/c]`.
    Program,
}

/// The tag at the start of `text`, and its length.
fn tag(text: &str) -> Option<(Tag, usize)> {
    let mut words = text.split([' ', '\t']);
    let first = words.next()?;
    if first.ends_with("]:") || first.ends_with('|') || (first.starts_with("pod/") && first.ends_with(']')) {
        return Some((Tag::Program, first.len()));
    }
    if first.ends_with([':', ']']) || matches!(first, "Mon" | "Tue" | "Wed" | "Thu" | "Fri" | "Sat" | "Sun") {
        return Some((Tag::Word, first.len()));
    }
    let second = words.find(|word| !word.is_empty())?;
    let names_program = second.ends_with("]:") || second == "tcpdump:" || second == "|";
    let end = text.get(first.len()..)?.find(second)? + first.len() + second.len();
    names_program.then_some((Tag::Program, end))
}

/// Offset of tcpdump's text after a log's time, if there are only a log's words between them: host
/// and program (`host tcpdump[123]:`), a container's stream (`stdout F`), nothing, or the words of
/// another log. `None` if the time is tcpdump's own.
fn message(body: &str, logs: u32) -> Option<usize> {
    let mut at = 0;
    let mut ended = false;
    for word in 0..=MAX_WORDS {
        let rest = body.get(at..)?;
        at += rest.len() - rest.trim_start().len();
        let rest = body.get(at..)?;
        if word == 0 && (begins_tcpdump(rest) || begins_untimed(rest)) {
            return None;
        }
        let numbered = printed_number(rest);
        let after = rest.get(numbered..)?;
        if let Some(time) = time::parse(after) {
            let own = after.get(time.len..)?;
            if is_tcpdump(own) {
                let inner = if logs < MAX_LOGS { message(own, logs + 1) } else { None };
                return Some(inner.map_or(at, |inner| at + numbered + time.len + inner));
            }
        }
        if ended && begins_untimed(after) {
            return Some(at);
        }
        let end = rest.find([' ', '\t'])?;
        let name = rest.get(..end)?;
        if name.contains('>') || matches!(name, "IP" | "IP6" | "ethertype") {
            return None;
        }
        // A log's words end with the program's name; those of RFC 5424 with structured data; those
        // of a container runtime with its mark for a complete line.
        let named = name.starts_with(|c: char| c.is_alphabetic() || "[-".contains(c));
        ended = named && name.ends_with([':', ']', '-']) || matches!(name, "F" | "P" | "|");
        at += end;
    }
    None
}

/// Length of the number from `-#` and the spaces after it; 0 if there is none.
fn printed_number(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = text.get(digits..).unwrap_or("");
    if digits > 0 && after.starts_with("  ") { text.len() - after.trim_start().len() } else { 0 }
}

/// Whether the text begins with a word that follows tcpdump's times.
fn begins_tcpdump(text: &str) -> bool {
    const STARTS: [&str; 7] = ["IP ", "IP6 ", "ARP", "arp ", "RARP", "IP\t", "IP6\t"];
    STARTS.iter().any(|start| text.starts_with(start))
}

/// Whether the text after a time is tcpdump's, and not that of another program.
fn is_tcpdump(text: &str) -> bool {
    begins_tcpdump(text.trim_start())
        || [" > ", " IP ", " IP6 ", "ethertype ", "(tos 0x"].iter().any(|word| text.contains(word))
}

/// Whether `text` is a packet without a time; the addresses may be anywhere in it.
fn starts_untimed(text: &str) -> bool {
    begins_untimed(text) || !begins_with_number(text) && matches!(grammar::classify(text), Class::Tcp(_) | Class::Quiet)
}

fn begins_with_number(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && text.get(digits..).is_none_or(|rest| rest.starts_with([' ', '\t']))
}

/// Whether a packet without a time begins at the start of `text`.
fn begins_untimed(text: &str) -> bool {
    if begins_with_number(text) {
        return false;
    }
    const STARTS: [&str; 6] = ["IP bad-len ", "IP (tos ", "IP6 (", "ARP, ", "arp who-has ", "arp reply "];
    if STARTS.iter().any(|start| text.starts_with(start)) {
        return true;
    }
    let mut words = text.split_ascii_whitespace();
    let [first, second, third] = [words.next(), words.next(), words.next()].map(Option::unwrap_or_default);
    if matches!(second, "In" | "Out" | "B" | "M" | "P") && third.starts_with("IP") {
        return true;
    }
    let is_mac = first.len() == 17 && first.split(':').count() == 6;
    if is_mac && second == ">" && text.contains("ethertype ") {
        return true;
    }
    if matches!(first, "IP" | "IP6") && third == ">" {
        return words.next().is_some_and(|dst| dst.ends_with(':'));
    }
    let is_end = first.contains('.') && !first.starts_with('>');
    is_end && second == ">" && matches!(grammar::classify(text), Class::Tcp(_) | Class::Quiet)
}

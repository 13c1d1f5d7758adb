//! Where a packet's text starts in a line.
//!
//! A packet starts with a time; under `-t`, with a word that only tcpdump writes. Before it may stand what pages,
//! mails and tools put in front of every line: spaces, quotation marks, line numbers, a tag, a container's name.

use super::grammar::{self, Class};
use super::time::{self, Stamp};

/// The start of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    pub(super) stamp: Option<Stamp>,
    /// The packet's number as `-#` prints it: behind it come two spaces.
    pub(super) number: Option<u64>,
    /// Where the text behind the time begins.
    pub(super) text: usize,
    /// Whether the line is tcpdump's beyond doubt: another program may start its lines with the time as well.
    pub(super) certain: bool,
}

/// How many things may stand before the time.
const MAX_PREFIXES: usize = 10;

/// The start of a packet in `line`, if it has one. `timed` tells whether the text's packets begin with a time.
pub(super) fn find(line: &str, timed: Option<bool>) -> Option<Start> {
    let mut at = 0;
    let mut number = None;
    let mut named = false;
    let mut untimed = None;
    for _ in 0..MAX_PREFIXES {
        let rest = line.get(at..)?;
        let spaces = rest.len() - rest.trim_start().len();
        at += spaces;
        let rest = line.get(at..)?;
        if let Some((stamp, len, digits)) = time::parse(rest) {
            let text = at + len + 1;
            let body = line.get(text..)?;
            let certain = is_tcpdump(body);
            let lone = digits >= 6 && !named && !body.trim().is_empty();
            return (certain || lone).then_some(Start { stamp: Some(stamp), number, text, certain });
        }
        if untimed.is_none() && !named && timed != Some(true) && !line.starts_with('\t') && starts_untimed(rest) {
            untimed = Some(Start { stamp: None, number, text: at, certain: true });
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let skip = match rest.chars().next()? {
            '0'..='9' => {
                let after = rest.get(digits..)?;
                if !after.starts_with([' ', '\t', ':', '.', '|', ')', ']', '-', '+']) {
                    break;
                }
                if after.starts_with("  ") {
                    number = rest.get(..digits).and_then(|digits| digits.parse().ok());
                }
                digits
            }
            c @ ('>' | '|' | '#' | ':' | '.' | ')' | '-' | '*' | '+' | '[' | ']' | '»' | '│') => c.len_utf8(),
            '<' => rest.find('>').filter(|&end| end < 64)? + 1,
            _ => {
                let word = rest.split([' ', '\t']).next().unwrap_or("");
                if !word.ends_with([':', '|', ']']) || named {
                    break;
                }
                named = true;
                word.len()
            }
        };
        at += skip;
    }
    untimed
}

/// Whether the text behind a time is tcpdump's and no other program's.
fn is_tcpdump(text: &str) -> bool {
    const STARTS: [&str; 7] = ["IP ", "IP6 ", "ARP", "arp ", "RARP", "IP\t", "IP6\t"];
    STARTS.iter().any(|start| text.trim_start().starts_with(start))
        || [" > ", " IP ", " IP6 ", "ethertype ", "(tos 0x"].iter().any(|word| text.contains(word))
}

/// Whether `text` is a packet's without a time.
fn starts_untimed(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && text.get(digits..).is_none_or(|rest| rest.starts_with([' ', '\t'])) {
        return false;
    }
    if text.starts_with("IP bad-len ")
        || text.starts_with("IP (tos ")
        || text.starts_with("IP6 (")
        || text.starts_with("ARP, ")
    {
        return true;
    }
    if text.starts_with("arp who-has ") || text.starts_with("arp reply ") {
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
    matches!(grammar::classify(text), Class::Tcp(_) | Class::Quiet)
}

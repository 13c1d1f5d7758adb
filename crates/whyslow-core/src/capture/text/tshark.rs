//! The summary lines of tshark and Wireshark: one packet per line, in columns.
//!
//! `12 0.123456 192.0.2.1 → 192.0.2.2 TCP 66 443 → 51234 [ACK] Seq=1 Ack=1 Win=65535 Len=0 …`
//!
//! The number, the time, the arrow between the hosts, the protocol and the frame's length may be
//! missing. A packet with the info of another protocol (`TLSv1.3 1514 Application Data`) has only
//! its hosts and its frame's length; see [`conversations`].

mod conversations;

use super::body::decimal;
use super::time::{self, TextTime};
pub(super) use conversations::SummaryConversations;

/// Maximum number of brackets of a line that are examined: notes precede the flags.
const MAX_BRACKETS: usize = 16;
/// Longest name of a host or a port.
const MAX_WORD: usize = 255;
/// Times above this many seconds are since the epoch: this is in 1973.
const FIRST_EPOCH: i64 = 100_000_000;

/// One line, with borrowed words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SummaryLine<'a> {
    pub(super) number: Option<u64>,
    pub(super) time: Option<TextTime>,
    /// Number of fractional digits of the time.
    pub(super) digits: usize,
    pub(super) src: &'a str,
    pub(super) dst: &'a str,
    pub(super) protocol: &'a str,
    /// Length of the frame, from the link layer on.
    pub(super) frame_len: Option<u32>,
    pub(super) info: Info<'a>,
}

/// The info column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Info<'a> {
    Tcp(TcpInfo<'a>),
    /// Text of another protocol.
    Other(&'a str),
}

/// The info column of a TCP segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TcpInfo<'a> {
    /// `[TCP Retransmission]`, and others.
    pub(super) notes: &'a str,
    pub(super) src_port: &'a str,
    pub(super) dst_port: &'a str,
    /// Flags in the order of RFC 9293 section 3.1.
    pub(super) flags: u16,
    pub(super) seq: u32,
    pub(super) ack: Option<u32>,
    /// With the scale of the handshake, if Wireshark has seen it.
    pub(super) window: Option<u32>,
    pub(super) len: Option<u32>,
    pub(super) mss: Option<u32>,
    pub(super) scale: Option<u8>,
    pub(super) sack_permitted: bool,
    pub(super) timestamps: Option<(u32, u32)>,
    /// Up to four SACK blocks.
    pub(super) sack: [Option<(u32, u32)>; 4],
}

impl<'a> SummaryLine<'a> {
    /// Parses a line with TCP's info; `None` for others.
    pub(super) fn read_tcp(line: &'a str) -> Option<Self> {
        let (flags_at, flags, fields) = flag_bracket(line)?;
        let (front, src_port, dst_port) = ports(line.get(..flags_at)?)?;
        let (front, notes) = notes(front);
        let columns = Columns::read(front)?;
        let info = TcpInfo { notes, src_port, dst_port, flags, ..TcpInfo::default() }.fields(fields)?;
        Some(columns.line(Info::Tcp(info)))
    }

    /// Parses a line with the info of another protocol, or with truncated info. It must have a time
    /// and an arrow, or a number, a time and a length, so that prose is not mistaken for it.
    pub(super) fn read_other(line: &'a str) -> Option<Self> {
        let columns = Columns::read(line)?;
        let plausible = columns.has_arrow || columns.number.is_some() && columns.frame_len.is_some();
        let is_protocol = columns.protocol.starts_with(|c: char| c.is_ascii_uppercase());
        let info = Info::Other(columns.info);
        (columns.time.is_some() && plausible && is_protocol).then(|| columns.line(info))
    }

    /// Whether it has everything that the analysis needs.
    pub(super) fn is_whole(&self) -> bool {
        match &self.info {
            Info::Tcp(tcp) => tcp.len.is_some() && tcp.window.is_some(),
            Info::Other(_) => self.protocol != "TCP",
        }
    }
}

/// Whether the line names the columns, as Wireshark does before printed packets.
pub(super) fn is_header(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let first = words.next();
    let first = if first == Some("No.") { words.next() } else { first };
    first == Some("Time") && words.next() == Some("Source") && words.next() == Some("Destination")
}

/// A row of the packet list as a table, with spaces between the columns: Wireshark's CSV, as
/// exported or as saved by a spreadsheet, or Markdown. `None` for other lines.
pub(super) fn columns_of_table(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(fields) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) {
        return (fields.matches('|').count() >= 4).then(|| fields.replace('|', " "));
    }
    let fields = line.strip_prefix('"')?.strip_suffix('"')?;
    let separator = ["\",\"", "\";\"", "\"\t\""].into_iter().find(|separator| fields.contains(separator))?;
    Some(fields.replace(separator, " "))
}

/// Whether a line continues with the fields of a segment's info.
pub(super) fn is_fields(line: &str) -> bool {
    const NAMES: [&str; 13] = [
        "Seq=",
        "Ack=",
        "Win=",
        "Len=",
        "MSS=",
        "WS=",
        "SACK_PERM",
        "TSval=",
        "TSecr=",
        "TSV=",
        "TSER=",
        "SLE=",
        "SRE=",
    ];
    NAMES.iter().any(|name| line.starts_with(name))
}

/// The bracket with TCP flags: its offset, the flags, and the fields after it.
fn flag_bracket(line: &str) -> Option<(usize, u16, &str)> {
    line.match_indices('[').take(MAX_BRACKETS).find_map(|(at, _)| {
        let (inside, behind) = line.get(at + 1..)?.split_once(']')?;
        let behind = behind.trim_start();
        behind.starts_with("Seq=").then_some(())?;
        Some((at, flags(inside)?, behind))
    })
}

fn flags(words: &str) -> Option<u16> {
    if matches!(words, "<None>" | "None" | "") {
        return Some(0);
    }
    words.split(',').try_fold(0, |flags, word| {
        Some(
            flags
                | match word.trim() {
                    "FIN" => 0x001,
                    "SYN" => 0x002,
                    "RST" => 0x004,
                    "PSH" => 0x008,
                    "ACK" => 0x010,
                    "URG" => 0x020,
                    "ECE" | "ECN" => 0x040,
                    "CWR" => 0x080,
                    "AE" | "NS" | "NONCE" => 0x100,
                    "Reserved" | "R" => 0,
                    _ => return None,
                },
        )
    })
}

const ARROWS: [&str; 5] = ["→", "->", ">", "=>", "\u{2794}"];

/// The two ports at the end of `before`, and the text before them.
fn ports(before: &str) -> Option<(&str, &str, &str)> {
    let before = before.trim_end();
    let (front, last) = last_word(before);
    // `443→51234` in one word.
    if let Some((src, dst)) = ARROWS.iter().find_map(|arrow| last.split_once(arrow))
        && !src.is_empty()
        && !dst.is_empty()
    {
        return is_port(src).then_some(()).and(is_port(dst).then_some((front, src, dst)));
    }
    let (front, arrow) = last_word(front);
    let (front, src) = last_word(front);
    (ARROWS.contains(&arrow) && is_port(src) && is_port(last)).then_some((front, src, last))
}

fn is_port(word: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
    !word.is_empty() && word.len() <= MAX_WORD && word.chars().all(name)
}

/// The text before the last word, and that word.
fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let at = text.rfind([' ', '\t']).map_or(0, |at| at + 1);
    (text.get(..at).unwrap_or(""), text.get(at..).unwrap_or(""))
}

/// Removes the notes in brackets from the end of `front`.
fn notes(front: &str) -> (&str, &str) {
    let mut start = front.trim_end().len();
    for _ in 0..MAX_BRACKETS {
        let before = front.get(..start).unwrap_or("").trim_end();
        let Some(open) = before.strip_suffix(']').and_then(|before| before.rfind('[')) else { break };
        start = open;
    }
    front.split_at_checked(start).unwrap_or((front, ""))
}

/// The columns before the info.
struct Columns<'a> {
    number: Option<u64>,
    time: Option<(TextTime, usize)>,
    src: &'a str,
    dst: &'a str,
    has_arrow: bool,
    protocol: &'a str,
    frame_len: Option<u32>,
    info: &'a str,
}

impl<'a> Columns<'a> {
    fn read(line: &'a str) -> Option<Self> {
        // Marks that a mail adds before a line.
        let mut rest = line.trim_start_matches(['>', '|', '*', '#', '`', ' ', '\t']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (word, behind) = rest.split_at_checked(digits)?;
        let mut number = None;
        if digits > 0 && behind.starts_with([' ', '\t']) {
            number = Some(word.parse().ok()?);
            rest = behind.trim_start();
        }
        let mut time = None;
        if let Some((stamp, digits, len)) = time_column(rest) {
            time = Some((stamp, digits));
            rest = rest.get(len..)?.trim_start();
        }
        let (src, after) = next_word(rest)?;
        let (mut dst, mut after) = next_word(after)?;
        let has_arrow = ARROWS.contains(&dst);
        if has_arrow {
            (dst, after) = next_word(after)?;
        }
        (is_host(src) && is_host(dst)).then_some(())?;
        let (protocol, mut info) = next_word(after).unwrap_or(("", ""));
        let mut frame_len = None;
        if let Some((word, behind)) = next_word(info)
            && let Some((len, digits)) = decimal(word)
            && digits == word.len()
        {
            (frame_len, info) = (Some(len), behind);
        }
        Some(Self { number, time, src, dst, has_arrow, protocol, frame_len, info: info.trim_start() })
    }

    fn line(self, info: Info<'a>) -> SummaryLine<'a> {
        let Self { number, time, src, dst, protocol, frame_len, .. } = self;
        let (time, digits) = time.map_or((None, 0), |(time, digits)| (Some(time), digits));
        SummaryLine { number, time, digits, src, dst, protocol, frame_len, info }
    }
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Whether it is an address, or a name with a letter or a dot, and not a port or a mark.
fn is_host(word: &str) -> bool {
    let known = |c: char| c.is_alphanumeric() || ".:-_%*".contains(c);
    let number = word.bytes().all(|b| b.is_ascii_digit());
    word.len() <= MAX_WORD
        && !number
        && !word.ends_with(':')
        && word.chars().all(known)
        && word.chars().any(char::is_alphanumeric)
}

/// The time at the start of `text`, its fractional digits, and its length in bytes.
fn time_column(text: &str) -> Option<(TextTime, usize, usize)> {
    if let Some((seconds, len)) = decimal(text)
        && let Some(fraction) = text.get(len..).and_then(|rest| rest.strip_prefix(['.', ',']))
    {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let ends = fraction.get(digits..)?.starts_with([' ', '\t']);
        if !(1..=9).contains(&digits) || !ends {
            return None;
        }
        let nanos = fraction.get(..digits)?.parse::<i64>().ok()? * 10_i64.pow(9 - digits as u32);
        let seconds = i64::from(seconds);
        let at = seconds * 1_000_000_000 + nanos;
        let stamp = if seconds >= FIRST_EPOCH { TextTime::Epoch(at) } else { TextTime::Elapsed(at) };
        return Some((stamp, digits, len + 1 + digits));
    }
    let time = time::parse(text)?;
    Some((time.stamp, time.digits, time.len))
}

impl TcpInfo<'_> {
    /// Parses `Seq=0 Ack=1 Win=65535 Len=0 MSS=1460 …`.
    fn fields(mut self, fields: &str) -> Option<Self> {
        let (mut seq, mut scale) = (None, None);
        let (mut value, mut echo, mut old, mut left) = (None, None, false, None);
        for word in fields.split_ascii_whitespace() {
            let (name, number) = word.split_once('=').unwrap_or((word, ""));
            // A note may directly follow the last one: `TSecr=1[Packet size limited during
            // capture]`.
            let number = decimal(number).map(|(number, _)| number);
            match name {
                "Seq" => seq = number,
                "Ack" => self.ack = number,
                "Win" => self.window = number,
                "Len" => self.len = number,
                "MSS" => self.mss = number,
                "WS" => scale = number,
                _ if name.starts_with("SACK_PERM") => self.sack_permitted = true,
                "TSval" => value = number,
                "TSecr" => echo = number,
                // The form before version 1.6, which printed the shift itself as the window's
                // scale.
                "TSV" => (value, old) = (number, true),
                "TSER" => echo = number,
                "SLE" => left = number,
                "SRE" => {
                    let block = left.take().zip(number);
                    if let Some(slot) = self.sack.iter_mut().find(|slot| slot.is_none()) {
                        *slot = block;
                    }
                }
                _ => {}
            }
        }
        self.seq = seq?;
        self.timestamps = value.zip(echo);
        self.scale = scale.map(|scale| match scale {
            0 => 0,
            scale if !old && scale.is_power_of_two() => scale.trailing_zeros().min(14) as u8,
            scale => scale.min(14) as u8,
        });
        Some(self)
    }
}

#[cfg(test)]
mod tests;

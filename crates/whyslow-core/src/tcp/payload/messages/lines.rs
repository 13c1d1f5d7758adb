//! Line-based commands: SMTP (RFC 5321), FTP (RFC 959) and IMAP (RFC 9051).
//!
//! A label is the command's name; addresses, file names and passwords are left out.

use super::framed::{Format, Part, Request, Role, Split};
use whyslow_analysis::types::RequestProtocol;

/// Maximum bytes of a line that are parsed.
const LINE: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Smtp,
    Ftp,
    Imap,
}

#[derive(Clone, Debug)]
pub(super) struct Lines {
    kind: Kind,
    has_greeted: bool,
    /// The client sends a message or credentials instead of commands.
    in_data: bool,
    in_challenge: bool,
    data_begun: bool,
    /// The line continues after a literal (IMAP).
    after_literal: [bool; 2],
    /// The client asked for encryption or compression; the server agreed.
    asks_cover: bool,
    is_over: bool,
}

/// The protocol of a server's greeting.
pub(super) fn opens(bytes: &[u8], port: u16) -> Option<Lines> {
    let line = bytes.split(|&byte| byte == b'\n').next()?.to_ascii_uppercase();
    let contains = |word: &[u8]| line.windows(word.len()).any(|at| at == word);
    let is_reply = line.starts_with(b"220 ") || line.starts_with(b"220-");
    let kind = if is_reply && (matches!(port, 25 | 587 | 2525) || contains(b"SMTP")) {
        Kind::Smtp
    } else if is_reply && (port == 21 || contains(b"FTP")) {
        Kind::Ftp
    } else if line.starts_with(b"* OK") && (port == 143 || contains(b"IMAP")) {
        Kind::Imap
    } else {
        return None;
    };
    Some(Lines {
        kind,
        has_greeted: false,
        in_data: false,
        in_challenge: false,
        data_begun: false,
        after_literal: [false; 2],
        asks_cover: false,
        is_over: false,
    })
}

/// Length of the literal that a line of IMAP announces at its end.
fn literal(line: &[u8]) -> u64 {
    let line = line.trim_ascii_end();
    let digits = line.strip_suffix(b"}").and_then(|line| {
        let open = line.iter().rposition(|&byte| byte == b'{')?;
        line.get(open + 1..)
    });
    let digits = digits.map(|digits| digits.strip_suffix(b"+").unwrap_or(digits));
    digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()).unwrap_or(0)
}

/// Bytes that follow a line of SMTP: a chunk of a message (RFC 3030).
fn chunk(line: &[u8]) -> u64 {
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    match (words.next(), words.next()) {
        (Some(verb), Some(count)) if verb.eq_ignore_ascii_case(b"BDAT") => {
            std::str::from_utf8(count).ok().and_then(|count| count.parse().ok()).unwrap_or(0)
        }
        _ => 0,
    }
}

fn word(line: &[u8], index: usize) -> String {
    let word = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).nth(index);
    let is_name = |word: &&[u8]| word.len() <= 16 && word.iter().all(u8::is_ascii_alphabetic);
    word.filter(is_name).map(|word| String::from_utf8_lossy(word).to_ascii_uppercase()).unwrap_or_default()
}

/// A hash of a command's tag.
fn tag(line: &[u8]) -> u64 {
    let tag = line.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    // FNV-1a.
    tag.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Lines {
    pub(super) fn protocol(&self) -> RequestProtocol {
        match self.kind {
            Kind::Smtp => RequestProtocol::Smtp,
            Kind::Ftp => RequestProtocol::Ftp,
            Kind::Imap => RequestProtocol::Imap,
        }
    }

    fn client(&mut self, line: &[u8]) -> Part {
        if self.in_data {
            let ends = line == b".\r\n" || line == b".\n";
            self.in_data = !ends;
            if std::mem::replace(&mut self.data_begun, !ends) {
                return Part::Continues { ends };
            }
            return Part::Request(Request { label: "message".to_owned(), continues: !ends, ..Request::default() });
        }
        if std::mem::take(&mut self.in_challenge) {
            return Part::Continues { ends: true };
        }
        let verb = word(line, 0);
        self.asks_cover = matches!(verb.as_str(), "STARTTLS" | "XCLIENT") || (verb == "AUTH" && self.kind == Kind::Ftp);
        let label = if verb.is_empty() { "command".to_owned() } else { verb };
        Part::Request(Request { is_heartbeat: label == "NOOP", label, ..Request::default() })
    }

    fn server(&mut self, line: &[u8]) -> Part {
        let code = line.get(..3).and_then(|code| std::str::from_utf8(code).ok()?.parse::<u16>().ok());
        let is_last = code.is_some() && line.get(3) != Some(&b'-');
        if !self.has_greeted {
            self.has_greeted = is_last;
            return Part::Other;
        }
        if !is_last {
            return Part::response_part();
        }
        let mut ends = true;
        match (self.kind, code) {
            (Kind::Smtp, Some(354)) => (self.in_data, self.data_begun) = (true, false),
            (Kind::Smtp, Some(334)) => (self.in_challenge, ends) = (true, false),
            (Kind::Ftp, Some(100..=199)) => ends = false,
            _ => {}
        }
        self.is_over = self.asks_cover && matches!(code, Some(220 | 234));
        Part::Response { key: None, ends, error: None, status: code.filter(|_| ends) }
    }

    fn imap_client(&mut self, line: &[u8]) -> Part {
        let has_literal = literal(line) > 0;
        let is_rest = std::mem::replace(&mut self.after_literal[0], has_literal);
        let verb = word(line, 1);
        if is_rest || verb.is_empty() {
            return Part::Continues { ends: !has_literal };
        }
        self.asks_cover = matches!(verb.as_str(), "STARTTLS" | "COMPRESS");
        let label = if verb == "UID" { format!("UID {}", word(line, 2)) } else { verb };
        Part::Request(Request {
            key: Some(tag(line)),
            is_poll: label == "IDLE",
            is_heartbeat: label == "NOOP",
            continues: has_literal,
            label,
            ..Request::default()
        })
    }

    fn imap_server(&mut self, line: &[u8]) -> Part {
        let has_literal = literal(line) > 0;
        let is_rest = std::mem::replace(&mut self.after_literal[1], has_literal);
        if !std::mem::replace(&mut self.has_greeted, true) {
            return Part::Other;
        }
        match line {
            _ if is_rest => Part::response_part(),
            [b'*', ..] => Part::response_part(),
            [b'+', ..] => Part::Other,
            _ => {
                let outcome = word(line, 1);
                self.is_over = self.asks_cover && outcome == "OK";
                let error = (outcome != "OK").then_some(outcome);
                Part::Response { key: Some(tag(line)), ends: true, error, status: None }
            }
        }
    }
}

impl Format for Lines {
    fn split(&self, from: Role, bytes: &[u8]) -> Split {
        if self.is_over || !bytes.first().is_some_and(|byte| byte.is_ascii() && *byte != 0x16) {
            return if self.in_data && !self.is_over { Split::Line } else { Split::Lost };
        }
        let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return Split::Line };
        let line = bytes.get(..end).unwrap_or_default();
        let behind = match (self.kind, from) {
            (Kind::Imap, _) => literal(line),
            (Kind::Smtp, Role::Client) if !self.in_data => chunk(line),
            _ => 0,
        };
        Split::Message { len: (end as u64 + 1).saturating_add(behind), head: (end + 1).min(LINE) }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        let line = head.get(..=head.iter().position(|&byte| byte == b'\n').unwrap_or(head.len())).unwrap_or(head);
        match (self.kind, from) {
            (Kind::Imap, Role::Client) => self.imap_client(line),
            (Kind::Imap, Role::Server) => self.imap_server(line),
            (_, Role::Client) => self.client(line),
            (_, Role::Server) => self.server(line),
        }
    }
}

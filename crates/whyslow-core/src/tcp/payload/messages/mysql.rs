//! MySQL's client/server protocol (MySQL internals manual; MariaDB's is equal here).
//!
//! A request is a command; its response ends with the packet that ends its last result. A label is
//! the fingerprint of the statement, also for prepared ones.

use super::framed::{Format, Part, Request, Role, Split};
use super::reading::HEAD_MAX;
use super::sql::fingerprint;
use std::collections::BTreeMap;

const SSL: u32 = 0x0800;
const COMPRESS: u32 = 0x20;
const DEPRECATE_EOF: u32 = 0x0100_0000;
const QUERY_ATTRIBUTES: u32 = 0x0800_0000;
/// More results follow (a status flag).
const MORE_RESULTS: u16 = 8;
/// A packet of this length continues in the next one.
const LONGEST: u64 = 0x00ff_ffff + 4;
const HEADER: usize = 4;
/// Maximum number of prepared statements that are remembered.
const MAX_STATEMENTS: usize = 256;

/// The server's next packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Awaits {
    #[default]
    Greeting,
    Login,
    /// The first packet of a response.
    First(u8),
    /// Number of definitions, and whether the response ends after them or rows follow.
    Definitions {
        left: u64,
        rows: bool,
    },
    Rows,
}

#[derive(Clone, Debug, Default)]
pub(super) struct MySql {
    awaits: Awaits,
    capabilities: u32,
    has_login: bool,
    /// The connection continues encrypted or compressed.
    is_over: bool,
    /// Whether the packet of a side continues in the next one.
    continues: [bool; 2],
    /// The statement that is being prepared.
    prepared: Option<String>,
    statements: BTreeMap<u32, String>,
}

/// Whether a server's first bytes are its greeting.
pub(super) fn opens(bytes: &[u8], len: u64) -> bool {
    match bytes {
        &[a, b, c, 0, 10, ref version @ ..] => {
            let packet = u64::from(u32::from_le_bytes([a, b, c, 0])) + HEADER as u64;
            let end = version.iter().take(60).position(|&byte| byte == 0);
            let version = end.and_then(|end| version.get(..end)).unwrap_or_default();
            let is_version =
                version.first().is_some_and(u8::is_ascii_digit) && version.iter().all(u8::is_ascii_graphic);
            packet == len && is_version
        }
        _ => false,
    }
}

/// A number of one to nine bytes, and the length of its encoding.
fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        0..=0xfa => return Some((first.into(), 1)),
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => return None,
    };
    let mut wide = [0; 8];
    wide.iter_mut().zip(rest.get(..width)?).for_each(|(to, from)| *to = *from);
    Some((u64::from_le_bytes(wide), width + 1))
}

/// The status flags of an OK packet, which follow two numbers.
fn status(body: &[u8]) -> u16 {
    let read = || {
        let (_, one) = number(body.get(1..)?)?;
        let (_, two) = number(body.get(1 + one..)?)?;
        body.get(1 + one + two..)?.first_chunk().map(|flags| u16::from_le_bytes(*flags))
    };
    read().unwrap_or(0)
}

impl MySql {
    fn client(&mut self, head: &[u8], len: u64) -> Part {
        let body = head.get(HEADER..).unwrap_or_default();
        if !self.has_login {
            self.has_login = true;
            self.capabilities = body.first_chunk().map_or(0, |flags| u32::from_le_bytes(*flags));
            // Encryption begins after a packet of this length; the login is encrypted.
            self.is_over = len == 36 && self.capabilities & SSL != 0;
            self.awaits = Awaits::Login;
            return if self.is_over { Part::Other } else { Part::request("login", None) };
        }
        if head.get(3) != Some(&0) {
            return Part::Continues { ends: true };
        }
        let Some((&command, argument)) = body.split_first() else { return Part::Other };
        let is_cut = len > HEAD_MAX as u64;
        self.awaits = Awaits::First(command);
        let label = match command {
            3 => fingerprint(self.without_attributes(argument), true, is_cut),
            0x16 => {
                let label = fingerprint(argument, true, is_cut);
                self.prepared = Some(label.clone());
                format!("PREPARE {label}")
            }
            0x17 | 0x1c => {
                let number = argument.first_chunk().map_or(0, |number| u32::from_le_bytes(*number));
                self.statements.get(&number).cloned().unwrap_or_else(|| "prepared statement".to_owned())
            }
            2 => "USE ?".to_owned(),
            4 => "field list".to_owned(),
            9 => "statistics".to_owned(),
            0x0e => "ping".to_owned(),
            0x11 => {
                self.awaits = Awaits::Login;
                "login".to_owned()
            }
            0x1f => "reset connection".to_owned(),
            0x1a => "reset statement".to_owned(),
            0x1b => "set option".to_owned(),
            // Closes a statement or sends a part of a value: there is no response.
            0x01 | 0x18 | 0x19 => return Part::Other,
            other => format!("command {other}"),
        };
        Part::Request(Request { label, is_heartbeat: command == 0x0e, ..Request::default() })
    }

    /// A statement without the values that may precede it.
    fn without_attributes<'a>(&self, argument: &'a [u8]) -> &'a [u8] {
        match argument {
            [0, 1, sql @ ..] if self.capabilities & QUERY_ATTRIBUTES != 0 => sql,
            _ if self.capabilities & QUERY_ATTRIBUTES != 0 => b"query",
            _ => argument,
        }
    }

    fn server(&mut self, head: &[u8], len: u64) -> Part {
        let body = head.get(HEADER..).unwrap_or_default();
        let kind = body.first().copied().unwrap_or_default();
        let short = len < HEADER as u64 + 9;
        let deprecated = self.capabilities & DEPRECATE_EOF != 0;
        let error = |body: &[u8]| {
            let number =
                body.get(1..3).and_then(|number| number.first_chunk()).map(|number| u16::from_le_bytes(*number));
            number.map(|number| format!("error {number}"))
        };
        if kind == 0xff {
            self.is_over |= self.awaits == Awaits::Greeting;
            return Part::Response { key: None, ends: true, error: error(body), status: None };
        }
        match self.awaits {
            Awaits::Greeting => Part::Other,
            Awaits::Login if kind == 0 => {
                self.is_over = self.capabilities & COMPRESS != 0;
                Part::response(None)
            }
            Awaits::Login => Part::response_part(),
            Awaits::First(0x16) if kind == 0 => self.prepared(body, deprecated),
            Awaits::First(0x1c | 4) => self.row(kind, short, deprecated, body),
            Awaits::First(9) => Part::response(None),
            Awaits::First(_) if kind == 0 => self.result_ends(status(body)),
            Awaits::First(_) if kind == 0xfe && short => Part::response(None),
            // The client sends a file.
            Awaits::First(_) if kind == 0xfb => Part::response_part(),
            Awaits::First(_) => {
                let columns = number(body).map_or(0, |(columns, _)| columns);
                self.awaits = Awaits::Definitions { left: columns + u64::from(!deprecated), rows: true };
                Part::response_part()
            }
            Awaits::Definitions { left, rows } => {
                let left = left.saturating_sub(1);
                self.awaits = if left == 0 && rows { Awaits::Rows } else { Awaits::Definitions { left, rows } };
                if left == 0 && !rows { Part::response(None) } else { Part::response_part() }
            }
            Awaits::Rows => self.row(kind, short, deprecated, body),
        }
    }

    /// Handles a row, or the packet that ends the rows.
    fn row(&mut self, kind: u8, short: bool, deprecated: bool, body: &[u8]) -> Part {
        if kind != 0xfe || (!short && !deprecated) {
            return Part::response_part();
        }
        let flags = body.get(3..5).and_then(|flags| flags.first_chunk()).map_or(0, |flags| u16::from_le_bytes(*flags));
        self.result_ends(if short && !deprecated { flags } else { status(body) })
    }

    fn result_ends(&mut self, status: u16) -> Part {
        if status & MORE_RESULTS == 0 {
            return Part::response(None);
        }
        self.awaits = Awaits::First(3);
        Part::response_part()
    }

    /// Handles the response to a prepared statement: its ID, then definitions of its columns and
    /// parameters.
    fn prepared(&mut self, body: &[u8], deprecated: bool) -> Part {
        let &[_, a, b, c, d, c0, c1, p0, p1, ..] = body else { return Part::response(None) };
        if let Some(label) = self.prepared.take()
            && self.statements.len() < MAX_STATEMENTS
        {
            self.statements.insert(u32::from_le_bytes([a, b, c, d]), label);
        }
        let definitions = |count: u16| if count == 0 { 0 } else { u64::from(count) + u64::from(!deprecated) };
        let left = definitions(u16::from_le_bytes([c0, c1])) + definitions(u16::from_le_bytes([p0, p1]));
        self.awaits = Awaits::Definitions { left, rows: false };
        if left == 0 { Part::response(None) } else { Part::response_part() }
    }
}

impl Format for MySql {
    fn split(&self, from: Role, bytes: &[u8]) -> Split {
        if self.is_over {
            return Split::Lost;
        }
        let Some(&[a, b, c, _]) = bytes.first_chunk() else { return Split::Need(HEADER) };
        let len = u64::from(u32::from_le_bytes([a, b, c, 0])) + HEADER as u64;
        let head = if from == Role::Client { HEAD_MAX } else { HEADER + 32 };
        Split::Message { len, head }
    }

    fn part(&mut self, from: Role, head: &[u8], len: u64) -> Part {
        let Some(continues) = self.continues.get_mut(from as usize) else { return Part::Other };
        if std::mem::replace(continues, len == LONGEST) {
            return if from == Role::Client { Part::Continues { ends: !*continues } } else { Part::response_part() };
        }
        match from {
            Role::Client => self.client(head, len),
            Role::Server => self.server(head, len),
        }
    }
}

//! [`Filter`]: a small subset of display filters, over connections. The page's search is the same
//! language (`web/src/query.ts`); `filter/cases.json` holds both to it.
//!
//! | test | holds for connections |
//! |---|---|
//! | `host ADDRESS`, `ip.addr == ADDRESS` | of this address, or of this name |
//! | `net 192.0.2.0/24`, `ip.addr == 192.0.2.0/24` | of an address in this network |
//! | `port 443`, `tcp.port == 443` | of this port |
//! | `tcp.stream == 5` | numbered so in Wireshark |
//! | `tcp`, `quic` | of this protocol |
//! | `rtt > 50ms`, `down >= 1MB` | whose figure compares so |
//! | `cause:loss`, `state == open` | whose text contains this, or is this |
//! | `example` | with this word in a name, an address, a cause or the state |
//!
//! `client` and `server` (or `src` and `dst`) before `host`, `net` and `port` name one end. Tests
//! are combined with `and`, `or`, `not` (`&&`, `||`, `!`) and parentheses. Tests without a word
//! between them must all hold; a minus in front negates a test.

mod error;
mod field;
mod parse;
mod token;

pub use field::{Figure, Subject, Text};
pub use parse::parse;

use std::fmt;
use std::net::IpAddr;
use whyslow_analysis::{Connection, Endpoint};

/// A condition on a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// All of these.
    All(Vec<Filter>),
    /// Any of these.
    Any(Vec<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// This.
    Test(Test),
}

/// One property.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// An end has this name or address.
    Host(Which, String),
    /// An end is in this network.
    Net(Which, IpAddr, u8),
    /// A test of an end's port.
    Port(Which, Comparison, u16),
    /// The number of the TCP connection, counted from 0, compares so.
    Stream(Comparison, u64),
    /// It is a TCP connection.
    Tcp,
    /// It is a QUIC connection.
    Quic,
    /// A figure compares so with a number in seconds, bytes or segments.
    Figure(Figure, Comparison, f64),
    /// A text contains this.
    Contains(Text, String),
    /// A text is this.
    Is(Text, String),
    /// A name, an address, a cause or the state contains this.
    Word(String),
}

/// The end that a property belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Either end.
    Either,
    /// The client.
    Client,
    /// The server.
    Server,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Self::Equal => a == b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Filter {
    /// Whether a connection matches the filter.
    pub fn matches(&self, subject: Subject<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(subject)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(subject)),
            Self::Not(part) => !part.matches(subject),
            Self::Test(test) => test.matches(subject),
        }
    }
}

impl Test {
    fn matches(&self, subject: Subject<'_>) -> bool {
        let connection = subject.connection;
        match self {
            Self::Host(which, host) => which.any(connection, |end| is_host(end, host)),
            Self::Net(which, net, bits) => which.any(connection, |end| is_within(end, *net, *bits)),
            Self::Port(which, comparison, port) => which.any(connection, |end| comparison.holds(end.port, *port)),
            Self::Stream(comparison, number) => {
                connection.origin.stream.is_some_and(|stream| comparison.holds(stream, *number))
            }
            Self::Tcp => connection.quic.is_none(),
            Self::Quic => connection.quic.is_some(),
            Self::Figure(figure, comparison, wanted) => {
                figure.of(connection).is_some_and(|value| comparison.holds(value, *wanted))
            }
            Self::Contains(text, wanted) => text.of(subject).iter().any(|one| one.contains(wanted)),
            Self::Is(text, wanted) => text.of(subject).iter().any(|one| one == wanted),
            Self::Word(wanted) => field::anything(subject).iter().any(|one| one.contains(wanted)),
        }
    }
}

impl Which {
    fn any(self, connection: &Connection, has: impl Fn(&Endpoint) -> bool) -> bool {
        match self {
            Self::Either => has(&connection.client) || has(&connection.server),
            Self::Client => has(&connection.client),
            Self::Server => has(&connection.server),
        }
    }

    /// The word before a test, with a blank.
    fn prefix(self) -> &'static str {
        match self {
            Self::Either => "",
            Self::Client => "client ",
            Self::Server => "server ",
        }
    }
}

fn is_host(end: &Endpoint, host: &str) -> bool {
    let is_address = match (host.parse::<IpAddr>(), end.address.parse::<IpAddr>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => end.address.eq_ignore_ascii_case(host),
    };
    is_address || end.name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(host))
}

fn is_within(end: &Endpoint, net: IpAddr, bits: u8) -> bool {
    let Ok(address) = end.address.parse::<IpAddr>() else { return false };
    match (address, net) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            let different = u32::from(a) ^ u32::from(b);
            different.checked_shr(32 - u32::from(bits.min(32))).unwrap_or(0) == 0
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            let different = u128::from(a) ^ u128::from(b);
            different.checked_shr(128 - u32::from(bits.min(128))).unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// The filter as typed.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Self], word: &str| {
            for (index, part) in parts.iter().enumerate() {
                let word = if index > 0 { word } else { "" };
                write!(f, "{word}({part})")?;
            }
            Ok(())
        };
        match self {
            Self::All(parts) => join(f, parts, " and "),
            Self::Any(parts) => join(f, parts, " or "),
            Self::Not(part) => write!(f, "not ({part})"),
            Self::Test(test) => test.fmt(f),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(which, host) => write!(f, "{}host {host}", which.prefix()),
            Self::Net(which, net, bits) => write!(f, "{}net {net}/{bits}", which.prefix()),
            Self::Port(Which::Either, comparison, port) => write!(f, "tcp.port {} {port}", comparison.symbol()),
            Self::Port(Which::Client, comparison, port) => write!(f, "tcp.srcport {} {port}", comparison.symbol()),
            Self::Port(Which::Server, comparison, port) => write!(f, "tcp.dstport {} {port}", comparison.symbol()),
            Self::Stream(comparison, number) => write!(f, "tcp.stream {} {number}", comparison.symbol()),
            Self::Tcp => f.write_str("tcp"),
            Self::Quic => f.write_str("quic"),
            Self::Figure(figure, comparison, value) => {
                write!(f, "{} {} {value}{}", figure.name(), comparison.symbol(), figure.unit())
            }
            Self::Contains(text, wanted) => write!(f, "{}:{wanted}", text.name()),
            Self::Is(text, wanted) => write!(f, "{} == {wanted}", text.name()),
            Self::Word(wanted) => f.write_str(wanted),
        }
    }
}

#[cfg(test)]
mod tests;

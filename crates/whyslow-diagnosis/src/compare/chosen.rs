//! Which transfer of a capture is meant.

use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;
use whyslow_analysis::{Analysis, Connection, Transfer};
use whyslow_units::Nanos;

/// A transfer's name within a capture: the connection's id and the transfer's place in it, from 1
/// on. If a part is not named, it is the largest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferName {
    /// The connection; `None` for that of the largest transfer.
    pub connection: Option<u64>,
    /// The transfer; `None` for the connection's largest.
    pub transfer: Option<usize>,
}

impl TransferName {
    /// Reads `3` or `3.2`; `None` for any other text.
    pub fn read(text: &str) -> Option<Self> {
        let number = |digits: &str| digits.chars().all(|c| c.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        let (connection, transfer) = match text.split_once('.') {
            Some((connection, transfer)) => (connection, Some(number(transfer)?)),
            None => (text, None),
        };
        Some(Self { connection: Some(number(connection)? as u64), transfer })
    }
}

/// A transfer, its connection, and the capture that holds them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ChosenTransfer<'a> {
    /// As the capture was named.
    pub path: &'a str,
    /// Its connection.
    pub connection: &'a Connection,
    /// The transfer.
    pub transfer: &'a Transfer,
    /// Number among the connection's transfers, from 1.
    pub number: usize,
}

impl ChosenTransfer<'_> {
    /// The minimum RTT of the connection.
    pub(super) fn rtt(&self) -> Option<Nanos> {
        self.connection.rtt_ms.min.map(|ms| Nanos::from_secs_f64(ms / 1e3))
    }
}

/// Why there is no such transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoSuchTransfer {
    /// The capture does not hold this connection.
    Connection {
        /// The connection's id.
        id: u64,
        /// How many connections the capture holds.
        held: usize,
    },
    /// The connection does not have this transfer.
    Transfer {
        /// The connection's id.
        id: u64,
        /// Number of the requested transfer, from 1.
        number: usize,
        /// How many transfers the connection has.
        held: usize,
    },
    /// Nothing was transferred.
    Nothing,
}

impl fmt::Display for NoSuchTransfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection { id, held: 0 } => {
                write!(f, "there is no connection {id}: the input holds no TCP connection")
            }
            Self::Connection { id, held: 1 } => {
                write!(f, "there is no connection {id}: the input holds one, which is 1")
            }
            Self::Connection { id, held } => write!(f, "there is no connection {id}: the input holds 1 to {held}"),
            Self::Transfer { id, number, held: 0 } => {
                write!(f, "there is no transfer {number}: connection {id} transferred nothing")
            }
            Self::Transfer { id, number, held: 1 } => {
                write!(f, "there is no transfer {number}: connection {id} has one, which is 1")
            }
            Self::Transfer { id, number, held } => {
                write!(f, "there is no transfer {number}: connection {id} has 1 to {held}")
            }
            Self::Nothing => write!(f, "nothing was transferred"),
        }
    }
}

impl std::error::Error for NoSuchTransfer {}

/// Finds a transfer by its name.
///
/// # Errors
/// When there is none.
pub fn choose(analysis: &Analysis, which: TransferName) -> Result<ChosenTransfer<'_>, NoSuchTransfer> {
    choose_in(analysis, 0..usize::MAX, 0, which)
}

/// The same among the connections of some captures, whose numbers are larger by `before` than
/// `which` has them: several analyses may have been joined to one.
///
/// # Errors
/// When there is none.
pub fn choose_in(
    analysis: &Analysis,
    captures: Range<usize>,
    before: u64,
    which: TransferName,
) -> Result<ChosenTransfer<'_>, NoSuchTransfer> {
    let own = || analysis.connections.iter().filter(|connection| captures.contains(&connection.capture));
    let wanted = |connection: &&Connection| {
        which.connection.is_none_or(|id| id.checked_add(before).is_some_and(|id| connection.id == id))
    };
    let mut connections = own().filter(wanted).peekable();
    if let (Some(id), None) = (which.connection, connections.peek()) {
        return Err(NoSuchTransfer::Connection { id, held: own().count() });
    }
    let path = |connection: &Connection| analysis.captures.get(connection.capture).map_or("", |capture| &capture.path);
    let held = connections.peek().map_or(0, |connection| connection.transfers.len());
    let mut all = connections.flat_map(|connection| {
        let transfers = connection.transfers.iter().enumerate();
        transfers.map(move |(index, transfer)| ChosenTransfer {
            path: path(connection),
            connection,
            transfer,
            number: index + 1,
        })
    });
    match (which.connection, which.transfer) {
        (Some(id), Some(number)) => {
            all.find(|chosen| chosen.number == number).ok_or(NoSuchTransfer::Transfer { id, number, held })
        }
        _ => all
            .min_by_key(|chosen| (Reverse(chosen.transfer.bytes), chosen.connection.id, chosen.number))
            .ok_or(NoSuchTransfer::Nothing),
    }
}

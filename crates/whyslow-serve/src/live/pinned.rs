//! [`PinnedConnection`]: a connection in the state in which it was opened, with its packets.

use super::packets::HeldPackets;
use super::retained::HeldTransfer;
use super::row;
use super::update::PacketSupply;
use serde::Serialize;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use whyslow_analysis::Connection;
use whyslow_diagnosis::series::PacketDetail;
use whyslow_page::{Graphs, GraphsAnswer};
use whyslow_report::words::WordSheet;
use whyslow_units::Nanos;

/// A connection that was opened.
#[derive(Debug)]
pub(crate) struct PinnedConnection {
    connection: Connection,
    /// Each transfer's number among all.
    serials: Vec<u64>,
    packets: Result<HeldPackets, String>,
    /// All of it, and the range that was asked for last.
    graphs: Mutex<DrawnGraphs>,
}

#[derive(Debug, Default)]
struct DrawnGraphs {
    whole: Option<Arc<Graphs>>,
    part: Option<Arc<Graphs>>,
}

/// A connection as the page gets it.
#[derive(Serialize)]
pub(crate) struct Opened<'a> {
    connection: &'a Connection,
    words: WordSheet,
    serials: &'a [u64],
    /// Held packets; `None` if no graphs can be drawn.
    packets: Option<usize>,
    /// Packets between the handshake and those that are held.
    missing: u64,
}

impl PinnedConnection {
    /// A connection with its held transfers, in the order of time; `None` without transfers.
    pub(super) fn new(held: &[Arc<HeldTransfer>], supply: &PacketSupply) -> Option<Self> {
        let mut connection = Connection {
            transfers: Vec::new(),
            exchanges: Vec::new(),
            exchanges_total: 0,
            response_times: None,
            findings: Vec::new(),
            ..held.last()?.connection.clone()
        };
        let mut parts: Vec<_> = held.iter().filter(|one| !one.connection.transfers.is_empty()).collect();
        parts.sort_by_key(|one| row::identity(&one.connection).1.map(|(_, start)| start));
        let serials = parts.iter().map(|one| one.row.serial).collect();
        connection.transfers = parts.iter().flat_map(|one| one.connection.transfers.iter().cloned()).collect();
        let whole = held.iter().rev().find(|one| one.connection.transfers.is_empty());
        connection.findings = whole.map(|one| one.connection.findings.clone()).unwrap_or_default();
        let packets = supply(&connection, held.last()?.process.as_deref()).and_then(|packets| {
            match packets.are_of(&connection) {
                true => Ok(packets),
                false => Err(LEFT.to_owned()),
            }
        });
        if packets.as_ref().is_ok_and(HeldPackets::has_files) {
            // The findings of the first capture are older than the second one.
            connection.for_each_frame(|frame| frame.file = frame.file.or(Some(0)));
        }
        Some(Self { connection, serials, packets, graphs: Mutex::default() })
    }

    pub(super) fn id(&self) -> u64 {
        self.connection.id
    }

    /// It, as the page gets it.
    pub(crate) fn to_page(&self) -> Opened<'_> {
        let packets = self.packets.as_ref().ok();
        Opened {
            words: WordSheet::of_connection(&self.connection),
            connection: &self.connection,
            serials: &self.serials,
            packets: packets.map(HeldPackets::count),
            missing: packets.map_or(0, HeldPackets::missing),
        }
    }

    /// Its graphs in a time range.
    ///
    /// # Errors
    /// When its packets are not held.
    pub(crate) fn answer(&self, range: Option<(Nanos, Nanos)>, columns: usize) -> Result<GraphsAnswer, String> {
        let packets = self.packets.as_ref()?;
        let mut drawn = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = match &drawn.whole {
            Some(whole) => Arc::clone(whole),
            None => Arc::clone(drawn.whole.insert(Arc::new(packets.graphs(&self.connection, None)?))),
        };
        let Some(asked) = range.filter(|range| !whole.is_fine(*range, columns)) else {
            return Ok(whole.answer(range, columns));
        };
        if let Some(part) = drawn.part.as_ref().filter(|part| part.holds(asked)) {
            return Ok(part.answer(range, columns));
        }
        // A little more than is asked for, so that the next step finds it.
        let room = (asked.1 - asked.0).or_zero();
        let part = packets.graphs(&self.connection, Some((asked.0 - room, asked.1 + room)))?;
        Ok(drawn.part.insert(Arc::new(part)).answer(range, columns))
    }

    /// The headers of a packet.
    ///
    /// # Errors
    /// When it is not held.
    pub(crate) fn detail(&self, frame: u64, time: Nanos) -> Result<PacketDetail, String> {
        self.packets.as_ref()?.detail(frame, time).ok_or_else(|| "there is no such packet".to_owned())
    }

    /// Writes its packets as pcapng: those of a time range, or all of them with the findings on
    /// them. Returns how many there are.
    ///
    /// # Errors
    /// When they are not held, or cannot be written.
    pub(crate) fn write<W: Write>(&self, range: Option<(Nanos, Nanos)>, out: W) -> Result<(W, u64), String> {
        self.packets.as_ref()?.write(range, out).map_err(|error| format!("the packets could not be kept: {error}"))
    }
}

const LEFT: &str = "its packets are not in memory any more: a larger --memory holds more of them";

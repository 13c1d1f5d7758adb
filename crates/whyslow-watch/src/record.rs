//! [`Record`]: a transfer that has ended, with its connection; or what a connection lost as a
//! whole.

use super::holder::Holders;
use whyslow_analysis::{Analysis, Capture, Connection, Finding, SCHEMA, Transfer};
use whyslow_diagnosis::explain::live::EndedTransfers;
use whyslow_units::{Nanos, Time, iso_8601};

/// A report on a connection.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The connection, with the one transfer; without any, its findings are those of the whole.
    pub connection: Connection,
    /// The transfer was reported before and continued.
    pub revised: bool,
    /// The connection is over.
    pub over: bool,
    /// When the first packet of all came, on the clock of the packets.
    pub first: Time,
    /// The programs on this machine that have its ends.
    pub holders: Holders,
}

impl Record {
    /// One for each transfer, and one for the connection if it lost something as a whole.
    pub(super) fn split(ended: EndedTransfers, first: Time) -> Vec<Self> {
        let EndedTransfers { mut connection, grown, over } = ended;
        let transfers = std::mem::take(&mut connection.transfers);
        let findings = std::mem::take(&mut connection.findings);
        connection.exchanges.clear();
        let mut again = grown;
        let mut all: Vec<Self> = transfers
            .into_iter()
            .map(|transfer| {
                let revised = std::mem::take(&mut again[transfer.from as usize]);
                let connection = Connection { transfers: vec![transfer], ..connection.clone() };
                Self { connection, revised, over, first, holders: Holders::default() }
            })
            .collect();
        if !findings.is_empty() {
            connection.findings = findings;
            all.push(Self { connection, revised: false, over, first, holders: Holders::default() });
        }
        all
    }

    /// The transfer; `None` if the report is about the whole connection.
    pub(crate) fn transfer(&self) -> Option<&Transfer> {
        self.connection.transfers.first()
    }

    /// What it lost time to, most first.
    pub(crate) fn findings(&self) -> &[Finding] {
        self.transfer().map_or(&self.connection.findings, |transfer| &transfer.findings)
    }

    /// What cost it most.
    pub(crate) fn worst(&self) -> Option<&Finding> {
        self.findings().first().filter(|finding| finding.cost_s > Nanos::ZERO)
    }

    /// What its costliest finding cost; nothing of what the client's own program took.
    pub(crate) fn lost(&self) -> Nanos {
        let waited = self.findings().iter().filter(|finding| finding.is_waited_for());
        waited.map(|finding| finding.cost_s).max().unwrap_or_default()
    }

    /// How long it took: for its user, or from the connection's first packet to its last.
    pub(crate) fn took(&self) -> Nanos {
        self.transfer().map_or(self.connection.duration_s, Transfer::waited)
    }

    /// When it ended, on the clock of the packets.
    pub(crate) fn end(&self) -> Time {
        let end = |transfer: &Transfer| transfer.start_s + transfer.duration_s;
        self.first + self.transfer().map_or(self.connection.start_s + self.connection.duration_s, end)
    }

    /// The same time in UTC.
    pub(crate) fn end_utc(&self) -> String {
        iso_8601(self.end())
    }

    /// An analysis of this connection alone, for a page.
    pub(crate) fn analysis(&self) -> Analysis {
        let capture = Capture {
            path: "watch".to_owned(),
            format: String::new(),
            link_types: Vec::new(),
            packets: 0,
            tcp_packets: 0,
            first_time: Some(iso_8601(self.first)),
            duration_s: None,
            problems: Vec::new(),
            pings: Vec::new(),
            lookups: Vec::new(),
        };
        let connection = Connection { capture: 0, ..self.connection.clone() };
        Analysis {
            schema: SCHEMA,
            partial: false,
            threshold_s: whyslow_diagnosis::ranking::DEFAULT_THRESHOLD,
            captures: vec![capture],
            connections: vec![connection],
            findings: Vec::new(),
            pairs: Vec::new(),
            pairs_total: 0,
        }
    }
}

//! [`Row`]: what the columns of one row are read off. A row is found again by its [`Place`], so
//! that a table can be given in pieces without holding more than its analysis.

use crate::identity::Identity;
use whyslow_analysis::{Analysis, Capture, Connection, Finding, Problem, Round, Transfer};
use whyslow_diagnosis::series::Point;
use whyslow_units::{Nanos, Time};

/// Where a row is in its analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) connection: Option<usize>,
    pub(crate) transfer: Option<usize>,
    /// Index into the capture's problems, the transfer's rounds, or the findings.
    pub(crate) item: usize,
    /// For what belongs to no connection.
    pub(crate) capture: Option<usize>,
}

/// The subject of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) place: Place,
    pub(crate) identity: Option<&'a Identity>,
    /// Connections that begin in each file and are not in the analysis, but in the table.
    pub(crate) others: &'a [u64],
    pub(crate) packet: Option<PacketOfRow<'a>>,
}

/// A packet of the row's connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketOfRow<'a> {
    pub(crate) point: &'a Point,
    /// When the packet before it passed.
    pub(crate) before: Option<Nanos>,
}

impl<'a> Row<'a> {
    /// Without the parts that its place does not give.
    pub(crate) fn of(analysis: &'a Analysis, place: Place) -> Self {
        Self { analysis, place, identity: None, others: &[], packet: None }
    }

    pub(crate) fn connection(&self) -> Option<&'a Connection> {
        self.analysis.connections.get(self.place.connection?)
    }

    pub(crate) fn transfer(&self) -> Option<&'a Transfer> {
        self.connection()?.transfers.get(self.place.transfer?)
    }

    pub(crate) fn round(&self) -> Option<&'a Round> {
        self.transfer()?.rounds.get(self.place.item)
    }

    pub(crate) fn point(&self) -> Option<&'a Point> {
        Some(self.packet?.point)
    }

    /// The transfer's, the connection's, or those that span connections.
    fn findings(&self) -> Option<&'a [Finding]> {
        match (self.place.connection, self.place.transfer) {
            (None, _) => Some(&self.analysis.findings),
            (Some(_), None) => Some(&self.connection()?.findings),
            (Some(_), Some(_)) => Some(&self.transfer()?.findings),
        }
    }

    pub(crate) fn finding(&self) -> Option<&'a Finding> {
        self.findings()?.get(self.place.item)
    }

    /// The costliest finding of the row's transfer.
    pub(crate) fn top(&self) -> Option<&'a Finding> {
        self.transfer()?.findings.first()
    }

    /// The costliest finding of the row's connection: its own, or one of a transfer of it.
    pub(crate) fn top_of_connection(&self) -> Option<&'a Finding> {
        let connection = self.connection()?;
        let firsts = connection.transfers.iter().filter_map(|transfer| transfer.findings.first());
        // Of several that cost the same, the first.
        connection.findings.first().into_iter().chain(firsts).reduce(|top, next| {
            if (next.is_waited_for(), next.cost_s) > (top.is_waited_for(), top.cost_s) { next } else { top }
        })
    }

    pub(crate) fn problem(&self) -> Option<&'a Problem> {
        match self.place.connection {
            Some(_) => self.connection()?.problems.get(self.place.item),
            None => self.capture()?.problems.get(self.place.item),
        }
    }

    /// The place of the file where the row's connection begins, or that the row is about.
    pub(crate) fn capture_index(&self) -> Option<usize> {
        self.connection().map(begins_in).or(self.place.capture)
    }

    pub(crate) fn capture(&self) -> Option<&'a Capture> {
        self.analysis.captures.get(self.capture_index()?)
    }

    /// An instant that is counted from the first packet of all; `None` without a date.
    pub(crate) fn instant(&self, start: Nanos) -> Option<Time> {
        let connection = self.connection()?;
        self.capture()?.first_time.as_ref()?;
        Some(connection.origin.time + (start - connection.start_s))
    }
}

/// The place of the file in which a connection begins.
pub(crate) fn begins_in(connection: &Connection) -> usize {
    connection.origin.frame.file.map_or(connection.capture, usize::from)
}

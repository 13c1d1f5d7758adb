//! [`Table`]: which tables there are.

use crate::SCHEMA;
use crate::column::Column;
use crate::columns;
use crate::row::Place;
use arrow_schema::Schema;
use std::collections::HashMap;
use whyslow_analysis::{Analysis, Connection, Transfer};

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// A row for each connection, in the order of their first packets.
    Connections,
    /// A row for each transfer of theirs that is listed, by connections and then by time.
    Transfers,
    /// A row for each finding: of each transfer, of each connection, and of several connections.
    Findings,
    /// A row for each input, in the order in which they were read.
    Files,
    /// A row for each property of an input or a connection that limits the conclusions.
    Problems,
    /// A row for each round of a transfer that is listed.
    Rounds,
    /// A row for each packet of a connection, by connections and then as they were captured.
    Packets,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Connections, Self::Transfers, Self::Findings, Self::Files, Self::Problems, Self::Rounds, Self::Packets];

    /// Those that are written where no table is named: all but rounds and packets, of which there
    /// are many.
    pub const USUAL: [Self; 5] = [Self::Connections, Self::Transfers, Self::Findings, Self::Files, Self::Problems];

    /// Its public name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Transfers => "transfers",
            Self::Findings => "findings",
            Self::Files => "files",
            Self::Problems => "problems",
            Self::Rounds => "rounds",
            Self::Packets => "packets",
        }
    }

    /// The table of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Its columns, in their order.
    pub fn columns(self) -> Vec<Column> {
        match self {
            Self::Connections => columns::connections(),
            Self::Transfers => columns::transfers(),
            Self::Findings => columns::findings(),
            Self::Files => columns::files(),
            Self::Problems => columns::problems(),
            Self::Rounds => columns::rounds(),
            Self::Packets => columns::packets(),
        }
    }

    /// Its Arrow schema: the version and the table's name are in its metadata, unit and description
    /// in that of each field.
    pub fn schema(self) -> Schema {
        let about = [("whyslow.schema", SCHEMA), ("whyslow.table", self.name())];
        let metadata: HashMap<_, _> = about.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let fields: Vec<_> = self.columns().iter().map(Column::field).collect();
        Schema::new_with_metadata(fields, metadata)
    }

    /// Where its rows are, in their order; packets are not in an analysis.
    pub(crate) fn places(self, analysis: &Analysis) -> Vec<Place> {
        [self.places_before(analysis), self.places_of_connections(analysis), self.places_behind(analysis)].concat()
    }

    /// The places of the rows before those of connections.
    pub(crate) fn places_before(self, analysis: &Analysis) -> Vec<Place> {
        match self {
            Self::Problems => {
                let files = analysis.captures.iter().enumerate();
                files.flat_map(|(file, capture)| items(of_file(file), capture.problems.len())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Where the rows of connections are.
    pub(crate) fn places_of_connections(self, analysis: &Analysis) -> Vec<Place> {
        match self {
            Self::Connections => connections(analysis).map(|(place, _)| place).collect(),
            Self::Transfers => transfers(analysis).map(|(place, _)| place).collect(),
            Self::Rounds => transfers(analysis).flat_map(|(at, transfer)| items(at, transfer.rounds.len())).collect(),
            Self::Findings => connections(analysis)
                .flat_map(|(at, connection)| {
                    let of_transfers =
                        each_transfer(at, connection).flat_map(|(at, transfer)| items(at, transfer.findings.len()));
                    items(at, connection.findings.len()).chain(of_transfers)
                })
                .collect(),
            Self::Problems => {
                connections(analysis).flat_map(|(at, connection)| items(at, connection.problems.len())).collect()
            }
            Self::Files | Self::Packets => Vec::new(),
        }
    }

    /// The places of the rows after those of connections.
    pub(crate) fn places_behind(self, analysis: &Analysis) -> Vec<Place> {
        match self {
            Self::Findings => items(Place::default(), analysis.findings.len()).collect(),
            Self::Files => (0..analysis.captures.len()).map(of_file).collect(),
            _ => Vec::new(),
        }
    }
}

fn of_file(file: usize) -> Place {
    Place { capture: Some(file), ..Place::default() }
}

fn connections(analysis: &Analysis) -> impl Iterator<Item = (Place, &Connection)> {
    let place = |index| Place { connection: Some(index), ..Place::default() };
    analysis.connections.iter().enumerate().map(move |(index, connection)| (place(index), connection))
}

fn each_transfer(at: Place, connection: &Connection) -> impl Iterator<Item = (Place, &Transfer)> {
    let place = move |index| Place { transfer: Some(index), ..at };
    connection.transfers.iter().enumerate().map(move |(index, transfer)| (place(index), transfer))
}

fn transfers(analysis: &Analysis) -> impl Iterator<Item = (Place, &Transfer)> {
    connections(analysis).flat_map(|(at, connection)| each_transfer(at, connection))
}

fn items(at: Place, count: usize) -> impl Iterator<Item = Place> {
    (0..count).map(move |item| Place { item, ..at })
}

//! [`OpenCaptures`]: captures that were read, and their second reading.

use crate::graphs::{Graphs, GraphsAnswer};
use crate::slice::Slice;
use crate::{Document, Opening};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use whyslow_analysis::{Analysis, Connection};
use whyslow_diagnosis::compare::{Comparison, TransferName};
use whyslow_io::{PacketSource, Progress, Reading};
use whyslow_units::Nanos;

/// Captures that were read.
#[derive(Debug)]
pub struct OpenCaptures {
    document: Document,
    /// The graphs that were requested last.
    graphs: Mutex<VecDeque<(GraphRequest, Arc<Graphs>)>>,
    opening: Opening,
}

/// A connection's graphs: all its time, or a range of it.
type GraphRequest = (u64, Option<(Nanos, Nanos)>);

/// The number of graphs kept, of at most 65 MB each.
const MAX_GRAPHS: usize = 4;

impl OpenCaptures {
    /// Captures that were read with these settings, for a page with a server.
    pub fn new(reading: Reading, opening: Opening) -> Self {
        Self { document: Document::served(reading, &opening), graphs: Mutex::default(), opening }
    }

    /// The same for a page in the same browser.
    pub fn in_browser(reading: Reading, opening: Opening) -> Self {
        Self { document: Document::in_browser(reading, &opening), graphs: Mutex::default(), opening }
    }

    /// The document for a page that asks for the rest.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The opened captures.
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// A connection's graphs in a time range.
    ///
    /// # Errors
    /// When there is no such connection, or it cannot be read again.
    pub fn answer(&self, id: u64, range: Option<(Nanos, Nanos)>, columns: usize) -> Result<GraphsAnswer, String> {
        let whole = self.graphs(id, None)?;
        let Some(asked) = range.filter(|range| !whole.is_fine(*range, columns)) else {
            return Ok(whole.answer(range, columns));
        };
        // A little more than is asked for, so that the next step finds it.
        let room = (asked.1 - asked.0).or_zero();
        Ok(self.graphs(id, Some((asked.0 - room, asked.1 + room)))?.answer(range, columns))
    }

    fn graphs(&self, id: u64, range: Option<(Nanos, Nanos)>) -> Result<Arc<Graphs>, String> {
        // Held while the capture is read: what two ask for is read once.
        let mut kept = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(asked, graphs): &&(GraphRequest, Arc<Graphs>)| {
            asked.0 == id
                && match (asked.1, range) {
                    (None, None) => true,
                    (Some(_), Some(range)) => graphs.holds(range),
                    _ => false,
                }
        };
        if let Some((_, graphs)) = kept.iter().find(fits) {
            return Ok(Arc::clone(graphs));
        }
        let (place, connection) = self.place(id)?;
        let graphs = Arc::new(Graphs::read(&place, connection, range)?);
        if kept.len() >= MAX_GRAPHS {
            kept.pop_front();
        }
        kept.push_back(((id, range), Arc::clone(&graphs)));
        Ok(graphs)
    }

    /// All of a connection.
    ///
    /// # Errors
    /// When there is none of this number.
    pub fn connection(&self, id: u64) -> Result<&Connection, String> {
        self.document.connection(id).ok_or_else(|| "there is no connection of this number".to_owned())
    }

    /// The place at which a connection's packets can be read again.
    ///
    /// # Errors
    /// When there is no such connection, or its capture came through a pipe.
    pub fn place(&self, id: u64) -> Result<(PacketSource, &Connection), String> {
        let connection = self.connection(id)?;
        let place = self.document.place(connection);
        Ok((place.ok_or("the capture came through a pipe, which cannot be read twice")?, connection))
    }

    /// The whole analysis.
    pub fn analysis(&self) -> &Analysis {
        self.document.analysis()
    }

    /// The document as a report has it. Reads the captures again.
    pub fn as_file(&self, progress: &mut dyn FnMut(Progress)) -> Document {
        self.document.as_file(&self.opening, progress)
    }

    /// Writes a connection's packets in a time range as pcapng. Returns how many there are.
    ///
    /// # Errors
    /// When there is no such connection, its captures cannot be read again, or the packets cannot
    /// be written.
    pub fn slice<W: Write>(&self, id: u64, range: Option<(Nanos, Nanos)>, out: W) -> Result<(W, u64), String> {
        let (place, _) = self.place(id)?;
        let range = range.ok_or("from when to when?")?;
        let mut slice = Slice::new(out);
        whyslow_io::pick(&place, range, &mut |packet| slice.push(packet)).map_err(|error| error.to_string())?;
        let packets = slice.packets;
        Ok((slice.finish().map_err(|error| format!("the slice could not be kept: {error}"))?, packets))
    }

    /// Compares two of its transfers.
    ///
    /// # Errors
    /// When one does not exist.
    pub fn compare(&self, spots: [TransferName; 2]) -> Result<Comparison, String> {
        self.document.compare(spots)
    }
}

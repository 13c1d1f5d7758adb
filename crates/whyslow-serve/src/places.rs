//! [`Places`]: in which input a connection is, and by which number there.

use whyslow_core::analysis::{Analysis, Connection, Frame};
use whyslow_io::Input;

/// Where connections can be read once more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// By the place of the capture in the analysis: its input, and how many connections are numbered before its own.
    captures: Vec<Option<(Input, u64)>>,
}

/// A connection's input, and the connection with the number that it has in this input alone.
pub(crate) type Place = (Input, Connection);

impl Places {
    /// Of an analysis that has all its connections.
    pub(crate) fn of(inputs: &[Input], analysis: &Analysis) -> Self {
        let place = |(index, capture): (usize, &whyslow_core::analysis::Capture)| {
            let mut named = inputs.iter().filter(|input| input.name() == capture.path);
            let input = named.next().filter(|input| **input != Input::Stdin)?;
            let own = analysis.connections.iter().filter(|connection| connection.capture == index);
            let first = own.map(|connection| connection.id).min()?;
            // The same name twice: which one is which cannot be told.
            named.next().is_none().then(|| (input.clone(), first - 1))
        };
        Self { captures: analysis.captures.iter().enumerate().map(place).collect() }
    }

    /// Where this connection is.
    ///
    /// # Errors
    /// When its input cannot be read a second time.
    pub(crate) fn find(&self, connection: &Connection) -> Result<Place, String> {
        let found = self.captures.get(connection.capture).and_then(Option::as_ref);
        let Some((input, before)) = found else {
            return Err("the capture came through a pipe, which cannot be read twice".to_owned());
        };
        let mut own = connection.clone();
        own.id = connection.id.saturating_sub(*before);
        let forget = |frame: &mut Frame| frame.file = None;
        let findings = own.transfers.iter_mut().flat_map(|transfer| &mut transfer.findings).chain(&mut own.findings);
        findings.flat_map(|finding| &mut finding.evidence).flat_map(|evidence| &mut evidence.frames).for_each(forget);
        Ok((input.clone(), own))
    }
}

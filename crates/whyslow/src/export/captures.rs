//! [`Captures`]: what tables are made of.

use std::io::Write;
use whyslow_analysis::Connection;
use whyslow_cli::output::complain;
use whyslow_cli::{Meter, SpooledInputs, reading};
use whyslow_io::{Input, PacketExport, Stop};
use whyslow_serve::Opening;
use whyslow_tables::{TableWriter, write_all};

/// Captures that are read together.
pub(super) struct Captures<'a> {
    pub(super) inputs: &'a [Input],
    pub(super) point: &'a str,
    /// They are read a second time, for their packets.
    pub(super) twice: bool,
}

impl Captures<'_> {
    /// Reads them, and then writes all rows of these tables.
    ///
    /// # Errors
    /// When one cannot be read, or a table cannot be written.
    pub(super) fn write<W: Write + Send>(
        &self,
        writers: impl FnOnce() -> anyhow::Result<Vec<TableWriter<W>>>,
    ) -> anyhow::Result<()> {
        let spooled = if self.twice { Some(SpooledInputs::new(self.inputs)?) } else { None };
        let opening = match &spooled {
            Some(spooled) => Opening { names: spooled.names(), ..Opening::of(spooled.inputs().to_vec()) },
            None => Opening::of(self.inputs.to_vec()),
        };
        let (mut reading, omitted) = reading::read_every(&opening)?;
        for capture in &mut reading.analysis.captures {
            capture.path = opening.name(&capture.path);
        }
        let connections = omitted.with_listed(&reading.analysis)?.map(|one| one.map_err(anyhow::Error::from));
        let mut meter = Meter::new();
        let mut progress = |progress| meter.update(progress);
        let mut packets = PacketExport::new(&reading, &Stop::default(), &mut progress);
        let mut packets_of = |connection: &Connection| {
            packets.of(connection).map_err(|error| anyhow::Error::msg(opening.with_names(&error.to_string())))
        };
        write_all(&reading.analysis, connections, &mut packets_of, self.point, writers()?)?;
        let late = packets.late();
        if late > 0 {
            complain(&format!("{late} verdicts came more than 262,144 packets late and are not in it"));
        }
        Ok(())
    }
}

//! [`ConnectionPackets`]: one connection's packets, read a second time.

use whyslow_analysis::Connection;
use whyslow_cli::Meter;
use whyslow_cli::output::complain;
use whyslow_diagnosis::series::Point;
use whyslow_report::words::{self, Lang};

/// The place of the packets, and their connection.
pub(super) struct ConnectionPackets<'a> {
    pub(super) place: whyslow_io::PacketSource,
    pub(super) connection: &'a Connection,
}

impl ConnectionPackets<'_> {
    /// Gives each to `give`, in order; the first error ends that.
    pub(super) fn each(&self, mut give: impl FnMut(&Point) -> std::io::Result<()>) -> anyhow::Result<()> {
        let mut failed = None;
        let late = {
            let mut meter = Meter::new();
            let mut give = |point: Point| {
                if failed.is_none() {
                    failed = give(&point).err();
                }
            };
            whyslow_io::follow(&self.place, &mut give, &mut |progress| meter.update(progress))?
        };
        if let Some(error) = failed {
            return Err(error.into());
        }
        if late > 0 {
            complain(&format!("{late} verdicts came more than 65,536 packets late and are not in it"));
        }
        let unused = |slug: &str| {
            let problem = self.connection.problems.iter().find(|problem| problem.slug == slug)?;
            complain(&format!("not in it: {}", words::problem(problem, Lang::En)));
            Some(())
        };
        let _ = (unused("duplicate-frames"), unused("bad-checksum"));
        Ok(())
    }

    pub(super) fn title(&self) -> String {
        format!("{} to {}", self.connection.client.host_and_port(), self.connection.server.host_and_port())
    }
}

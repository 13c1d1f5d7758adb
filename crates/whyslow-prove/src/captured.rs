//! [`Captured`]: the transfer to reproduce, with the data from its capture.

use super::packets::Packets;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Analysis, Connection, End, Finding, LimitingFactor, Near, Transfer};

/// A transfer as some capture shows it, or the connection that carried it.
#[derive(Clone, Debug)]
pub(super) struct Captured {
    pub connection: Connection,
    /// Its place among the connection's transfers.
    pub index: usize,
    pub packets: Packets,
    /// The place of its first byte among its sender's.
    pub place: u64,
    /// The verdict is about the connection, and not about this transfer alone.
    pub is_about_connection: bool,
    /// The verdict is a supposition: no packet supports it.
    pub is_supposed: bool,
    /// Findings that span connections, this one among them.
    pub spanning: Vec<Finding>,
}

impl Captured {
    pub fn transfer(&self) -> &Transfer {
        &self.connection.transfers[self.index]
    }

    pub fn from(&self) -> End {
        self.transfer().from
    }

    /// What is judged: the findings of the transfer and of the connection; those that cost most
    /// first, and what the client's own program took last.
    pub fn findings(&self) -> Vec<&Finding> {
        let of_connection = self.connection.findings.iter().chain(&self.spanning);
        let own: Vec<&Finding> = if self.is_about_connection {
            let all = self.connection.transfers.iter().flat_map(|transfer| &transfer.findings);
            all.chain(of_connection).collect()
        } else {
            self.transfer().findings.iter().chain(of_connection).collect()
        };
        let mut all = own;
        all.retain(|finding| !is_outside(finding));
        all.sort_by(|a, b| b.is_waited_for().cmp(&a.is_waited_for()).then(b.cost_s.cmp(&a.cost_s)));
        all
    }

    /// The cause that cost most.
    pub fn top(&self) -> Option<&Finding> {
        self.findings().into_iter().find(|finding| finding.cost_s.0 > 0)
    }

    /// How long it took, seconds: the transfer from its sender's first byte to the last ACK, and
    /// what the server thought before; or the connection from its first packet to the end of the
    /// last transfer.
    pub fn seconds(&self) -> f64 {
        if self.is_about_connection {
            let ends = self.connection.transfers.iter().map(|transfer| transfer.start_s + transfer.duration_s);
            let end = ends.max().unwrap_or(self.connection.start_s);
            return (end - self.connection.start_s).as_secs_f64();
        }
        self.transfer().duration_s.as_secs_f64() + self.thought()
    }

    /// What the server took before the transfer: its program, and its timer, where nothing of an
    /// answer came that had been sent.
    pub fn thought(&self) -> f64 {
        self.transfer().seconds_before(LimitingFactor::ServerThink)
            + self.transfer().seconds_before(LimitingFactor::Timeout)
    }

    /// The share of its time under these limits.
    pub fn share(&self, limits: &[LimitingFactor]) -> f64 {
        let shares = self.transfer().limits.iter().filter(|share| limits.contains(&share.limit));
        shares.map(|share| share.share).sum()
    }

    /// The shortest round trip, seconds.
    pub fn rtt(&self) -> f64 {
        least_rtt(&self.connection)
    }

    /// The end whose host made the capture, as far as it is known.
    pub fn vantage(&self) -> End {
        match self.connection.near {
            Near::Client => End::Client,
            Near::Server => End::Server,
            Near::Middle | Near::Unknown => self.from(),
        }
    }
}

/// The shortest round trip, seconds. A segment that overtook others looks like an early response to
/// the receiver's last ACK: then only the handshake is reliable.
pub(super) fn least_rtt(connection: &Connection) -> f64 {
    let least = connection.rtt_ms.min.unwrap_or(0.0) / 1e3;
    let handshake = connection.handshake.as_ref().and_then(|handshake| handshake.rtt_ms).unwrap_or(0.0) / 1e3;
    let is_disordered = connection.directions.iter().any(|half| half.out_of_order > 0);
    if is_disordered { least.max(handshake * 0.98) } else { least }
}

/// Seconds under a limit before a transfer.
pub(super) trait Before {
    fn seconds_before(&self, limit: LimitingFactor) -> f64;
}

impl Before for Transfer {
    fn seconds_before(&self, limit: LimitingFactor) -> f64 {
        let phases = self.before.iter().filter(|phase| phase.limit == limit);
        phases.map(|phase| phase.seconds.as_secs_f64()).sum()
    }
}

/// Which connection and which of its transfers the verdict is about: the costliest finding decides,
/// and where nothing cost anything the largest transfer is meant.
pub(super) fn verdict<'a>(
    analysis: &'a Analysis,
    of_one: impl Fn(&&'a Connection) -> bool,
) -> Option<(&'a Connection, usize)> {
    let costs = analysis.connections.iter().filter(of_one).flat_map(|connection| {
        let own = connection.findings.iter().map(cost).max().unwrap_or_default();
        connection.transfers.iter().enumerate().map(move |(index, transfer)| {
            let of_transfer = transfer.findings.iter().map(cost).max().unwrap_or_default();
            ((of_transfer.max(own), of_transfer, transfer.bytes), connection, index)
        })
    });
    costs.max_by_key(|(cost, ..)| *cost).map(|(_, connection, index)| (connection, index))
}

/// A finding's weight: whether it was waited for, and for how long; nothing outside the connection.
fn cost(finding: &Finding) -> (bool, i64) {
    if is_outside(finding) { (false, 0) } else { (finding.is_waited_for(), finding.cost_s.0) }
}

/// Whether its time lies outside the connection, which is all that a run contains.
fn is_outside(finding: &Finding) -> bool {
    finding.cause == Cause::SlowLookup
}

/// Whether the connection's findings weigh more than its transfer's.
pub(super) fn is_about_connection(connection: &Connection, index: usize) -> bool {
    let own = connection.transfers.get(index).and_then(|transfer| transfer.findings.iter().map(cost).max());
    let whole = connection.findings.iter().map(cost).max();
    whole.is_some_and(|whole| own.is_none_or(|own| whole > own) && whole.1 > 0)
}

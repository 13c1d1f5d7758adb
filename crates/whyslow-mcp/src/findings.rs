//! [`Listed`]: the findings of an analysis in one list, each with an id that names it in later
//! calls.
//!
//! An id is the place and the cause: `3.2/loss` is of transfer 2 of connection 3, `3/loss` of
//! connection 3, and `all/loss` of several connections. It stays the same as long as the capture
//! does. A second one of the same place and cause ends with `~2`.

use crate::clip;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use whyslow_analysis::{Analysis, Connection, End, Finding, Frame, Near, Transfer};
use whyslow_report::ranking;
use whyslow_report::text::units;
use whyslow_units::Nanos;

/// A finding and its place.
#[derive(Clone, Debug)]
pub(crate) struct Listed<'a> {
    pub(crate) id: String,
    pub(crate) finding: &'a Finding,
    /// None: it spans connections.
    pub(crate) connection: Option<&'a Connection>,
    /// The transfer and its number; none: it is of the connection.
    pub(crate) transfer: Option<(usize, &'a Transfer)>,
}

/// All findings, those that cost most first; what the client's own program took comes last. Of a
/// connection that two captures show, those of the capture closer to the sender.
pub(crate) fn all(analysis: &Analysis) -> Vec<Listed<'_>> {
    let repeats = ranking::repeats(analysis);
    let mut listed: Vec<_> = analysis
        .findings
        .iter()
        .map(|finding| Listed { id: "all".to_owned(), finding, connection: None, transfer: None })
        .collect();
    for connection in analysis.connections.iter().filter(|connection| !repeats.contains(&connection.id)) {
        let id = connection.id;
        let of_connection =
            |finding| Listed { id: id.to_string(), finding, connection: Some(connection), transfer: None };
        listed.extend(connection.findings.iter().map(of_connection));
        for (index, transfer) in connection.transfers.iter().enumerate() {
            let of_transfer = |finding| Listed {
                id: format!("{id}.{}", index + 1),
                finding,
                connection: Some(connection),
                transfer: Some((index + 1, transfer)),
            };
            listed.extend(transfer.findings.iter().map(of_transfer));
        }
    }
    let mut met: HashMap<String, usize> = HashMap::new();
    for one in &mut listed {
        one.id = format!("{}/{}", one.id, one.finding.cause);
        let times = met.entry(one.id.clone()).or_default();
        *times += 1;
        if *times > 1 {
            one.id += &format!("~{times}");
        }
    }
    listed.sort_by_key(|one| (!one.finding.is_waited_for(), Reverse(one.finding.cost_s)));
    listed
}

/// The finding of this id.
pub(crate) fn find<'a>(analysis: &'a Analysis, id: &str) -> Option<Listed<'a>> {
    all(analysis).into_iter().find(|one| one.id == id)
}

impl Listed<'_> {
    /// Its subject, in a line.
    pub(crate) fn about(&self) -> String {
        match (self.connection, self.transfer) {
            (None, _) => match self.finding.connections.as_slice() {
                [] => "all connections".to_owned(),
                ids => format!("{} connections: {}", ids.len(), numbers(ids)),
            },
            (Some(connection), None) => format!("connection {}, {}", connection.id, ends(connection)),
            (Some(connection), Some((number, transfer))) => {
                format!("transfer {number} of connection {}, {}; {}", connection.id, ends(connection), moved(transfer))
            }
        }
    }

    /// The whole time that contains the cost.
    pub(crate) fn of(&self) -> Option<Nanos> {
        self.transfer.map(|(_, transfer)| transfer.duration_s).filter(|whole| *whole >= self.finding.cost_s)
    }

    /// The frames that its evidence names, in their order.
    pub(crate) fn frames(&self) -> Vec<String> {
        let frames: BTreeSet<Frame> = self.finding.evidence.iter().flat_map(|one| &one.frames).copied().collect();
        frames.iter().map(Frame::to_string).collect()
    }
}

/// The first numbers of a list.
fn numbers(ids: &[u64]) -> String {
    let shown: Vec<_> = ids.iter().take(8).map(u64::to_string).collect();
    format!("{}{}", shown.join(", "), if ids.len() > shown.len() { ", …" } else { "" })
}

/// Client and server of a connection.
pub(crate) fn ends(connection: &Connection) -> String {
    let [client, server] = [&connection.client, &connection.server].map(|end| clip::name(&end.host_and_port()));
    format!("{client} → {server}")
}

/// The bytes of a transfer, and its time.
pub(crate) fn moved(transfer: &Transfer) -> String {
    let way = if transfer.from == End::Client { "up" } else { "down" };
    let label = transfer.label.as_ref().map(|label| format!(" ({})", clip::name(label))).unwrap_or_default();
    format!("{} {way} in {}{label}", units::bytes(transfer.bytes), units::seconds(transfer.duration_s))
}

/// The capture point.
pub(crate) const fn near(near: Near) -> &'static str {
    match near {
        Near::Client => "at the client",
        Near::Server => "at the server",
        Near::Middle => "between the two ends",
        Near::Unknown => "at an unknown place",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::path::PathBuf;
    use whyslow_io::{Input, Stop};

    fn sample(name: &str) -> Analysis {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.pcap"));
        whyslow_io::explain(&[Input::Path(path)], &Stop::default(), &mut |_| {}).unwrap()
    }

    #[test]
    fn each_id_names_one_finding() {
        for name in ["slow-start-client", "new-connection-each-time-server", "shared-bottleneck-server", "loss-client"]
        {
            let analysis = sample(name);
            let listed = all(&analysis);
            assert!(!listed.is_empty(), "{name}");
            for one in &listed {
                assert!(std::ptr::eq(find(&analysis, &one.id).unwrap().finding, one.finding), "{name} {}", one.id);
            }
        }
        assert!(find(&sample("loss-client"), "9/loss").is_none());
    }

    #[test]
    fn ids_of_the_same_place_and_cause_differ() {
        let mut analysis = sample("slow-start-client");
        let own = analysis.connections[0].transfers[1].findings[0].clone();
        analysis.connections[0].transfers[1].findings.push(own.clone());
        analysis.connections[0].findings.push(own);
        let mut ids: Vec<_> = all(&analysis).into_iter().map(|one| one.id).collect();
        ids.sort();
        assert_eq!(ids, ["1.2/slow-start", "1.2/slow-start~2", "1/slow-start"]);
    }
}

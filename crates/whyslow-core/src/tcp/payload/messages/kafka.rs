//! Kafka's protocol (Kafka's documentation, "Kafka protocol guide").
//!
//! A label is the name of the API and its version.

use super::framed::{Format, Part, Request, Role, Split};

/// Longest request (`socket.request.max.bytes`), and longest response, which is limited per
/// partition.
const MAX_MESSAGE: u32 = 512 << 20;
/// Size, key, version, correlation and the length of the client's name.
const HEADER: usize = 14;
const HEAD: usize = 400;
/// Higher than any API version.
const MAX_VERSION: u16 = 24;
const PRODUCE: u16 = 0;
const FETCH: u16 = 1;
const API_VERSIONS: u16 = 18;

/// Names of the APIs, by their keys.
const NAMES: [&str; 52] = [
    "Produce",
    "Fetch",
    "ListOffsets",
    "Metadata",
    "LeaderAndIsr",
    "StopReplica",
    "UpdateMetadata",
    "ControlledShutdown",
    "OffsetCommit",
    "OffsetFetch",
    "FindCoordinator",
    "JoinGroup",
    "Heartbeat",
    "LeaveGroup",
    "SyncGroup",
    "DescribeGroups",
    "ListGroups",
    "SaslHandshake",
    "ApiVersions",
    "CreateTopics",
    "DeleteTopics",
    "DeleteRecords",
    "InitProducerId",
    "OffsetForLeaderEpoch",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "EndTxn",
    "WriteTxnMarkers",
    "TxnOffsetCommit",
    "DescribeAcls",
    "CreateAcls",
    "DeleteAcls",
    "DescribeConfigs",
    "AlterConfigs",
    "AlterReplicaLogDirs",
    "DescribeLogDirs",
    "SaslAuthenticate",
    "CreatePartitions",
    "CreateDelegationToken",
    "RenewDelegationToken",
    "ExpireDelegationToken",
    "DescribeDelegationToken",
    "DeleteGroups",
    "ElectLeaders",
    "IncrementalAlterConfigs",
    "AlterPartitionReassignments",
    "ListPartitionReassignments",
    "OffsetDelete",
    "DescribeClientQuotas",
    "AlterClientQuotas",
    "DescribeUserScramCredentials",
    "AlterUserScramCredentials",
];

#[derive(Clone, Debug, Default)]
pub(super) struct Kafka;

/// A request's header.
struct Header {
    size: u32,
    key: u16,
    version: u16,
    correlation: u32,
    /// Bytes of the client's name.
    name: usize,
}

fn header(bytes: &[u8]) -> Option<Header> {
    let &[a, b, c, d, k0, k1, v0, v1, c0, c1, c2, c3, n0, n1] = bytes.first_chunk::<HEADER>()?;
    let name = i16::from_be_bytes([n0, n1]);
    let header = Header {
        size: u32::from_be_bytes([a, b, c, d]),
        key: u16::from_be_bytes([k0, k1]),
        version: u16::from_be_bytes([v0, v1]),
        correlation: u32::from_be_bytes([c0, c1, c2, c3]),
        name: usize::try_from(name).unwrap_or(0),
    };
    let is_name = name >= -1 && header.name <= 255;
    let is_known = usize::from(header.key) < 100 && header.version <= MAX_VERSION;
    (is_name && is_known && (10..=MAX_MESSAGE).contains(&header.size)).then_some(header)
}

/// Whether a client's first bytes are a request. `on_port`: the server uses Kafka's port.
pub(super) fn opens(bytes: &[u8], len: u64, on_port: bool) -> bool {
    header(bytes).is_some_and(|header| {
        let name = bytes.get(HEADER..HEADER + header.name).unwrap_or_default();
        u64::from(header.size) + 4 == len
            && (on_port || header.key == API_VERSIONS)
            && name.len() == header.name
            && name.iter().all(u8::is_ascii_graphic)
    })
}

/// Whether a Produce request gets no response: its `acks` is 0.
fn wants_none(header: &Header, head: &[u8]) -> bool {
    let mut rest = head.get(HEADER + header.name..).unwrap_or_default();
    // Flexible versions have tagged fields after the header, and compact strings.
    let id = match header.version {
        0..3 => 0,
        3..9 => rest.first_chunk().map_or(0, |len| 2 + usize::try_from(i16::from_be_bytes(*len)).unwrap_or(0)),
        _ => {
            rest = rest.get(1..).unwrap_or_default();
            rest.first().map_or(1, |len| usize::from(*len).max(1))
        }
    };
    rest.get(id..id + 2) == Some(&[0, 0])
}

impl Format for Kafka {
    fn split(&self, from: Role, bytes: &[u8]) -> Split {
        let needed = if from == Role::Client { HEADER } else { 8 };
        if bytes.len() < needed {
            return Split::Need(needed);
        }
        let Some(size) = bytes.first_chunk().map(|size| u32::from_be_bytes(*size)) else { return Split::Lost };
        let is_message = match from {
            Role::Client => header(bytes).is_some(),
            Role::Server => (4..=MAX_MESSAGE).contains(&size),
        };
        let head = if from == Role::Client { HEAD } else { needed };
        if is_message { Split::Message { len: u64::from(size) + 4, head } } else { Split::Lost }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        if from == Role::Server {
            let correlation = head.get(4..8).and_then(|bytes| bytes.first_chunk());
            return Part::response(Some(correlation.map_or(0, |bytes| u32::from_be_bytes(*bytes)).into()));
        }
        let Some(header) = header(head) else { return Part::Other };
        let name = NAMES.get(usize::from(header.key));
        let label = name.map_or_else(|| format!("API {}", header.key), |name| (*name).to_owned());
        Part::Request(Request {
            label: format!("{label} v{}", header.version),
            key: Some(header.correlation.into()),
            is_unanswered: header.key == PRODUCE && wants_none(&header, head),
            // A consumer's Fetch waits for data (`fetch.max.wait.ms`).
            is_poll: header.key == FETCH,
            is_heartbeat: name == Some(&"Heartbeat"),
            ..Request::default()
        })
    }
}

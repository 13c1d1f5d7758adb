//! The whole pipeline: packets in, [`Analysis`] out.
//!
//! One [`Explainer`] can take all connections, or several can share them: each is given all
//! packets, processes the connections in its own shards, and ends as a [`Fragment`];
//! [`Fragment::merge_all`] joins them. The result does not depend on their number.

mod accounting;
mod capture_state;
mod closing;
mod connection_ordinals;
mod fast_path;
mod fragment;
mod fragment_codec;
mod give_omitted;
mod joined;
pub mod live;
mod names;
mod omitted;
mod open_connection;
mod quic;
mod shard_owners;
mod top_connections;

pub use crate::whatif::{ReplayJob, ReplayQueue, ReplayResult};
pub use fragment::{Fragment, MergedAnalysis};
pub use omitted::{OmittedCompletion, OmittedSink};
pub use whyslow_core::wire::HashSeed;

use crate::assemble::KeptTransfers;
use crate::conclude::Names;
use crate::pair::ConnectionFingerprint;
use capture_state::CaptureState;
use connection_ordinals::OpeningPositions;
use joined::JoinedConnections;
use open_connection::OpenConnection;
use shard_owners::{ShardMove, ShardOwners};
use std::net::IpAddr;
use top_connections::AccountList;
use whyslow_analysis::types::ConnectionShard;
use whyslow_analysis::{Analysis, Frame};
use whyslow_core::capture::{CaptureError, CaptureOrigin, Clock, Packet, Reader, Sink, Summary};
use whyslow_core::dns::{self, LookupTable};
use whyslow_core::flow::{self, ConnectionId, FlowEntry, FlowTable, HashedKey};
use whyslow_core::quic::QuicReader;
use whyslow_core::tls::KeyRing;
use whyslow_core::wire::{self, FastPacket, Flags, FlowKey, Icmp, Segment, Skip};
use whyslow_units::{Nanos, Time};

/// Maximum number of host names; a capture with more is not trusted.
const MAX_NAMES: usize = 65_536;
/// Bits of the frame's number in a packet's place among all packets; the others number the capture.
const FRAME_BITS: u32 = 40;

/// Takes the packets of one or more captures that continue each other and explains their
/// connections.
#[derive(Debug)]
pub struct Explainer {
    owners: ShardOwners,
    captures: Vec<CaptureState>,
    /// File number of the current capture, for frames.
    file: Option<u16>,
    /// Segments of the current capture.
    segments: u64,
    /// Counts packets over all captures.
    packets: u64,
    /// Packets before this one are sampled for checksums: the first ones of each capture.
    sample_until: u64,
    table: FlowTable<OpenConnection>,
    /// Openings of all connections of this explainer.
    openings: OpeningPositions,
    /// Openings of QUIC connections among them.
    quic_openings: OpeningPositions,
    accounts: AccountList,
    host_names: Names,
    kept: KeptTransfers,
    /// Time of the first packet, from which all times are counted.
    first_time: Option<Time>,
    /// Rate of the path as given by the user, payload bits per second.
    path_rate: Option<f64>,
    /// Destination of connections that leave, with the time up to which they had no packets, if
    /// another explainer accounts for them.
    leaving: Option<Vec<(Box<FlowEntry<OpenConnection>>, Time)>>,
    joined: JoinedConnections,
    /// Receiver of the connections that are not listed.
    omitted: Option<OmittedSink>,
    quic: QuicReader,
    /// Lookups of names, which each explainer reads.
    lookups: LookupTable,
    /// Secrets, shared with the other explainers of the same captures.
    keys: KeyRing,
    /// Whether there are any so far: else no connection looks for its own.
    has_keys: bool,
    /// The capture was condensed: it holds only the payload that identifies the content.
    is_condensed: bool,
    /// Messages of protocols above TCP are not read.
    ignores_messages: bool,
}

impl Default for Explainer {
    fn default() -> Self {
        Self {
            owners: ShardOwners::default(),
            captures: Vec::new(),
            file: None,
            segments: 0,
            packets: 0,
            sample_until: 1,
            table: FlowTable::default(),
            openings: OpeningPositions::default(),
            quic_openings: OpeningPositions::default(),
            accounts: AccountList::default(),
            host_names: Names::default(),
            kept: KeptTransfers::default(),
            first_time: None,
            path_rate: None,
            leaving: None,
            joined: JoinedConnections::default(),
            omitted: None,
            quic: QuicReader::default(),
            lookups: LookupTable::default(),
            keys: KeyRing::default(),
            has_keys: false,
            is_condensed: false,
            ignores_messages: false,
        }
    }
}

/// A shard on its way from one explainer to another.
#[derive(Debug)]
pub struct MovedShard(flow::Shard<OpenConnection>);

/// Which shard goes to which explainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handover {
    part: usize,
    to: usize,
}

/// Shards that move between explainers.
#[derive(Debug, Default)]
pub struct Rebalance {
    /// Shards that this explainer gives away.
    pub outgoing: Vec<(Handover, MovedShard)>,
    /// Shards that it must receive before its next packet.
    pub incoming: Vec<Handover>,
}

/// Explains a capture that is in memory; `path` is its name in the analysis.
///
/// ```
/// use whyslow_diagnosis::explain::explain;
///
/// # fn main() -> Result<(), whyslow_core::capture::CaptureError> {
/// let analysis = explain("loss.pcap", include_bytes!("../../../samples/loss-client.pcap"))?;
/// for finding in &analysis.connections[0].transfers[0].findings {
///     println!("{} ({} s): {:?}", finding.cause, finding.cost_s.as_secs_f64(), finding.statement);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the bytes are not a capture that can be read.
pub fn explain(path: &str, capture: &[u8]) -> Result<Analysis, CaptureError> {
    let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
    explainer.begin_capture(path);
    reader.push(capture, &mut explainer)?;
    let summary = reader.finish(&mut explainer)?;
    explainer.end_capture(summary);
    Ok(explainer.finish())
}

impl Explainer {
    /// Creates an explainer of all connections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates several that share the connections: at least one, at most one a shard. Each
    /// must be given all packets.
    pub fn sharing(count: usize) -> Vec<Self> {
        let of = count.clamp(1, flow::SHARDS);
        let keys = KeyRing::default();
        let owners = |own| ShardOwners::new(own, of, ConnectionShard::ALL);
        (0..of).map(|own| Self { owners: owners(own), keys: keys.clone(), ..Self::default() }).collect()
    }

    /// Sets the path's largest rate, payload bits per second. Predictions and recommended buffers
    /// respect it. All explainers that share connections need the same value.
    pub fn set_path_rate(&mut self, rate: Option<f64>) {
        self.path_rate = rate.filter(|rate| *rate > 0.0);
    }

    /// Gives the secrets of TLS connections, before the first packet. Explainers that share
    /// connections need clones of one ring. Those in the captures themselves are used as well.
    pub fn set_keys(&mut self, keys: KeyRing) {
        debug_assert_eq!(self.packets, 0, "connections look for their secrets from their first packet on");
        self.quic.set_keys(keys.clone());
        (self.keys, self.has_keys) = (keys, true);
    }

    /// Reads no messages of protocols above TCP, as of condensed captures, which do not hold them.
    pub fn ignore_messages(&mut self) {
        self.ignores_messages = true;
    }

    /// Sets the seed of the table of connections, before the first packet. Programs that read
    /// captures of others choose a random one; the analysis is the same with any.
    pub fn set_hash_seed(&mut self, seed: HashSeed) {
        debug_assert_eq!(self.packets, 0, "the table is empty until the first packet");
        self.table = FlowTable::seeded(seed);
    }

    /// The connections that it follows, as the first capture defines them.
    pub fn share(&self) -> ConnectionShard {
        self.owners.share()
    }

    /// Rebalances shards between explainers; each must be called between the same packets. A shard
    /// that one gives away is received by another.
    pub fn rebalance(&mut self) -> Rebalance {
        let mut deal = Rebalance::default();
        for ShardMove { part, from, to } in self.owners.rebalance(self.packets) {
            if from == self.owners.own() {
                deal.outgoing.push((Handover { part, to }, MovedShard(self.table.take_shard(part))));
            } else if to == self.owners.own() {
                deal.incoming.push(Handover { part, to });
            }
        }
        deal
    }

    /// Accepts an [incoming](Rebalance::incoming) shard.
    pub fn accept_shard(&mut self, ticket: Handover, MovedShard(connections): MovedShard) {
        self.table.put_shard(ticket.part, connections);
    }

    /// Begins a capture; the first one has index 0.
    pub fn begin_capture(&mut self, path: &str) {
        self.count_segments();
        self.file = u16::try_from(self.captures.len()).ok();
        self.captures.push(CaptureState::new(path));
        self.sample_until = self.packets + wire::ChecksumSample::PACKETS;
        self.is_condensed = false;
    }

    /// Adds the segment count to the current capture.
    fn count_segments(&mut self) {
        let segments = std::mem::take(&mut self.segments);
        if let Some(capture) = self.captures.last_mut() {
            capture.tcp_packets += segments;
        }
    }

    /// Ends the current capture.
    pub fn end_capture(&mut self, summary: Summary) {
        if let Some(capture) = self.captures.last_mut() {
            capture.summary = Some(summary);
        }
    }

    /// Finishes the analysis.
    pub fn finish(self) -> Analysis {
        self.finish_with_fingerprints().0
    }

    /// Finishes the analysis, with a fingerprint of each connection that has times.
    pub fn finish_with_fingerprints(self) -> (Analysis, Vec<ConnectionFingerprint>) {
        Fragment::merge_all(vec![self.into_fragment()]).finish()
    }

    /// Closes the connections that are still open.
    pub fn close_all(&mut self) {
        self.finish_quic();
        let end = self.end();
        for entry in self.table.drain() {
            self.close(entry, end);
        }
    }

    /// Discards what will not be listed over all explainers, after [`close_all`](Self::close_all),
    /// so that each accounts only for its share. The result is the same without.
    pub fn discard_omitted(explainers: &mut [Self]) {
        AccountList::drop_lowest_of_all(explainers.iter_mut().map(|explainer| &mut explainer.accounts));
    }

    /// Returns the time of the last packet of all captures.
    fn end(&self) -> Time {
        let ends = self.captures.iter().filter_map(|capture| capture.summary.as_ref()?.last_time);
        ends.max().unwrap_or(Time::MIN)
    }

    /// [Closes](Self::close_all) open connections and accounts for the listed ones.
    pub fn into_fragment(mut self) -> Fragment {
        self.count_segments();
        self.close_all();
        self.accounts.drop_lowest();
        self.give_dropped();
        let accounts = std::mem::take(&mut self.accounts).into_listed(|size, entry| {
            let account = self.account(size, *entry);
            debug_assert!(account.cost() == Nanos::ZERO, "{:?} lost {:?}", account.id(), account.cost());
            account
        });
        Fragment {
            captures: self.captures,
            openings: vec![self.openings],
            quic_openings: vec![self.quic_openings],
            accounts,
            replays: self.kept.replays,
            flows: self.kept.flows,
            evicted: self.table.evicted,
            first_time: self.first_time,
            path_rate: self.path_rate,
            host_names: self.host_names,
            omitted: self.omitted,
        }
    }

    fn frame(&self, packet: &Packet<'_>) -> Frame {
        Frame { file: self.file, number: packet.frame }
    }

    /// Id of the connection whose first packet this is: the packet's place among all packets, which
    /// an explainer that sees only some of them knows too.
    fn id(&self, frame: Frame) -> ConnectionId {
        let before = (self.captures.len() as u64) << FRAME_BITS;
        ConnectionId(before | frame.number.min((1 << FRAME_BITS) - 1))
    }

    /// Processes a segment of a connection of its own.
    fn on_segment(&mut self, packet: &Packet<'_>, segment: &Segment<'_>, ends: &HashedKey) {
        self.segments += 1;
        let capture = self.captures.len() - 1;
        let frame = self.frame(packet);
        let keys = self.has_keys.then_some(&self.keys);
        let is_condensed = self.is_condensed || self.ignores_messages;
        let lookup = self.lookup_before(segment, packet.time);
        let begin = || match keys {
            None if lookup.is_none() => {
                let opening = OpenConnection::opening(capture, segment, packet.time, frame);
                let begun = opening.unwrap_or_else(|| OpenConnection::new(capture, segment, packet.time, frame));
                begun.condensed(is_condensed)
            }
            keys => {
                let begun = OpenConnection::new(capture, segment, packet.time, frame);
                let begun = if let Some(keys) = keys { begun.decrypted(keys) } else { begun };
                begun.condensed(is_condensed)
            }
        };
        let id = self.id(frame);
        let routed = self.table.route(segment, ends, id, begin);
        if routed.new && self.leaving.is_none() {
            self.openings.push(id);
        }
        if routed.new
            && !self.joined.is_empty()
            && let Some(joined) = self.joined.take(ends.key.to_endpoints())
            && !segment.flags.has(Flags::SYN)
        {
            routed.value.tcp().join(&joined);
        }
        if routed.new
            && let Some(lookup) = lookup
        {
            routed.value.tcp().note_lookup(lookup);
        }
        if routed.new && routed.value.is_opening() {
            self.close_evicted(packet.time);
            return;
        }
        let checksum = self.captures[capture].checksum_sample.judge(segment, packet, routed.new);
        if checksum == segment.checksum {
            routed.value.tcp().push(segment, routed.from, packet.time, frame);
        } else {
            routed.value.tcp().push(&Segment { checksum, ..*segment }, routed.from, packet.time, frame);
        }
        self.close_evicted(packet.time);
    }

    /// Advances time to a packet: connections that were idle for too long are closed.
    #[inline]
    fn advance_time(&mut self, time: Time) {
        self.table.advance_time(time);
        self.close_evicted(time);
    }

    #[inline]
    fn close_evicted(&mut self, time: Time) {
        if self.table.has_evicted() {
            self.close_each(time);
        }
    }

    #[cold]
    fn close_each(&mut self, time: Time) {
        for entry in self.table.take_evicted() {
            self.close(entry, time);
        }
    }

    /// Samples the checksums of one of a capture's first packets.
    #[cold]
    fn sample_checksums(&mut self, packet: &Packet<'_>) {
        if self.packets == 1 {
            self.first_time = Some(packet.time);
            if self.captures.is_empty() {
                self.begin_capture("");
            }
        }
        // All explainers do so and know the same.
        if let (Some(capture), Ok(segment)) = (self.captures.last_mut(), wire::decode_verified(packet)) {
            capture.checksum_sample.take(&segment);
        }
    }

    fn skip(&mut self, skip: Skip, frame: u64) {
        if let Some(capture) = self.captures.last_mut() {
            capture.skipped.entry(skip).or_insert((0, frame)).0 += 1;
        }
    }

    /// Passes an ICMP error to the connection whose segment it quotes, if any. It is not a segment,
    /// so it does not affect when connections leave.
    fn on_icmp_error(&mut self, packet: &Packet<'_>, error: &Icmp) {
        let ends = HashedKey::from(error.flow_key());
        if !self.owners.owns(ends.hash) {
            return;
        }
        let frame = self.frame(packet);
        let about = self.table.find(&ends).map(|found| {
            let about = found.from;
            found.value().tcp().on_icmp_error(error, about, packet.time, frame)
        });
        if let Some(capture) = self.captures.last_mut() {
            match about {
                Some(true) => {}
                Some(false) => capture.not_in_flight.note(packet.frame),
                None => capture.of_no_connection.note(packet.frame),
            }
        }
    }

    /// Processes a packet of any kind. Every explainer decodes it, and one counts it.
    fn on_packet(&mut self, packet: &Packet<'_>) {
        match wire::decode(packet) {
            Ok(segment) => {
                let ends = HashedKey::from(FlowKey::of(&segment));
                self.advance_time(packet.time);
                if segment.src_port == dns::PORT || segment.dst_port == dns::PORT {
                    self.on_dns_segment(packet, &segment);
                }
                if self.owners.owns(ends.hash) {
                    self.on_segment(packet, &segment, &ends);
                }
            }
            Err(skip) => {
                if let Skip::Quic(datagram) | Skip::Udp(datagram) = skip
                    && self.on_datagram(packet, &datagram)
                {
                    return;
                }
                if let Skip::Dns(datagram) = skip {
                    self.on_dns(packet, &datagram);
                }
                if let Skip::Icmp(error) = skip {
                    self.on_icmp_error(packet, &error);
                }
                if self.owners.is_first() {
                    self.skip(skip.counted(), packet.frame);
                }
            }
        }
    }
}

impl Sink for Explainer {
    #[inline(always)]
    fn packet(&mut self, packet: &Packet<'_>) {
        self.packets += 1;
        if self.packets <= self.sample_until {
            self.sample_checksums(packet);
        }
        match wire::parse_fast(packet) {
            // Two calls: each is built for its IP version.
            Some(glance @ FastPacket::V4(_)) => self.on_fast_packet(packet, &glance),
            Some(glance @ FastPacket::V6(_)) => self.on_fast_packet(packet, &glance),
            None => self.on_packet(packet),
        }
    }

    fn text(&mut self, clock: Clock) {
        if self.captures.is_empty() {
            self.begin_capture("");
        }
        if let Some(capture) = self.captures.last_mut() {
            capture.text = Some(clock);
        }
    }

    fn condensed(&mut self, origin: &CaptureOrigin) {
        if self.captures.is_empty() {
            self.begin_capture("");
        }
        if let Some(capture) = self.captures.last_mut() {
            capture.rename(&origin.name);
        }
        self.is_condensed = true;
        if self.packets == 0 && origin.share != self.owners.share() {
            self.owners.follow(origin.share);
        }
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        if let Some(capture) = self.captures.last_mut() {
            capture.elision_marks.add(of, (from, until));
        }
    }

    fn key_log(&mut self, lines: &[u8], next_frame: u64) {
        self.keys.read_block(lines, Frame { file: self.file, number: next_frame });
        self.has_keys = true;
        self.quic.set_keys(self.keys.clone());
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        if self.host_names.len() < MAX_NAMES {
            self.host_names.entry(address).or_insert_with(|| (name.to_owned(), stand_in));
        }
    }
}

#[cfg(test)]
mod tests;

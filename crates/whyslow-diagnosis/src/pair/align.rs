//! The packets of two captures, put together: cells, identities, clock, matches.

use super::cells::{Tangled, for_each_cell, packets_by_cell};
use super::clock::{self, ClockOffset, ClockSample};
use super::collector::{ConnectionPackets, PacketRecord};
use super::identity::{PacketIdentity, PreservedFields};
use super::matcher::{DirectionMatch, Matcher};
use super::placed::PlacedPackets;
use whyslow_analysis::types::Side;
use whyslow_units::{SeqNumber, Time};

/// Payload of a segment on Ethernet.
const ETHERNET: u32 = 1460;

/// Both directions.
pub(super) struct Aligned<'a> {
    pub placed: [PlacedPackets<'a>; 2],
    pub clock: ClockOffset,
    /// By sender, 0 the client.
    pub directions: [DirectionMatch; 2],
}

impl Aligned<'_> {
    /// Which capture is nearer to this sender.
    pub fn nearer(&self, from: Side) -> usize {
        if self.clock.first_is_nearer { from as usize } else { !from as usize }
    }

    /// When a capture saw a packet, by the first capture's clock.
    pub fn time(&self, capture: usize, record: &PacketRecord) -> Time {
        self.clock.by_first(capture, record.time)
    }
}

/// Why two tracks cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlignError {
    /// In one direction the captures share no packets.
    OneWay,
    /// No two clocks that run evenly can have produced these times.
    Clock,
    /// More overlapping segments than any sender makes.
    Tangled,
}

/// Aligns two tracks. `numbers` are the numbers before each direction's first payload byte, in each
/// capture. For a proxied connection only payload is the same, and only its first copy is
/// comparable on both sides.
pub(super) fn align(
    tracks: [&ConnectionPackets; 2],
    numbers: [[SeqNumber; 2]; 2],
    proxied: bool,
) -> Result<Aligned<'_>, AlignError> {
    let placed = [PlacedPackets::new(tracks[0], numbers[0]), PlacedPackets::new(tracks[1], numbers[1])];
    let mss = segment_size(tracks);
    let packets = [packets_by_cell(&placed, Side::A, proxied)?, packets_by_cell(&placed, Side::B, proxied)?];
    let preserved = Side::BOTH.map(|from| {
        if proxied { PreservedFields::default() } else { PreservedFields::find(&placed, &packets[from], mss) }
    });
    let mut samples = [Vec::new(), Vec::new()];
    for from in Side::BOTH {
        let [a, b] = &packets[from];
        for_each_cell(a, b, |of_a, of_b| {
            let ([a, ..], [b, ..]) = (of_a, of_b) else { return };
            let is_alone = of_a.len() == 1 && of_b.len() == 1;
            let identity = |which: usize, packet| PacketIdentity::new(&placed[which], packet, preserved[from], mss);
            if identity(0, *a) == identity(1, *b) && (is_alone || proxied) {
                let [first, second] = [placed[0].record(a.packet).time, placed[1].record(b.packet).time];
                samples[from].push(ClockSample { time: first, later: second - first });
            }
        });
    }
    if samples.iter().any(Vec::is_empty) {
        return Err(AlignError::OneWay);
    }
    let clock = clock::solve([&samples[0], &samples[1]]).ok_or(AlignError::Clock)?;
    let mut aligned = Aligned { placed, clock, directions: Default::default() };
    for from in Side::BOTH {
        let first = aligned.nearer(from);
        let mut matcher = Matcher {
            placed: &aligned.placed,
            clock,
            first,
            acked: aligned.placed[1 - first].highest_ack_of(from).unwrap_or(0),
            proxied,
            found: DirectionMatch { preserved: preserved[from], mss, ..DirectionMatch::default() },
            sent: Vec::new(),
            arrived: Vec::new(),
        };
        let (sent, arrived) = (&packets[from][first], &packets[from][1 - first]);
        for_each_cell(sent, arrived, |sent, arrived| matcher.match_cell(sent, arrived));
        aligned.directions[from] = matcher.finish();
    }
    Ok(aligned)
}

impl From<Tangled> for AlignError {
    fn from(_: Tangled) -> Self {
        Self::Tangled
    }
}

/// The payload of a whole segment: as negotiated, or else the largest that is not merged.
fn segment_size(tracks: [&ConnectionPackets; 2]) -> u32 {
    let offers = || tracks.iter().flat_map(|track| track.offers.iter().flatten());
    let negotiated = offers().filter_map(|offer| offer.mss).min().filter(|_| offers().count() >= 2);
    let stamps = if offers().all(|offer| offer.timestamps) { 12 } else { 0 };
    let size = match negotiated {
        Some(mss) => u32::from(mss).saturating_sub(stamps),
        None => {
            let lengths = tracks.iter().flat_map(|track| track.packets.iter().map(|record| record.len));
            lengths.filter(|len| *len <= ETHERNET).max().filter(|len| *len > ETHERNET / 2).unwrap_or(ETHERNET)
        }
    };
    size.max(64)
}

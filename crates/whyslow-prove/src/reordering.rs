//! Segments that came out of their order, or twice.

use super::captured::Captured;
use super::conversation::micros;
use super::packets::Packet;
use whyslow_analysis::End;
use whyslow_diagnosis::series::Kind;
use whyslow_lab::scenario::path::{LinkSpec, ReorderSpec};
use whyslow_lab::scenario::units::{Share, Size};

/// Fewer of all segments are an accident.
const MATTERS: f64 = 5e-4;

/// A segment that others overtook.
struct Late {
    place: u64,
    /// The delay, seconds.
    by: f64,
}

/// The very segments that were reordered, typically as late as they were; and as many twice as
/// there were. What the first `skipped` bytes are is not sent here.
pub(super) fn disturb(captured: &Captured, end: End, skipped: u64, link: &mut LinkSpec) {
    let Some(direction) = captured.connection.directions.iter().find(|direction| direction.from == end) else { return };
    let segments =
        captured.packets.data(end).count().max((direction.bytes / captured.segment()) as usize).max(1) as f64;
    let share = direction.duplicated as f64 / segments;
    link.duplicate = (share > MATTERS).then(|| written(share));
    let mut late = if captured.vantage() == end { late_by_acks(captured, end) } else { late_here(captured, end) };
    late.retain(|segment| segment.place >= skipped);
    late.sort_by(|a, b| a.by.total_cmp(&b.by));
    let Some(typical) = late.get(late.len() / 2) else { return };
    let delay = micros(typical.by.max(2e-4));
    let mut at: Vec<Size> = late.iter().map(|segment| Size(segment.place - skipped)).collect();
    at.sort_unstable_by_key(|place| place.0);
    link.reorder = Some(ReorderSpec { share: Share(0.0), at, delay, gap: None, correlation: None });
}

/// A share as a scenario's text has it.
fn written(share: f64) -> Share {
    Share((share.min(0.5) * 1e8).round() / 1e8)
}

/// Each that came behind later ones.
fn late_here(captured: &Captured, from: End) -> Vec<Late> {
    let all: Vec<&Packet> = captured.packets.data(from).collect();
    let mut late = Vec::new();
    for (nth, packet) in all.iter().enumerate().filter(|(_, packet)| packet.kind == Kind::OutOfOrder) {
        let before = all.get(..nth).unwrap_or_default().iter().rev().take_while(|other| packet.at - other.at < 1.0);
        let overtaken = before.filter(|other| other.start > packet.start).map(|other| packet.at - other.at);
        late.extend(overtaken.max_by(f64::total_cmp).map(|by| Late { place: packet.start, by }));
    }
    late
}

/// The same from the returned ACKs: how long they reported a hole that no retransmission had to
/// fill.
fn late_by_acks(captured: &Captured, from: End) -> Vec<Late> {
    let needed = |packet: &&Packet| matches!(packet.kind, Kind::Fast | Kind::Timeout | Kind::TailProbe);
    let mut again: Vec<(u64, u64)> =
        captured.packets.data(from).filter(needed).map(|packet| (packet.start, packet.end())).collect();
    again.sort_unstable();
    let was_lost = |place: u64| {
        let before = again.partition_point(|(start, _)| *start <= place);
        again.get(..before).unwrap_or_default().iter().rev().take(64).any(|(_, end)| *end > place)
    };
    let (mut late, mut hole) = (Vec::new(), None::<(u64, f64)>);
    for packet in captured.packets.all.iter().filter(|packet| packet.from != from) {
        let Some(ack) = packet.ack else { continue };
        if let Some((place, since)) = hole.filter(|(place, _)| ack > *place) {
            late.push(Late { place, by: packet.at - since });
            hole = None;
        }
        if packet.reports_hole && hole.is_none() && !was_lost(ack) {
            hole = Some((ack, packet.at));
        }
    }
    late
}

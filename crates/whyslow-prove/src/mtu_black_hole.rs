//! A black hole: a path that passes only small packets, without an ICMP message, until it is fixed.

use super::captured::Captured;
use super::conversation::micros;
use super::packets::Packet;
use whyslow_analysis::End;
use whyslow_lab::scenario::path::{LinkSpec, MtuSpec, StepSpec};
use whyslow_lab::scenario::units::Size;

/// Bytes of a full segment beyond its payload and options: IP and TCP.
const HEADERS: u64 = 40;
/// Minimum distance of two copies of a segment between which the path was fixed, seconds: the lab's
/// clock begins with its path, a tenth of a second before the connection.
const APART: f64 = 0.3;
const LEAD: f64 = 0.1;

impl Captured {
    /// When full segments began to pass, seconds from the connection's start; infinite if they
    /// never did, and `None` if there is no black hole or its end is not visible.
    pub fn fixed_after(&self) -> Option<f64> {
        self.findings().into_iter().find(|finding| finding.cause.slug() == "mtu-black-hole")?;
        let full: Vec<&Packet> = self.packets.data(self.from()).filter(|it| it.len >= self.segment()).collect();
        let Some(acked) = self.packets.acked_at(self.from(), full.first()?.end()) else { return Some(f64::INFINITY) };
        let passed = full.iter().rposition(|packet| packet.at <= acked - self.distance(self.from().other()) * 0.9)?;
        let (lost, passed) = (full.get(passed.checked_sub(1)?)?.at, full.get(passed)?.at);
        (passed - lost >= APART).then(|| (passed + lost) / 2.0 - self.connection.start_s.as_secs_f64())
    }

    /// The place behind the bytes sent into the hole: no other cause loses any of them.
    pub fn swallowed(&self) -> u64 {
        let fixed = self.fixed_after().map_or(0.0, |after| self.connection.start_s.as_secs_f64() + after);
        self.packets.data(self.from()).take_while(|packet| packet.at < fixed).map(Packet::end).max().unwrap_or(0)
    }
}

/// Puts the hole into the sender's link: nothing but full segments is known not to pass.
pub(super) fn dig(captured: &Captured, end: End, link: &mut LinkSpec) {
    let Some(fixed) = captured.fixed_after().filter(|_| end == captured.from()) else { return };
    let full = captured.mss() + HEADERS;
    link.mtu = Some(MtuSpec { size: Size(full - 1), icmp: false });
    if fixed.is_finite() {
        let set = LinkSpec { mtu: Some(MtuSpec { size: Size(full), icmp: false }), ..LinkSpec::default() };
        link.step.push(StepSpec { at: micros(fixed + LEAD), set });
    }
}

/// A black hole that sends an ICMP message about the right size.
pub(super) fn fill(link: &mut LinkSpec) {
    link.mtu
        .iter_mut()
        .chain(link.step.iter_mut().filter_map(|step| step.set.mtu.as_mut()))
        .for_each(|mtu| mtu.icmp = true);
}

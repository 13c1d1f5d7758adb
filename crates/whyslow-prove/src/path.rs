//! The path as a capture shows it: round trip, rate and queue, and the very segments that were
//! lost.

use super::captured::{Before, Captured};
use super::conversation::{distance, micros};
use super::mtu_black_hole;
use super::packets::Packet;
use super::reordering;
use whyslow_analysis::Measure;
use whyslow_analysis::{End, LimitSpan, LimitingFactor};
use whyslow_diagnosis::series::Kind;
use whyslow_lab::link::config::QueueLimit;
use whyslow_lab::scenario::path::{BucketSpec, JitterSpec, LinkSpec, LossSpec, LossTable, Order, PathSpec, QueueSpec};
use whyslow_lab::scenario::units::{BitRate, Size, Time};

/// Where the losses of a transfer come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Losses {
    /// The same segments are lost again.
    Listed,
    /// The queue in front of the rate overflows.
    Queue,
    /// What a token bucket does not let pass is dropped.
    Policer,
}

/// A path that was full for this part of the time is known to carry no more.
pub(super) const BY_PATH: f64 = 0.15;
/// Fastest rate that the lab certainly carries, bits per second.
const FASTEST: f64 = 1e9;
/// What a bucket of the lab holds at least, bytes.
const LEAST_BUCKET: f64 = 16_384.0;
/// Linux' least timeout (TCP_RTO_MIN), seconds.
pub(super) const USUAL_TIMEOUT: f64 = 0.2;
/// Segments of a stretch whose rate is taken.
const STRETCH: u64 = 30;
/// What the times of a packet and of a limit are apart by rounding, seconds.
const MOMENT: f64 = 1e-3;
/// What the lab itself adds to a round trip, seconds.
const OWN_DELAY: f64 = 1e-4;
/// The time in which a path was full is examined in this many pieces.
const PIECES: f64 = 32.0;
/// ACKs that stand still are below this part of the median; where some do, usual ones are this near
/// to it.
const STANDS: f64 = 0.1;
const USUAL: f64 = 0.3;
/// A segment's frame beyond its payload, without options: Ethernet, IP, TCP.
const HEADERS: f64 = 54.0;

/// What a path was seen to carry, payload bits per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathRate {
    pub rate: f64,
    /// It was full; else it carries this at least.
    pub is_limit: bool,
}

/// A shaper, payload alone.
struct Shape {
    /// What its bucket held, bytes.
    burst: f64,
    /// Bits per second from then on.
    rate: f64,
    /// Bits per second before.
    before: f64,
}

impl Captured {
    /// What the path carried.
    pub fn rate(&self, mss: u64) -> Option<PathRate> {
        if self.share(&[LimitingFactor::Bandwidth]) >= BY_PATH {
            return self.steady().map(|rate| PathRate { rate, is_limit: true });
        }
        // A sender that spaces its segments shows its own rate.
        let is_paced = self.share(&[LimitingFactor::Pacing]) >= BY_PATH;
        let seen = self.burst(mss).or_else(|| self.plateau(mss)).filter(|rate| *rate < FASTEST && !is_paced);
        seen.map(|rate| PathRate { rate, is_limit: false })
    }

    /// What was acknowledged while the path was full, bits per second. Where something was lost,
    /// ACKs stand still and then leap: such pieces of the time are left out.
    fn steady(&self) -> Option<f64> {
        let full: Vec<&LimitSpan> =
            self.transfer().timeline.iter().filter(|span| span.limit == LimitingFactor::Bandwidth).collect();
        let piece = full.iter().map(|span| span.seconds.as_secs_f64()).sum::<f64>() / PIECES;
        let mut pieces: Vec<(f64, f64)> = full.iter().flat_map(|span| self.acked_by_piece(span, piece)).collect();
        pieces.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let median = pieces.get(pieces.len() / 2)?.0;
        let stand = pieces.iter().filter(|(rate, _)| *rate < median * STANDS).count();
        let near = if stand > 0 { 1.0 - USUAL..=1.0 + USUAL } else { 0.0..=f64::INFINITY };
        let usual = pieces.iter().filter(|(rate, _)| near.contains(&(rate / median)));
        let (bits, time) = usual.fold((0.0, 0.0), |(bits, sum), (rate, time)| (bits + rate * time, sum + time));
        (bits > 0.0).then(|| bits / time)
    }

    /// The rate, bits per second, and the length of each piece of a span.
    fn acked_by_piece(&self, span: &LimitSpan, piece: f64) -> Vec<(f64, f64)> {
        let (start, whole) = (span.start_s.as_secs_f64(), span.seconds.as_secs_f64());
        let number = (whole / piece.max(1e-6)).round().clamp(1.0, PIECES);
        let length = whole / number;
        let mut before = self.packets.acked_by(self.from(), start);
        let pieces = (1..=number as u32).map(|nth| {
            let acked = self.packets.acked_by(self.from(), start + length * f64::from(nth));
            let bytes = acked.saturating_sub(std::mem::replace(&mut before, acked));
            (bytes as f64 * 8.0 / length.max(1e-9), length)
        });
        pieces.collect()
    }

    /// What stood in front of the rate when the first segment was lost there: all that was in
    /// flight but what the path itself holds; bytes of frames.
    fn queue_at_loss(&self, rate: f64, frame: f64) -> Option<f64> {
        let mss = self.mss();
        let first = *self.lost(self.from(), mss).first()?;
        let flight = self.packets.data(self.from()).take_while(|packet| packet.start <= first).last()?.in_flight?;
        Some((flight as f64 * frame - self.rtt() * rate * frame / 8.0).max(0.0))
    }

    /// A policer: the rate that passed, bits per second of payload, and what its bucket held, bytes
    /// of payload: the most that was sent beyond the rate before the first segment was lost.
    pub fn policed(&self) -> Option<(f64, f64)> {
        let finding = self.findings().into_iter().find(|finding| finding.cause.slug() == "policer")?;
        let is_rate = |kind: &Measure| matches!(kind, Measure::RateBetweenLosses | Measure::RatePassed);
        let rate = finding.evidence.iter().find(|it| is_rate(&it.kind))?.value;
        let first = *self.lost(self.from(), self.mss()).first()?;
        let (mut full, mut most) = (f64::INFINITY, 0.0_f64);
        let until = |packet: &&Packet| packet.start < first;
        for packet in self.packets.data(self.from()).filter(|packet| packet.start >= self.place).take_while(until) {
            let filled = rate / 8.0 * packet.at;
            full = full.min(packet.start as f64 - filled);
            most = most.max(packet.end() as f64 - filled - full);
        }
        // The one that did not fit is not counted, and lacked something between nothing and all of
        // it.
        Some((rate, most + self.segment() as f64 / 2.0))
    }

    /// What passed beyond the rate before it was in force, where a shaper let it.
    fn shaped(&self) -> Option<Shape> {
        let finding = self.findings().into_iter().find(|finding| finding.cause.slug() == "shaper")?;
        let value = |kind: Measure| finding.evidence.iter().find(|it| it.kind == kind).map(|it| it.value);
        Some(Shape {
            burst: value(Measure::BurstBeyondRate)?,
            rate: value(Measure::RateAfterBurst)?,
            before: value(Measure::RateOfBurst)?,
        })
    }

    /// The rate within the densest flight that came as a burst.
    fn burst(&self, mss: u64) -> Option<f64> {
        let rtt = self.rtt();
        let transfer = self.transfer();
        let at_receiver = self.vantage() != self.from();
        let mean = transfer.bytes as f64 * 8.0 / transfer.duration_s.as_secs_f64().max(1e-9);
        let rounds = &transfer.rounds;
        let bursts = rounds.iter().enumerate().filter_map(|(index, round)| {
            // Next to the sender the ACKs of a flight are spread by the path, and with them the
            // next flight.
            let spread = if at_receiver { Some(round) } else { rounds.get(index + 1) };
            let took = spread?.sending_s.as_secs_f64();
            let bytes = round.bytes.saturating_sub(mss);
            let is_burst = took > 1e-4 && took < rtt / 2.0 && bytes > 8 * mss;
            is_burst.then(|| bytes as f64 * 8.0 / took)
        });
        bursts.max_by(f64::total_cmp).filter(|rate| *rate > 2.0 * mean)
    }

    /// The rate at which most stretches of a transfer were acknowledged, where its own window is
    /// all that held the sender, and neither window nor program could have made them alike.
    fn plateau(&self, mss: u64) -> Option<f64> {
        let free = [
            LimitingFactor::SlowStart,
            LimitingFactor::CongestionAvoidance,
            LimitingFactor::LossRecovery,
            LimitingFactor::Timeout,
            LimitingFactor::Bandwidth,
            LimitingFactor::RoundTrip,
        ];
        if self.share(&free) < 0.8 {
            return None;
        }
        let start = self.transfer().start_s.as_secs_f64();
        let end = start + self.transfer().duration_s.as_secs_f64();
        let acks = self.packets.all.iter().filter(|it| it.from != self.from() && it.at >= start && it.at <= end);
        let (mut rates, mut since) = (Vec::new(), None::<(f64, u64)>);
        for (at, ack) in acks.filter_map(|packet| Some((packet.at, packet.ack?))) {
            let (began, first) = *since.get_or_insert((at, ack));
            if ack >= first + STRETCH * mss {
                rates.push((ack - first) as f64 * 8.0 / (at - began).max(1e-9));
                since = Some((at, ack));
            }
        }
        rates.sort_by(f64::total_cmp);
        let [usual, upper] = [2, 3].map(|quarters| rates.get(rates.len() * quarters / 4).copied().unwrap_or(0.0));
        let mean = self.transfer().bytes as f64 * 8.0 / (end - start).max(1e-9);
        (rates.len() >= 12 && upper < usual * 1.05 && usual > mean * 1.2).then_some(usual)
    }

    /// The typical round trip, seconds, without a queue.
    pub fn usual_rtt(&self) -> Option<f64> {
        let [min, p50] = [self.connection.rtt_ms.min?, self.connection.rtt_ms.p50?].map(|ms| ms / 1e3);
        let is_full = self.share(&[LimitingFactor::Bandwidth]) >= BY_PATH;
        (!is_full && p50 > min * 1.04 && p50 < min * 1.6).then_some(p50)
    }

    /// How far round trips spread above the least though no queue does it, seconds.
    fn spread(&self) -> Option<f64> {
        let rtt = &self.connection.rtt_ms;
        let [min, p50, p95] = [rtt.min?, rtt.p50?, rtt.p95?].map(|ms| ms / 1e3);
        let spread = p95 - min;
        // Late ACKs are few: what varies is spread over all of it.
        let is_even = p50 - min > 0.3 * spread;
        let is_full = self.share(&[LimitingFactor::Bandwidth]) > 0.05;
        let varies = rtt.samples >= 40 && spread > (0.15 * min).max(0.003) && spread < min;
        (varies && is_even && !is_full).then_some(spread)
    }

    /// The longest round trip of the transfer's own segments above the least, seconds.
    fn queueing(&self) -> f64 {
        let start = self.transfer().start_s.as_secs_f64();
        let end = start + self.transfer().duration_s.as_secs_f64();
        let within = self.packets.all.iter().filter(|packet| packet.at >= start && packet.at <= end);
        let mut rtts: Vec<f64> = within.filter_map(|packet| packet.rtt).collect();
        rtts.sort_by(f64::total_cmp);
        // A single one may be a late ACK.
        let most = rtts.get((rtts.len() * 98 / 100).min(rtts.len().saturating_sub(1)));
        (most.copied().unwrap_or(0.0) - self.rtt()).max(0.0)
    }

    /// The bytes whose segments were lost, once for each copy.
    pub fn lost(&self, from: End, mss: u64) -> Vec<u64> {
        let again = self
            .packets
            .data(from)
            .filter(|packet| matches!(packet.kind, Kind::Fast | Kind::Timeout | Kind::TailProbe));
        let mut places: Vec<u64> = again
            .flat_map(|packet| (packet.start..packet.end()).step_by(usize::try_from(mss).unwrap_or(1).max(1)))
            .collect();
        places.extend(self.connection.transfers.iter().filter(|transfer| transfer.from == from).flat_map(|transfer| {
            let copies = copies_within(transfer.seconds_before(LimitingFactor::Timeout), self.rtt());
            std::iter::repeat_n(self.packets.place(transfer).unwrap_or(0), copies)
        }));
        if self.vantage() != from {
            places.extend(self.unseen_copies(from));
        }
        if from == self.from() {
            let swallowed = self.swallowed();
            places.retain(|place| *place >= swallowed);
        }
        places.sort_unstable();
        places
    }

    /// The receiver sees only the one copy that arrives: the length of the silence gives the number
    /// of lost copies before it.
    fn unseen_copies(&self, from: End) -> Vec<u64> {
        let mut unseen = Vec::new();
        let spans = self.connection.transfers.iter().filter(|transfer| transfer.from == from);
        for span in spans.flat_map(|transfer| &transfer.timeline).filter(|span| span.limit == LimitingFactor::Timeout) {
            let end = (span.start_s + span.seconds).as_secs_f64();
            let after = || self.packets.data(from).filter(|packet| packet.at >= end - MOMENT);
            let copies = copies_within(span.seconds.as_secs_f64(), self.rtt());
            // A first copy that no ACK reported when it was sent again shows only by this wait.
            let unreported = after().next().filter(|packet| packet.kind == Kind::New && packet.at <= end + MOMENT);
            let resent = || after().find(|packet| packet.kind == Kind::Timeout).map(|packet| (packet, 1));
            let Some((packet, listed)) = unreported.map(|packet| (packet, 0)).or_else(resent) else { continue };
            unseen.extend(std::iter::repeat_n(packet.start, copies.saturating_sub(listed)));
        }
        unseen
    }
}

/// How many copies of a segment a sender lost within this time, seconds: its timer doubles each
/// time (RFC 6298 section 5.5).
fn copies_within(waited: f64, rtt: f64) -> usize {
    let timeout = rtt + USUAL_TIMEOUT.max(2.0 * rtt);
    if waited > timeout / 2.0 { (waited / timeout + 1.0).log2().round().max(1.0) as usize } else { 0 }
}

/// What of a path is not certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathChoice {
    pub losses: Losses,
    /// Every round trip takes as long as is typical.
    pub usual_rtt: bool,
}

/// The path; `skipped` bytes of each end are not sent again.
pub(super) fn path(captured: &Captured, choice: PathChoice, mss: u64, skipped: [u64; 2]) -> PathSpec {
    let usual = captured.usual_rtt().filter(|_| choice.usual_rtt);
    let rtt = (usual.unwrap_or_else(|| captured.rtt()) - OWN_DELAY).max(2e-5);
    let mut path = PathSpec { rtt: Some(micros(rtt)), seed: 1, ..PathSpec::default() };
    let from = captured.from();
    for end in [End::Client, End::Server] {
        let link = if end == End::Client { &mut path.up } else { &mut path.down };
        if end == from {
            rate(captured, choice, mss, link);
        }
        if choice.losses == Losses::Listed || end != from {
            link.loss = listed(captured.lost(end, mss), skipped[end.index()]);
        }
        link.mark = listed(captured.marked(end), skipped[end.index()]);
        reordering::disturb(captured, end, skipped[end.index()], link);
        mtu_black_hole::dig(captured, end, link);
    }
    if let Some(spread) = captured.spread().filter(|_| usual.is_none()) {
        // Half of it each way, above the least.
        let amount = spread / 2.0;
        let jitter = JitterSpec { amount: micros(amount), distribution: Default::default(), order: Order::Kept };
        let delay = Time((rtt * 5e8 + amount * 1e9) as u64);
        let other = Time((rtt * 5e8) as u64);
        path.rtt = None;
        let (to, back) =
            if from == End::Client { (&mut path.up, &mut path.down) } else { (&mut path.down, &mut path.up) };
        (to.delay, to.jitter, back.delay) = (Some(delay), Some(jitter), Some(other));
    }
    path
}

fn rate(captured: &Captured, choice: PathChoice, mss: u64, link: &mut LinkSpec) {
    let options = if captured.uses_timestamps() { 12.0 } else { 0.0 };
    let payload = (mss as f64 - options).max(1.0);
    // What each byte takes on the wire.
    let frame = (payload + HEADERS + options) / payload;
    let on_the_wire = |rate: f64| BitRate((rate * frame).max(8_000.0) as u64);
    if let Some((rate, burst)) = captured.policed().filter(|_| choice.losses == Losses::Policer) {
        link.policer = Some(BucketSpec { rate: on_the_wire(rate), burst: Size((burst * frame) as u64) });
        return;
    }
    if let Some(shape) = captured.shaped() {
        let before = captured.burst(mss).unwrap_or(0.0).max(shape.before);
        let burst = Size((shape.burst * frame).max(LEAST_BUCKET) as u64);
        link.rate = Some(on_the_wire(before.min(FASTEST)));
        link.shaper = Some(BucketSpec { rate: on_the_wire(shape.rate), burst });
    }
    let Some(seen) = captured.rate(mss) else { return };
    if link.shaper.is_none() {
        link.rate = Some(on_the_wire(seen.rate));
    }
    if !seen.is_limit {
        return;
    }
    let standing = captured.queueing() * seen.rate / 8.0;
    let at_loss = captured.queue_at_loss(seen.rate, frame);
    let least = 4.0 * mss as f64;
    let queue = match (at_loss, choice.losses) {
        (Some(queue), Losses::Queue) => queue.max(least),
        // Whatever it takes: nothing is lost there.
        _ => (2.0 * standing).max(65_536.0) + 64.0 * mss as f64,
    };
    link.queue = Some(QueueSpec(QueueLimit::Bytes(queue as u64)));
}

/// Segments by a byte of each, counted from the first byte that is sent here.
fn listed(places: Vec<u64>, skipped: u64) -> Option<LossSpec> {
    let here = places.into_iter().filter(|place| *place >= skipped);
    let listed: Vec<Size> = here.map(|place| Size(place - skipped)).collect();
    (!listed.is_empty()).then_some(LossSpec::Table(LossTable::At(listed)))
}

impl Captured {
    /// Whether segments carry timestamps.
    pub fn uses_timestamps(&self) -> bool {
        let handshake = self.connection.handshake.as_ref();
        handshake.is_none_or(|handshake| handshake.timestamps.iter().all(|it| it.unwrap_or(true)))
    }

    /// The round trip between the capture point and an end, seconds.
    pub fn distance(&self, end: End) -> f64 {
        distance(&self.connection, &self.packets, end, self.rtt())
    }
}

#[cfg(test)]
mod tests {
    use super::copies_within;

    #[test]
    fn silence_length_gives_the_number_of_timeouts() {
        // Round trips of 25 and 31 ms, and of 200 ms, after which the first timeout takes 600 ms.
        let cases =
            [(0.0, 0.025, 0), (0.275, 0.025, 1), (0.73, 0.025, 2), (3.627, 0.031, 4), (0.6, 0.2, 1), (1.8, 0.2, 2)];
        for (waited, rtt, copies) in cases {
            assert_eq!(copies_within(waited, rtt), copies, "{waited} s");
        }
    }
}

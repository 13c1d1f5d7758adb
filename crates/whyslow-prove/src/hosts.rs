//! The two hosts as a capture shows them: the options of their SYNs, the windows that they offered,
//! the first flight, the cap of the bytes in flight.

use super::captured::{Before, Captured};
use super::conversation::micros;
use super::packets::Packet;
use super::path::USUAL_TIMEOUT;
use whyslow_analysis::{Action, Connection, End, LimitingFactor, Round, SendingAction, Transfer};
use whyslow_diagnosis::series::Kind;
use whyslow_lab::scenario::host::HostSpec;
use whyslow_lab::scenario::script::{Growth, Reading, Stop};
use whyslow_lab::scenario::units::{BitRate, Size, Time};

/// A window is about this part of the receive buffer (Linux 6.6 and later: the rest is overhead); a
/// first run shows the value here.
const OF_RECEIVE_BUFFER: f64 = 0.575;
/// The same before full segments have shown what overhead leaves (TCP_DEFAULT_SCALING_RATIO).
const OF_NEW_BUFFER: f64 = 0.5;
/// What fits into a send buffer that is written in pieces of 4 KiB, as a part of it.
const OF_SEND_BUFFER: f64 = 0.6;
/// A part of the time from which on a limit shapes the scenario.
const MATTERS: f64 = 0.1;
/// A sender that spaced its segments for as much of the time had a rate of its own.
const PACED: f64 = 0.25;
/// A window that doubles grows by 1; one that grows by a segment for each ACK of two, by a half.
const SLOW_GROWTH: f64 = 0.8;
/// A window that shrank and held a transfer for as much of its time is a slow reader's.
const SLOW: f64 = 0.5;
/// What a machine takes between an ACK and what that releases, seconds.
const MACHINE: f64 = 5e-4;
/// The initial window of hosts today, segments (RFC 6928).
const INITIAL_WINDOW: u32 = 10;

/// What of the hosts is not certain, and is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostChoice {
    pub congestion: &'static str,
    /// The receive buffer, as a multiple of the assumed one.
    pub receive_scale: f64,
    /// The same for the send buffer.
    pub send_scale: f64,
    /// The sender's window opens slower than Linux's: by this part of the acknowledged bytes.
    pub growth: Option<f64>,
}

/// What the windows of a receiver were.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Windows {
    pub first: u64,
    pub most: u64,
    /// Typical in the second half.
    pub late: u64,
}

impl Captured {
    /// Payload of a full segment and its options, bytes: the smaller of the two offers.
    pub fn mss(&self) -> u64 {
        let offered = self.connection.handshake.as_ref().and_then(|handshake| {
            handshake.mss.iter().map(|mss| mss.map(u64::from)).collect::<Option<Vec<u64>>>()?.into_iter().min()
        });
        let options = if self.uses_timestamps() { 12 } else { 0 };
        // Without the offers the largest segment gives it, unless offload merged several.
        let largest = || self.packets.data(self.from()).map(|packet| packet.len).filter(|len| *len <= 1460).max();
        offered.unwrap_or_else(|| largest().unwrap_or(1460) + options).clamp(536, 8_960)
    }

    /// Payload of a full segment.
    pub fn segment(&self) -> u64 {
        self.mss() - if self.uses_timestamps() { 12 } else { 0 }
    }

    /// The windows that an end offered, up to the transfer's end.
    pub fn windows(&self, end: End) -> Option<Windows> {
        let until = (self.transfer().start_s + self.transfer().duration_s).as_secs_f64();
        let own = self.packets.all.iter().filter(|packet| packet.from == end && !packet.is_syn() && packet.at <= until);
        let all: Vec<u64> = own.filter_map(|packet| packet.window).collect();
        let mut late = all.get(all.len() / 2..)?.to_vec();
        late.sort_unstable();
        Some(Windows { first: *all.first()?, most: *all.iter().max()?, late: *late.get(late.len() / 2)? })
    }

    /// Whether the receiver's window held the transfer back.
    pub fn is_held_by_window(&self) -> bool {
        self.share(&[LimitingFactor::ReceiveWindow, LimitingFactor::ZeroWindow]) >= MATTERS
    }

    /// What the sender sent in a round trip while something at its end capped it, bytes, where that
    /// held the transfer back: the mean, for large and small flights may take turns.
    pub fn cap(&self) -> Option<u64> {
        let rounds = &self.transfer().rounds;
        // The last one is the remainder.
        let inner = rounds.get(..rounds.len().saturating_sub(1))?;
        let capped: Vec<u64> =
            inner.iter().filter(|round| round.limit == LimitingFactor::SenderCap).map(|round| round.bytes).collect();
        let is_held = self.share(&[LimitingFactor::SenderCap]) >= MATTERS && !capped.is_empty();
        is_held.then(|| capped.iter().sum::<u64>() / capped.len() as u64)
    }

    /// The first flight, segments.
    fn initial_window(&self) -> u32 {
        let from = self.from();
        // Where the first copies were lost on their way here, a timer had made it small.
        let is_flight = |transfer: &&Transfer| {
            transfer.from == from
                && transfer.rounds_total > 1
                && transfer.seconds_before(LimitingFactor::Timeout) == 0.0
        };
        let first = self.connection.transfers.iter().find(is_flight);
        let Some((transfer, round)) = first.and_then(|transfer| Some((transfer, transfer.rounds.first()?))) else {
            return INITIAL_WINDOW;
        };
        let flight = round.in_flight - self.probe(transfer, round).min(round.in_flight);
        let flight = u32::try_from(flight.div_ceil(self.segment())).unwrap_or(u32::MAX);
        // Under another limit the window is known to be at least as large, not more.
        let is_own = round.limit == LimitingFactor::SlowStart || round.limit == LimitingFactor::CongestionAvoidance;
        let flight = if is_own { flight } else { flight.max(INITIAL_WINDOW) };
        flight.clamp(1, 1_000)
    }

    /// Growth of the sender's window in slow start, as a part of the acknowledged bytes, where it
    /// is clearly less than Linux's whole: the mean of all its rounds.
    pub fn slow_growth(&self) -> Option<f64> {
        let rounds = &self.transfer().rounds;
        // The last one is the remainder.
        let inner = rounds.get(..rounds.len().saturating_sub(1))?;
        let opening =
            inner.windows(2).take_while(|pair| pair.iter().all(|round| round.limit == LimitingFactor::SlowStart));
        let (acked, opened) = opening.fold((0, 0), |(acked, opened), pair| match pair {
            [round, next] => (acked + round.bytes, opened + next.bytes.saturating_sub(round.bytes)),
            _ => (acked, opened),
        });
        let growth = opened as f64 / acked.max(1) as f64;
        (growth > 0.0 && growth < SLOW_GROWTH).then_some(growth)
    }

    /// The window of a sender that opens it by this part of the acknowledged bytes.
    pub fn window(&self, growth: f64) -> Growth {
        Growth { initial: Size(u64::from(self.initial_window()) * self.segment()), by: growth }
    }

    /// The least timeout of a sender whose window was small again after a pause that no usual
    /// timeout (a round trip and 200 ms) fits into, seconds.
    fn least_timeout(&self) -> Option<f64> {
        let from = self.from();
        let begun = u64::from(self.initial_window()) * self.segment();
        let own: Vec<&Transfer> = self.connection.transfers.iter().filter(|transfer| transfer.from == from).collect();
        let pauses = own.windows(2).filter_map(|pair| {
            let [before, after] = pair else { return None };
            let flight = |transfer: &Transfer| transfer.rounds.iter().map(|round| round.in_flight).max().unwrap_or(0);
            // Both had more to send than that.
            let restarted = before.rounds_total > 1 && after.rounds_total > 1;
            let is_small = after.rounds.first().is_some_and(|round| round.in_flight <= begun);
            // An idle window is halved once for each timeout (tcp_cwnd_restart).
            let halvings = (flight(before) as f64 / begun as f64).log2().ceil().max(1.0);
            let pause = (after.start_s - before.start_s - before.duration_s).as_secs_f64();
            (restarted && is_small && pause > 0.0).then_some(pause / halvings)
        });
        let shortest = pauses.min_by(f64::total_cmp).filter(|pause| *pause < self.rtt() + USUAL_TIMEOUT)?;
        Some((shortest * 0.7 - self.rtt()).max(0.005))
    }

    /// The threshold, in segments, that the sender remembered: it stopped doubling its window
    /// though nothing was lost, and no queue was in sight that HyStart could have taken for a
    /// reason.
    fn remembered(&self) -> Option<u32> {
        let findings = self.findings();
        let exit = findings.into_iter().find(|finding| finding.cause.slug() == "early-slow-start-exit")?;
        let is_remembered = matches!(exit.remedy()?.action, Action::Sending(SendingAction::ForgetThreshold { .. }));
        let rounds = self.transfer().rounds.iter();
        let slow = rounds.filter(|_| is_remembered).find(|round| round.limit == LimitingFactor::CongestionAvoidance)?;
        u32::try_from(slow.in_flight.div_ceil(self.segment())).ok().filter(|segments| *segments >= 2)
    }

    /// The bytes of a round that are a tail loss probe: new data, two round trips after the rest
    /// (RFC 8985 section 7.2).
    fn probe(&self, transfer: &Transfer, round: &Round) -> u64 {
        let Some(place) = self.packets.place(transfer) else { return 0 };
        let is_of_round = |packet: &&Packet| packet.start >= place && packet.start < place + round.bytes;
        let mut last = self.packets.data(transfer.from).filter(is_of_round).collect::<Vec<_>>();
        last.retain(|packet| packet.kind == Kind::New);
        match last[..] {
            [.., before, last] if last.at - before.at > 1.5 * self.rtt() => last.len,
            _ => 0,
        }
    }

    /// Whether its sender spaced its segments by a clock of its own, as BBR does and the others do
    /// not: they follow an ACK or each other. Only a capture next to the sender shows it.
    pub fn is_spaced(&self) -> bool {
        let from = self.from();
        let start = self.transfer().start_s.as_secs_f64();
        let end = start + self.transfer().duration_s.as_secs_f64();
        let within = |packet: &&Packet| packet.at >= start && packet.at <= end;
        let mut before = f64::NEG_INFINITY;
        let (mut all, mut alone) = (0_u32, 0_u32);
        for packet in self.packets.all.iter().filter(within) {
            // Behind a program's pause nothing is in flight.
            if packet.from == from && packet.kind == Kind::New && packet.in_flight.is_some_and(|it| it > packet.len) {
                all += 1;
                alone += u32::from(packet.at - before > (self.rtt() / 50.0).max(MACHINE));
            }
            before = packet.at;
        }
        self.vantage() == from && alone * 5 >= all && all >= 20
    }

    /// Whether an idle sender began with a small window again.
    fn restarts(&self) -> bool {
        let from = self.from();
        let all = self.connection.transfers.iter().filter(|transfer| transfer.from == from);
        let begun = u64::from(self.initial_window()) * self.segment();
        // After a long pause a flight that is larger than the first one was kept.
        let kept = all.clone().zip(all.skip(1)).any(|(before, after)| {
            let pause = (after.start_s - before.start_s - before.duration_s).as_secs_f64();
            let flight = after.rounds.first().map_or(0, |round| round.in_flight);
            pause > 3.0 * (self.rtt() + 0.25) && flight > 2 * begun
        });
        !kept
    }
}

/// The host of this end.
pub(super) fn host(captured: &Captured, end: End, choice: HostChoice) -> HostSpec {
    let connection = &captured.connection;
    let is_sender = end == captured.from();
    let mut host = HostSpec { congestion: choice.congestion.to_owned(), ..HostSpec::default() };
    host.mtu = Size((captured.mss() + 40).clamp(576, 9_000));
    host.nodelay = !has_nagle(connection, end);
    if let Some(handshake) = &connection.handshake {
        host.sack = offers(handshake.sack, end);
        host.timestamps = offers(handshake.timestamps, end);
        host.window_scaling = scales(handshake.window_scale, end);
    }
    if connection.problems.iter().any(|problem| problem.slug == "offload") && captured.vantage() == end {
        host.tso = is_sender;
        host.gro = !is_sender;
    }
    if is_sender && captured.share(&[LimitingFactor::Pacing]) >= PACED {
        host.max_pacing = Some(BitRate(paced(captured) as u64));
    }
    host.ecn = captured.uses_ecn();
    host.initcwnd = Some(if is_sender { captured.initial_window() } else { INITIAL_WINDOW });
    if is_sender {
        host.slow_start_after_idle = captured.restarts();
        host.rto_min = captured.least_timeout().map(|seconds| Time((seconds * 1e3) as u64 * 1_000_000));
        host.ssthresh = captured.remembered();
        send_buffer(captured, choice, &mut host);
    }
    receive_buffer(captured, end, choice, &mut host);
    host
}

/// The sender's own rate, bits per second with headers, as the kernel counts it.
fn paced(captured: &Captured) -> f64 {
    let transfer = captured.transfer();
    let payload = transfer.bytes as f64 * 8.0 / transfer.duration_s.as_secs_f64().max(1e-9);
    let segment = captured.segment() as f64;
    (payload * (segment + 66.0) / segment).max(8_000.0)
}

/// Whether an end has an option; a server answers with it only where the client offers it.
fn offers(offered: [Option<bool>; 2], end: End) -> bool {
    let [client, server] = offered;
    if end == End::Client { client != Some(false) } else { server != Some(false) || client == Some(false) }
}

/// The same for window scaling.
fn scales(offered: [Option<u8>; 2], end: End) -> bool {
    offered[end.index()].is_some() || offered == [None, None] && end == End::Server
}

/// Whether an end's small segments waited for ACKs.
fn has_nagle(connection: &Connection, end: End) -> bool {
    let own = connection.transfers.iter().filter(|transfer| transfer.from == end);
    own.flat_map(|transfer| &transfer.limits)
        .any(|it| it.limit == LimitingFactor::NagleDelayedAck && it.share >= MATTERS)
}

fn send_buffer(captured: &Captured, choice: HostChoice, host: &mut HostSpec) {
    if let Some(cap) = captured.cap() {
        let buffer = Size((cap as f64 / OF_SEND_BUFFER * choice.send_scale).max(4_608.0) as u64);
        host.tcp_wmem = [Size(4_096), buffer, buffer];
        return;
    }
    let flights = captured.transfer().rounds.iter().map(|round| round.in_flight);
    let needed = flights.max().unwrap_or(0) * 4;
    host.tcp_wmem[2] = Size(host.tcp_wmem[2].0.max(needed).min(1 << 30));
    // The first flight has to fit.
    let first = u64::from(captured.initial_window()) * captured.segment() * 3;
    host.tcp_wmem[1] = Size(host.tcp_wmem[1].0.max(first).min(host.tcp_wmem[2].0));
}

fn receive_buffer(captured: &Captured, end: End, choice: HostChoice, host: &mut HostSpec) {
    let is_receiver = end != captured.from();
    let Some(windows) = captured.windows(end) else { return };
    let part = if windows.most < captured.segment() { OF_NEW_BUFFER } else { OF_RECEIVE_BUFFER };
    let scaled = |window: u64, scale: f64| Size((window as f64 / part * scale).max(2_304.0) as u64);
    let received = captured.transfer().bytes;
    // It never grew, though much was received: its size is fixed.
    let is_fixed = windows.most <= windows.first + windows.first / 4 && received > 2 * windows.most;
    let is_small = is_receiver && captured.is_held_by_window() && windows.most <= windows.late + windows.late / 4;
    if is_receiver && (is_fixed || is_small) {
        let unscaled = windows.most <= 65_535 && !host.window_scaling;
        let buffer = scaled(windows.most, choice.receive_scale);
        // If the field is too small for the window, the buffer is not the limit. Linux scales for
        // the largest buffer that a host may have, unless the program sets its own.
        let scale = captured.connection.handshake.as_ref().and_then(|handshake| handshake.window_scale[end.index()]);
        if scale == Some(0) && host.window_scaling {
            host.rcvbuf = Some(Size(buffer.0 / 2));
        } else if !unscaled {
            host.tcp_rmem = [Size(4_096.min(buffer.0)), buffer, buffer];
        }
    } else if is_receiver {
        let first = Size(windows.first * 2).0.max(4_096);
        let most = host.tcp_rmem[2].0.max(scaled(windows.most, 1.2).0).min(1 << 30);
        host.tcp_rmem = [Size(4_096.min(first)), Size(first.min(most)), Size(most)];
    } else {
        return;
    }
    // Linux begins with 65,535 B at most unless its route sets more.
    let segments = u32::try_from(windows.first.div_ceil(captured.segment())).unwrap_or(u32::MAX);
    host.initrwnd = (windows.first > 66_000).then(|| segments.clamp(1, 10_000));
}

/// How the receiver's program read: where it stopped for so long that its window closed.
pub(super) fn reading(captured: &Captured, skipped: u64) -> Reading {
    let from = captured.from();
    let mut reading = Reading::default();
    let Some(windows) = captured.windows(from.other()) else { return reading };
    if captured.share(&[LimitingFactor::ZeroWindow]) < 0.02 {
        // A window that shrank under a sender that filled it: the program is a slow reader.
        let is_slow = windows.late + windows.late / 4 < windows.most && windows.first * 2 < captured.transfer().bytes;
        if is_slow && captured.share(&[LimitingFactor::ReceiveWindow]) >= SLOW {
            let transfer = captured.transfer();
            let rate = transfer.bytes as f64 * 8.0 / transfer.duration_s.as_secs_f64().max(1e-9);
            reading.rate = Some(BitRate(rate.max(8.0) as u64));
        }
        return reading;
    }
    let rtt = captured.rtt();
    let mut edge = Edge::default();
    for packet in captured.packets.all.iter().filter(|packet| packet.from != from && !packet.is_syn()) {
        let (Some(ack), Some(window)) = (packet.ack, packet.window) else { continue };
        if ack + window > edge.at {
            let stood = packet.at - edge.moved;
            // Before the edge stopped, the program had read all bytes except those in the window.
            if edge.was_shut && stood > rtt.max(0.02) {
                let place = edge.at.saturating_sub(windows.most).saturating_sub(skipped).max(1);
                reading.stops.push(Stop { at: Size(place), length: micros(stood) });
            }
            edge = Edge { at: ack + window, moved: packet.at, was_shut: false };
        }
        edge.was_shut |= window < captured.segment();
    }
    reading.stops.truncate(5_000);
    // Many short stops are a slow reader: it reads in small pieces.
    if reading.stops.len() > 1 {
        reading.chunk = Size(4_096);
    }
    reading
}

/// The right edge of a window.
#[derive(Default)]
struct Edge {
    at: u64,
    /// When it moved last.
    moved: f64,
    /// The window was shut since.
    was_shut: bool,
}

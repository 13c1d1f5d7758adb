//! Adapts a rule's findings to QUIC, whose packets are encrypted.
//!
//! Rates, bursts and pauses are visible; acknowledgements, windows, losses and retransmissions are
//! not. So causes that rest on these are left out, and all others are likely at most. `pacing`
//! rests on them: all senders of QUIC space their packets (RFC 9002 section 7.7), and nothing lost
//! and no queue would distinguish a limit of the program from a full link.

use super::parts::confirm;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::{End, FlowControl, Near, Quic, Side};
use whyslow_analysis::{
    Action, Actor, CommonQuestion, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, Measure, Question,
    Remedy, SendingAction, SendingStatement, Statement,
};
use whyslow_core::tcp::facts::{Facts, TransferFacts};
use whyslow_units::Nanos;

/// Largest confidence over QUIC if a repeated handshake packet was read: its keys are public (RFC
/// 9001 section 5.2). Half and twice the distance to 1 change 1 and 1 of 2,061 captures.
const PROVEN: f64 = 0.85;
/// Largest confidence over QUIC from sizes and times alone: likely, and never certain. Half and
/// twice the distance to 1 change 9 and 9 of 2,061 captures.
pub(crate) const MOST_UNDER_ENCRYPTION: f64 = 0.7;
/// Largest confidence over QUIC in a window that nothing else confirms: just above even. Half and
/// twice the distance to 1 change none of 2,061 captures.
const WINDOW: f64 = 0.55;
/// Largest confidence over QUIC in the cause of a silence: three things may explain it
/// (application, loss, window), and only the first is reported. Half and twice change 1 and 1 of
/// 2,061 captures.
const SILENCE: f64 = 0.5;
/// Minimum number of rounds in which a flight doubled, as a congestion window opens (RFC 9002
/// section 7.3.1): one larger flight may be chance. Half and twice the excess over 1 change none of
/// 2,061 captures.
const GROWING_ROUNDS: f64 = 2.0;
/// Flight over the window that the client offered (RFC 9000 section 4): last packets may be of the
/// next flight, and a grant may come when half of the window is used.
const WINDOW_SHARE: std::ops::RangeInclusive<f64> = 0.8..=1.1;

/// Initial window of a sender, bytes (RFC 9002 section 7.2: ten packets of 1,200 bytes). Smaller
/// flights are messages; no window or link limited them.
const INITIAL_WINDOW: u64 = 12_000;
/// Minimum share of the window that passes between two late grants (RFC 9000 section 4.2): quic-go,
/// quinn and Chromium grant when half of it is used.
const GRANTED_SHARE: f64 = 0.4;
/// Shortest silence whose amounts of data are compared; follows from `limit::pauses`, which needs
/// the same.
const LONG: Nanos = Nanos::from_millis(200);
/// Minimum number of equal amounts between silences that are not chance: two of them may be, as RFC
/// 9000 section 4 lets a receiver choose any window.
const SAME_AMOUNTS: usize = 3;
/// Largest relative difference of equal amounts; follows from one packet of 1,200 bytes more or
/// less in the least window that is judged (12,000 bytes).
const SAME: f64 = 0.1;

/// The finding with what QUIC hides left out; `of`: the sender of a transfer, and the transfer.
/// Findings of TCP stay unchanged.
pub(super) fn adapt(facts: &Facts, of: Option<(Side, &TransferFacts)>, mut finding: Finding) -> Option<Finding> {
    let Some(notes) = &facts.quic else { return Some(finding) };
    if notes.is_opened() {
        return opened(facts, &notes.facts, of.map(|(sender, _)| sender), finding);
    }
    let mut most = MOST_UNDER_ENCRYPTION;
    match finding.cause {
        Cause::SynLoss => return handshake(&notes.facts, finding),
        Cause::SenderCap | Cause::ProtocolWindow | Cause::ReceiveWindow => {
            window(&notes.facts, of.map(|(sender, _)| facts.end_of(sender)), &mut finding)?;
        }
        Cause::Application if of.is_some_and(|of| may_be_grants(facts, &notes.facts, of)) => return None,
        Cause::Application => {
            silence(&mut finding)?;
            most = SILENCE;
        }
        Cause::ClientThink => first_request(&mut finding)?,
        Cause::SlowStart if value(&finding, Measure::RoundsOfSlowStart)? < GROWING_ROUNDS => return None,
        // The limit of the rest is hidden, and may have been that of all.
        Cause::SlowStart if !is_most(&finding) => return None,
        Cause::Bandwidth | Cause::Shaper if of.is_some_and(|(_, transfer)| transfer.max_in_flight < INITIAL_WINDOW) => {
            return None;
        }
        Cause::Bandwidth
        | Cause::NewConnectionEachTime
        | Cause::PathLatency
        | Cause::ServerThink
        | Cause::Shaper
        | Cause::SlowStart
        | Cause::TurnTaking => finding.remedies.retain(|remedy| !is_of_tcp(&remedy.action)),
        _ => return None,
    }
    finding.confidence = finding.confidence.min(most);
    finding.evidence.retain(|one| !is_made_up(one.kind));
    finding.details.clear();
    finding.to_confirm.retain(|question| matches!(question, Question::Exchange(ExchangeQuestion::MayBeProxy { .. })));
    finding.to_confirm.extend(confirm(CommonQuestion::Encrypted));
    Some(finding)
}

/// With keys ACKs, windows and losses are known as with TCP. Left out are mechanisms that QUIC does
/// not have, and settings of the kernel's TCP.
fn opened(facts: &Facts, quic: &Quic, sender: Option<Side>, mut finding: Finding) -> Option<Finding> {
    match finding.cause {
        Cause::SynLoss => return handshake(quic, finding),
        // QUIC always has selective acknowledgements and large windows, and no Nagle; before the
        // address is validated it sends at most three times the received bytes (RFC 9000 section
        // 8.1).
        Cause::AmplificationRisk
        | Cause::BadChecksums
        | Cause::NagleDelayedAck
        | Cause::NoSack
        | Cause::NoWindowScaling
        | Cause::TlsRecordBuffering => return None,
        _ => {}
    }
    finding.remedies.retain(|remedy| !is_of_tcp(&remedy.action));
    if let Cause::ReceiveWindow | Cause::ZeroWindow | Cause::ProtocolWindow = finding.cause
        && let Some(sender) = sender
    {
        match flow_of(quic, facts.end_of(sender)) {
            Some(flow) => flow_control(&mut finding, flow, facts.end_of(!sender)),
            // At the receiver the next grant may leave before the data that use up the last one.
            None if finding.cause == Cause::ReceiveWindow => protocol_window(&mut finding, 0, Nanos::ZERO),
            None => {}
        }
    }
    finding.evidence.retain(|one| !matches!(one.kind, Measure::AgreedSegmentSize));
    Some(finding)
}

/// Whether the log of one endpoint cannot show this cause. Its times are those at which its program
/// handled packets, so that rates, queues and spacing of the path are inferred; and of the other
/// endpoint it shows that nothing came, and not why. `sender`: the sender of the transfer; `near`:
/// the endpoint that logged.
pub(crate) fn is_hidden_from_log(cause: Cause, sender: Option<End>, near: Near) -> bool {
    let is_own = |end: End| matches!((near, end), (Near::Client, End::Client) | (Near::Server, End::Server));
    match cause {
        Cause::Bandwidth
        | Cause::Bufferbloat
        | Cause::Pacing
        | Cause::PathLatency
        | Cause::Policer
        | Cause::RandomLoss
        | Cause::Reordering
        | Cause::Shaper => true,
        Cause::Application | Cause::HostCpu => sender.is_none_or(|sender| !is_own(sender)),
        Cause::DelayedAck | Cause::ZeroWindow => sender.is_none_or(is_own),
        Cause::ServerThink => !is_own(End::Server),
        Cause::ClientThink => !is_own(End::Client),
        _ => false,
    }
}

/// How flow control held a sender; `None` if it did not.
fn flow_of(quic: &Quic, sender: End) -> Option<&FlowControl> {
    let flow = quic.opened.as_ref()?.flow_control.get(sender as usize)?;
    (flow.connection_times + flow.stream_times > 0).then_some(flow)
}

/// The window of QUIC's flow control is one of the application's protocol, as that of HTTP/2. Only
/// a receiver whose grants came late, while it had all data, is a slow reader.
fn flow_control(finding: &mut Finding, flow: &FlowControl, granted_by: End) {
    let whole = flow.connection_s + flow.stream_s;
    let is_slow_reader = flow.late_s.scale(2.0) > whole;
    let is_stream = flow.stream_s > flow.connection_s;
    let (times, waited_s) =
        if is_stream { (flow.stream_times, flow.stream_s) } else { (flow.connection_times, flow.connection_s) };
    let stream = flow.stream.filter(|_| is_stream).and_then(|stream| u32::try_from(stream).ok());
    let used = SendingStatement::FlowControlWindow { stream, bytes: flow.window, granted_by, times, waited_s };
    finding.details.push(used.into());
    if !is_slow_reader {
        protocol_window(finding, flow.window, waited_s.scale(1.0 / times.max(1) as f64));
    }
}

/// Names the window of flow control. `window`: bytes, as far as it was seen to be used up; `wait`:
/// a typical wait for a grant, if the round trip is unknown.
fn protocol_window(finding: &mut Finding, window: u64, wait: Nanos) {
    let rtt_ms = value(finding, Measure::RoundTrip).or(value(finding, Measure::MinRoundTrip));
    let bytes = value(finding, Measure::ReceiveWindow).map_or(window, |known| known as u64).max(window);
    let rtt_s = rtt_ms.map_or(wait, |rtt| Nanos::from_secs_f64(rtt / 1e3));
    finding.cause = Cause::ProtocolWindow;
    finding.statement = SendingStatement::ProtocolWindow { bytes, rtt_s }.into();
    finding.remedies = vec![Remedy::new(Actor::Receiver, SendingAction::RaiseProtocolWindow { at: None, need: None })];
}

fn value(finding: &Finding, kind: Measure) -> Option<f64> {
    finding.evidence.iter().find(|one| one.kind == kind).map(|one| one.value)
}

/// Measurements that count segments, or use a window that no packet shows.
fn is_made_up(kind: Measure) -> bool {
    matches!(
        kind,
        Measure::LargestWindow
            | Measure::LeastWindowMeanwhile
            | Measure::SegmentsToSend
            | Measure::InitialWindowAssumed
            | Measure::RoundsNeeded
            | Measure::SegmentSize
            | Measure::AgreedSegmentSize
    )
}

/// The client's Initial packets can be read, so that one which was sent again is known as such.
fn handshake(quic: &Quic, mut finding: Finding) -> Option<Finding> {
    let Statement::Exchange(ExchangeStatement::HandshakeRetransmitted { took_s, opening, .. }) = finding.statement
    else {
        return None;
    };
    let times = quic.initial_retransmissions;
    if times == 0 {
        return None;
    }
    finding.statement = ExchangeStatement::InitialRetransmitted { times, took_s, opening }.into();
    finding.confidence = finding.confidence.min(PROVEN);
    finding.evidence.clear();
    finding.remedies = vec![Remedy::new(Actor::Network, ExchangeAction::FindUdpDrops)];
    finding.to_confirm = confirm(CommonQuestion::InitialOrAnswerLost);
    Some(finding)
}

/// Before its first request a client waits for the end of the handshake, whose packets do not show
/// where that is: this is not its own time.
fn first_request(finding: &mut Finding) -> Option<()> {
    let Statement::Exchange(ExchangeStatement::RequestsLate { later: Some(later), .. }) = finding.statement else {
        return None;
    };
    finding.statement = ExchangeStatement::RequestsLate { first_s: None, later: Some(later) }.into();
    finding.cost_s = later.sum_s;
    Some(())
}

/// The application, a window or a loss may have kept the sender silent: no packet shows which.
fn silence(finding: &mut Finding) -> Option<()> {
    use ExchangeStatement::{NothingArrived, NothingToSend};
    let Statement::Exchange(NothingToSend { paused_s, whole_s, pauses } | NothingArrived { paused_s, whole_s, pauses }) =
        finding.statement
    else {
        return None;
    };
    finding.statement = ExchangeStatement::SilentUnderEncryption { paused_s, whole_s, pauses }.into();
    finding.remedies.clear();
    Some(())
}

/// Flights of one size, one each round trip, may come from a window.
fn window(quic: &Quic, sender: Option<End>, finding: &mut Finding) -> Option<()> {
    let flight = finding.evidence.iter().find(|one| {
        matches!(one.kind, Measure::MostInFlight | Measure::MaxInFlight | Measure::LargestWindow) && one.value > 0.0
    })?;
    let bytes = flight.value as u64;
    let rtt =
        finding.evidence.iter().find(|one| one.kind == Measure::RoundTrip || one.kind == Measure::MinRoundTrip)?;
    let rtt_s = Nanos::from_secs_f64(rtt.value / 1e3);
    let offered = offered(quic);
    // A receiver cannot take credit back: flights are at least as large as the grant.
    let least = offered.into_iter().flatten().min().filter(|_| sender == Some(End::Server)).unwrap_or_default();
    if bytes < INITIAL_WINDOW || (bytes as f64) < least as f64 * GRANTED_SHARE {
        return None;
    }
    let is_offered =
        offered.into_iter().flatten().any(|offered| WINDOW_SHARE.contains(&(bytes as f64 / offered.max(1) as f64)));
    finding.cause = Cause::ProtocolWindow;
    finding.statement = SendingStatement::ProtocolWindow { bytes, rtt_s }.into();
    finding.confidence = finding.confidence.min(if is_offered { MOST_UNDER_ENCRYPTION } else { WINDOW });
    finding.remedies = vec![Remedy::new(Actor::Receiver, SendingAction::RaiseProtocolWindow { at: None, need: None })];
    Some(())
}

/// The windows that the client offers a server's response: of the connection, and of the stream.
fn offered(quic: &Quic) -> [Option<u64>; 2] {
    [quic.client.initial_max_data, quic.client.initial_max_stream_data_bidi_local]
}

/// Whether slow start took most of the transfer's time.
fn is_most(finding: &Finding) -> bool {
    match finding.statement {
        Statement::Sending(SendingStatement::SlowStart { spent_s, whole_s, .. }) => spent_s.scale(2.0) >= whole_s,
        _ => true,
    }
}

/// Whether a window that opens late may have made the silences of a transfer: between them comes
/// what the client's windows let through at once, or, if these are unknown, one amount.
fn may_be_grants(facts: &Facts, quic: &Quic, (sender, transfer): (Side, &TransferFacts)) -> bool {
    let long = transfer.pauses.iter().filter(|gap| gap.end - gap.start >= LONG);
    let ends: Vec<u64> = long.map(|gap| gap.snd_max).collect();
    let mut amounts: Vec<u64> = ends.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    if amounts.is_empty() {
        return false;
    }
    amounts.sort_unstable();
    let typical = amounts.get(amounts.len() / 2).copied().unwrap_or_default();
    let least = offered(quic).into_iter().flatten().min().filter(|_| facts.end_of(sender) == End::Server);
    match least {
        Some(least) => typical as f64 >= least as f64 * GRANTED_SHARE,
        None => {
            let near = |amount: &&u64| amount.abs_diff(typical) as f64 <= typical as f64 * SAME;
            typical >= INITIAL_WINDOW && amounts.iter().filter(near).count() >= SAME_AMOUNTS
        }
    }
}

/// Settings of the kernel's TCP, which QUIC does not use.
fn is_of_tcp(action: &Action) -> bool {
    action.step().is_some_and(|step| step.is_tcp_setting())
}

/// Whether a problem matters for QUIC, whose payload is not read.
pub(super) fn is_problem(facts: &Facts, slug: &str) -> bool {
    facts.quic.is_none()
        || ![Cause::ShortSnaplen, Cause::NoHandshake, Cause::Offload].iter().any(|of| of.slug() == slug)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::is_hidden_from_log;
    use crate::rules::synthetic_transfer::SyntheticTransfer;
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::types::{End, Near, Quic, TransportParameters};
    use whyslow_core::tcp::QuicNotes;

    fn capped(offered: u64) -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[64_000; 20]);
        let client = TransportParameters { initial_max_data: Some(offered), ..TransportParameters::default() };
        let facts = Quic { version: 1, client, ..Quic::default() };
        scene.facts.quic = Some(Box::new(QuicNotes { facts, ..QuicNotes::default() }));
        scene
    }

    #[test]
    fn equal_flights_may_be_a_window() {
        let found = capped(100_000).finding(Cause::ProtocolWindow).unwrap();
        assert!(found.confidence < 0.6 && !found.to_confirm.is_empty(), "{found:?}");
        assert!(found.remedy().unwrap().action.command().is_none(), "not a setting of TCP");
    }

    #[test]
    fn flights_much_below_the_offered_window_are_not_a_window() {
        assert!(capped(1 << 20).finding(Cause::ProtocolWindow).is_none());
    }

    #[test]
    fn window_offered_by_the_client_is_likely() {
        let found = capped(65_536).finding(Cause::ProtocolWindow).unwrap();
        assert_eq!(found.confidence, 0.7);
    }

    #[test]
    fn log_hides_the_path_and_the_other_endpoint() {
        let hides = |cause, sender| is_hidden_from_log(cause, Some(sender), Near::Client);
        assert!(hides(Cause::Bandwidth, End::Client) && hides(Cause::Bandwidth, End::Server));
        assert!(hides(Cause::Application, End::Server) && !hides(Cause::Application, End::Client));
        assert!(hides(Cause::ZeroWindow, End::Client) && !hides(Cause::ZeroWindow, End::Server));
        assert!(hides(Cause::ServerThink, End::Server) && !hides(Cause::ClientThink, End::Server));
        assert!(!hides(Cause::ProtocolWindow, End::Server) && !hides(Cause::Loss, End::Server));
        assert!(is_hidden_from_log(Cause::Application, Some(End::Client), Near::Middle), "no endpoint's view");
    }
}

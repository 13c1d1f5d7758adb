//! iperf3 and iperf: the rate of a test, its retransmissions and its congestion window.

mod json;
mod measured;
mod text;

use crate::evidence::Evidence;
use crate::limits::{FEW, LOSSY, in_queue, line_rate};
use crate::path;
use crate::report::{Advice, Finding, Limitation, Source, Statement, Subject, Verdict};
use crate::text::Text;
use measured::{Interval, SEGMENT, Test};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, LinkAction, LossAction, Unit};

/// iperf's text, JSON, and lines of JSON.
pub(crate) struct Iperf;

/// A limit predicts the rate within this, as for captures.
const CLOSES: std::ops::RangeInclusive<f64> = 0.75..=1.3;
/// A window of fewer segments is what a timeout leaves.
const COLLAPSED: f64 = 2.5 * SEGMENT;
/// Parallel tests that are faster than one by this factor show a limit of each connection.
const PARALLEL: f64 = 1.5;
/// iperf's rate for UDP where `-b` is not given, bit/s, and a little more.
const UDP_RATE: f64 = 1.1e6;

/// The tool.
pub(crate) const SOURCE: Source = Source::new("iperf");

impl Evidence for Iperf {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::TestOnly]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let mut tests = json::tests(text.all());
        if tests.is_empty() {
            tests = text::tests(text);
        }
        let mut subjects: Vec<Subject> = tests.iter().map(subject).collect();
        compare(&tests, &mut subjects);
        subjects
    }

    fn complete(&self, subjects: &mut [Subject]) {
        use_round_trip(subjects);
    }
}

fn subject(test: &Test) -> Subject {
    let mut out = Subject::new(SOURCE, test.name.clone());
    let rate = test.rate().unwrap_or(0.0);
    out.figure("rate", Some(rate), Unit::BitsPerSecond);
    out.figure("steady rate", test.steady_rate().filter(|_| !test.udp), Unit::BitsPerSecond);
    out.figure("Retr", test.retransmits().filter(|_| !test.udp), Unit::Segments);
    out.figure("Cwnd", test.window(), Unit::Bytes);
    out.figure("rtt", test.rtt_s, Unit::Seconds);
    out.figure("min_rtt", test.least_rtt_s, Unit::Seconds);
    out.figure("streams", Some(test.streams.max(1) as f64).filter(|streams| *streams > 1.0), Unit::Connections);
    if test.udp {
        udp(test, rate, &mut out);
    } else {
        tcp(test, rate, &mut out);
    }
    out
}

fn udp(test: &Test, rate: f64, out: &mut Subject) {
    if rate < UDP_RATE {
        out.gaps.push(Limitation::UdpRate);
    }
    let Some((datagrams, of)) = test.lost else {
        out.verdict = Verdict::Unknown;
        return;
    };
    if datagrams >= FEW as f64 && datagrams >= LOSSY * of {
        let received = test.received.map(|one| one.bps).filter(|bps| *bps > 0.0);
        let received = received.or_else(|| (of > 0.0).then(|| rate * (1.0 - datagrams / of)));
        let statement = Statement::UdpLost { datagrams, of, received_bps: received };
        // No link loses a tenth or more by accident: more was sent than it carries.
        let over = datagrams >= 0.1 * of;
        let cause = if over { Cause::Bandwidth } else { Cause::Loss };
        let finding =
            Finding::new(cause, if over { 0.6 } else { 0.7 }, statement).shown("Lost", datagrams, Unit::Packets);
        let finding = match received.filter(|_| over) {
            Some(received_bps) => finding.advised(Actor::Sender, Advice::SendSlower { received_bps }),
            None => finding.remedied(Actor::Network, LossAction::FindLoss { share: Some((datagrams / of).min(1.0)) }),
        };
        out.findings.push(finding.open(Limitation::WhereLost));
    }
}

fn tcp(test: &Test, rate: f64, out: &mut Subject) {
    out.findings.extend(stalled(test));
    out.findings.extend(lossy(test));
    for (index, percent) in test.cpu.iter().enumerate() {
        // One thread of iperf3 before 3.16 is one processor.
        if let Some(percent) = percent.filter(|percent| *percent >= 90.0) {
            let statement = Statement::Processor { percent, at_peer: index == 1 };
            out.findings.push(
                Finding::new(Cause::HostCpu, 0.65, statement)
                    .shown("cpu", percent, Unit::Percent)
                    .remedied(Actor::Sender, LinkAction::CheckSendingProcessors),
            );
        }
    }
    if !out.findings.is_empty() {
        return;
    }
    if let Some(nominal) = line_rate(rate) {
        out.figure("line rate", Some(nominal), Unit::BitsPerSecond);
        return;
    }
    out.verdict = Verdict::Unknown;
    out.gaps.push(Limitation::WhichLimit);
    match (test.rtt_s, test.steady_window().or(test.window())) {
        (Some(rtt), Some(window)) => {
            let one = test.steady_rate().unwrap_or(rate / test.streams.max(1) as f64);
            out.findings.extend(by_window(window, rtt, test.least_rtt_s, one));
        }
        _ => out.gaps.push(Limitation::NoRoundTrip),
    }
}

fn stalled(test: &Test) -> Option<Finding> {
    let of_s: f64 = test.intervals.iter().map(|one| one.seconds).sum();
    let silent = |one: &&Interval| one.bytes == 0.0;
    let seconds: f64 = test.intervals.iter().filter(silent).map(|one| one.seconds).sum();
    if seconds < 0.5 || test.intervals.len() < 2 {
        return None;
    }
    let collapsed = test.intervals.iter().filter(silent).any(|one| one.cwnd.is_some_and(|cwnd| cwnd <= COLLAPSED));
    let lost = test.retransmits().is_some_and(|again| again > 0.0);
    let statement = Statement::Stalled { seconds, of_s };
    let finding = match (collapsed, lost) {
        (true, _) => Finding::new(Cause::Timeout, 0.85, statement),
        (false, true) => Finding::new(Cause::Timeout, 0.65, statement),
        (false, false) => Finding::unnamed(0.6, statement).open(Limitation::WhichLimit),
    };
    let finding = finding.costs(seconds);
    Some(match collapsed || lost {
        true => finding
            .remedied(Actor::Network, LossAction::FindLargeLoss)
            .remedied(Actor::Network, LossAction::FindLoss { share: None })
            .open(Limitation::WhereLost),
        false => finding,
    })
}

fn lossy(test: &Test) -> Option<Finding> {
    let again = test.retransmits()?;
    let of = (test.bytes() / SEGMENT).ceil();
    let share = (again / of.max(1.0)).min(1.0);
    // Fewer losses hold a long path: Mathis et al. 1997 within a factor of two, as for captures.
    let by_formula = test.least_rtt_s.or(test.rtt_s).zip(test.rate()).is_some_and(|(rtt, rate)| {
        let ceiling = SEGMENT * 8.0 / (rtt * (share * 2.0 / 3.0).sqrt()) * test.streams.max(1) as f64;
        (0.5..=2.0).contains(&(rate / ceiling))
    });
    if again < FEW as f64 || !(share >= LOSSY || by_formula) {
        return None;
    }
    let mut finding = Finding::new(Cause::Loss, 0.8, Statement::Lost { segments: again, of: Some(of) }).shown(
        "Retr",
        again,
        Unit::Segments,
    );
    if let Some(window) = test.window() {
        finding = finding.shown("Cwnd", window, Unit::Bytes);
    }
    Some(
        finding
            .remedied(Actor::Network, LossAction::FindLoss { share: Some(share) })
            .remedied(Actor::Sender, LossAction::UseBbr)
            .open(Limitation::WhereLost),
    )
}

/// Rate × round trip is the window: a window holds it, or a queue fills it.
fn by_window(window: f64, rtt: f64, least: Option<f64>, rate: f64) -> Option<Finding> {
    if least.is_some_and(|least| in_queue(rtt, least)) {
        let statement = Statement::LinkFull { nominal_bps: None, rate_bps: rate };
        return Some(
            Finding::new(Cause::Bandwidth, 0.65, statement)
                .shown("rtt", rtt, Unit::Seconds)
                .shown("min_rtt", least.unwrap_or(rtt), Unit::Seconds)
                .remedied(Actor::Network, LinkAction::AddCapacity { beyond_bps: Some(rate) }),
        );
    }
    let predicted = window * 8.0 / rtt;
    CLOSES.contains(&(rate / predicted)).then(|| {
        let statement = Statement::WindowPerRoundTrip { window, rtt_s: rtt, rate_bps: rate };
        Finding::new(Cause::SenderCap, 0.6, statement)
            .shown("Cwnd × 8 / rtt", predicted, Unit::BitsPerSecond)
            .shown("rate", rate, Unit::BitsPerSecond)
            .advised(Actor::Sender, Advice::EnlargeSendBuffer)
            .advised(Actor::Receiver, Advice::EnlargePeerWindow)
            .open(Limitation::WhichLimit)
    })
}

/// Compares a test with several connections with a test with one.
fn compare(tests: &[Test], subjects: &mut [Subject]) {
    let tcp = || tests.iter().enumerate().filter(|(_, test)| !test.udp);
    let one = tcp().filter(|(_, test)| test.streams <= 1).filter_map(|(at, test)| Some((at, test.rate()?)));
    let all = tcp().filter(|(_, test)| test.streams > 1).filter_map(|(_, test)| Some((test.streams, test.rate()?)));
    let one = one.max_by(|a, b| a.1.total_cmp(&b.1));
    let all = all.max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((at, one_bps)), Some((streams, all_bps))) = (one, all) else { return };
    if all_bps >= PARALLEL * one_bps && subjects[at].findings.is_empty() {
        let statement = Statement::OneConnectionHeld { one_bps, all_bps, connections: streams as f64 };
        subjects[at].findings.push(
            Finding::unnamed(0.75, statement)
                .advised(Actor::Receiver, Advice::EnlargePeerWindow)
                .advised(Actor::Sender, Advice::EnlargeSendBuffer)
                .open(Limitation::WhichLimit),
        );
    }
}

/// Gives the round trip of a ping to tests that have none.
/// A ping or a traceroute in the texts gives the round trip.
fn use_round_trip(subjects: &mut [Subject]) {
    let figure =
        |subject: &Subject, name: &str| subject.figures.iter().find(|one| one.name == name).map(|one| one.value);
    let pings: Vec<f64> = subjects
        .iter()
        .filter(|subject| path::Path.sources().contains(&subject.source))
        .filter_map(|subject| figure(subject, "min"))
        .collect();
    let [rtt] = pings[..] else { return };
    for subject in subjects.iter_mut() {
        if subject.source != SOURCE || !subject.gaps.contains(&Limitation::NoRoundTrip) {
            continue;
        }
        let one = || Some(figure(subject, "rate")? / figure(subject, "streams").unwrap_or(1.0));
        let rate = figure(subject, "steady rate").or_else(one);
        let (Some(rate), Some(window)) = (rate.filter(|rate| *rate > 0.0), figure(subject, "Cwnd")) else { continue };
        subject.gaps.retain(|gap| *gap != Limitation::NoRoundTrip);
        subject.figure("ping", Some(rtt), Unit::Seconds);
        // How long the window takes at this rate: longer than the round trip is a queue.
        let held = window * 8.0 / rate;
        let finding = by_window(window, held.max(rtt), Some(rtt), rate)
            .filter(|finding| finding.cause != Some(Cause::SenderCap.into()) || held <= rtt / CLOSES.start());
        subject.findings.extend(finding);
    }
}

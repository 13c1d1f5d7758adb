//! [`Headline`]: the verdict as one sentence, and what to do about it as another.
//!
//! Both are about the cause that cost most. They are written for a reader who reads nothing else;
//! evidence and figures follow them.

mod words;

use crate::problems::SELECTION;
use crate::ranking::{self, CauseCost, MainCause};
use crate::text::{capitalised, first_clause, units};
use whyslow_core::analysis::{Actor, Analysis, Cause, Connection, End, Finding, Limit, QUIC, State, Transfer};
use whyslow_core::units::Nanos;
use words::Ends;

/// A message of more bytes than an initial window (RFC 6928) is a download or an upload.
const BULK: u64 = 14_600;

/// The kind of a headline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something was slow.
    Slow,
    /// Nothing was.
    Healthy,
    /// The capture does not show it.
    Unknown,
}

/// The verdict in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// Its kind.
    pub tone: Tone,
    /// The verdict: `The download was slow because …: 158 of 184 ms.`
    pub sentence: String,
    /// What to do, and how long the transfer would then take.
    pub advice: Option<String>,
}

impl Headline {
    fn new(tone: Tone, sentence: String) -> Self {
        Self { tone, sentence, advice: None }
    }
}

/// A finding's confidence in a word.
pub fn confidence(value: f64) -> &'static str {
    match value {
        0.9.. => "certain",
        0.6.. => "likely",
        _ => "possible",
    }
}

/// The headline of an analysis.
pub fn of(analysis: &Analysis) -> Headline {
    match analysis.connections.as_slice() {
        [] if is_selection(analysis) => Headline::new(Tone::Unknown, "No connection matches.".to_owned()),
        [] => without_connection(analysis),
        [one] if analysis.findings.is_empty() => of_connection(one),
        several => of_several(analysis, several),
    }
}

/// What there is in captures without a TCP connection.
fn without_connection(analysis: &Analysis) -> Headline {
    const NONE: &str = "There is no TCP connection to explain";
    let packets: u64 = analysis.captures.iter().map(|capture| capture.packets).sum();
    let tcp: u64 = analysis.captures.iter().map(|capture| capture.tcp_packets).sum();
    let problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let quic: u64 = problems.filter(|problem| problem.slug == QUIC).map(|problem| problem.count).sum();
    if quic > 0 {
        let of = [quic, packets].map(units::thousands).join(" of ");
        let sentence = format!("{NONE}. Packets of QUIC, which is not TCP and is not read: {of}.");
        let advice = "To see the same over TCP, switch QUIC (HTTP/3) off in the client and capture again.".to_owned();
        return Headline { advice: Some(advice), ..Headline::new(Tone::Unknown, sentence) };
    }
    match (packets, tcp) {
        (1.., 0) => {
            Headline::new(Tone::Unknown, format!("{NONE}: none of {} is TCP.", units::count(packets, "packet")))
        }
        _ => Headline::new(Tone::Unknown, format!("{NONE}.")),
    }
}

/// Whether connections were left out on request.
fn is_selection(analysis: &Analysis) -> bool {
    let mut problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    problems.any(|problem| problem.slug == SELECTION)
}

/// The headline of one connection.
pub fn of_connection(connection: &Connection) -> Headline {
    match ranking::main_cause(connection) {
        Some(main) => slow(connection, &main),
        None => not_slow(connection),
    }
}

fn slow(connection: &Connection, main: &MainCause<'_>) -> Headline {
    let transfer = main.transfer.and_then(|index| connection.transfers.get(index));
    let clause = words::because(main.finding, Ends::of(transfer));
    let subject = match (transfer, main.times) {
        (Some(transfer), 1) => subject(transfer),
        _ => "The connection",
    };
    if main.seconds == Nanos::ZERO {
        let sentence = format!("{subject} was not slowed, but {clause}.");
        return Headline { advice: advice(main.finding, transfer), ..Headline::new(Tone::Healthy, sentence) };
    }
    let cost = match (main.times, transfer) {
        (1, Some(transfer)) => cost(main.seconds, Some(transfer.duration_s)),
        (1, None) => cost(main.seconds, None),
        (times, _) => format!("{}, {} times", units::span(main.seconds), units::thousands(times as u64)),
    };
    let sentence = match main.finding.cause {
        Cause::ClientThink => format!("Neither the network nor the server was slow: {clause}, {cost}."),
        // What failed was not slow.
        Cause::NoAnswer | Cause::Reset => format!("{}: {cost} lost.", capitalised(&clause)),
        _ => format!("{subject} was slow{} {clause}: {cost}.", hedge(main.finding)),
    };
    Headline { advice: advice(main.finding, transfer), ..Headline::new(Tone::Slow, sentence) }
}

/// `because`, with the doubt that there is.
fn hedge(finding: &Finding) -> &'static str {
    match confidence(finding.confidence) {
        "certain" => " because",
        "likely" => ", most likely because",
        _ => ", possibly because",
    }
}

fn not_slow(connection: &Connection) -> Headline {
    let longest = connection.transfers.iter().max_by_key(|transfer| (transfer.waited(), transfer.bytes));
    let Some(transfer) = longest else { return without_payload(connection) };
    let subject = subject(transfer).to_lowercase();
    if transfer.is_verdict_unknown() {
        let sentence = format!("{}.", capitalised(&transfer.verdict.replace(" it ", &format!(" {subject} "))));
        return Headline::new(Tone::Unknown, sentence);
    }
    let took = units::span(transfer.duration_s);
    if transfer.verdict == whyslow_core::analysis::HEALTHY_VERDICT {
        let idle = transfer.limits.iter().filter(|part| part.limit == Limit::Idle).map(|part| part.seconds).sum();
        let took = match idle {
            Nanos::ZERO => format!("it took {took}, which is what the path needs"),
            idle => format!(
                "of {took} it was idle for {}, and {} is what the path needs",
                units::span(idle),
                units::span(transfer.duration_s - idle)
            ),
        };
        return Headline::new(Tone::Healthy, format!("Nothing slowed {subject}: {took}."));
    }
    // No single cause explains it.
    Headline::new(Tone::Unknown, format!("{} took {took}: {}.", capitalised(&subject), transfer.verdict))
}

fn without_payload(connection: &Connection) -> Headline {
    let (tone, sentence) = match connection.state {
        State::Unanswered => (Tone::Slow, "The connection was never opened: the server did not answer."),
        State::Refused => (Tone::Slow, "The connection was refused: a reset answered the SYN."),
        State::Reset => (Tone::Slow, "The connection was reset before it carried anything."),
        State::Open | State::Closed | State::HalfClosed => {
            (Tone::Healthy, "Nothing was slow: the connection carried no data.")
        }
    };
    Headline::new(tone, sentence.to_owned())
}

fn of_several(analysis: &Analysis, connections: &[Connection]) -> Headline {
    let of = units::count(connections.len() as u64, "connection");
    let causes = ranking::by_cause(analysis);
    let Some(first) = causes.iter().find(|cost| cost.seconds > Nanos::ZERO) else {
        let unknown = connections.iter().flat_map(|one| &one.transfers).filter(|one| one.is_verdict_unknown()).count();
        return match unknown {
            0 => Headline::new(Tone::Healthy, format!("Nothing was slow: {of}.")),
            some => Headline::new(
                Tone::Unknown,
                format!("What slowed {} of {of} cannot be told.", units::count(some as u64, "transfer")),
            ),
        };
    };
    let Some((finding, transfer)) = example(analysis, connections, first) else {
        return Headline::new(Tone::Slow, format!("The costliest cause is {}.", first.cause));
    };
    let clause = words::because(finding, Ends::of(transfer));
    let hedge = hedge(finding);
    let (id, worst) = first.connections.first().copied().unwrap_or_default();
    // One connection is told of as one, whatever a few others lost to the same.
    let all: Nanos = first.connections.iter().map(|(_, seconds)| *seconds).sum();
    if worst.0 * 10 >= all.0 * 9 && transfer.is_some() {
        let whole = transfer.map(|one| one.duration_s).filter(|_| finding.seconds == worst);
        let sentence = format!("Connection #{id} was slow{hedge} {clause}: {}.", cost(worst, whole));
        return Headline { advice: advice(finding, transfer), ..Headline::new(Tone::Slow, sentence) };
    }
    let (slowed, cost) = (units::thousands(first.connections.len() as u64), units::span(first.seconds));
    let sentence = match first.connections.len() {
        1 => format!("Connection #{id} was slow{hedge} {clause}: {cost}."),
        _ => format!("{slowed} of {of} were slow{hedge} {clause}: {cost}."),
    };
    Headline { advice: fix(finding, transfer), ..Headline::new(Tone::Slow, sentence) }
}

/// The example of a cause over several connections: the finding that spans them, else the costliest
/// one, with its transfer.
fn example<'a>(
    analysis: &'a Analysis,
    connections: &'a [Connection],
    cost: &CauseCost,
) -> Option<(&'a Finding, Option<&'a Transfer>)> {
    let spanning = analysis.findings.iter().filter(|finding| finding.cause == cost.cause);
    let whole = spanning.max_by_key(|finding| finding.seconds);
    if let Some(whole) = whole.filter(|whole| whole.seconds.0 * 2 > cost.seconds.0 && cost.connections.len() > 1) {
        return Some((whole, None));
    }
    let worst = cost.connections.first().and_then(|(id, _)| connections.iter().find(|one| one.id == *id));
    let of_worst = worst.and_then(|worst| {
        let transfers = worst.transfers.iter().flat_map(|one| one.findings.iter().map(move |f| (f, Some(one))));
        let own = worst.findings.iter().map(|finding| (finding, None));
        let of_cause = transfers.chain(own).filter(|(finding, _)| finding.cause == cost.cause);
        of_cause.max_by_key(|(finding, _)| finding.seconds)
    });
    of_worst.or(whole.map(|whole| (whole, None)))
}

fn subject(transfer: &Transfer) -> &'static str {
    match (transfer.from, transfer.bytes > BULK) {
        (End::Server, true) => "The download",
        (End::Client, true) => "The upload",
        (End::Server, false) => "The answer",
        (End::Client, false) => "The request",
    }
}

/// `158 of 184 ms`; the cost alone if there is no whole, or it is smaller.
pub fn cost(seconds: Nanos, of: Option<Nanos>) -> String {
    let part = units::span(seconds);
    let Some(whole) = of.filter(|of| seconds <= *of).map(units::span) else { return part };
    match (part.rsplit_once(' '), whole.rsplit_once(' ')) {
        (Some((number, unit)), Some((all, same))) if unit == same && !all.contains(' ') && !number.contains(' ') => {
            format!("{number} of {whole}")
        }
        _ => format!("{part} of {whole}"),
    }
}

/// `Fix: on the server, keep the connection open and reuse it; then about 52 ms.`
fn advice(finding: &Finding, transfer: Option<&Transfer>) -> Option<String> {
    let fix = fix(finding, transfer)?;
    let (Some(time), Some(_)) = (finding.predicted_s, transfer) else { return Some(fix) };
    let assumed = finding.predicted_assumes.map_or(String::new(), |assumed| {
        format!(", if the path carries more than {}", units::rate(assumed.needed_bps))
    });
    Some(format!("{}; then about {}{assumed}.", fix.trim_end_matches('.'), units::span(time)))
}

/// `Fix: on the server, keep the connection open and reuse it.` Several connections get no
/// estimate, which is for one transfer.
fn fix(finding: &Finding, transfer: Option<&Transfer>) -> Option<String> {
    let fix = finding.fix.as_ref()?;
    let ends = Ends::of(transfer);
    let what = words::fix(finding, ends).unwrap_or_else(|| first_clause(&fix.what).to_owned());
    let place = match fix.who {
        Actor::Application => String::new(),
        Actor::Network if what.contains("path") => String::new(),
        Actor::Sender => format!("on the {}, ", ends.sender),
        Actor::Receiver => format!("on the {}, ", ends.receiver),
        Actor::Network => "on the path, ".to_owned(),
        Actor::Capture => "when capturing, ".to_owned(),
    };
    Some(format!("Fix: {place}{what}."))
}

#[cfg(test)]
mod tests;

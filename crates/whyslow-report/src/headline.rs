//! [`Headline`]: the verdict as one sentence, and what to do about it as another.
//!
//! Both are about the cause that cost most. They are written for a reader who reads nothing else;
//! evidence and figures follow them.

mod phrase;
mod words;

use crate::problems::SELECTION;
use crate::ranking::{self, CauseCost, Conclusion, MainCause};
use crate::text::units;
use crate::words::Lang;
use phrase::{Phrase, Subject, Sure};
use serde::Serialize;
use whyslow_analysis::{Analysis, Cause, Connection, Finding, LimitingFactor, QUIC, Remedy, State, Transfer, Verdict};
use whyslow_units::Nanos;
use words::Ends;

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

/// The costliest cause over all connections, as data.
#[derive(Clone, Debug, Serialize)]
pub struct HeadlineData<'a> {
    /// The cause.
    pub cause: Cause,
    /// Time that it cost, over all connections; simultaneous costs count once.
    pub cost_s: Nanos,
    /// 0–1.
    pub confidence: f64,
    /// The connections that it slowed, the worst first.
    pub connections: Vec<u64>,
    /// What to do.
    pub remedy: Option<&'a Remedy>,
}

/// The headline of an analysis as data; `None` if nothing was slow.
pub fn data(analysis: &Analysis) -> Option<HeadlineData<'_>> {
    let causes = ranking::slow_by_cause(analysis);
    let first = causes.into_iter().find(|cost| cost.seconds > Nanos::ZERO)?;
    let (finding, _) = example(analysis, &analysis.connections, &first)?;
    Some(HeadlineData {
        cause: first.cause,
        cost_s: first.seconds,
        confidence: finding.confidence,
        connections: first.connections.iter().map(|(id, _)| *id).collect(),
        remedy: finding.remedy(),
    })
}

/// A finding's confidence in a word.
pub fn confidence(value: f64, lang: Lang) -> &'static str {
    match (value, lang) {
        (0.9.., Lang::En) => "certain",
        (0.6.., Lang::En) => "likely",
        (_, Lang::En) => "possible",
        (0.9.., Lang::Zh) => "确定",
        (0.6.., Lang::Zh) => "很可能",
        (_, Lang::Zh) => "可能",
    }
}

/// The headline of an analysis.
pub fn of(analysis: &Analysis, lang: Lang) -> Headline {
    let headline = of_connections(analysis, lang);
    match Conclusion::of(analysis).unread {
        Some(unread) if headline.tone != Tone::Slow => {
            let phrase = Phrase::MostlyUnread { unread: unread.packets, of: unread.of };
            Headline::new(Tone::Unknown, phrase.text(lang))
        }
        _ => headline,
    }
}

fn of_connections(analysis: &Analysis, lang: Lang) -> Headline {
    match analysis.connections.as_slice() {
        [] if is_selection(analysis) => Headline::new(Tone::Unknown, Phrase::NoMatch.text(lang)),
        [] => without_connection(analysis, lang),
        [one] if analysis.findings.is_empty() => of_connection(one, analysis.threshold_s, lang),
        several => of_several(analysis, several, lang),
    }
}

/// The headline of captures without a TCP connection.
fn without_connection(analysis: &Analysis, lang: Lang) -> Headline {
    let packets: u64 = analysis.captures.iter().map(|capture| capture.packets).sum();
    let tcp: u64 = analysis.captures.iter().map(|capture| capture.tcp_packets).sum();
    let problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let quic: u64 = problems.filter(|problem| problem.slug == QUIC).map(|problem| problem.count).sum();
    let phrase = match (packets, tcp) {
        _ if quic > 0 => Phrase::OnlyQuic { quic, of: packets },
        (0, _) => Phrase::NoPacket,
        (_, 0) => Phrase::NoTcp { packets },
        _ => Phrase::NoConnection,
    };
    let advice = if quic > 0 { Phrase::SwitchQuicOff } else { Phrase::CaptureTcp };
    Headline { advice: Some(advice.text(lang)), ..Headline::new(Tone::Unknown, phrase.text(lang)) }
}

/// Whether connections were left out on request.
fn is_selection(analysis: &Analysis) -> bool {
    let mut problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    problems.any(|problem| problem.slug == SELECTION)
}

/// The headline of one connection, whose costs below `threshold` are not called slow.
pub fn of_connection(connection: &Connection, threshold: Nanos, lang: Lang) -> Headline {
    match (ranking::slow_cause(connection, threshold), ranking::main_cause(connection)) {
        (Some(main), _) => slow(connection, &main, lang),
        (None, Some(main)) if main.seconds == Nanos::ZERO => slow(connection, &main, lang),
        (None, Some(main)) => little(connection, &main, lang),
        (None, None) => not_slow(connection, lang),
    }
}

/// A cost that is too small to notice.
fn little(connection: &Connection, main: &MainCause<'_>, lang: Lang) -> Headline {
    let transfer = main.transfer.and_then(|index| connection.transfers.get(index));
    let subject = transfer.map_or(Subject::Connection, Subject::of);
    let clause = words::because(main.finding, Ends::of(transfer), lang);
    let phrase = match main.finding.cause {
        Cause::NoAnswer | Cause::Reset => Phrase::NotSlowedBut { subject, clause },
        _ => Phrase::Little { cost: units::span(main.seconds), clause },
    };
    Headline::new(Tone::Healthy, phrase.text(lang))
}

fn slow(connection: &Connection, main: &MainCause<'_>, lang: Lang) -> Headline {
    let transfer = main.transfer.and_then(|index| connection.transfers.get(index));
    let clause = words::because(main.finding, Ends::of(transfer), lang);
    let subject = match (transfer, main.times) {
        (Some(transfer), 1) => Subject::of(transfer),
        _ => Subject::Connection,
    };
    let advice = advice(main.finding, transfer, lang);
    if main.seconds == Nanos::ZERO {
        let sentence = Phrase::NotSlowedBut { subject, clause }.text(lang);
        return Headline { advice, ..Headline::new(Tone::Healthy, sentence) };
    }
    let cost = match (main.times, transfer) {
        (1, Some(transfer)) => cost(main.seconds, Some(transfer.duration_s), lang),
        (1, None) => cost(main.seconds, None, lang),
        (times, _) => Phrase::Times { cost: units::span(main.seconds), times: times as u64 }.text(lang),
    };
    let sentence = match main.finding.cause {
        Cause::ClientThink => Phrase::OwnProcessing { clause, cost },
        // A connection that failed was not slow.
        Cause::NoAnswer | Cause::Reset => Phrase::Failed { clause, cost },
        _ => Phrase::Slow { subject, sure: Sure::of(main.finding), clause, cost },
    };
    // Whether a user waited for the client's own program, only that program knows.
    let tone = if main.finding.is_waited_for() { Tone::Slow } else { Tone::Healthy };
    Headline { advice, ..Headline::new(tone, sentence.text(lang)) }
}

fn not_slow(connection: &Connection, lang: Lang) -> Headline {
    let longest = connection.transfers.iter().max_by_key(|transfer| (transfer.waited(), transfer.bytes));
    let Some(transfer) = longest else { return without_payload(connection, lang) };
    let subject = Subject::of(transfer);
    let took = units::span(transfer.duration_s);
    let (tone, phrase) = match transfer.verdict {
        Verdict::UnknownElided => (Tone::Unknown, Phrase::UnknownElided { subject }),
        Verdict::Unknown => (Tone::Unknown, Phrase::Unknown { subject }),
        Verdict::Healthy => {
            let parts = transfer.limits.iter().filter(|part| part.limit == LimitingFactor::Idle);
            let idle: Nanos = parts.map(|part| part.seconds).sum();
            (Tone::Healthy, Phrase::Healthy { subject, took: transfer.duration_s, idle })
        }
        // No single cause explains it.
        _ => {
            let verdict = crate::words::verdict(transfer, lang);
            (Tone::Unknown, Phrase::Took { subject, took, verdict })
        }
    };
    Headline::new(tone, phrase.text(lang))
}

fn without_payload(connection: &Connection, lang: Lang) -> Headline {
    let (tone, phrase) = match connection.state {
        State::Unanswered => (Tone::Slow, Phrase::NeverOpened),
        State::Refused => (Tone::Slow, Phrase::Refused),
        State::Reset => (Tone::Slow, Phrase::ResetAtOnce),
        State::Open | State::Closed | State::HalfClosed => (Tone::Healthy, Phrase::NoData),
    };
    Headline::new(tone, phrase.text(lang))
}

fn of_several(analysis: &Analysis, connections: &[Connection], lang: Lang) -> Headline {
    let of = connections.len() as u64;
    let causes = ranking::slow_by_cause(analysis);
    let Some(first) = causes.iter().find(|cost| cost.seconds > Nanos::ZERO) else {
        let unknown = connections.iter().flat_map(|one| &one.transfers).filter(|one| one.is_verdict_unknown()).count();
        return match unknown as u64 {
            0 => Headline::new(Tone::Healthy, Phrase::AllHealthy { of }.text(lang)),
            some => Headline::new(Tone::Unknown, Phrase::SomeUnknown { transfers: some, of }.text(lang)),
        };
    };
    let Some((finding, transfer)) = example(analysis, connections, first) else {
        return Headline::new(Tone::Slow, Phrase::Costliest { cause: first.cause }.text(lang));
    };
    let clause = words::because(finding, Ends::of(transfer), lang);
    let sure = Sure::of(finding);
    let (id, worst) = first.connections.first().copied().unwrap_or_default();
    // A cause of nearly one connection alone is reported for that one.
    let all: Nanos = first.connections.iter().map(|(_, seconds)| *seconds).sum();
    let subject = Subject::Numbered(id);
    if finding.cause == Cause::ClientThink {
        let sentence = Phrase::OwnProcessing { clause, cost: units::span(first.seconds) }.text(lang);
        return Headline { advice: advice(finding, transfer, lang), ..Headline::new(Tone::Healthy, sentence) };
    }
    if worst.0 * 10 >= all.0 * 9 && transfer.is_some() {
        let whole = transfer.map(|one| one.duration_s).filter(|_| finding.cost_s == worst);
        let sentence = Phrase::Slow { subject, sure, clause, cost: cost(worst, whole, lang) }.text(lang);
        return Headline { advice: advice(finding, transfer, lang), ..Headline::new(Tone::Slow, sentence) };
    }
    let cost = units::span(first.seconds);
    let phrase = match first.connections.len() as u64 {
        1 => Phrase::Slow { subject, sure, clause, cost },
        // One of them may have been selected.
        slowed => Phrase::SeveralSlow { slowed, of: of.max(slowed), sure, clause, cost },
    };
    let advice = words::fix(finding, transfer, false, lang);
    Headline { advice, ..Headline::new(Tone::Slow, phrase.text(lang)) }
}

/// The example of a cause over several connections: the finding that spans them, else the costliest
/// one, with its transfer.
fn example<'a>(
    analysis: &'a Analysis,
    connections: &'a [Connection],
    cost: &CauseCost,
) -> Option<(&'a Finding, Option<&'a Transfer>)> {
    let spanning = analysis.findings.iter().filter(|finding| finding.cause == cost.cause);
    let whole = spanning.max_by_key(|finding| finding.cost_s);
    if let Some(whole) = whole.filter(|whole| whole.cost_s.0 * 2 > cost.seconds.0 && cost.connections.len() > 1) {
        return Some((whole, None));
    }
    let worst = cost.connections.first().and_then(|(id, _)| connections.iter().find(|one| one.id == *id));
    let of_worst = worst.and_then(|worst| {
        let transfers = worst.transfers.iter().flat_map(|one| one.findings.iter().map(move |f| (f, Some(one))));
        let own = worst.findings.iter().map(|finding| (finding, None));
        let of_cause = transfers.chain(own).filter(|(finding, _)| finding.cause == cost.cause);
        of_cause.max_by_key(|(finding, _)| finding.cost_s)
    });
    of_worst.or(whole.map(|whole| (whole, None)))
}

/// `158 of 184 ms`; the cost alone if there is no whole, or it is smaller.
pub fn cost(seconds: Nanos, of: Option<Nanos>, lang: Lang) -> String {
    let part = units::span(seconds);
    let Some(whole) = of.filter(|of| seconds <= *of).map(units::span) else { return part };
    if lang == Lang::Zh {
        return format!("{whole} 中的 {part}");
    }
    match (part.rsplit_once(' '), whole.rsplit_once(' ')) {
        (Some((number, unit)), Some((all, same))) if unit == same && !all.contains(' ') && !number.contains(' ') => {
            format!("{number} of {whole}")
        }
        _ => format!("{part} of {whole}"),
    }
}

/// `Fix: reuse the connection (then about 100 ms); or raise the server's initial window to 32
/// segments (then about 402 ms).`
fn advice(finding: &Finding, transfer: Option<&Transfer>, lang: Lang) -> Option<String> {
    words::fix(finding, transfer, transfer.is_some(), lang)
}

#[cfg(test)]
mod tests;

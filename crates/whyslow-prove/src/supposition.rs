//! [`Supposition`]: another explanation of a captured transfer. It is run as the analysis's own is:
//! the explanation that makes the captured transfer again is the better one.

use super::captured::Captured;
use clap::ValueEnum;
use whyslow_analysis::{Cause, CostSpan, Finding, LimitShare, LimitSpan, LimitTime, LimitingFactor};
use whyslow_units::Nanos;

/// A mechanism that may have held a transfer. Losses are not among them: a capture shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Supposition {
    /// A full link.
    Bandwidth,
    /// The receiver's window.
    ReceiveWindow,
    /// The sender's buffer.
    SenderCap,
    /// The sending program.
    Application,
    /// The congestion window, which was still opening.
    SlowStart,
}

impl Supposition {
    /// All of them, the most frequent first.
    pub const ALL: [Self; 5] =
        [Self::ReceiveWindow, Self::Bandwidth, Self::SenderCap, Self::SlowStart, Self::Application];

    /// The cause that it supposes.
    pub const fn cause(self) -> Cause {
        match self {
            Self::Bandwidth => Cause::Bandwidth,
            Self::ReceiveWindow => Cause::ReceiveWindow,
            Self::SenderCap => Cause::SenderCap,
            Self::Application => Cause::Application,
            Self::SlowStart => Cause::SlowStart,
        }
    }

    const fn limit(self) -> LimitingFactor {
        match self {
            Self::Bandwidth => LimitingFactor::Bandwidth,
            Self::ReceiveWindow => LimitingFactor::ReceiveWindow,
            Self::SenderCap => LimitingFactor::SenderCap,
            Self::Application => LimitingFactor::Application,
            Self::SlowStart => LimitingFactor::SlowStart,
        }
    }

    /// The supposition that a finding of this cause makes, if its mechanism is one of them.
    pub fn of(cause: Cause) -> Option<Self> {
        Some(match cause {
            Cause::Bandwidth | Cause::Shaper | Cause::Bufferbloat => Self::Bandwidth,
            Cause::ReceiveWindow | Cause::ZeroWindow => Self::ReceiveWindow,
            Cause::SenderCap | Cause::ProtocolWindow => Self::SenderCap,
            Cause::Application | Cause::ProxySplit => Self::Application,
            Cause::SlowStart | Cause::RestartAfterIdle | Cause::EarlySlowStartExit => Self::SlowStart,
            _ => return None,
        })
    }
}

impl Captured {
    /// What the analysis supposes: the mechanism of its costliest cause.
    pub fn own_supposition(&self) -> Option<Supposition> {
        self.top().and_then(|finding| Supposition::of(finding.cause))
    }

    /// The same transfer with another explanation: the time of its costliest cause is under the
    /// supposed limit. `None` if the verdict is not about a part of this transfer's time.
    pub fn supposing(&self, other: Supposition) -> Option<Self> {
        if self.is_about_connection {
            return None;
        }
        let top = self.top()?.clone();
        if top.spans.is_empty() {
            return None;
        }
        let mut supposed = Self { is_supposed: true, ..self.clone() };
        let transfer = supposed.connection.transfers.get_mut(self.index)?;
        for span in &mut transfer.timeline {
            if is_mostly_in(span.start_s, span.seconds, &top.spans) {
                span.limit = other.limit();
            }
        }
        for round in &mut transfer.rounds {
            if is_mostly_in(round.start_s, round.duration_s, &top.spans) {
                round.limit = other.limit();
            }
        }
        transfer.limits = limits(&transfer.timeline);
        transfer.findings.retain(|finding| finding.cause != top.cause);
        let spans = top.spans;
        let statement = top.statement;
        transfer.findings.push(Finding { spans, ..Finding::new(other.cause(), top.cost_s, 0.5, statement) });
        supposed.connection.findings.clear();
        supposed.spanning.clear();
        Some(supposed)
    }
}

/// Whether at least half of a stretch of time is in spans.
fn is_mostly_in(start: Nanos, length: Nanos, spans: &[CostSpan]) -> bool {
    let end = start + length;
    let common = spans.iter().map(|span| (span.end().min(end).0 - span.start_s.max(start).0).max(0)).sum::<i64>();
    common > 0 && common * 2 >= length.0
}

/// The time under each limit, most first.
fn limits(timeline: &[LimitSpan]) -> Vec<LimitShare> {
    let mut times: Vec<LimitTime> = Vec::new();
    for span in timeline {
        match times.iter_mut().find(|time| time.limit == span.limit) {
            Some(time) => time.time += span.seconds,
            None => times.push(LimitTime { limit: span.limit, time: span.seconds }),
        }
    }
    times.sort_by_key(|time| std::cmp::Reverse(time.time));
    LimitShare::of(&times)
}

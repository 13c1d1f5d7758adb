//! [`Counted`]: a finding that rests on a counter, as a share of what was sent or received.

use crate::host::causes::HostCause;
use crate::host::finding::{Evidence, Finding, Fix, Source, figure};
use crate::host::look::{Look, Share};
pub(super) use whyslow_evidence::{DROPPED, ENOUGH, FEW, LOSSY};
use whyslow_report::text::units;

/// A counter that rose, and what it is a share of.
#[derive(Debug)]
pub(super) struct Counted {
    pub cause: HostCause,
    /// The counter's name, and that of what it is a share of.
    pub names: (String, &'static str),
    pub share: Share,
    pub confidence: f64,
    pub summary: String,
    pub fix: Fix,
}

impl Counted {
    /// The finding, with more evidence behind the counter.
    pub(super) fn into_finding(self, look: Look<'_>, more: impl IntoIterator<Item = Evidence>) -> Finding {
        let from = (Source::Counter, self.share.since());
        let mut evidence = vec![
            figure(self.names.0, self.share.count as f64, "", from),
            figure(self.names.1, self.share.all as f64, "", from),
        ];
        evidence.extend(more);
        Finding {
            cause: self.cause,
            namespace: look.foreign_name(),
            peer: None,
            seconds: None,
            cost: format!("{} of {}", part(self.share.value()), units::count(self.share.all, "segment")),
            confidence: self.confidence,
            summary: self.summary,
            evidence,
            fix: self.fix,
        }
    }
}

/// A share in words: `1.4 %`, and of what is rare `1 in 8,811`.
pub(super) fn part(value: f64) -> String {
    if value >= 0.001 || value <= 0.0 {
        return units::share(value);
    }
    format!("1 in {}", units::thousands((1.0 / value).round() as u64))
}

/// When it was counted, in words.
pub(super) fn when(share: Share) -> String {
    share.seconds.map_or("since boot".to_owned(), |seconds| format!("in {}", units::figure(seconds, "s")))
}

/// Another counter, as evidence.
pub(super) fn counter(look: Look<'_>, name: &str, share: Share) -> Option<Evidence> {
    let count = look.counter(name)?;
    let value = share.seconds.and(count.recent).map_or(count.boot, |(recent, _)| recent);
    Some(figure(name, value as f64, "", (Source::Counter, share.since())))
}

/// The value of a counter over the same time as a share.
pub(super) fn over(look: Look<'_>, name: &str, share: Share) -> Option<u64> {
    let count = look.counter(name)?;
    Some(share.seconds.and(count.recent).map_or(count.boot, |(recent, _)| recent))
}

/// The share of a counter without SYNs and SYN-ACKs that were sent again: `Tcp.RetransSegs`,
/// `TcpExt.TCPLostRetransmit` and `TcpExt.TCPTimeouts` count these as well, and one dead address
/// makes many of them.
pub(super) fn without_syns(look: Look<'_>, name: &str, share: Share) -> Option<u64> {
    Some(over(look, name, share)?.saturating_sub(over(look, "TcpExt.TCPSynRetrans", share)?))
}

/// The share of a counter in another one, where it is no small number and passes a threshold.
pub(super) fn passes(look: Look<'_>, names: (&str, &str), threshold: f64) -> Option<Share> {
    let share = look.counter(names.0)?.share_of(look.counter(names.1)?, ENOUGH)?;
    (share.count >= FEW && share.value() >= threshold).then_some(share)
}

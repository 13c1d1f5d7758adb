//! How an account confirms or contradicts a finding.

use super::coverage::Coverage;
use super::matching::Found;
use super::reading::{Outcome, Reading};
use crate::limits::{HELD_LEAST_US, HELD_SHARE, in_queue};
use crate::report::{Account, Figure};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    ExchangeQuestion, Finding, LinkQuestion, LossQuestion, Question, SendingQuestion, Transfer, Unit,
};

use Outcome::{Confirms, Contradicts};

/// A limit that held the sender for less of the busy time did not slow it.
const FREE: f64 = 0.05;
/// Share of the time with data that a buffer must limit to contradict another cause.
const MOST: f64 = 0.5;
/// The sender had data nearly all the time.
const READY: f64 = 0.9;
/// A measured threshold and the kernel's are the same within this.
const THRESHOLD: f64 = 0.3;
/// Unread bytes that no reader leaves between two reads: as for `ss` alone.
const UNREAD: f64 = 65_536.0;
/// Without a queue, the round trip is at most this much longer than the least one: a fifth, and
/// 2 ms for hosts and radio.
const NO_QUEUE: (f64, f64) = (1.2, 0.002);

/// A transfer and the account of one of its ends.
pub(super) struct About<'a> {
    pub found: &'a Found<'a>,
    pub transfer: &'a Transfer,
}

/// An answer, without its place.
pub(super) struct Judged {
    pub question: Option<Question>,
    pub outcome: Outcome,
    pub reading: Reading,
    pub evidence: Vec<Figure>,
}

type Verdict = Option<(Outcome, Reading)>;

impl About<'_> {
    /// The answers to a finding: to its questions, or else about its cause.
    pub(super) fn finding(&self, finding: &Finding) -> Vec<Judged> {
        let answered: Vec<Judged> = finding
            .to_confirm
            .iter()
            .filter_map(|question| {
                let verdict = self.question(question)?;
                Some(self.judged(Some(question.clone()), verdict))
            })
            .collect();
        if !answered.is_empty() {
            return answered;
        }
        self.cause(finding).map(|verdict| self.judged(None, verdict)).into_iter().collect()
    }

    fn judged(&self, question: Option<Question>, (outcome, reading): (Outcome, Reading)) -> Judged {
        Judged { question, outcome, reading, evidence: figures(self.account(), &reading) }
    }

    fn account(&self) -> &Account {
        self.found.account
    }

    /// The sender's account, if it covers the transfer.
    fn sender(&self) -> Option<Sender<'_>> {
        if self.found.end != self.transfer.from {
            return None;
        }
        Some(Sender { account: self.account(), coverage: Coverage::of(self.found, self.transfer)? })
    }

    fn question(&self, question: &Question) -> Verdict {
        use SendingQuestion as S;
        match question {
            Question::Sending(S::SlowReaderOrBusyHost) => self.unread(),
            Question::Sending(S::WhichCap { .. }) => self.sender()?.cap(),
            Question::Sending(S::WindowFullInQueue { .. } | S::WindowUnitUnknown) => self.sender()?.peer_window(),
            Question::Sending(S::WindowOrAnswers { .. }) => self.sender()?.own_window(),
            Question::Sending(S::FlightsEndShort) => self.sender()?.had_data(),
            Question::Sending(S::RememberedThreshold { segments, .. }) => self.sender()?.threshold(*segments as f64),
            Question::Sending(S::SenderOrNetworkRate) => self.sender()?.paced(),
            Question::Exchange(ExchangeQuestion::AppLimited) => self.sender()?.no_data(),
            Question::Exchange(ExchangeQuestion::PausesLikeTimers) => self.sender()?.no_loss(),
            Question::Loss(LossQuestion::FirstCopiesUnseen) => self.sender()?.lost(),
            Question::Loss(LossQuestion::OriginOfCopies) => self.sender()?.lost(),
            Question::Link(LinkQuestion::QueueHidden) => self.sender()?.queue(Confirms),
            Question::Link(LinkQuestion::QueueOrPolicer | LinkQuestion::ShortQueueOrPolicer) => {
                self.sender()?.queue(Contradicts)
            }
            Question::Link(LinkQuestion::FallBySender) => self.sender()?.not_by_itself(),
            _ => None,
        }
    }

    /// The account against the cause, where no question asks for it.
    fn cause(&self, finding: &Finding) -> Verdict {
        use Cause as C;
        match finding.cause {
            C::ZeroWindow if self.found.end != self.transfer.from => self.unread(),
            C::ReceiveWindow | C::NoWindowScaling | C::ZeroWindow => self.sender()?.peer_window(),
            C::SenderCap => self.sender()?.cap(),
            C::ProtocolWindow => self.sender()?.own_window(),
            C::Application => self.sender()?.no_data(),
            C::Pacing => self.sender()?.paced(),
            C::Bufferbloat => self.sender()?.queue(Confirms),
            C::Loss | C::RandomLoss | C::TailLoss | C::LostRetransmission | C::Timeout => {
                let sender = self.sender()?;
                sender.held_elsewhere().or_else(|| sender.lost())
            }
            C::SlowStart | C::EarlySlowStartExit | C::Bandwidth | C::Shaper | C::Policer => {
                // The kernel's largest limit can contradict only the cause of most of the transfer.
                let is_most = finding.cost_s.as_secs_f64() >= MOST * self.transfer.duration_s.as_secs_f64();
                self.sender().filter(|_| is_most)?.held_elsewhere()
            }
            _ => None,
        }
    }

    /// The receiver's account: data that its application has not read.
    fn unread(&self) -> Verdict {
        let is_receiver = self.found.end != self.transfer.from;
        let bytes = self.account().unread.filter(|bytes| is_receiver && *bytes >= UNREAD)?;
        Some((Confirms, Reading::Unread { bytes }))
    }
}

/// The sender's account of a transfer that it covers.
struct Sender<'a> {
    account: &'a Account,
    coverage: Coverage,
}

impl Sender<'_> {
    fn busy(&self) -> Option<f64> {
        self.account.busy_s.filter(|busy| *busy > 0.0)
    }

    /// A limit with a large share of the time with data. Time that may be other transfers' does not
    /// count.
    fn held(&self, limited_s: f64) -> Option<(f64, f64)> {
        let busy = self.busy()?;
        let own = (limited_s - self.coverage.others_s).max(0.0);
        (own * 1e6 >= HELD_LEAST_US as f64 && own >= HELD_SHARE * busy).then_some((limited_s, busy))
    }

    fn peer_held(&self) -> Option<Reading> {
        let (limited_s, busy_s) = self.held(self.account.rwnd_limited_s)?;
        Some(Reading::PeerWindow { limited_s, busy_s })
    }

    fn buffer_held(&self) -> Option<Reading> {
        let (limited_s, busy_s) = self.held(self.account.sndbuf_limited_s)?;
        Some(Reading::SendBuffer { limited_s, busy_s })
    }

    /// Neither buffer held it, which small counts show whatever they are of.
    fn neither(&self) -> Option<Reading> {
        let busy_s = self.busy()?;
        let limited = self.account.rwnd_limited_s + self.account.sndbuf_limited_s;
        let covers = busy_s >= MOST * self.coverage.of_s;
        (covers && limited < FREE * busy_s).then_some(Reading::NeitherBuffer { busy_s })
    }

    /// The sender had nothing to send: by the kernel's clock, or at most looks.
    fn idle(&self) -> Option<Reading> {
        let of_s = self.coverage.of_s;
        let idle = self.busy().map(|busy| of_s - busy);
        if let Some(idle) = idle.filter(|idle| *idle * 1e6 >= HELD_LEAST_US as f64 && *idle >= HELD_SHARE * of_s) {
            return Some(Reading::NoData { idle_s: Some(idle), of_s });
        }
        let by_looks = self.account.looks >= 3 && 2 * self.account.app_limited_looks > self.account.looks;
        by_looks.then_some(Reading::NoData { idle_s: None, of_s })
    }

    /// The sender had data for nearly all of the transfer, and no look contradicts that.
    fn ready(&self) -> Option<Reading> {
        let busy_s = self.busy()?;
        let of_s = self.coverage.of_s;
        let is_ready = busy_s - self.coverage.others_s >= READY * of_s && self.account.app_limited_looks == 0;
        is_ready.then_some(Reading::DataReady { busy_s, of_s })
    }

    fn peer_window(&self) -> Verdict {
        let otherwise = || self.buffer_held().or_else(|| self.neither()).map(|reading| (Contradicts, reading));
        self.peer_held().map(|reading| (Confirms, reading)).or_else(otherwise)
    }

    fn cap(&self) -> Verdict {
        let own = || self.buffer_held().or_else(|| self.idle()).map(|reading| (Confirms, reading));
        let other = || self.neither().map(|reading| (Contradicts, reading));
        self.peer_held().map(|reading| (Contradicts, reading)).or_else(own).or_else(other)
    }

    fn own_window(&self) -> Verdict {
        let buffers = || self.peer_held().or_else(|| self.buffer_held());
        let other = || buffers().or_else(|| self.ready()).map(|reading| (Contradicts, reading));
        self.idle().map(|reading| (Confirms, reading)).or_else(other)
    }

    fn no_data(&self) -> Verdict {
        let other = || self.peer_held().or_else(|| self.buffer_held()).or_else(|| self.ready());
        self.idle().map(|reading| (Confirms, reading)).or_else(|| other().map(|reading| (Contradicts, reading)))
    }

    fn had_data(&self) -> Verdict {
        let idle = || self.idle().map(|reading| (Contradicts, reading));
        self.held_elsewhere().or_else(idle).or_else(|| self.ready().map(|reading| (Confirms, reading)))
    }

    fn not_by_itself(&self) -> Verdict {
        let paced = self.limit().map(|(rate_bps, _)| Reading::Paced { rate_bps });
        let own = paced.or_else(|| self.idle()).map(|reading| (Contradicts, reading));
        own.or_else(|| self.ready().map(|reading| (Confirms, reading)))
    }

    /// A buffer held it for most of the time.
    fn held_elsewhere(&self) -> Verdict {
        let is_most = |reading: &Reading| match *reading {
            Reading::PeerWindow { limited_s, busy_s } | Reading::SendBuffer { limited_s, busy_s } => {
                limited_s >= MOST * busy_s
            }
            _ => false,
        };
        let reading = self.peer_held().into_iter().chain(self.buffer_held()).find(is_most)?;
        Some((Contradicts, reading))
    }

    /// Only a look at its end shows that nothing was sent again.
    fn lost(&self) -> Verdict {
        match self.account.retransmitted {
            segments if segments > 0.0 => Some((Confirms, Reading::Retransmitted { segments })),
            _ => self.coverage.is_whole.then_some((Contradicts, Reading::NotRetransmitted)),
        }
    }

    fn no_loss(&self) -> Verdict {
        self.lost().map(|(outcome, reading)| (if outcome == Confirms { Contradicts } else { Confirms }, reading))
    }

    /// A queue, with its verdict on the finding; without a queue the verdict is the opposite.
    fn queue(&self, if_queue: Outcome) -> Verdict {
        let (rtt_s, least_s) = self.account.rtt_s.zip(self.account.least_rtt_s)?;
        if in_queue(rtt_s, least_s) {
            return Some((if_queue, Reading::Queue { rtt_s, least_s }));
        }
        let is_free = rtt_s <= NO_QUEUE.0 * least_s + NO_QUEUE.1 && self.account.looks > 0;
        let otherwise = if if_queue == Confirms { Contradicts } else { Confirms };
        is_free.then_some((otherwise, Reading::NoQueue { rtt_s, least_s }))
    }

    fn threshold(&self, segments: f64) -> Verdict {
        // After a loss the threshold shows the loss, not a remembered value.
        if self.account.retransmitted > 0.0 {
            return None;
        }
        match (self.account.ssthresh, self.account.cwnd) {
            (Some(kernel), _) => {
                let is_same = (kernel - segments).abs() <= THRESHOLD * segments.max(1.0);
                Some((if is_same { Confirms } else { Contradicts }, Reading::Threshold { segments: kernel }))
            }
            (None, Some(window)) => Some((Contradicts, Reading::NoThreshold { window })),
            (None, None) => None,
        }
    }

    /// The rate that a setting gives, and the one that was delivered.
    fn limit(&self) -> Option<(f64, f64)> {
        let (limit, rate) = self.account.pacing_limit_bps.zip(self.account.delivery_bps)?;
        (limit > 0.0 && rate >= 0.8 * limit).then_some((limit, rate))
    }

    fn paced(&self) -> Verdict {
        if let Some((rate_bps, _)) = self.limit() {
            return Some((Confirms, Reading::Paced { rate_bps }));
        }
        let buffers = || self.held_elsewhere();
        self.idle().map(|reading| (Confirms, reading)).or_else(buffers)
    }
}

/// The kernel's figures behind a reading, under the kernel's names.
fn figures(account: &Account, reading: &Reading) -> Vec<Figure> {
    let seconds = |name: &str, value: f64| Some(Figure::new(name, value, Unit::Seconds));
    let counted = |name: &str, value: Option<f64>, unit: Unit| value.map(|value| Figure::new(name, value, unit));
    let figures = match reading {
        Reading::PeerWindow { limited_s, busy_s } => vec![
            seconds("rwnd_limited", *limited_s),
            seconds("busy", *busy_s),
            counted("snd_wnd", account.peer_window, Unit::Bytes),
        ],
        Reading::SendBuffer { limited_s, busy_s } => {
            vec![seconds("sndbuf_limited", *limited_s), seconds("busy", *busy_s)]
        }
        Reading::NeitherBuffer { busy_s } => vec![
            seconds("busy", *busy_s),
            seconds("rwnd_limited", account.rwnd_limited_s),
            seconds("sndbuf_limited", account.sndbuf_limited_s),
            counted("cwnd", account.cwnd, Unit::Segments),
        ],
        Reading::NoData { .. } | Reading::DataReady { .. } => vec![
            counted("busy", account.busy_s, Unit::Seconds),
            (account.looks > 0).then(|| {
                Figure::new(
                    "app_limited",
                    account.app_limited_looks as f64 / account.looks as f64 * 100.0,
                    Unit::Percent,
                )
            }),
        ],
        Reading::Queue { rtt_s, least_s } | Reading::NoQueue { rtt_s, least_s } => {
            vec![seconds("rtt", *rtt_s), seconds("minrtt", *least_s)]
        }
        Reading::Retransmitted { segments } => vec![counted("retrans", Some(*segments), Unit::Segments)],
        Reading::NotRetransmitted => vec![counted("retrans", Some(0.0), Unit::Segments)],
        Reading::Threshold { segments } => {
            vec![counted("ssthresh", Some(*segments), Unit::Segments), counted("cwnd", account.cwnd, Unit::Segments)]
        }
        Reading::NoThreshold { window } => vec![counted("cwnd", Some(*window), Unit::Segments)],
        Reading::Paced { rate_bps } => vec![
            counted("pacing_rate, at most", Some(*rate_bps), Unit::BitsPerSecond),
            counted("delivery_rate", account.delivery_bps, Unit::BitsPerSecond),
        ],
        Reading::Unread { bytes } => vec![counted("Recv-Q", Some(*bytes), Unit::Bytes)],
    };
    figures.into_iter().flatten().collect()
}

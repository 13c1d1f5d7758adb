//! The one table of precedence: which limits a cause may claim time under, in which order causes
//! get it, and where one cause is not named because another is there, or because other connections
//! explain it.
//!
//! Time goes first to causes that explain others, then to those that name a limit, then to those
//! that name none, and last to second readings of the same facts. Within a rank, causes that name
//! fewer limits come first, and then those that cost more.

use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::LimitingFactor;

/// The order in which causes get their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Causes others, which would not exist without it.
    Root,
    /// Claims the time under certain limits.
    Limit,
    /// Claims time wherever some is left.
    Any,
    /// Reads facts that another cause may explain too.
    SecondReading,
}

/// Claim of a cause: its rank, and the limits whose time it takes; `None` for any of them.
pub(super) type Precedence = (Rank, Option<&'static [LimitingFactor]>);

/// Claim of `cause`.
pub(super) fn of(cause: Cause) -> Precedence {
    use LimitingFactor as L;
    const fn root(limits: &'static [LimitingFactor]) -> Precedence {
        (Rank::Root, Some(limits))
    }
    const fn limits(limits: &'static [LimitingFactor]) -> Precedence {
        (Rank::Limit, Some(limits))
    }
    const fn second(limits: &'static [LimitingFactor]) -> Precedence {
        (Rank::SecondReading, Some(limits))
    }
    match cause {
        // A path that drops or delays explains the losses and timers that follow.
        Cause::MtuBlackHole => (Rank::Root, None),
        Cause::Policer => root(&[L::LossRecovery, L::Timeout, L::Bandwidth, L::CongestionAvoidance, L::SenderCap]),
        Cause::Bandwidth | Cause::Shaper => root(&[L::Bandwidth]),
        Cause::SmallSegments => {
            root(&[L::SlowStart, L::CongestionAvoidance, L::LossRecovery, L::Bandwidth, L::ReceiveWindow])
        }

        // Windows of the receiver and of the application's protocol.
        Cause::NoWindowScaling | Cause::ReceiveWindow => limits(&[L::ReceiveWindow]),
        Cause::ZeroWindow => limits(&[L::ZeroWindow]),
        Cause::ProtocolWindow => limits(&[L::ProtocolWindow]),

        // Recovery of losses.
        Cause::Timeout => limits(&[L::Timeout]),
        Cause::LostRetransmission | Cause::TailLoss => limits(&[L::Timeout, L::LossRecovery]),
        Cause::SpuriousRetransmission => limits(&[L::Timeout, L::LossRecovery, L::CongestionAvoidance]),
        Cause::Loss | Cause::RandomLoss | Cause::Reordering => limits(&[L::LossRecovery, L::CongestionAvoidance]),
        Cause::NoSack => limits(&[L::LossRecovery]),

        // Waits for an ACK, for the program, for the sender's own pace.
        Cause::DelayedAck => limits(&[L::AckDelay]),
        Cause::Application => limits(&[L::Application]),
        Cause::ServerThink => limits(&[L::ServerThink]),
        Cause::Pacing => limits(&[L::Pacing]),
        Cause::SenderCap => limits(&[L::SenderCap]),

        // The congestion window.
        Cause::RestartAfterIdle | Cause::SlowStart => limits(&[L::SlowStart]),
        Cause::EarlySlowStartExit | Cause::Ecn => limits(&[L::CongestionAvoidance]),

        // Round trips that a queue makes longer: where the link is full the link takes that time.
        Cause::Bufferbloat => second(&[L::SlowStart, L::CongestionAvoidance, L::Unknown]),
        Cause::ProxySplit => second(&[L::Application, L::ServerThink]),
        Cause::HostCpu => (Rank::SecondReading, None),
        _ => (Rank::Any, None),
    }
}

/// Where a transfer shows one of these causes, `cause` is not named: it is the same thing, seen
/// from farther away.
pub(crate) const fn excluded_by(cause: Cause) -> &'static [Cause] {
    match cause {
        Cause::Bandwidth => &[Cause::Policer, Cause::Shaper],
        Cause::Loss => &[Cause::Policer, Cause::RandomLoss],
        Cause::ReceiveWindow => &[Cause::NoWindowScaling],
        Cause::SenderCap | Cause::Shaper => &[Cause::Policer],
        Cause::SlowStart => &[Cause::RestartAfterIdle],
        Cause::TailLoss | Cause::Timeout => &[Cause::MtuBlackHole],
        _ => &[],
    }
}

/// Effects of other connections on a transfer, as an explanation of its findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explainer {
    /// A full link that several transfers share.
    FullLink,
    /// The others' share of that link: a gain of one is taken from them.
    OthersShare,
    /// A queue that another transfer made.
    OthersQueue,
    /// The time belongs to another connection that worked for this one.
    OthersWork,
}

/// Whether findings of `cause` are explained by it, and so are not a cause of their own (or, for
/// [`OthersShare`](Explainer::OthersShare), promise nothing).
pub(crate) const fn is_explained_by(explainer: Explainer, cause: Cause) -> bool {
    match explainer {
        Explainer::FullLink => matches!(
            cause,
            Cause::Bandwidth
                | Cause::DelayedAck
                | Cause::EarlySlowStartExit
                | Cause::Ecn
                | Cause::HostCpu
                | Cause::Loss
                | Cause::LostRetransmission
                | Cause::Policer
                | Cause::RandomLoss
                | Cause::SenderCap
                | Cause::Shaper
                | Cause::TailLoss
                | Cause::Timeout
        ),
        Explainer::OthersShare => matches!(
            cause,
            Cause::NoSack
                | Cause::NoWindowScaling
                | Cause::Pacing
                | Cause::ReceiveWindow
                | Cause::SlowStart
                | Cause::SpuriousRetransmission
        ),
        Explainer::OthersQueue => matches!(cause, Cause::DelayedAck | Cause::PathLatency | Cause::ServerThink),
        Explainer::OthersWork => matches!(cause, Cause::Application | Cause::ServerThink),
    }
}

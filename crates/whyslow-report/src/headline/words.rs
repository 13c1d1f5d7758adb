//! What each cause says after "because".

use crate::text::units;
use whyslow_core::analysis::{Actor, Cause, End, Finding, Transfer, Unit};

/// The names of the two ends of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub sender: &'static str,
    pub receiver: &'static str,
}

impl Ends {
    pub(super) fn of(transfer: Option<&Transfer>) -> Self {
        match transfer.map(|transfer| transfer.from) {
            Some(End::Server) => Self { sender: "server", receiver: "client" },
            Some(End::Client) => Self { sender: "client", receiver: "server" },
            None => Self { sender: "sender", receiver: "receiver" },
        }
    }
}

/// Why it was slow.
pub(super) fn because(finding: &Finding, ends: Ends) -> String {
    let Ends { sender, receiver } = ends;
    match finding.cause {
        Cause::Application => format!("the {sender}'s program had nothing to send"),
        Cause::DelayedAck => format!("the {receiver} delayed its ACKs"),
        Cause::EarlySlowStartExit => format!("the {sender} left slow start early"),
        Cause::Ecn => format!("a queue on the path marked packets (ECN) and the {sender} slowed down"),
        Cause::Pacing => format!("the {sender} paced itself to one rate"),
        Cause::ReceiveWindow if is_for(finding, Actor::Application) => {
            format!("the {receiver}'s program read too slowly and its receive window stayed full")
        }
        Cause::ReceiveWindow => format!("the {receiver}'s receive window is too small"),
        Cause::Reordering => format!("packets arrived out of order and the {sender} took them for lost"),
        Cause::RestartAfterIdle => format!("the {sender} went back to slow start after it was idle"),
        Cause::SenderCap => match largest_flight(finding) {
            Some(most) => format!("the {sender} never had more than {most} in flight"),
            None => format!("something caps what the {sender} has in flight"),
        },
        Cause::SlowStart => format!("the {sender}'s congestion window was still growing"),
        Cause::Timeout => format!("the {sender} noticed lost packets only when its retransmission timer expired"),
        Cause::ZeroWindow => format!("the {receiver}'s program did not read and its receive window closed"),
        cause => of_any_end(cause).to_owned(),
    }
}

/// The causes whose words name neither end.
fn of_any_end(cause: Cause) -> &'static str {
    match cause {
        Cause::AmplificationRisk => "a small request got a huge burst at once",
        Cause::Bandwidth => "the path carried no more",
        Cause::Bufferbloat => "a long queue on the path delayed every round trip",
        Cause::ClientThink => "the client's own program took its time before its requests",
        Cause::Duplication => "the network delivered packets twice",
        Cause::HostCpu => "a host was short of processor time",
        Cause::Loss => "packets were lost",
        Cause::LostRetransmission => "retransmissions were lost too",
        Cause::MtuBlackHole => "large packets did not pass the path",
        Cause::NagleDelayedAck => "each small write waited for the ACK of the one before (Nagle's algorithm)",
        Cause::NewConnectionEachTime => "every exchange opened a new connection",
        Cause::NoAnswer => "no answer came",
        Cause::NoSack => "SACK is off and each lost segment took a round trip of its own to repair",
        Cause::NoWindowScaling => "window scaling is off and no more than 65,535 B can be in flight",
        Cause::PathLatency => "the first packets took far longer than later ones",
        Cause::Policer => "a policer dropped what exceeded its rate",
        Cause::ProtocolWindow => "the application protocol's own window was full",
        Cause::ProxySplit => "a proxy fetched the data over a slower connection behind it",
        Cause::RandomLoss => "packets were lost at random",
        Cause::Reset => "the connection was reset",
        Cause::ServerThink => "the server took its time to answer",
        Cause::Shaper => "a shaper held the path to a lower rate",
        Cause::SmallSegments => "the data went out in small segments",
        Cause::SpuriousRetransmission => "data was retransmitted although it had arrived",
        Cause::SynLoss => "the SYN had to be retransmitted",
        Cause::TailLoss => "the last packets of a burst were lost",
        Cause::TlsRecordBuffering => "the first TLS record did not fit the first flight",
        Cause::TurnTaking => "the two programs take turns, and each turn costs a round trip",
        _ => "of what is told below",
    }
}

/// What to do, if the finding's own first words do not say it.
pub(super) fn fix(finding: &Finding, ends: Ends) -> Option<String> {
    let text = match finding.cause {
        Cause::ReceiveWindow if is_for(finding, Actor::Receiver) => "enlarge the receive buffer".to_owned(),
        Cause::ReceiveWindow => format!("make the {}'s program read faster", ends.receiver),
        Cause::SenderCap => "find what caps the bytes in flight, most often a socket's send buffer".to_owned(),
        Cause::ProtocolWindow => "raise the window of the application's protocol".to_owned(),
        Cause::Bandwidth => "only more capacity or fewer bytes help".to_owned(),
        Cause::DelayedAck => "acknowledge at once, or let the sender have more in flight".to_owned(),
        Cause::EarlySlowStartExit => "forget the slow-start threshold that is remembered for this peer".to_owned(),
        Cause::Ecn => "give the queue that marks packets more capacity or a higher target".to_owned(),
        Cause::MtuBlackHole => "let ICMP \"packet too big\" pass, or clamp the MSS".to_owned(),
        Cause::NoSack => "turn SACK on".to_owned(),
        Cause::NoWindowScaling => "turn window scaling on, or find what strips the option on the path".to_owned(),
        Cause::Pacing => "find what limits its sending rate, and raise it".to_owned(),
        Cause::PathLatency => "find what the first packet sets up, and keep it warm".to_owned(),
        Cause::ProxySplit => "keep the proxy's connections open, and capture behind it".to_owned(),
        Cause::TurnTaking => "batch or pipeline the requests".to_owned(),
        Cause::NoAnswer if is_for(finding, Actor::Application) => "look at what the server's program did".to_owned(),
        Cause::ZeroWindow => format!("make the {}'s program read faster", ends.receiver),
        Cause::Application => format!("make the {}'s program read ahead and write larger pieces", ends.sender),
        _ => return None,
    };
    Some(text)
}

fn is_for(finding: &Finding, who: Actor) -> bool {
    finding.remedy().is_some_and(|remedy| remedy.actor == who)
}

/// The largest flight, which is the first figure of the evidence.
fn largest_flight(finding: &Finding) -> Option<String> {
    let first = finding.evidence.first().filter(|first| first.unit == Unit::Bytes)?;
    Some(units::figure(first.value, first.unit.symbol()))
}

//! Lost, repeated and reordered packets.

use super::ends::{name, syn};
use crate::words::quantity::{count, percent, thousands, time};
use whyslow_analysis::{LossAction, LossQuestion, LossStatement, RepairSpeed, TailRepair};
use whyslow_units::Nanos;

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(super) fn statement(statement: &LossStatement) -> String {
    match statement {
        LossStatement::DeliveredTwice { packets, share, cost_s } => format!(
            "the network delivered {} twice, {:.1} % of the packets in that direction, which took {} of the link's time",
            count(*packets, "packet"),
            share * 100.0,
            time(*cost_s),
        ),
        LossStatement::FewLost { segments, cost_s, whole_s } => {
            format!("{} had to be retransmitted{}", count(*segments, "lost segment"), repair(*cost_s, *whole_s))
        }
        LossStatement::LargeSegmentsMissing { largest, agreed, silence_s, packets } => format!(
            "no segment of more than {} B arrived here, although both ends had agreed on {} B: in {} of silence the sender sent {} that never arrived",
            thousands(*largest),
            thousands(*agreed),
            time(*silence_s),
            count(*packets, "packet"),
        ),
        LossStatement::LargeSegmentsStuck { size, times, cost_s, whole_s } => format!(
            "segments of {} B did not pass, {} in a row, although smaller packets did: {} of {} went to waiting for the timer",
            thousands(*size),
            count(*times, "time"),
            time(*cost_s),
            time(*whole_s),
        ),
        LossStatement::LateResponse { wait_s, packets } => format!(
            "the response began {} late: the sender had sent {} that never arrived here, and waited for its retransmission timer",
            time(*wait_s),
            count(*packets, "packet"),
        ),
        LossStatement::Lost { share, segments, cost_s, whole_s } => format!(
            "{} of the bytes were lost and retransmitted ({}){}",
            percent(*share),
            count(*segments, "segment"),
            repair(*cost_s, *whole_s),
        ),
        LossStatement::LostAtRandom { share, segments, cost_s, whole_s } => format!(
            "{} of the bytes were lost one at a time ({}), whatever was in flight and without a queue{}",
            percent(*share),
            count(*segments, "segment"),
            repair(*cost_s, *whole_s),
        ),
        LossStatement::NoSack { missing, recoveries, took_s, with_sack_s } => format!(
            "{} lacks SACK-permitted, so {} took {} instead of about {}: each hole cost a round trip",
            syn(*missing),
            if *recoveries == 1 { "1 recovery".to_owned() } else { format!("{} recoveries", thousands(*recoveries)) },
            time(*took_s),
            time(*with_sack_s),
        ),
        LossStatement::Reordered { segments, of, by_s } => format!(
            "{} of {} segments arrived after later ones{}, and the sender took some of them for lost",
            thousands(*segments),
            thousands(*of),
            by_s.map_or(String::new(), |by| format!(", by up to {}", time(by))),
        ),
        LossStatement::RetransmissionsLost { segments, cost_s, whole_s } => format!(
            "{} {} lost too: waiting for the next ones took {} of {}",
            count(*segments, "retransmission"),
            if *segments == 1 { "was" } else { "were" },
            time(*cost_s),
            time(*whole_s),
        ),
        LossStatement::SizeIgnored { by, mtu } => format!(
            "{by} reports by ICMP that packets of up to {} B pass, and the sender ignores it",
            thousands(u64::from(*mtu))
        ),
        LossStatement::SpuriouslyRetransmitted { segments, of, cost_s } => format!(
            "{} of {} retransmissions were spurious, as the data had arrived: they cost about {} of the time for repairs",
            thousands(*segments),
            thousands(*of),
            time(*cost_s),
        ),
        LossStatement::TailLost { repaired_by, times, cost_s, whole_s } => format!(
            "the end of a burst was lost, and the sender repaired it only by {}: {} of {} waiting, {}",
            match repaired_by {
                TailRepair::Probe => "a tail loss probe",
                TailRepair::Timer => "its retransmission timer",
            },
            time(*cost_s),
            time(*whole_s),
            count(*times, "time"),
        ),
        LossStatement::TimerWaits { times, cost_s, whole_s } => format!(
            "the sender waited {} of {} for its retransmission timer, {}",
            time(*cost_s),
            time(*whole_s),
            count(*times, "time"),
        ),
    }
}

/// What the losses cost, as a clause behind another one.
fn repair(cost: Nanos, whole: Nanos) -> String {
    format!("; repairing that, and sending slower afterwards, took {} of {}", time(cost), time(whole))
}

pub(super) fn question(question: &LossQuestion) -> String {
    match question {
        LossQuestion::BurstOrigin => {
            "losses in bursts come from a full queue, a policer, or a link that fails for moments: send at a constant rate below this one, and the losses of a queue or a policer stop".to_owned()
        }
        LossQuestion::DuplicationPlace => "captures on each hop show where the second copy first appears".to_owned(),
        LossQuestion::FirstCopiesUnseen => {
            "the first copies never arrived here, as the sender's IP numbers show: a capture at the sender has them"
                .to_owned()
        }
        LossQuestion::OriginOfCopies => {
            "IP numbers (tcpdump -v) show whether the sender or the network made the second copies".to_owned()
        }
        LossQuestion::PingLarge { fails } => format!(
            "ping with packets of that size that may not be fragmented: `ping -M do -s {fails}` must fail where `ping -M do -s 1000` passes"
        ),
        LossQuestion::PingReportedSize { from, passes } => format!(
            "from the {end}, `ping -M do -s {passes}` must pass, and `ping -M do -s {}` must fail; a capture on the {end}'s own interface shows whether the errors arrive there",
            passes + 1,
            end = name(*from),
        ),
        LossQuestion::RandomOrQueue => {
            "send at a constant low rate (iperf3 -u -b 1M): random losses stay in proportion, and the losses of a queue or a policer stop".to_owned()
        }
        LossQuestion::SackAtItsEnd { end } => {
            format!("a capture next to the {} shows whether its own SYN has the option", name(*end))
        }
    }
}

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(super) fn action(action: &LossAction) -> String {
    match action {
        LossAction::AcceptIcmp { from, on } => format!(
            "let the {}'s host accept the ICMP errors of {from}, which reach it: a firewall drops them, or its reverse-path filter does because it has no route to {from}",
            name(*on)
        ),
        LossAction::BalanceByFlow => {
            "find the parallel links (ECMP, LAG) that split this flow by packet, and balance by flow".to_owned()
        }
        LossAction::ClampMss { to: Some(to) } => format!("clamp the MSS to {} B", thousands(*to)),
        LossAction::ClampMss { to: None } => "clamp the MSS at the tunnel".to_owned(),
        LossAction::EnableRack => {
            "enable RACK, with SACK: the sender then finds lost retransmissions without its timer".to_owned()
        }
        LossAction::EnableSack { on } => format!("enable SACK on the {}", name(*on)),
        LossAction::EnableSackForProbes { on } => {
            format!("enable SACK on the {}: without it the sender sends no tail loss probe", name(*on))
        }
        LossAction::EnableTailProbes { missed_s: Some(wait) } => {
            format!("enable tail loss probes (RACK-TLP): no probe came in {}", time(*wait))
        }
        LossAction::EnableTailProbes { missed_s: None } => {
            "enable tail loss probes (RACK-TLP), with SACK".to_owned()
        }
        LossAction::FindBurstLoss => {
            "find what drops several packets in a row: a policer, a full queue, a radio link".to_owned()
        }
        LossAction::FindDamage { share } => format!(
            "find the link that damages {} of its packets: check the error counters (CRC, FCS) of every interface and switch port, cables, optics, radio, duplex",
            percent(*share)
        ),
        LossAction::FindDuplication => {
            "find what copies packets: a loop, a bond in broadcast mode, a tunnel over two links, flooding of unknown addresses".to_owned()
        }
        LossAction::FindFlightLoss => {
            "find where the network loses whole flights, or a segment and its retransmission".to_owned()
        }
        LossAction::FindLargeLoss => {
            "find where the network lost that flight and its retransmissions while smaller packets passed".to_owned()
        }
        LossAction::FindLoss { share } => {
            let packets = share.map_or("packets".to_owned(), |share| format!("{} of the packets", percent(share)));
            format!("find where the network loses {packets}: cable, radio, policer, full queue")
        }
        LossAction::FindSackStripper => "find the firewall or balancer that strips the SACK option".to_owned(),
        LossAction::FindTailLoss { repair: RepairSpeed::Best } => {
            "find where the network loses packets; the sender repairs a lost tail as fast as TCP can".to_owned()
        }
        LossAction::FindTailLoss { repair: RepairSpeed::Improvable } => {
            "find where the network loses packets".to_owned()
        }
        LossAction::PaceSender => {
            "pace the sender (BBR, or the fq queue on its interface), which keeps retransmissions out of such bursts"
                .to_owned()
        }
        LossAction::PassIcmp => "let ICMP \"fragmentation needed\" and \"packet too big\" pass".to_owned(),
        LossAction::PassIcmpOf { from, to } => format!(
            "let the ICMP errors of {from} pass on to the {}: they come as far as this capture",
            name(*to)
        ),
        LossAction::ProbeMtu => "enable MTU probing".to_owned(),
        LossAction::RaiseTimerFloor { .. } => {
            "raise the minimum of the retransmission timer above the delay spikes of the network".to_owned()
        }
        LossAction::UpdateKernel => "update the kernel if it is older than Linux 4.0".to_owned(),
        LossAction::UseBbr => "use BBR until the loss is fixed: it reacts less to random loss".to_owned(),
    }
}

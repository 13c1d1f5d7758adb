//! The rate of the link and its queue, and the hosts at its ends.

use crate::words::quantity::{count, rate, thousands, time};
use whyslow_analysis::{
    CommonEnds, Excess, LinkAction, LinkQuestion, LinkStatement, PolicerEvidence, QueueSight, SharedBottleneck,
};

/// Rates of more transfers than these are printed as a range.
const LISTED: usize = 4;

pub(super) fn statement(statement: &LinkStatement) -> String {
    match statement {
        LinkStatement::LateAcks { delay_s, rtt_s, cost_s, whole_s } => format!(
            "the receiving host acknowledged data {} after it arrived (median), which lengthened each round trip of {}: about {} of {}",
            time(*delay_s),
            time(*rtt_s),
            time(*cost_s),
            time(*whole_s),
        ),
        LinkStatement::Marked { echoes, before, after, cost_s, whole_s } => format!(
            "a queue marked packets ({} echoed it), and the sender cut its window from {} B to {} B although nothing was lost; it spent {} of {} at the reduced window",
            count(*echoes, "ACK"),
            thousands(*before),
            thousands(*after),
            time(*cost_s),
            time(*whole_s),
        ),
        LinkStatement::Policed { segments, shown, cost_s, whole_s } => format!(
            "this looks like a policer: {} lost, and {}; that took {} of {}",
            if *segments == 1 { "1 segment was".to_owned() } else { format!("{} segments were", thousands(*segments)) },
            policer(shown),
            time(*cost_s),
            time(*whole_s),
        ),
        LinkStatement::QueueGrew { least_s, most_s } => format!(
            "a queue grew with the bytes in flight: round trips went from {} to {}",
            time(*least_s),
            time(*most_s)
        ),
        LinkStatement::SenderPaused { times, cost_s } => format!(
            "the sending host paused {} for {} in all, with full segments to send, room in both windows and nothing to wait for",
            count(*times, "time"),
            time(*cost_s),
        ),
        LinkStatement::Shaped { burst, burst_bps, rate_bps, queue } => format!(
            "the network let {} B pass at {} and then held the transfer to {}, {}",
            thousands(*burst),
            rate(*burst_bps),
            rate(*rate_bps),
            queue.map_or("and a queue cannot be seen here".to_owned(), |rise| format!(
                "with a queue: round trips went from {} to {}",
                time(rise.before_s),
                time(rise.after_s)
            )),
        ),
        LinkStatement::SharedLink { link, own_bps } => {
            format!("{}; this transfer got {}", bottleneck(link), rate(*own_bps))
        }
        LinkStatement::SharedLinkOfAll { link, ends, rates_bps } => {
            format!("{}, {}; each got: {}", bottleneck(link), common(ends), rates(rates_bps))
        }
        LinkStatement::SteadyRate { payload_bps, wire_bps, held_s, whole_s } => format!(
            "one rate governs the transfer: {} of payload, about {} on the wire, for {} of {}",
            rate(*payload_bps),
            rate(*wire_bps),
            time(*held_s),
            time(*whole_s),
        ),
    }
}

fn policer(shown: &PolicerEvidence) -> String {
    match shown {
        PolicerEvidence::RateBetweenLosses { rate_bps, queue } => {
            let queue = match queue {
                QueueSight::Absent => "although no queue grew",
                QueueSight::Hidden => "and a queue cannot be seen here",
            };
            format!("between losses the rate was always {}, {queue}", rate(*rate_bps))
        }
        PolicerEvidence::ExcessLost { offered_bps, passed_bps } => format!(
            "of {} and more that were offered only {} passed, and what passed did not wait in a queue",
            rate(*offered_bps),
            rate(*passed_bps)
        ),
        PolicerEvidence::FasterFirstFlight { offered_bps, passed_bps } => format!(
            "of {} and more that were offered only {} passed, although the first flight came faster, and a queue cannot be seen here",
            rate(*offered_bps),
            rate(*passed_bps)
        ),
    }
}

fn bottleneck(link: &SharedBottleneck) -> String {
    let SharedBottleneck { excess, transfers, connections, payload_bps, wire_bps, time_s } = link;
    let those = if transfers == connections {
        format!("{} at the same time", count(*transfers, "transfer"))
    } else {
        format!("{} of {} at the same time", count(*transfers, "transfer"), count(*connections, "connection"))
    };
    let rates =
        format!("{} of payload, about {} on the wire, for {}", rate(*payload_bps), rate(*wire_bps), time(*time_s));
    match excess {
        Excess::Queued => format!("{those} shared a bottleneck of {rates}"),
        Excess::Dropped => {
            format!(
                "this looks like a policer: {those} shared {rates}; segments beyond that were lost, although no queue grew"
            )
        }
    }
}

fn common(ends: &CommonEnds) -> String {
    match ends {
        CommonEnds::Both { sender, receiver } => format!("all from {sender} to {receiver}"),
        CommonEnds::Sender { sender } => format!("all from {sender}"),
        CommonEnds::Receiver { receiver } => format!("all to {receiver}"),
    }
}

fn rates(rates_bps: &[f64]) -> String {
    match rates_bps {
        [most, .., least] if rates_bps.len() > LISTED => format!("from {} to {}", rate(*least), rate(*most)),
        _ => rates_bps.iter().map(|&own| rate(own)).collect::<Vec<_>>().join(", "),
    }
}

pub(super) fn question(question: &LinkQuestion) -> String {
    match question {
        LinkQuestion::ApplicationOrProcessor => {
            "an application that writes late looks the same if its writes fill whole segments: `perf top` and `mpstat -P ALL 1` on the sender show which it is".to_owned()
        }
        LinkQuestion::CaptureBesideReceiver => {
            "a capture point one hop away from the receiver looks the same: `mpstat -P ALL 1` on the receiver shows which it is".to_owned()
        }
        LinkQuestion::ConfiguredLimit => {
            "a configured rate limit looks the same: compare the rate with the one that was bought or configured".to_owned()
        }
        LinkQuestion::FallByLongerPath => {
            "the receive window was full before and after, so a path that became longer looks the same: `ping` \
             while the path is idle shows its round trip"
                .to_owned()
        }
        LinkQuestion::FallByOtherTraffic => {
            "other traffic that began at that moment looks the same: repeat the transfer after a pause, and a token bucket gives the same burst and the same rate".to_owned()
        }
        LinkQuestion::FallBySender => {
            "a sender that slows down by itself (limit_rate_after) looks the same at the receiver without timestamps: capture at the sender".to_owned()
        }
        LinkQuestion::MarkingQueue => {
            "`tc -s qdisc show` on the routers counts ecn_mark; a capture behind the queue that marks shows CE in the IP header".to_owned()
        }
        LinkQuestion::NotCompared { transfers } => format!(
            "{} of this capture, each smaller than those that were compared, {} not part of these sums",
            count(*transfers, "transfer"),
            if *transfers == 1 { "is" } else { "are" },
        ),
        LinkQuestion::OtherTraffic => {
            "other traffic that is not in this capture may share the link too; one transfer alone shows the whole rate".to_owned()
        }
        LinkQuestion::PartOfTime => {
            "the rate was in force for only a part of the time: a longer transfer shows how much it matters".to_owned()
        }
        LinkQuestion::PolicerWithoutQueue => {
            "hardly any queue stands, so a policer may drop what exceeds this rate".to_owned()
        }
        LinkQuestion::QueueHidden => {
            "the queue (bufferbloat) cannot be seen at the receiver without timestamps: capture at the sender".to_owned()
        }
        LinkQuestion::QueueOrPolicer => {
            "a full queue looks the same here: capture at the sender, or send at a constant rate below and above this one".to_owned()
        }
        LinkQuestion::ShortQueueOrPolicer => {
            "a very short queue looks the same: ask the carrier, or send at a constant rate below and above this one".to_owned()
        }
    }
}

pub(super) fn action(action: &LinkAction) -> String {
    match action {
        LinkAction::AddCapacity { beyond_bps: Some(beyond) } => format!("use a link faster than {}", rate(*beyond)),
        LinkAction::AddCapacity { beyond_bps: None } => "use a faster link".to_owned(),
        LinkAction::AskForShaping { rate_bps } => {
            format!("ask the carrier to shape to about {} instead of policing", rate(*rate_bps))
        }
        LinkAction::CheckReceivingProcessors => {
            "check the receiving host's processors during the transfer: a core full of interrupts, steal time, one receive queue for everything".to_owned()
        }
        LinkAction::CheckSendingProcessors => {
            "check the sending host's processors during the transfer: a core at 100 %, steal time, offloads that are off".to_owned()
        }
        LinkAction::ManageQueue { rate_bps } => {
            let rate = match rate_bps {
                Some(_) => "",
                None => ", RATE a little below the rate of the link",
            };
            format!("manage the queue at the bottleneck (CAKE, fq_codel); DEV is the interface towards it{rate}")
        }
        LinkAction::PaceBelow { rate_bps } => format!("pace the sender below {}", rate(*rate_bps)),
        LinkAction::RaisePolicedRate { from_bps } => format!("ask for a policed rate above {}", rate(*from_bps)),
        LinkAction::RaiseShapedRate { from_bps, burst } => format!(
            "find the shaper of about {} with a burst of {} B (the plan, a QoS class, a cloud instance's baseline), and raise its rate",
            rate(*from_bps),
            thousands(*burst),
        ),
        LinkAction::RunInTurn => {
            "run the transfers one after another: the link was full, so speeding up one slows the others down".to_owned()
        }
        LinkAction::SendLess => "send fewer bytes (compression, caching)".to_owned(),
        LinkAction::ShapeTogether { rate_bps } => format!("shape all transfers together below {}", rate(*rate_bps)),
        LinkAction::ShrinkBuffer => "make the buffer at the bottleneck smaller".to_owned(),
        LinkAction::TuneMarking { rtt_s, target_s, interval_s } => format!(
            "fit the target of the queue that marks to this round trip{}: {:.0} ms in an interval of {:.0} ms; DEV is its interface",
            rtt_s.map_or(String::new(), |rtt| format!(" of {}", time(rtt))),
            target_s.as_millis_f64(),
            interval_s.as_millis_f64(),
        ),
    }
}

//! What a look at a machine finds.

mod action;
mod check;
mod table;

pub(in crate::words) use action::action;
pub(in crate::words) use check::check;
pub(in crate::words) use table::{and_more, more_peers, more_processes, sources, word};

use crate::text::units::share;
use crate::words::quantity::{count, rate, seconds, thousands};
use whyslow_analysis::Unit;
use whyslow_evidence::host::{
    Connections, Counted, Extent, HostStatement as S, Listener, Place, Processes, Since, Takes, Way, Who,
};

fn bytes(value: u64) -> String {
    format!("{} B", thousands(value))
}

/// `nginx[812]`, `nginx[812] and 3 more`.
fn processes(of: &Processes) -> String {
    let others = if of.others > 0 { format!(" and {} more", of.others) } else { String::new() };
    format!("{}[{}]{others}", of.name, of.pid)
}

fn of(all: Option<&Processes>) -> String {
    all.map_or(String::new(), |all| format!(" of {}", processes(all)))
}

/// `3 connections of nginx[812]`.
fn connections(of_peer: &Connections) -> String {
    format!("{}{}", count(of_peer.count, "connection"), of(of_peer.of.as_ref()))
}

/// `3 connections of nginx[812] with 192.0.2.7`.
fn with(of_peer: &Connections) -> String {
    format!("{} with {}", connections(of_peer), of_peer.peer)
}

fn listener(of: &Listener) -> String {
    let address = of.address.to_string();
    of.of.as_ref().map_or(address.clone(), |all| format!("{} on {address}", processes(all)))
}

/// A share in words: `1.4 %`, and of a rare event `1 in 8,811`.
fn part(value: f64) -> String {
    if value >= 0.001 || value <= 0.0 {
        return share(value);
    }
    format!("1 in {}", thousands((1.0 / value).round() as u64))
}

fn in_time(since: Since) -> String {
    match since {
        Since::Seconds(over) => format!("in {}", seconds(over)),
        _ => "since boot".to_owned(),
    }
}

/// The party to act.
pub(in crate::words) fn who(who: Who) -> &'static str {
    match who {
        Who::Host => "on this machine",
        Who::Program => "in the application",
        Who::Peer => "at the peer",
        Who::Network => "on the network",
    }
}

/// Where a figure is from, and since when.
pub(in crate::words) fn origin(place: Place, since: Since) -> String {
    let from = match place {
        Place::Socket => "this socket",
        Place::Sockets => "these sockets",
        Place::Counter => "counter",
        Place::Setting => "setting",
        Place::Metrics => "ip tcp_metrics",
        Place::Route => "ip route",
        Place::Device => "device",
        Place::Kernel => "kernel",
        Place::Cgroup => "its cgroup",
        Place::Conntrack => "conntrack",
        Place::Model => "predicted",
    };
    let when = match since {
        Since::Now => "now".to_owned(),
        Since::Connection if place == Place::Socket => "since it began".to_owned(),
        Since::Connection => "since they began".to_owned(),
        Since::Boot => "since boot".to_owned(),
        Since::Seconds(over) => format!("over {}", seconds(over)),
    };
    format!("{from}, {when}")
}

/// What it costs, in a few words.
pub(in crate::words) fn extent(extent: Extent) -> String {
    let more = |at_least: bool| if at_least { " or more" } else { "" };
    match extent {
        Extent::Of { seconds: cost, of_s } => format!("{} of {}", seconds(cost), seconds(of_s)),
        Extent::SoFar { seconds: cost, at_least } => format!("{}{} so far", seconds(cost), more(at_least)),
        Extent::Took { seconds: cost, at_least } => format!("{}{}", seconds(cost), more(at_least)),
        Extent::OfEach { seconds: cost, bytes } => format!("{} of each {} MB", seconds(cost), bytes / 1_000_000),
        Extent::AfterEachPause { seconds: cost } => format!("{} after each pause", seconds(cost)),
        Extent::InEachRoundTrip { seconds: cost } => format!("{} in each round trip", seconds(cost)),
        Extent::Handshakes { seconds: cost, within_s } => {
            format!("{} of handshakes in {within_s:.0} s", seconds(cost))
        }
        Extent::Share { share, of, unit } => format!("{} of {}", part(share), count(of, noun(unit))),
        Extent::Count { count: number, unit } => count(number, noun(unit)),
        Extent::Ports { taken, of } => format!("{} of {} ports", thousands(taken), thousands(of)),
        Extent::HeldAt { rate_bps } => format!("held at {}", rate(rate_bps)),
        Extent::Filled { share: filled } => format!("{} full", share(filled)),
        Extent::OfTheTime { share: part } => format!("{} of the time", share(part)),
        Extent::InPeriods { seconds: cost, share: part } => {
            format!("{} in {} of the periods", seconds(cost), share(part))
        }
        Extent::FullNow => "full now".to_owned(),
        Extent::Now => "now".to_owned(),
    }
}

/// In the singular.
fn noun(unit: Unit) -> &'static str {
    unit.symbol().strip_suffix('s').unwrap_or("")
}

fn takes(takes: &Takes) -> String {
    let [with, without] = [takes.with_s, takes.without_s].map(seconds);
    let instead = if with == without { ", as without it".to_owned() } else { format!(" instead of {without}") };
    format!("{} MB takes about {with}{instead}", takes.bytes / 1_000_000)
}

fn counted(counted: &Counted, noun: &str) -> String {
    format!("{} of {}", thousands(counted.count), count(counted.of, noun))
}

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(in crate::words) fn statement(statement: &S) -> String {
    match statement {
        S::QueueToPeer { peer, rtt_s, least_s } => format!(
            "what is sent to {peer} stands in a queue: a round trip takes {} instead of {}",
            seconds(*rtt_s),
            seconds(*least_s)
        ),
        S::DamagedSegments { segments } => format!(
            "{} arrived damaged {}, {} of all, and were dropped",
            count(segments.count, "segment"),
            in_time(segments.since),
            part(segments.share())
        ),
        S::HeldOpen { connections, by, least_s } => format!(
            "the peer closed first, and {} holds {} open since, the longest for at least {}; it must close them",
            by.as_ref().map_or("a process that only root can see".to_owned(), processes),
            count(*connections, "connection"),
            seconds(*least_s)
        ),
        S::ClosedUnaccepted { connections, listener: by, least_s } => format!(
            "the peer closed {} that the listener {}{} has not accepted, the longest at least {} ago",
            count(*connections, "connection"),
            by.address,
            of(by.of.as_ref()),
            seconds(*least_s)
        ),
        S::ConntrackDropped { packets, since, entries, most } => format!(
            "connection tracking dropped {} {}: its table holds {} of {} entries",
            count(*packets, "packet"),
            in_time(*since),
            thousands(*entries),
            thousands(*most)
        ),
        S::ConntrackFilled { entries, most } if entries < most => format!(
            "connection tracking is nearly full ({} of {} entries): when it is full, new connections are dropped",
            thousands(*entries),
            thousands(*most)
        ),
        S::ConntrackFilled { most, .. } => {
            format!("connection tracking is full ({} entries): new connections may be dropped", thousands(*most))
        }
        S::Throttled { process, place, seconds: stood, share: part } => format!(
            "{}{} stood still for {}: the processor limit of its control group was used up in {} of the periods",
            processes(process),
            place.as_ref().map_or(String::new(), |place| format!(" of {place}")),
            seconds(*stood),
            share(*part)
        ),
        S::GroupWaited { process, place, share: part, connections } => format!(
            "{}{}, or another program of its control group, waited for a processor for {} of the last 10 s, while {} of it carried data",
            processes(process),
            place.as_ref().map_or(String::new(), |place| format!(" of {place}")),
            share(*part),
            count(*connections, "connection")
        ),
        S::MachineWaited { share: part, connections } => format!(
            "programs waited for a processor for {} of the last 10 s, while {} carried data",
            share(*part),
            count(*connections, "connection")
        ),
        S::SilentBeyond { connections, of: by, remote, silent_s, kept_s, by_tracking } => format!(
            "{}{} to {remote}, silent for up to {}, though {} for {} only: the next request there may wait for a timeout",
            count(*connections, "connection"),
            of(by.as_ref()),
            seconds(*silent_s),
            if *by_tracking { "connection tracking on this machine keeps one" } else { "that server keeps others" },
            seconds(*kept_s)
        ),
        S::QueueWasFull { listener: by, most, dropped } => format!(
            "{} accepted too slowly: its queue of {most} was full, and {} dropped, each of which costs its client a second or more",
            listener(by),
            if *dropped == 1 { "1 packet was".to_owned() } else { format!("{} packets were", thousands(*dropped)) }
        ),
        S::QueueIsFull { listener: by, most } => format!(
            "{} accepts too slowly: its queue of {most} is full at this moment, and the next SYN is dropped",
            listener(by)
        ),
        S::SomeQueueWasFull { connections } => format!(
            "the queue of a listener was full for {}, each of which waited a second or more",
            count(*connections, "connection")
        ),
        S::LostToPeer { peer, lost, sent } => {
            format!("{} of {} were lost on the way to {peer}", count(*lost, "segment"), thousands(*sent))
        }
        S::LostByCounters { segments } => format!(
            "{} of what this machine sent {} was lost on the way, by its counters; no live connection shows to which peer",
            share(segments.share()),
            in_time(segments.since)
        ),
        S::RetransmissionsLost { retransmissions: lost } => format!(
            "{} of the {} {} were lost again: the network drops in bursts, or above a rate",
            share(lost.share()),
            count(lost.of, "retransmission"),
            in_time(lost.since)
        ),
        S::FullSegmentsVanish { connections: of_peer } => {
            format!("full segments to {} vanish, and small ones passed: {} cannot go on", of_peer.peer, with(of_peer))
        }
        S::NeedlessProbes { needless, probes, since, behind_proxy } => format!(
            "{} or more of {} {} were needless: what they sent again had arrived{}",
            thousands(*needless),
            count(*probes, "tail loss probe"),
            in_time(*since),
            if *behind_proxy { ", behind a proxy that answers sooner than its servers" } else { "" }
        ),
        S::OpenedAndClosed { connections, way, rtt_s } => format!(
            "{} {} were opened and closed in the last minute, each with a handshake of {} before its first byte",
            count(*connections, "connection"),
            match way {
                Way::Out(server) => format!("to {server}"),
                Way::In(client, port) => format!("from {client} to port {port} here"),
            },
            seconds(*rtt_s)
        ),
        S::CardDropped { device, packets } => {
            format!("{device} had no room for {} that came {}", count(packets.count, "packet"), in_time(packets.since))
        }
        S::NoSynAck { target, connections, of: by, retransmissions } => format!(
            "{target} answers no SYN: {}{} in SYN_SENT, the longest after {}",
            count(*connections, "connection"),
            by.as_ref().map_or(String::new(), |by| format!(" by {}", processes(by))),
            count(*retransmissions, "retransmission")
        ),
        S::WithoutSack { connections: of_peer, again } => {
            format!("without SACK {} had to send {} again, one a round trip", with(of_peer), count(*again, "segment"))
        }
        S::WithoutScaling { connections: of_peer, most_bps } => format!(
            "{} cannot pass {}: without window scaling at most 65,535 B are in flight",
            with(of_peer),
            rate(*most_bps)
        ),
        S::PortsTaken { taken, of, local, remote, closed } => format!(
            "{} of {} ports from {local} to {remote} are taken, {} of them by closed connections (TIME_WAIT): new ones soon fail",
            thousands(*taken),
            thousands(*of),
            thousands(*closed)
        ),
        S::OwnQueueDropped { device, discipline, packets } => format!(
            "the queue in front of {device} ({discipline}) on this machine dropped {} {}: the network did not lose them",
            counted(packets, "packet"),
            in_time(packets.since)
        ),
        S::BuffersDropped { segments } => format!(
            "{} that had arrived were dropped {} because a receive buffer was full",
            count(segments.count, "segment"),
            in_time(segments.since)
        ),
        S::PeerWindowFull { connections: of_peer, limited_s, busy_s } => format!(
            "the receive window of {} held {} for {} of {} with data to send",
            of_peer.peer,
            connections(of_peer),
            seconds(*limited_s),
            seconds(*busy_s)
        ),
        S::PeerReadsSlowly { connections: of_peer, limited_s, busy_s, rate_bps, window_bps } => format!(
            "the application at {} reads {}, and {} waited for it for {} of {} with data to send; its window would allow {}",
            of_peer.peer,
            rate(*rate_bps),
            connections(of_peer),
            seconds(*limited_s),
            seconds(*busy_s),
            rate(*window_bps)
        ),
        S::OwnWindowFull { connections: of_peer, window, rtt_s, rate_bps } => format!(
            "{} cannot receive faster than {}: this end's window of {} lets no more come in a round trip of {}",
            with(of_peer),
            rate(*rate_bps),
            bytes(*window),
            seconds(*rtt_s)
        ),
        S::Restarted { connections, peers, had, has } => format!(
            "{} with {} started over after idle time: one had opened its window to {} and then had {has}",
            count(*connections, "connection"),
            count(*peers, "peer"),
            count(*had, "segment")
        ),
        S::WillRestart { connections, peers, had, initial } => format!(
            "{} with {} will start over with {initial} segments when they send again after idle time: one had opened its window to {}",
            count(*connections, "connection"),
            count(*peers, "peer"),
            count(*had, "segment")
        ),
        S::SendBufferFull { connections: of_peer, bytes: size, limited_s, busy_s } => format!(
            "the send buffer{} holds {}: {}, with room in the congestion window and in the peer's",
            size.map_or(String::new(), |size| format!(" of {}", bytes(size))),
            with(of_peer),
            limited_s.map_or("it is full at this moment".to_owned(), |limited| format!(
                "it was full for {} of {}",
                seconds(limited),
                seconds(*busy_s)
            ))
        ),
        S::SmallFirstWindow { route, segments, usual, metric, peer, outgoing, takes } => format!(
            "the route to {route} starts connections with a window of {} instead of {usual} ({metric}): 1 MB {} {peer} takes about {} instead of {}",
            count(*segments, "segment"),
            if *outgoing { "to" } else { "from" },
            seconds(takes.with_s),
            seconds(takes.without_s)
        ),
        S::BacklogDropped { packets } => format!(
            "{} were dropped {} before TCP saw them: the backlog of a processor was full",
            count(packets.count, "packet"),
            in_time(packets.since)
        ),
        S::SentTwice { peer, copies, again } => format!(
            "{} were sent again to {peer} that had arrived, of {} sent again",
            count(*copies, "segment"),
            thousands(*again)
        ),
        S::NeedlessTimeouts { timeouts } => format!(
            "{} {} were needless: what they sent again had arrived",
            counted(timeouts, "timeout"),
            in_time(timeouts.since)
        ),
        S::Remembered { peer, segments, others, takes: times } => format!(
            "new connections to {peer} leave slow start at {}, which the kernel remembers{}: {}",
            count(*segments, "segment"),
            if *others > 0 { format!(" ({others} more peers have one that costs)") } else { String::new() },
            times.iter().map(takes).collect::<Vec<_>>().join(", ")
        ),
        S::TimedOut { peer, timeouts, seconds: took, at_least, row } => format!(
            "connections to {peer} waited for {}, {}{}{}",
            count(*timeouts, "retransmission timeout"),
            seconds(*took),
            if *at_least { " or more" } else { "" },
            row.map_or(String::new(), |row| format!("; one has timed out {row} times in a row and still waits"))
        ),
        S::TimeoutsCounted { timeouts, seconds: took } => format!(
            "{} {}, each a silence of 200 ms or more: {} in all",
            count(timeouts.count, "retransmission timeout"),
            in_time(timeouts.since),
            seconds(*took)
        ),
        S::Unpaced { device, share: part } => {
            format!("BBR is not paced on {device}: {} of what a connection sent had to be sent again", share(*part))
        }
        S::UnreadHere { by, peer, bytes: unread, seconds: waited } => format!(
            "{} does not read: {} from {peer} lie unread, its window is shut, and the peer has waited for {}",
            by.as_ref().map_or("an application here".to_owned(), processes),
            bytes(*unread),
            seconds(*waited)
        ),
        S::PeerWindowShut { connections: of_peer } => format!(
            "the application at {} does not read: {} wait for its window, which is closed",
            of_peer.peer,
            with(of_peer)
        ),
    }
}

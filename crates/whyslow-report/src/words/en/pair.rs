//! Two captures of one connection.

use super::ends::name;
use crate::words::quantity::{count, thousands, time};
use std::fmt::Display;
use whyslow_analysis::{
    Change, ChangeKind, End, OptionChange, OptionEdit, PairCaveat, PairStatement, Resegmentation, WayLoss, WayQueue,
};
use whyslow_units::Nanos;

pub(in crate::words) fn statement(statement: &PairStatement) -> String {
    match statement {
        PairStatement::Disorder { to, duplicated, reordered, reordered_s, damaged } => {
            let arrived =
                |packets: u64, how: &str| (packets > 0).then(|| format!("{} arrived {how}", count(packets, "packet")));
            let late = format!("after ones sent later, by up to {}", time(*reordered_s));
            let parts: Vec<String> = [
                arrived(*duplicated, "twice"),
                arrived(*reordered, &late),
                arrived(*damaged, "with a wrong checksum, which counts as lost"),
            ]
            .into_iter()
            .flatten()
            .collect();
            format!("on the way to the {}: {}", name(*to), parts.join("; "))
        }
        PairStatement::Lost { ways } if ways.is_empty() => "no packet was lost between the two captures".to_owned(),
        PairStatement::Lost { ways } => {
            let parts: Vec<String> = ways.iter().map(loss).collect();
            format!("lost between the two captures: {}", parts.join(", "))
        }
        PairStatement::LostBefore { from, segments } => format!(
            "{} from the {who} had been lost before the capture nearer to the {who}: on its own host, or on the way to that capture",
            count(*segments, "segment"),
            who = name(*from)
        ),
        PairStatement::Proxied { slower, before_s, behind_s, full_share, held_bytes } => {
            let who = match slower {
                Some(end) => format!("the {}'s leg makes the other one wait", name(*end)),
                None => "neither leg clearly makes the other one wait".to_owned(),
            };
            format!(
                "a proxy stands between the captures, and {who}: a byte typically waits {} before the proxy acknowledges it and {} after that; the proxy's window was full for {:.0} % of the time; the proxy and the network held {} B typically",
                time(*before_s),
                time(*behind_s),
                full_share * 100.0,
                thousands(*held_bytes)
            )
        }
        PairStatement::Queued { ways } => match ways.as_slice() {
            [one] => format!("packets wait between the captures on the way to the {}: {}", name(one.to), wait(one)),
            ways => {
                let parts: Vec<String> =
                    ways.iter().map(|way| format!("{} to the {}", wait(way), name(way.to))).collect();
                format!("packets wait between the captures both ways: {}", parts.join(", "))
            }
        },
        PairStatement::Resent { from, segments, for_loss } => resent(name(*from), *segments, *for_loss),
        PairStatement::RoundTrip { whole_s, between_s, outside_s } => round_trip(*whole_s, *between_s, *outside_s),
        PairStatement::Unjudged { from, packets } => format!(
            "it is unknown whether {} from the {} arrived: the other capture was not running, as far as it shows",
            count(*packets, "packet"),
            name(*from)
        ),
    }
}

fn loss(way: &WayLoss) -> String {
    let percent = way.share * 100.0;
    format!(
        "{} of {} ({percent:.*} %) on the way to the {}",
        thousands(way.lost),
        count(way.sent, "packet"),
        if percent < 10.0 { 2 } else { 0 },
        name(way.to),
    )
}

fn wait(way: &WayQueue) -> String {
    format!("{} typically and {} at the 95th percentile", time(way.p50_s), time(way.p95_s))
}

fn resent(who: &str, segments: u64, for_loss: u64) -> String {
    let all = count(segments, "segment");
    let others = segments.saturating_sub(for_loss);
    if others == segments {
        format!("the {who} sent {all} again, and no copy before was lost between the captures")
    } else if others == 0 {
        format!("the {who} sent {all} again, each because the copy before was lost between the captures")
    } else {
        format!(
            "the {who} sent {all} again: of {} the copy before was lost between the captures, of {} it was not",
            thousands(for_loss),
            thousands(others)
        )
    }
}

fn round_trip(whole: Nanos, between: Nanos, outside: Option<[Nanos; 2]>) -> String {
    match outside {
        None => format!("the minimum RTT, {}, lies between the captures", time(whole)),
        Some([client, server]) => format!(
            "of the minimum RTT of {}, {} lie between the captures, {} on the client's side and {} on the server's",
            time(whole),
            time(between),
            time(client),
            time(server)
        ),
    }
}

pub(in crate::words) fn change(change: &Change) -> String {
    let packets = || count(change.count, "packet");
    let of_end = |text: String| match change.from {
        Some(end) => format!("from the {}: {text}", name(end)),
        None => text,
    };
    of_end(match &change.kind {
        // Its sentence names the end.
        ChangeKind::Addresses { near_client: (address, port), near_server: (other, other_port) } => {
            let who = name(change.from.unwrap_or(End::Client));
            return format!(
                "the {who} is {address} port {port} near the client and {other} port {other_port} near the server"
            );
        }
        ChangeKind::CeMarks => format!("{} marked as congested (CE)", packets()),
        ChangeKind::Ecn => format!("the ECN bits of {} were changed", packets()),
        ChangeKind::IpId => "the IP numbers were rewritten".to_owned(),
        ChangeKind::Merged { place } => {
            let host = "merged by the receiving host, before its capture (GRO, LRO)";
            boundaries(change.count, *place, host, "merged in the network")
        }
        ChangeKind::Mss(mss) => option(change.from, "MSS", mss, " B"),
        ChangeKind::Resets { first } => {
            format!("{} (first in frame {first}) that it did not send: a middlebox did", count(change.count, "reset"))
        }
        ChangeKind::Sack { edit } => edited(change.from, "SACK", *edit),
        ChangeKind::SequenceNumbers => "the initial sequence numbers were rewritten".to_owned(),
        ChangeKind::Split { place } => {
            let host = "split by the sending host, behind its capture (TSO)";
            boundaries(change.count, *place, host, "split in the network")
        }
        ChangeKind::TimestampValues => format!("the timestamps of {} were rewritten", packets()),
        ChangeKind::Timestamps { edit } => edited(change.from, "timestamps", *edit),
        ChangeKind::Ttl { sent, arrived } => match sent.checked_sub(*arrived) {
            Some(routers) => format!("TTL {sent} became {arrived}: {} between", count(routers.into(), "router")),
            None => format!("TTL {sent} became {arrived}: a middlebox sends packets of its own"),
        },
        ChangeKind::Window => format!("the window of {} without payload was changed", packets()),
        ChangeKind::WindowScale(scale) => option(change.from, "window scale", scale, ""),
    })
}

fn option<T: Display>(
    from: Option<End>,
    what: &str,
    OptionChange { sent, arrived }: &OptionChange<T>,
    unit: &str,
) -> String {
    let syn = syn(from);
    match (sent, arrived) {
        (Some(sent), Some(arrived)) => format!("the {syn}'s {what} was changed from {sent}{unit} to {arrived}{unit}"),
        (Some(sent), None) => format!("the {syn}'s {what} ({sent}{unit}) was removed"),
        (None, Some(arrived)) => format!("the {syn}'s {what} ({arrived}{unit}) was added"),
        (None, None) => format!("the {syn}'s {what} was changed"),
    }
}

fn edited(from: Option<End>, what: &str, edit: OptionEdit) -> String {
    let how = match edit {
        OptionEdit::Added => "added",
        OptionEdit::Removed => "removed",
    };
    format!("the {}'s {what} option was {how}", syn(from))
}

fn boundaries(segments: u64, place: Resegmentation, host: &str, network: &str) -> String {
    let segments = count(segments, "segment");
    match place {
        Resegmentation::Host => format!("{segments} {host}"),
        Resegmentation::Network { mss } => format!("{segments} {network}, although none is larger than {mss} B"),
    }
}

const fn syn(from: Option<End>) -> &'static str {
    match from {
        Some(End::Server) => "SYN-ACK",
        Some(End::Client) | None => "SYN",
    }
}

pub(in crate::words) fn caveat(caveat: &PairCaveat) -> String {
    match caveat {
        PairCaveat::CapturedTwice { near, packets } => format!(
            "the capture nearer to the {} has {} twice: the capture took them twice (several interfaces or mirror ports), and the network did not duplicate them",
            name(*near),
            count(*packets, "packet")
        ),
        PairCaveat::FirstPackets { near, packets } => format!(
            "only the first {} of this connection in the capture nearer to the {} were compared",
            count(*packets, "packet"),
            name(*near)
        ),
        PairCaveat::MissingAtReceiver { from, packets } => format!(
            "the other end acknowledged {} from the {} that are missing in its capture: that capture is not complete, and packets without payload that it lacks may not have been lost",
            count(*packets, "packet"),
            name(*from)
        ),
        PairCaveat::MissingAtSender { from, packets } => format!(
            "{} from the {who} arrived that the capture nearer to the {who} does not have: that capture is not complete",
            count(*packets, "packet"),
            who = name(*from)
        ),
        PairCaveat::OnePlace => "the two captures stand at one place: less than 0.1 ms lies between them".to_owned(),
    }
}

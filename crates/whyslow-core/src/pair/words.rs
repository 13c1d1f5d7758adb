//! What follows from a pair, in plain words.

use crate::analysis::{End, Leg, Pair, PairDirection, PathPart, Proxy};
use crate::rules::say;
use crate::units::Nanos;

/// A queue of less is not worth a sentence, milliseconds.
const QUEUE: f64 = 5.0;

/// Sentences on where packets were lost, where the time goes, and what a proxy does.
pub(super) fn sentences(pair: &Pair) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(proxy) = &pair.proxy {
        sentences.push(proxied(proxy));
    } else {
        sentences.push(losses(&pair.directions));
        sentences.extend(pair.directions.iter().filter_map(disorder));
        sentences.extend(pair.directions.iter().filter_map(unjudged));
        sentences.extend(pair.directions.iter().filter_map(lost_before));
        sentences.extend(pair.directions.iter().filter_map(resent));
    }
    if pair.proxy.is_none() {
        sentences.extend(queue(pair));
        sentences.extend(round_trip(&pair.legs));
    }
    sentences
}

pub(super) fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

fn losses(directions: &[PairDirection]) -> String {
    let lost: Vec<String> = directions
        .iter()
        .filter(|direction| direction.lost > 0)
        .map(|direction| {
            let to = name(direction.from.other());
            let percent = direction.lost_share * 100.0;
            format!(
                "{} of {} ({percent:.*} %) on the way to the {to}",
                say::thousands(direction.lost),
                say::count(direction.sent, "packet"),
                if percent < 10.0 { 2 } else { 0 }
            )
        })
        .collect();
    match lost.as_slice() {
        [] => "no packet was lost between the two captures".to_owned(),
        lost => format!("lost between the two captures: {}", lost.join(", ")),
    }
}

fn disorder(direction: &PairDirection) -> Option<String> {
    let arrived =
        |packets: u64, how: &str| (packets > 0).then(|| format!("{} arrived {how}", say::count(packets, "packet")));
    let late = format!("after ones sent later, by {} at most", say::time(direction.reordered_s));
    let said: Vec<String> = [
        arrived(direction.duplicated, "twice"),
        arrived(direction.reordered, &late),
        arrived(direction.damaged, "with a wrong checksum, which counts as lost"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!said.is_empty()).then(|| format!("on the way to the {}: {}", name(direction.from.other()), said.join("; ")))
}

/// What was sent before the other capture began, or after it ended.
fn unjudged(direction: &PairDirection) -> Option<String> {
    (direction.unjudged > 0).then(|| {
        format!(
            "of {} from the {} it cannot be told whether they arrived: the other capture was not running, as far as it shows",
            say::count(direction.unjudged, "packet"),
            name(direction.from)
        )
    })
}

fn lost_before(direction: &PairDirection) -> Option<String> {
    (direction.lost_before > 0).then(|| {
        format!(
            "{} from the {who} had been lost before the capture that is nearer to the {who}: on its own host, or on the way from \
             it to there",
            say::count(direction.lost_before, "segment"),
            who = name(direction.from)
        )
    })
}

fn resent(direction: &PairDirection) -> Option<String> {
    let (all, needed) = (direction.resent, direction.resent_for_loss);
    (all > 0).then(|| {
        let who = name(direction.from);
        match all.saturating_sub(needed) {
            others if others == all => {
                format!(
                    "the {who} sent {} again, and of none the copy before was lost between the captures",
                    say::count(all, "segment")
                )
            }
            0 => format!(
                "the {who} sent {} again, each because the copy before was lost between the captures",
                say::count(all, "segment")
            ),
            others => format!(
                "the {who} sent {} again: of {} the copy before was lost between the captures, of {} it was not",
                say::count(all, "segment"),
                say::thousands(needed),
                say::thousands(others)
            ),
        }
    })
}

/// On which way packets wait.
fn queue(pair: &Pair) -> Option<String> {
    let slow = pair.directions.iter().max_by(|a, b| waits(a).total_cmp(&waits(b)))?;
    let other = pair.directions.iter().find(|direction| direction.from != slow.from)?;
    let wait = waits(slow);
    if wait < QUEUE {
        return None;
    }
    let both = waits(other) > wait / 2.0;
    let figures = |direction: &PairDirection| {
        let [typical, most] = [direction.queue_ms.p50, direction.queue_ms.p95]
            .map(|value| say::time(Nanos::from_secs_f64(value.unwrap_or_default() / 1e3)));
        format!("{typical} typically and {most} at the 95th percentile")
    };
    let to = |direction: &PairDirection| name(direction.from.other());
    Some(if both {
        format!(
            "packets wait between the captures both ways: {} to the {}, {} to the {}",
            figures(slow),
            to(slow),
            figures(other),
            to(other)
        )
    } else {
        format!("packets wait between the captures on the way to the {}: {}", to(slow), figures(slow))
    })
}

fn waits(direction: &PairDirection) -> f64 {
    direction.queue_ms.p95.unwrap_or_default()
}

/// On which part of the path the round trip lies.
fn round_trip(legs: &[Leg]) -> Option<String> {
    let least = |place: PathPart| legs.iter().find(|leg| leg.place == place)?.rtt_ms.min;
    let (client, between, server) = (least(PathPart::Client)?, least(PathPart::Between)?, least(PathPart::Server)?);
    let whole = client + between + server;
    let part = |value: f64| say::time(Nanos::from_secs_f64(value.max(0.0) / 1e3));
    if between >= 0.95 * whole {
        return Some(format!("the minimum RTT, {}, lies between the captures", part(whole)));
    }
    (whole > 0.0).then(|| {
        format!(
            "of the minimum RTT of {}, {} lie between the captures, {} on the client's side and {} on the server's",
            part(whole),
            part(between),
            part(client),
            part(server)
        )
    })
}

fn proxied(proxy: &Proxy) -> String {
    let share = |value: f64| format!("{:.0} % of the time", value * 100.0);
    let held = format!("it and the path held {} B typically", say::thousands(proxy.held_bytes));
    let wait = |value: Option<f64>| say::time(Nanos::from_secs_f64(value.unwrap_or_default() / 1e3));
    let figures = format!(
        "typically a byte waits {} before the proxy acknowledges it and {} after that; its window to the sender was full for \
         {}; {held}",
        wait(proxy.before_ms),
        wait(proxy.behind_ms),
        share(proxy.full_share)
    );
    match proxy.slower {
        Some(end) => format!("a proxy stands between, and the {}'s leg makes the other wait: {figures}", name(end)),
        None => format!("a proxy stands between, and neither leg clearly makes the other wait: {figures}"),
    }
}

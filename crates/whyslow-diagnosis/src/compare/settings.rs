//! Negotiated options, and how each transfer began.

use super::{ChosenTransfer, Setting};
use crate::rules::parts;
use whyslow_analysis::{Handshake, LimitingFactor, Round};

/// Round trips that differ by less than this share are of one path.
const SAME: f64 = 0.1;

/// Reads a setting as it is shown; `None` if it is unknown.
type Read = fn(&ChosenTransfer<'_>) -> Option<String>;

/// Sorted by name.
const READINGS: [(&str, Read); 9] = [
    ("mss", |one| {
        pair(one, |handshake| handshake.mss.map(|mss| mss.map(|bytes| format!("{} B", parts::thousands(bytes.into())))))
    }),
    ("window-scale", |one| pair(one, |handshake| handshake.window_scale.map(|shift| Some(scale(shift))))),
    ("sack", |one| pair(one, |handshake| handshake.sack.map(offered))),
    ("timestamps", |one| pair(one, |handshake| handshake.timestamps.map(offered))),
    ("first-flight", |one| Some(format!("{} B", parts::thousands(first_round(one)?.bytes)))),
    ("initial-window", initial_window),
    ("first-window", |one| Some(format!("{} B", parts::thousands(first_round(one)?.window?)))),
    ("first-record", |one| one.transfer.first_record.map(|bytes| format!("{} B", parts::thousands(bytes)))),
    ("largest-record", |one| {
        let direction = one.connection.directions.iter().find(|direction| direction.from == one.transfer.from)?;
        direction.largest_record.map(|bytes| format!("{} B", parts::thousands(bytes.into())))
    }),
];

/// The first round; `None` if packets of it were left out of a text.
fn first_round<'a>(one: &ChosenTransfer<'a>) -> Option<&'a Round> {
    one.transfer.rounds.first().filter(|round| round.start_s == one.transfer.start_s)
}

/// All settings that either of them shows.
pub(super) fn compare_settings(both: [&ChosenTransfer<'_>; 2]) -> Vec<Setting> {
    let mut settings = vec![round_trip(both)];
    settings.extend(READINGS.iter().map(|(name, read)| {
        let values = both.map(read);
        let differs = matches!(&values, [Some(one), Some(two)] if one != two);
        Setting { name, values, differs }
    }));
    settings.retain(|setting| setting.values.iter().any(Option::is_some));
    settings
}

fn round_trip(both: [&ChosenTransfer<'_>; 2]) -> Setting {
    let trips = both.map(ChosenTransfer::rtt);
    let differs = match trips {
        [Some(one), Some(two)] => (one - two).0.abs() as f64 > SAME * one.max(two).0 as f64,
        _ => false,
    };
    Setting { name: "round-trip", values: trips.map(|trip| trip.map(parts::time)), differs }
}

/// The values of client and server, printed once if they are the same.
fn pair(one: &ChosenTransfer<'_>, read: impl Fn(&Handshake) -> [Option<String>; 2]) -> Option<String> {
    match read(one.connection.handshake.as_ref()?) {
        [Some(client), Some(server)] if client == server => Some(client),
        [Some(client), Some(server)] => Some(format!("{client} client, {server} server")),
        [Some(client), None] => Some(format!("{client} client, server unknown")),
        [None, Some(server)] => Some(format!("client unknown, {server} server")),
        [None, None] => None,
    }
}

/// In a SYN that was captured, a shift that is not there was not offered.
fn scale(shift: Option<u8>) -> String {
    shift.map_or_else(|| "none".to_owned(), |shift| format!("×{}", parts::thousands(1 << shift.min(14))))
}

fn offered(offered: Option<bool>) -> Option<String> {
    offered.map(|offered| if offered { "yes" } else { "no" }.to_owned())
}

/// Payload of a full segment, as negotiated.
fn segment(one: &ChosenTransfer<'_>) -> Option<u64> {
    let handshake = one.connection.handshake.as_ref()?;
    let [client, server] = handshake.mss;
    // RFC 7323 section 3.2: with timestamps, each segment carries 12 bytes of options.
    let stamps = if handshake.timestamps == [Some(true); 2] { 12 } else { 0 };
    Some(u64::from(client?.min(server?)).saturating_sub(stamps).max(1))
}

/// The initial congestion window (RFC 6928) as shown by the first flight: only if this is the
/// connection's first transfer in that direction, and the first flight was limited by that window
/// or was followed by more.
fn initial_window(one: &ChosenTransfer<'_>) -> Option<String> {
    let earlier = one.connection.transfers.iter().take(one.number - 1);
    if earlier.filter(|other| other.from == one.transfer.from).count() > 0 {
        return None;
    }
    let first = first_round(one)?;
    if one.transfer.rounds.len() < 2 || first.bytes == 0 {
        return None;
    }
    // A congestion window counts segments, including a short one; other limits do not count in
    // segments.
    let segment = segment(one)?;
    Some(if first.limit == LimitingFactor::SlowStart {
        parts::count(first.bytes.div_ceil(segment), "segment")
    } else {
        format!("at least {}", parts::count(first.bytes / segment, "segment"))
    })
}

//! The figures of a run: each has one name, one unit and one meaning wherever it is printed,
//! expected or verified.
//!
//! Holds the list of names and parses claims about them (`server.rwnd_limited >= 80%`). An unknown
//! name is an error when the scenario is read, not after the run. [`crate::truth`] computes the
//! values.

use crate::scenario::units::{BitRate, Share, Size, Time};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A figure is shown with its range if the range is wider than this, as a
/// part of it.
const WORTH_A_RANGE: f64 = 0.05;

/// Measured values by name, in base units: seconds, bytes, bits per second, shares from 0 to 1, or
/// a count.
pub type Figures = BTreeMap<String, f64>;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds.
    Time,
    /// Bytes.
    Size,
    /// Bits per second.
    Rate,
    /// From 0 to 1.
    Share,
    /// How many.
    Count,
}

/// Figures of the whole run. Those of the wire are counted over the captures: at the sender's end,
/// except `out_of_order`, which is counted where it arrives.
pub const RUN: &[(&str, Kind, &str)] = &[
    ("span", Kind::Time, "first SYN to the last packet, in the client's capture"),
    ("total", Kind::Time, "the whole wait of the client's application"),
    ("connect", Kind::Time, "the first connect call"),
    ("tls_handshake", Kind::Time, "the first connection's TLS handshake"),
    ("first_byte", Kind::Time, "start of the first request to the first byte of its response"),
    ("goodput", Kind::Rate, "payload over the time of the transfers, as the client's program saw it"),
    ("rtt", Kind::Time, "the sender's smoothed RTT, mean over the run"),
    ("rtt_min", Kind::Time, "the sender's minimum RTT"),
    ("rtt_max", Kind::Time, "the largest of the sender's smoothed RTTs"),
    ("packets", Kind::Count, "in the sender's capture, both directions"),
    ("retransmitted", Kind::Count, "data segments that were retransmitted"),
    ("duplicate_acks", Kind::Count, "pure ACKs that repeat the one before, with data outstanding"),
    ("out_of_order", Kind::Count, "data segments that arrived behind later ones"),
    ("zero_window", Kind::Count, "segments that advertise no window at all"),
    ("window_full", Kind::Count, "data segments that reach the end of the advertised window"),
    ("syn_retransmitted", Kind::Count, "SYNs retransmitted"),
];

/// Figures of one host's kernel, behind `client.`, `cross.`, `proxy.` or `server.`; sums or
/// extremes over its sockets.
pub const HOST: &[(&str, Kind, &str)] = &[
    ("busy", Kind::Time, "time with data outstanding"),
    ("rwnd_limited", Kind::Share, "of the busy time: limited by the peer's window"),
    ("sndbuf_limited", Kind::Share, "of the busy time: limited by the send buffer"),
    ("sndbuf_full", Kind::Share, "of the time with data outstanding: send memory in use above 60 % of the buffer"),
    ("retransmitted", Kind::Count, "segments"),
    ("timeouts", Kind::Count, "retransmission timeouts"),
    ("dsack_dups", Kind::Count, "segments reported as received twice"),
    ("reordering_seen", Kind::Count, "reordering events"),
    ("received_out_of_order", Kind::Count, "segments received out of order"),
    ("max_cwnd", Kind::Count, "segments"),
    ("last_cwnd", Kind::Count, "segments, at the end of the last connection"),
    ("first_ssthresh", Kind::Count, "segments, at the start of the last connection"),
    ("max_in_flight", Kind::Size, "unacknowledged"),
    ("max_unread", Kind::Size, "received and not read by the program"),
    ("max_notsent", Kind::Size, "written and not sent"),
    (
        "max_window",
        Kind::Size,
        "largest window that it would advertise (the wire may carry less without window scaling)",
    ),
    ("max_peer_window", Kind::Size, "largest window that its peer advertised"),
    (
        "app_limited",
        Kind::Share,
        "of the time with data outstanding: the last delivery rate was limited by the program",
    ),
    ("delivered_ce", Kind::Count, "segments that met congestion (ECN)"),
    ("restarts", Kind::Count, "times that a congestion window fell though nothing was lost: after idle time"),
    ("resets", Kind::Count, "RST segments that it sent"),
];

/// Figures of the link, behind `up.` or `down.` (behind `proxy.up.` or `proxy.down.` for the
/// proxy's own link).
pub const LINK: &[(&str, Kind, &str)] = &[
    ("packets", Kind::Count, "that entered the link"),
    ("lost", Kind::Count, "by loss"),
    ("queue_dropped", Kind::Count, "by the full queue or its management"),
    ("policed", Kind::Count, "by the policer"),
    ("duplicated", Kind::Count, ""),
    ("corrupted", Kind::Count, ""),
    ("reordered", Kind::Count, ""),
    ("too_large", Kind::Count, "dropped for the MTU"),
    ("marked", Kind::Count, "by ECN"),
    ("max_queue", Kind::Size, "waiting in the queue"),
    ("throughput", Kind::Rate, "frames that passed, from the first one with payload to the last one"),
    ("late_p99", Kind::Time, "how late the emulator was, 99th percentile"),
];

/// The unit of a figure, if there is one of that name.
pub fn kind(name: &str) -> Option<Kind> {
    let among = |list: &[(&str, Kind, &str)], name: &str| list.iter().find(|(n, _, _)| *n == name).map(|(_, k, _)| *k);
    if let Some(which) = name.strip_prefix("transfer.") {
        return (matches!(which, "last" | "median" | "slowest") || which.parse::<u32>().is_ok_and(|n| n > 0))
            .then_some(Kind::Time);
    }
    let link = name.strip_prefix("proxy.").unwrap_or(name);
    if let Some(rest) = link.strip_prefix("up.").or_else(|| link.strip_prefix("down.")) {
        return among(LINK, rest);
    }
    if name == "cross.goodput" {
        return Some(Kind::Rate);
    }
    for host in ["client.", "cross.", "proxy.", "server."] {
        if let Some(rest) = name.strip_prefix(host) {
            return among(HOST, rest);
        }
    }
    among(RUN, name)
}

/// All names, for an error message.
pub fn allowed() -> String {
    let names = |list: &[(&str, Kind, &str)]| list.iter().map(|(n, _, _)| *n).collect::<Vec<_>>().join(", ");
    format!(
        "{}, transfer.N, transfer.last, transfer.median, transfer.slowest, cross.goodput; behind client., cross., proxy. or server.: {}; \
         behind up. or down.: {}",
        names(RUN),
        names(HOST),
        names(LINK)
    )
}

/// The name of a figure, checked when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Name(pub String);

impl Name {
    /// Refuses a name that no figure has.
    pub fn check(name: &str) -> Result<Kind, String> {
        kind(name).ok_or_else(|| format!("there is no figure `{name}`"))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::check(&name).map_err(|what| D::Error::custom(format!("{what}, expected one of {}", allowed())))?;
        Ok(Self(name))
    }
}

/// A value with its unit, as a person wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As written.
    pub text: String,
    /// In the base unit.
    pub base: f64,
    /// Its unit.
    pub kind: Kind,
}

impl FromStr for Value {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let value = |base, kind| Ok(Self { text: text.to_owned(), base, kind });
        if let Ok(n) = text.parse::<u64>() {
            return value(n as f64, Kind::Count);
        }
        if let Ok(time) = text.parse::<Time>() {
            return value(time.seconds(), Kind::Time);
        }
        if let Ok(size) = text.parse::<Size>() {
            return value(size.0 as f64, Kind::Size);
        }
        if let Ok(rate) = text.parse::<BitRate>() {
            return value(rate.0 as f64, Kind::Rate);
        }
        if let Ok(share) = text.parse::<Share>() {
            return value(share.0, Kind::Share);
        }
        Err(format!(r#"`{text}` is not a value: write "63ms", "64KiB", "8mbit", "80%" or "3""#))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A condition on a figure: "server.rwnd_limited >= 80%".
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The figure.
    pub figure: String,
    /// Whether the figure must be at least the value (else at most).
    pub at_least: bool,
    /// The bound.
    pub value: Value,
}

impl Claim {
    /// Whether it holds; it does not for an unknown figure.
    pub fn holds(&self, figures: &Figures) -> bool {
        figures.get(&self.figure).is_some_and(|measured| {
            if self.at_least { *measured >= self.value.base } else { *measured <= self.value.base }
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.figure, if self.at_least { ">=" } else { "<=" }, self.value.text)
    }
}

impl FromStr for Claim {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (figure, at_least, value) = match (text.split_once(">="), text.split_once("<=")) {
            (Some((figure, value)), None) => (figure, true, value),
            (None, Some((figure, value))) => (figure, false, value),
            _ => return Err(format!(r#"`{text}` is not a claim: write "server.rwnd_limited >= 80%""#)),
        };
        let figure = figure.trim().to_owned();
        let kind = Name::check(&figure).map_err(|what| format!("{what}, expected one of {}", allowed()))?;
        let value: Value = value.parse()?;
        if value.kind != kind {
            return Err(format!("`{figure}` is a {}, and `{}` is not", kind.noun(), value.text));
        }
        Ok(Self { figure, at_least, value })
    }
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Claim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Kind {
    /// Its name.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Size => "size",
            Self::Rate => "rate",
            Self::Share => "share",
            Self::Count => "count",
        }
    }

    /// A value of this kind and, if they differ by more than a twentieth of it, its least and
    /// greatest possible values: `6.10 ms (5.20 to 6.10)`.
    pub fn show_between(self, value: f64, between: Option<[f64; 2]>) -> String {
        let shown = self.show(value);
        let Some([low, high]) = between.filter(|[low, high]| high - low > value.abs() * WORTH_A_RANGE) else {
            return shown;
        };
        let [low, high] = [low, high].map(|end| self.show(end));
        let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
        // One unit is named once.
        match (unit(&shown), low.split_once(' '), high.split_once(' ')) {
            (Some(own), Some((low, one)), Some((high, other))) if own == one && own == other => {
                format!("{shown} ({low} to {high})")
            }
            _ => format!("{shown} ({low} to {high})"),
        }
    }

    /// A value of this kind as people read it: three digits that matter and the unit.
    pub fn show(self, value: f64) -> String {
        let scaled = |units: &[(f64, &str)], value: f64| {
            let (factor, unit) = units
                .iter()
                .copied()
                .find(|(factor, _)| value >= *factor)
                .unwrap_or(*units.last().unwrap_or(&(1.0, "")));
            let n = value / factor;
            match n {
                n if n >= 99.95 => format!("{n:.0} {unit}"),
                n if n >= 9.995 => format!("{n:.1} {unit}"),
                n => format!("{n:.2} {unit}"),
            }
        };
        match self {
            Self::Time => scaled(&[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")], value),
            Self::Size if value < 10_000.0 => format!("{value:.0} B"),
            Self::Size => scaled(&[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")], value),
            Self::Rate => scaled(&[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")], value),
            Self::Share => format!("{:.1} %", value * 100.0),
            Self::Count => format!("{value:.0}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_listed_name_is_known_and_others_are_not() {
        for (prefixes, list) in [
            (&[""][..], RUN),
            (&["client.", "cross.", "proxy.", "server."], HOST),
            (&["up.", "down.", "proxy.up."], LINK),
        ] {
            for prefix in prefixes {
                for (name, expected, _) in list {
                    assert_eq!(kind(&format!("{prefix}{name}")), Some(*expected), "{prefix}{name}");
                }
            }
        }
        assert_eq!(kind("transfer.3"), Some(Kind::Time));
        for unknown in ["transfer.0", "transfer.x", "server.span", "up.rtt", "lost", ""] {
            assert_eq!(kind(unknown), None, "{unknown}");
        }
    }

    /// The page of all figures and columns.
    fn documented() -> String {
        use std::fmt::Write;
        let mut page = "# Figures and columns of the lab\n\nFor those who read `result.json` and `truth.json`, or write claims for \
                        `verify` in [a scenario](../lab.md#a-scenario). Generated.\n"
            .to_owned();
        let kind = |kind: Kind| match kind {
            Kind::Time => "time",
            Kind::Size => "size",
            Kind::Rate => "rate",
            Kind::Share => "share",
            Kind::Count => "count",
        };
        let lists = [
            ("Figures of the run, counted at the sender's end except `out_of_order`:", RUN),
            (
                "Figures of a host's kernel, after `client.`, `cross.`, `proxy.` or `server.`; sums or extremes over its sockets:",
                HOST,
            ),
            ("Figures of the link's log, after `up.` or `down.` (`proxy.up.`, `proxy.down.`):", LINK),
        ];
        for (title, list) in lists {
            let _ = write!(page, "\n{title}\n\n| figure | kind | |\n|---|---|---|\n");
            for (name, unit, meaning) in list {
                let _ = writeln!(page, "| `{name}` | {} | {meaning} |", kind(*unit));
            }
        }
        page += "\n`transfer.N`, `transfer.last`, `transfer.median` and `transfer.slowest` (time) are one transfer: from the connect \
                 call, if a connection is made for it, to the last byte of its response. `cross.goodput` is the goodput of the second \
                 client.\n\n## Columns of a socket\n\nRead every `sample_every` by TCP_INFO, SO_MEMINFO, SIOCINQ and SIOCOUTQ. \
                 Equal readings in a row are left out.\n\n| column | |\n|---|---|\n";
        for (name, meaning) in crate::sample::column_docs() {
            let _ = writeln!(page, "| `{name}` | {meaning} |");
        }
        page
    }

    #[test]
    fn every_figure_and_column_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/lab-figures.md");
        if std::env::var_os("TABLES").is_some_and(|wish| wish == "update") {
            std::fs::write(path, documented()).unwrap();
        } else {
            let page = std::fs::read_to_string(path).unwrap_or_default();
            assert!(page == documented(), "TABLES=update cargo test -p whyslow-lab --lib figures writes {path}");
        }
    }

    #[test]
    fn claims_read_compare_and_write() {
        let claim: Claim = "server.rwnd_limited >= 80%".parse().unwrap();
        assert_eq!(claim.to_string(), "server.rwnd_limited >= 80%");
        let measured = |share| Figures::from([("server.rwnd_limited".to_owned(), share)]);
        assert!(claim.holds(&measured(0.8)));
        assert!(!claim.holds(&measured(0.79)));
        assert!(!claim.holds(&Figures::new()), "a figure that was not measured proves nothing");
        assert!("server.rwnd_limited >= 80ms".parse::<Claim>().unwrap_err().contains("is a share"));
        assert!("server.rwnd >= 80%".parse::<Claim>().unwrap_err().contains("there is no figure `server.rwnd`"));
        assert!("server.rwnd_limited = 80%".parse::<Claim>().is_err());
    }

    #[test]
    fn values_are_written_with_three_digits() {
        assert_eq!(Kind::Time.show(0.0631), "63.1 ms");
        assert_eq!(Kind::Time.show(0.0), "0.00 µs");
        assert_eq!(Kind::Rate.show(7_950_000.0), "7.95 Mbit/s");
        assert_eq!(Kind::Size.show(2048.0), "2048 B");
        assert_eq!(Kind::Share.show(0.935), "93.5 %");
        let shown = |between| Kind::Time.show_between(0.0061, between);
        assert_eq!(shown(Some([0.0052, 0.0071])), "6.10 ms (5.20 to 7.10)");
        assert_eq!(shown(Some([0.0008, 0.0061])), "6.10 ms (800 µs to 6.10 ms)");
        assert_eq!(shown(Some([0.006, 0.0061])), "6.10 ms", "no range is worth so little");
        assert_eq!(Kind::Count.show_between(10.0, Some([9.0, 12.0])), "10 (9 to 12)");
    }
}

//! What a network card's counters show.

use crate::words::quantity::number;
use whyslow_evidence::{Allowance, DeviceStatement as D};

fn of(all: Option<f64>) -> String {
    all.map_or(String::new(), |all| format!(" of {}", number(all)))
}

fn rate(per_s: Option<f64>) -> String {
    per_s.map_or(String::new(), |per_s| format!(", {} a second", number(per_s)))
}

pub(super) fn statement(statement: &D) -> String {
    match statement {
        D::RingFull { packets, of: all, per_s } => format!(
            "the network card dropped {}{} packets that arrived, because its receive ring was full{}",
            number(*packets),
            of(*all),
            rate(*per_s)
        ),
        D::SendDrops { packets, of: all, per_s } => format!(
            "the network card dropped {}{} packets before they were sent{}",
            number(*packets),
            of(*all),
            rate(*per_s)
        ),
        D::DamagedFrames { frames, of: all } => format!(
            "{}{} frames arrived damaged (CRC or symbol errors): a bad cable, transceiver or port loses packets",
            number(*frames),
            of(*all)
        ),
        D::Paused { frames, per_s, is_told: true } => format!(
            "the other end of the link asked this card to stop sending: {} pause frames{}",
            number(*frames),
            rate(*per_s)
        ),
        D::Paused { frames, per_s, is_told: false } => format!(
            "this card asked the other end of the link to stop sending, because the host receives too slowly: {} pause frames{}",
            number(*frames),
            rate(*per_s)
        ),
        D::Allowance { allowance: limit, packets, per_s } => format!(
            "the instance exceeded the cloud's limit of {}: {} packets were queued or dropped{}",
            allowance(*limit),
            number(*packets),
            rate(*per_s)
        ),
    }
}

fn allowance(limit: Allowance) -> &'static str {
    match limit {
        Allowance::BandwidthIn => "inbound bandwidth",
        Allowance::BandwidthOut => "outbound bandwidth",
        Allowance::Packets => "packets a second",
        Allowance::Connections => "tracked connections",
        Allowance::LinkLocal => "packets to its DNS, metadata and time services",
    }
}

//! The path of a transfer: the quantities that a capture shows, and those that it hides.

use crate::words::path::{Quantity, Shown};
use crate::words::quantity::{count, rate, time};
use whyslow_analysis::HiddenReason;

pub(in crate::words) fn path(shown: &[Shown], hidden: &[(Vec<Quantity>, HiddenReason)]) -> String {
    let mut parts: Vec<String> = shown.iter().map(known).collect();
    parts.extend(hidden.iter().map(|(quantities, reason)| {
        let names: Vec<&str> = quantities.iter().map(|&quantity| name(quantity)).collect();
        format!("{} unknown: {}", listed(&names), why(*reason))
    }));
    parts.join("; ")
}

fn known(shown: &Shown) -> String {
    match *shown {
        Shown::RoundTrip(trip) => format!("round trip {}", time(trip)),
        Shown::Queue { usual, most } => format!("queue usually {}, at most {}", time(usual), time(most)),
        Shown::NoQueue => "no queue".to_owned(),
        Shown::Rate { bps, low, high } => format!("link full at {} ({} to {})", rate(bps), rate(low), rate(high)),
        Shown::LossEpisodes(0) => "no loss".to_owned(),
        Shown::LossEpisodes(times) => format!("losses in {}", count(times, "round trip")),
    }
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

fn name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::RoundTrip => "round trip",
        Quantity::Queue => "queue",
        Quantity::Rate => "rate of the link",
        Quantity::Losses => "losses",
    }
}

fn why(reason: HiddenReason) -> &'static str {
    match reason {
        HiddenReason::NoRoundTrip => "too few segments were captured with their ACKs",
        HiddenReason::OneDirection => "only one direction was captured",
        HiddenReason::Encrypted => "QUIC encrypts its acknowledgements; `--keylog FILE` opens them",
        HiddenReason::PacketsLeftOut => "the text lacks packets",
        HiddenReason::AtTheReceiver => "ACKs leave at once at the receiver, and have no timestamps",
        HiddenReason::NeverFull => "the transfer never filled it",
    }
}

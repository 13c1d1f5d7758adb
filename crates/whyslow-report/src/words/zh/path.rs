//! The path of a transfer: the quantities that a capture shows, and those that it hides.

use crate::words::path::{Quantity, Shown};
use crate::words::quantity::{rate, time};
use whyslow_analysis::HiddenReason;

pub(in crate::words) fn path(shown: &[Shown], hidden: &[(Vec<Quantity>, HiddenReason)]) -> String {
    let mut parts: Vec<String> = shown.iter().map(known).collect();
    parts.extend(hidden.iter().map(|(quantities, reason)| {
        let names: Vec<&str> = quantities.iter().map(|&quantity| name(quantity)).collect();
        format!("{}未知：{}", names.join("、"), why(*reason))
    }));
    parts.join("；")
}

fn known(shown: &Shown) -> String {
    match *shown {
        Shown::RoundTrip(trip) => format!("往返时延 {}", time(trip)),
        Shown::Queue { usual, most } => format!("排队时延通常为 {}，最多 {}", time(usual), time(most)),
        Shown::NoQueue => "没有排队".to_owned(),
        Shown::Rate { bps, low, high } => format!("链路以 {} 满载（{} 至 {}）", rate(bps), rate(low), rate(high)),
        Shown::LossEpisodes(0) => "没有丢包".to_owned(),
        Shown::LossEpisodes(times) => format!("{times} 个往返中有丢包"),
    }
}

fn name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::RoundTrip => "往返时延",
        Quantity::Queue => "排队时延",
        Quantity::Rate => "链路速率",
        Quantity::Losses => "丢包",
    }
}

fn why(reason: HiddenReason) -> &'static str {
    match reason {
        HiddenReason::NoRoundTrip => "抓到的报文段及其 ACK 太少",
        HiddenReason::OneDirection => "只抓到一个方向",
        HiddenReason::Encrypted => "QUIC 对确认加密，可用 `--keylog FILE` 解密",
        HiddenReason::PacketsLeftOut => "文本缺少报文",
        HiddenReason::AtTheReceiver => "在接收端 ACK 立即发出，且没有时间戳",
        HiddenReason::NeverFull => "传输从未占满链路",
    }
}

//! Reads `name: count` below `NIC statistics:`, and adds up the drivers' names by their meaning.

use crate::report::Source;
use crate::text::{self, Text};
use std::collections::BTreeMap;

/// The tool.
pub(crate) const SOURCE: Source = Source::new("ethtool");

/// Maximum number of looks of a text, and of counters of one: a card with 128 queues has some
/// thousands.
const LOOKS: usize = 1_000;
const COUNTERS: usize = 20_000;

/// The meaning of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Received,
    Sent,
    /// Dropped because the receive ring was full.
    RingFull,
    SendDrops,
    /// Damaged on the cable.
    Damaged,
    /// Pause frames that came: this card had to stop.
    PauseReceived,
    /// Pause frames that this card sent.
    PauseSent,
    BandwidthIn,
    BandwidthOut,
    PacketRate,
    Connections,
    LinkLocal,
}

/// The names of drivers: ixgbe, i40e, ice, e1000e, igb, tg3, bnxt_en, r8169, mlx5, mlx4, ena,
/// virtio_net, gve, hv_netvsc, vmxnet3. Of several names with one meaning the largest is taken,
/// because drivers repeat the kernel's counters next to their own.
const NAMES: &[(&str, Kind)] = &[
    ("rx_packets", Kind::Received),
    ("rx_packets_phy", Kind::Received),
    ("rx_ucast_packets", Kind::Received),
    ("rx_unicast", Kind::Received),
    ("port.rx_unicast", Kind::Received),
    ("tx_packets", Kind::Sent),
    ("tx_packets_phy", Kind::Sent),
    ("tx_ucast_packets", Kind::Sent),
    ("tx_unicast", Kind::Sent),
    ("port.tx_unicast", Kind::Sent),
    ("rx_missed_errors", Kind::RingFull),
    ("rx_missed", Kind::RingFull),
    ("rx_fifo_errors", Kind::RingFull),
    ("rx_over_errors", Kind::RingFull),
    ("rx_no_buffer_count", Kind::RingFull),
    ("rx_no_dma_resources", Kind::RingFull),
    ("rx_out_of_buffer", Kind::RingFull),
    ("rx_discards_phy", Kind::RingFull),
    ("rx_discards", Kind::RingFull),
    ("rx_total_discard_pkts", Kind::RingFull),
    ("rx_dropped.nic", Kind::RingFull),
    ("port.rx_dropped", Kind::RingFull),
    ("rx_drops", Kind::RingFull),
    ("rxbds_empty", Kind::RingFull),
    ("tx_dropped", Kind::SendDrops),
    ("tx_discards_phy", Kind::SendDrops),
    ("tx_fifo_errors", Kind::SendDrops),
    ("tx_aborted_errors", Kind::SendDrops),
    ("tx_drops", Kind::SendDrops),
    ("rx_crc_errors", Kind::Damaged),
    ("rx_crc_errors_phy", Kind::Damaged),
    ("rx_crc_errors.nic", Kind::Damaged),
    ("port.rx_crc_errors", Kind::Damaged),
    ("rx_fcs_errors", Kind::Damaged),
    ("rx_symbol_errors_phy", Kind::Damaged),
    ("rx_symbol_err_phy", Kind::Damaged),
    ("rx_align_errors", Kind::Damaged),
    ("rx_frame_errors", Kind::Damaged),
    ("align_errors", Kind::Damaged),
    ("fcs_errors", Kind::Damaged),
    ("rx_flow_control_xon", Kind::PauseReceived),
    ("rx_flow_control_xoff", Kind::PauseReceived),
    ("rx_xoff_rx", Kind::PauseReceived),
    ("l2_flow_control_xoff_rx", Kind::PauseReceived),
    ("link_xoff_rx", Kind::PauseReceived),
    ("port.link_xoff_rx", Kind::PauseReceived),
    ("rx_pause_ctrl_phy", Kind::PauseReceived),
    ("rx_global_pause", Kind::PauseReceived),
    ("rx_xoff_pause_rcvd", Kind::PauseReceived),
    ("rx_pause_frames", Kind::PauseReceived),
    ("tx_flow_control_xoff", Kind::PauseSent),
    ("link_xoff_tx", Kind::PauseSent),
    ("port.link_xoff_tx", Kind::PauseSent),
    ("tx_pause_ctrl_phy", Kind::PauseSent),
    ("tx_global_pause", Kind::PauseSent),
    ("tx_xoff_sent", Kind::PauseSent),
    ("tx_pause_frames", Kind::PauseSent),
    ("bw_in_allowance_exceeded", Kind::BandwidthIn),
    ("bw_out_allowance_exceeded", Kind::BandwidthOut),
    ("pps_allowance_exceeded", Kind::PacketRate),
    ("conntrack_allowance_exceeded", Kind::Connections),
    ("linklocal_allowance_exceeded", Kind::LinkLocal),
];

/// Ends of a queue's counters: they add up.
const QUEUES: &[(&str, Kind)] = &[
    ("rx_cnt", Kind::Received),
    ("tx_cnt", Kind::Sent),
    ("rx_packets", Kind::Received),
    ("tx_packets", Kind::Sent),
    ("rx_drops", Kind::RingFull),
    ("rx_no_bufs", Kind::RingFull),
    ("rx_discards", Kind::RingFull),
    ("rx_buf_alloc_failed", Kind::RingFull),
    ("tx_drops", Kind::SendDrops),
    ("tx_discards", Kind::SendDrops),
];

/// The counters of a card at one time.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub time: Option<f64>,
    pub device: String,
    /// The largest counter of each kind, with its name.
    pub counts: BTreeMap<Kind, (String, f64)>,
    /// Sums over queues.
    queues: BTreeMap<Kind, f64>,
    seen: usize,
}

impl Look {
    pub(super) fn get(&self, kind: Kind) -> Option<f64> {
        self.counts.get(&kind).map(|(_, count)| *count)
    }

    pub(super) fn name(&self, kind: Kind) -> &str {
        self.counts.get(&kind).map_or("", |(name, _)| name)
    }

    fn add(&mut self, name: &str, count: f64) {
        self.seen += 1;
        if self.seen > COUNTERS {
            return;
        }
        if let Some((_, kind)) = NAMES.iter().find(|(known, _)| *known == name) {
            let slot = self.counts.entry(*kind).or_insert_with(|| (name.to_owned(), count));
            if count > slot.1 {
                *slot = (name.to_owned(), count);
            }
        } else if let Some(kind) = queue(name) {
            *self.queues.entry(kind).or_default() += count;
        }
    }

    /// Sums of queues count where the driver has no counter of the card.
    fn finish(&mut self) {
        for (kind, sum) in &self.queues {
            let slot = self.counts.entry(*kind).or_insert_with(|| ("all queues".to_owned(), *sum));
            if *sum > slot.1 {
                *slot = ("all queues".to_owned(), *sum);
            }
        }
    }
}

/// `queue_0_rx_cnt`, `rx_queue_0_drops`, `rx0_packets`, `rx-0.packets`, `[0]: rx_discards`.
fn queue(name: &str) -> Option<Kind> {
    if !name.chars().any(|c| c.is_ascii_digit()) {
        return None;
    }
    let letters: String = name.chars().filter(|c| !c.is_ascii_digit() && !matches!(c, '[' | ']' | ':' | ' ')).collect();
    let plain = letters.replace("queue_", "").replace(['-', '.'], "_").replace("__", "_");
    let plain = plain.trim_matches('_');
    QUEUES.iter().find(|(known, _)| *known == plain).map(|(_, kind)| *kind)
}

/// All looks; empty if the text is not of `ethtool -S`.
pub(super) fn looks(text: &Text<'_>) -> Vec<Look> {
    let all = text.all();
    let is_ethtool =
        all.contains("NIC statistics") || all.contains("ethtool -S") || all.contains("_allowance_exceeded:");
    if !is_ethtool {
        return Vec::new();
    }
    let mut looks: Vec<Look> = vec![Look::default()];
    let mut device = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.split("ethtool -S").nth(1) {
            device = rest.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'', ';', '|']).to_owned();
        }
        if trimmed.starts_with("NIC statistics") {
            next(&mut looks, None);
        }
        let Some(last) = looks.last_mut() else { break };
        if let Some((name, count)) = counter(trimmed) {
            device.clone_into(&mut last.device);
            last.add(name, count);
        } else if let Some(time) = text::time(trimmed).filter(|_| trimmed.len() < 80) {
            next(&mut looks, Some(time));
        }
    }
    looks.iter_mut().for_each(Look::finish);
    looks.retain(|look| !look.counts.is_empty());
    looks
}

fn next(looks: &mut Vec<Look>, time: Option<f64>) {
    let has_room = looks.len() < LOOKS;
    match looks.last_mut() {
        Some(last) if last.seen == 0 => last.time = time.or(last.time),
        _ if has_room => looks.push(Look { time, ..Look::default() }),
        _ => {}
    }
}

/// `rx_packets: 12`, also where a mail broke off what stood before.
fn counter(line: &str) -> Option<(&str, f64)> {
    let (name, count) = line.rsplit_once(':')?;
    let name = name.trim().trim_end_matches(':');
    let count = text::whole(count.split_whitespace().next()?)?;
    let is_name = !name.is_empty() && name.len() < 80 && name.chars().any(|c| c.is_ascii_lowercase());
    (is_name && name.contains(['_', '.']) || name == "multicast").then_some((name, count as f64))
}

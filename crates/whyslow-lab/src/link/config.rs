//! The effects of one direction of a link on packets.
//!
//! Plain data: every field carries its unit in its name, so the JSON of a run reads without this
//! file. Nothing here is checked against the machine; [`Conditions::check`] refuses impossible
//! values.
//!
//! The order in which a packet meets them: `mtu`, `policer`, `loss`, `corrupt`, `mark`, `queue` and
//! `rate` with `shaper`, `duplicate`, `delay` with `jitter` and `reorder`. Every one acts on a
//! packet as it is on the wire (at most the device's MTU), never on an offloaded super-packet.
//! Unlike netem, the queue comes *before* the delay, so its limit counts waiting packets only, and
//! each loss, duplicate and corruption is drawn on its own.

use super::trace::DeliveryTrace;
use serde::{Deserialize, Serialize};

/// One direction of a link from the start of a run to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkConfig {
    /// The conditions at the start of the run.
    pub conditions: Conditions,
    /// Later changes, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The same seed, configuration and packets give the same decisions.
    pub seed: u64,
}

/// From `at_ns` after the start of the emulator, the link is as in `conditions`. Waiting packets
/// stay in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Nanoseconds since the emulator was started.
    pub at_ns: u64,
    /// All conditions from then on (not only those that change).
    pub conditions: Conditions,
}

/// The conditions of a link. The default is a perfect link: no limit, no delay, no loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// Bits per second on the wire (IP packet + Ethernet's 14-byte header + `overhead_bytes`);
    /// `None` is without limit.
    pub rate_bps: Option<u64>,
    /// When packets may leave, instead of a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<DeliveryTrace>,
    /// The queue in front of the rate or the trace; without these there is none.
    pub queue: Queue,
    /// One-way delay, after the queue.
    pub delay_ns: u64,
    /// Varies the delay.
    pub jitter: Option<Jitter>,
    /// Loses packets before they reach the queue.
    pub loss: Loss,
    /// Share (0–1) of packets that arrive twice, the copy right behind its original. The copy takes
    /// no capacity.
    pub duplicate: f64,
    /// Share (0–1) of packets with one bit flipped behind the IP header, so that the receiver's
    /// checksum fails.
    pub corrupt: f64,
    /// Holds some packets back so that later ones overtake them.
    pub reorder: Option<Reorder>,
    /// A token bucket in front of all: what exceeds it is dropped, never queued.
    pub policer: Option<TokenBucket>,
    /// A token bucket behind the queue: what exceeds it waits there.
    pub shaper: Option<TokenBucket>,
    /// Largest IP packet that passes.
    pub mtu: Option<Mtu>,
    /// Bytes that each packet takes on the wire beyond its Ethernet frame (24 for preamble, FCS and
    /// gap).
    pub overhead_bytes: u32,
    /// An AQM marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// ECN-capable packets that are marked whatever the queue is.
    pub mark: Loss,
}

/// The queue in front of the rate. Limits count the packets that wait, not the one on the wire.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// How much may wait.
    pub limit: QueueLimit,
    /// The rule by which the queue drops packets.
    pub discipline: Discipline,
}

/// How much may wait; the packet that would exceed it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// Bytes of Ethernet frames.
    Bytes(u64),
    /// Packets of any size.
    Packets(u64),
    /// As many bytes as the rate drains in this time: rate × time ÷ 8.
    TimeNs(u64),
}

impl Default for QueueLimit {
    /// 1,000 packets, the usual transmit queue of a Linux device.
    fn default() -> Self {
        QueueLimit::Packets(1000)
    }
}

/// The queue discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// First in, first out, tail drop.
    #[default]
    DropTail,
    /// Controlled delay (RFC 8289); `limit` still holds.
    Codel {
        /// Standing delay that is tolerated (RFC 8289: 5 ms).
        target_ns: u64,
        /// Time for which it may exceed the target (RFC 8289: 100 ms).
        interval_ns: u64,
    },
    /// Random early detection (Floyd and Jacobson 1993, with the gentle ramp above `max_bytes`);
    /// `limit` still holds.
    Red {
        /// The average queue below which no packet is dropped.
        min_bytes: u64,
        /// Average queue at which the share is `max_share`; from there to twice as much it rises
        /// to 1.
        max_bytes: u64,
        /// Share (0–1) dropped at `max_bytes`.
        max_share: f64,
        /// Weight of one packet in the moving average (0.002 is usual).
        weight: f64,
    },
}

impl Discipline {
    /// CoDel with the target and interval of RFC 8289 section 4.4.
    pub const CODEL: Self = Self::Codel { target_ns: 5_000_000, interval_ns: 100_000_000 };
}

/// Variation of the delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Uniform: the delay is drawn from delay ± this. Normal: this is one standard deviation. Never
    /// below zero.
    pub amount_ns: u64,
    /// The shape.
    #[serde(default)]
    pub distribution: Distribution,
    /// Packets never overtake each other: one that draws a short delay waits for the one before it.
    pub keep_order: bool,
}

/// The shape of a jitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Every value between the ends alike.
    #[default]
    Uniform,
    /// The bell curve.
    Normal,
}

/// Which packets are lost, marked or held back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Each packet with this probability (0–1), on its own.
    Independent(f64),
    /// Bursts: two states, drawn for each packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability to leave the good state.
        to_bad: f64,
        /// Probability to leave the bad state.
        to_good: f64,
        /// Probability of loss in the good state.
        loss_good: f64,
        /// Probability of loss in the bad state.
        loss_bad: f64,
    },
    /// Exactly these packets: the n-th (from 1) packet with TCP payload in this direction,
    /// retransmissions counted too.
    DataPackets(Vec<u64>),
    /// The segments that carry these bytes of the stream, from 0, in ascending order: one copy for
    /// each time that a place is listed. If one connection follows the other, it applies to each.
    Places(Vec<u64>),
}

/// Holds some packets back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Share (0–1) of packets held back.
    pub share: f64,
    /// Further packets that are held back.
    #[serde(default)]
    pub listed: Loss,
    /// How much a packet's chance depends on the packet before it (0–1): 0 is each on its own, and
    /// towards 1 they are held back in ever longer runs. The share stays the same.
    #[serde(default)]
    pub correlation: f64,
    /// How a packet is delayed.
    pub by: ReorderBy,
}

/// How a reordered packet is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReorderBy {
    /// It arrives this much later than it would have.
    DelayNs(u64),
    /// It arrives right behind the n-th packet after it, or `at_most_ns` late when too few follow.
    Gap {
        /// How many later packets go first.
        packets: u32,
        /// The longest hold.
        at_most_ns: u64,
    },
}

/// A token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBucket {
    /// Tokens come at this rate, in bits per second (counted as `rate_bps` counts).
    pub rate_bps: u64,
    /// The bucket holds this much; it starts full.
    pub burst_bytes: u64,
}

/// A link with a small MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mtu {
    /// Largest IP packet that passes.
    pub bytes: u32,
    /// Send ICMP to the sender (fragmentation needed, packet too big); without it the link is a
    /// black hole.
    pub icmp: bool,
}

/// An impossible value of a link: the field (as it is named in these structs) and the allowed
/// values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {allowed}")]
pub struct ConfigError {
    /// Name of the field, with its parent: `loss.to_bad`.
    pub field: &'static str,
    /// The allowed values.
    pub allowed: &'static str,
}

/// No delay may exceed this (an hour): beyond it a run would never end.
pub const MAX_DELAY_NS: u64 = 3_600_000_000_000;

impl LinkConfig {
    /// A link that holds `conditions` all the time.
    pub fn steady(conditions: Conditions, seed: u64) -> Self {
        Self { conditions, steps: Vec::new(), seed }
    }

    /// Rejects impossible conditions.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.conditions.check()?;
        if !self.steps.iter().map(|step| step.at_ns).is_sorted() {
            return Err(ConfigError { field: "steps", allowed: "must be in order of time" });
        }
        self.steps.iter().try_for_each(|step| step.conditions.check())
    }
}

impl Conditions {
    /// The long-term rate at which a full queue is drained; `None` without a queue.
    pub fn drains_at(&self) -> Option<u64> {
        let by_trace = self.trace.as_ref().map(DeliveryTrace::mean_rate);
        self.rate_bps.into_iter().chain(by_trace).chain(self.shaper.map(|shaper| shaper.rate_bps)).min()
    }

    /// Refuses impossible values: a share outside 0–1, a rate of 0, a delay above [`MAX_DELAY_NS`].
    pub fn check(&self) -> Result<(), ConfigError> {
        positive("rate", self.rate_bps.unwrap_or(1))?;
        if self.trace.is_some() && self.rate_bps.is_some() {
            return Err(ConfigError { field: "trace", allowed: "stands instead of a `rate`" });
        }
        time("delay", self.delay_ns)?;
        time("jitter", self.jitter.map_or(0, |jitter| jitter.amount_ns))?;
        share("duplicate", self.duplicate)?;
        share("corrupt", self.corrupt)?;
        self.queue.check()?;
        self.loss.check()?;
        self.mark.check().map_err(|error| ConfigError { field: "mark", ..error })?;
        if let Some(reorder) = &self.reorder {
            reorder.listed.check().map_err(|error| ConfigError { field: "reorder.at", ..error })?;
            share("reorder.share", reorder.share)?;
            share("reorder.correlation", reorder.correlation)?;
            match reorder.by {
                ReorderBy::DelayNs(ns) => time("reorder.delay", ns)?,
                ReorderBy::Gap { packets, at_most_ns } => {
                    positive("reorder.gap", packets.into())?;
                    time("reorder.at_most", at_most_ns)?;
                }
            }
        }
        if let Some(policer) = self.policer {
            positive("policer.rate", policer.rate_bps)?;
            positive("policer.burst", policer.burst_bytes)?;
        }
        if let Some(shaper) = self.shaper {
            positive("shaper.rate", shaper.rate_bps)?;
            // A packet that never fits would wait forever.
            if shaper.burst_bytes < 9_100 {
                return Err(ConfigError { field: "shaper.burst", allowed: "must be at least 9100 bytes" });
            }
        }
        match self.mtu {
            Some(mtu) if mtu.bytes < 576 => Err(ConfigError { field: "mtu", allowed: "must be at least 576 bytes" }),
            _ => Ok(()),
        }
    }
}

impl Queue {
    fn check(&self) -> Result<(), ConfigError> {
        match self.limit {
            QueueLimit::TimeNs(ns) => time("queue.limit", ns)?,
            QueueLimit::Bytes(_) | QueueLimit::Packets(_) => {}
        }
        match self.discipline {
            Discipline::DropTail => Ok(()),
            Discipline::Codel { target_ns, interval_ns } => {
                positive("queue.target", target_ns)?;
                positive("queue.interval", interval_ns)?;
                time("queue.target", target_ns)?;
                time("queue.interval", interval_ns)
            }
            Discipline::Red { min_bytes, max_bytes, max_share, weight } => {
                if min_bytes >= max_bytes {
                    return Err(ConfigError { field: "queue.max_bytes", allowed: "must be more than queue.min_bytes" });
                }
                share("queue.max_share", max_share)?;
                share("queue.weight", weight)
            }
        }
    }
}

impl Loss {
    fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::None => Ok(()),
            Self::Independent(p) => share("loss", *p),
            Self::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                share("loss.to_bad", *to_bad)?;
                share("loss.to_good", *to_good)?;
                share("loss.loss_good", *loss_good)?;
                share("loss.loss_bad", *loss_bad)
            }
            Self::DataPackets(list) if list.contains(&0) => {
                Err(ConfigError { field: "loss.data_packets", allowed: "packets are counted from 1" })
            }
            Self::Places(list) if !list.is_sorted() => {
                Err(ConfigError { field: "loss.at", allowed: "places are in ascending order" })
            }
            Self::DataPackets(_) | Self::Places(_) => Ok(()),
        }
    }
}

fn share(field: &'static str, value: f64) -> Result<(), ConfigError> {
    let is_share = (0.0..=1.0).contains(&value);
    if is_share { Ok(()) } else { Err(ConfigError { field, allowed: "must be a share from 0 to 1 (0 % to 100 %)" }) }
}

fn time(field: &'static str, ns: u64) -> Result<(), ConfigError> {
    if ns <= MAX_DELAY_NS { Ok(()) } else { Err(ConfigError { field, allowed: "must be at most one hour" }) }
}

fn positive(field: &'static str, value: u64) -> Result<(), ConfigError> {
    if value > 0 { Ok(()) } else { Err(ConfigError { field, allowed: "must be more than 0" }) }
}

//! The path in a scenario, and its translation into the emulator's numbers.

use super::units::{BitRate, Share, Size, Time};
use crate::link::config::{
    Conditions, Discipline, Distribution, Jitter, LinkConfig, Loss, Mtu, Queue, QueueLimit, Reorder, ReorderBy, Step,
    TokenBucket,
};
use crate::link::trace::DeliveryTrace;
use crate::net::config::{EmulatorConfig, LinkPair, PortKind, Spin};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The largest file of a trace, bytes.
const LONGEST_TRACE: u64 = 64_000_000;

/// A link between two hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PathSpec {
    /// Round-trip time without queueing: half of it is the delay of each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Time>,
    /// From the client towards the server.
    pub up: LinkSpec,
    /// From the server towards the client.
    pub down: LinkSpec,
    /// Repeats the same decisions for the same packets.
    pub seed: u64,
}

/// One direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSpec {
    /// Bits per second on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// A file of mahimahi: when packets may leave, instead of a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// The queue in front of the rate: "64KiB", "100ms" or "50 packets".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
    /// The AQM; without one, tail drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmSpec>,
    /// One-way delay; not together with the path's `rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// Varies the delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
    /// "1%", `{ packets = [7, 8] }`, `{ at = ["14480B"] }` or `{ gilbert_elliott = { … } }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Share that arrives twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Share>,
    /// Share that arrives with a bit flipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Share>,
    /// Holds some packets back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// A token bucket without a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<BucketSpec>,
    /// A token bucket behind the queue: this much passes at `rate`, and the rest at its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<BucketSpec>,
    /// Largest IP packet that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<MtuSpec>,
    /// Bytes on the wire beyond the Ethernet frame: "24B" for preamble, FCS and gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Size>,
    /// The AQM marks instead of dropping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Marks ECN-capable packets whatever the queue is; written as `loss` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<LossSpec>,
    /// Later changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub step: Vec<StepSpec>,
}

/// From `at` on, what `set` names is different.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Time since the path was started.
    pub at: Time,
    /// The changed keys; all others stay.
    pub set: LinkSpec,
}

/// A limit of the queue, written with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSpec(pub QueueLimit);

const QUEUE: &str = r#"write "64KiB", "100ms" or "50 packets""#;

impl FromStr for QueueSpec {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let packets = text.strip_suffix("packets").map(|n| n.trim().parse::<u64>());
        if let Some(Ok(n)) = packets {
            return Ok(Self(QueueLimit::Packets(n)));
        }
        let size = text.parse::<Size>().map(|s| QueueLimit::Bytes(s.0));
        let limit = size.or_else(|_| text.parse::<Time>().map(|t| QueueLimit::TimeNs(t.0)));
        limit.map(Self).map_err(|_| format!("`{text}` is not a queue: {QUEUE}"))
    }
}

impl Serialize for QueueSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            QueueLimit::Bytes(n) => Size(n).serialize(serializer),
            QueueLimit::TimeNs(n) => Time(n).serialize(serializer),
            QueueLimit::Packets(n) => serializer.collect_str(&format_args!("{n} packets")),
        }
    }
}

impl<'de> Deserialize<'de> for QueueSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = QueueSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the size of a queue: {QUEUE}")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<QueueSpec, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<QueueSpec, E> {
                Err(E::custom(format!("`{n}` has no unit: {QUEUE}")))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

/// Active queue management.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AqmSpec {
    /// RFC 8289.
    Codel(CodelSpec),
    /// Random early detection.
    Red(RedSpec),
}

/// CoDel's two times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CodelSpec {
    /// Standing delay that is tolerated.
    pub target: Time,
    /// Time for which it may exceed the target.
    pub interval: Time,
}

impl Default for CodelSpec {
    fn default() -> Self {
        Self { target: Time(5_000_000), interval: Time(100_000_000) }
    }
}

/// RED's ramp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// Average queue below which nothing is dropped.
    pub min: Size,
    /// Average queue at which `share` is dropped.
    pub max: Size,
    /// Dropped at `max`.
    pub share: Share,
    /// Weight of one packet in the average.
    #[serde(default = "red_weight")]
    pub weight: Share,
}

fn red_weight() -> Share {
    Share(0.002)
}

/// Variation of the delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Uniform: ± this; normal: its standard deviation.
    pub amount: Time,
    /// `uniform` or `normal`.
    #[serde(default)]
    pub distribution: Distribution,
    /// `kept` or `free` (packets overtake each other).
    #[serde(default)]
    pub order: Order,
}

/// Whether jitter may reorder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Packets stay in order.
    #[default]
    Kept,
    /// Packets overtake each other.
    Free,
}

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LossSpec {
    /// Each packet is lost independently.
    Share(Share),
    /// Named packets or bursts.
    Table(LossTable),
}

/// Losses that need more than one figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LossTable {
    /// The n-th packets with payload, from 1.
    Packets(Vec<u64>),
    /// The segments with these bytes of the stream, from 0; a place that is named twice loses two
    /// copies.
    At(Vec<Size>),
    /// Bursts.
    GilbertElliott(GilbertElliottSpec),
}

/// The two-state model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Probability to leave the good state, per packet.
    pub to_bad: Share,
    /// Probability to leave the bad state, per packet.
    pub to_good: Share,
    /// Loss in the good state.
    #[serde(default)]
    pub loss_good: Share,
    /// Loss in the bad state.
    #[serde(default = "everything")]
    pub loss_bad: Share,
}

fn everything() -> Share {
    Share(1.0)
}

impl<'de> Deserialize<'de> for LossSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = LossSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#""1%", { packets = [7, 8] }, { at = ["14480B"] } or { gilbert_elliott = { to_bad = "1%", to_good = "20%" } }"#)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<LossSpec, E> {
                text.parse().map(LossSpec::Share).map_err(E::custom)
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<LossSpec, E> {
                Err(E::custom(format!(r#"`{n}` has no unit: write a share as "1%" (0% to 100%)"#)))
            }
            fn visit_f64<E: Error>(self, n: f64) -> Result<LossSpec, E> {
                Err(E::custom(format!(r#"`{n}` has no unit: write a share as "1%" (0% to 100%)"#)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LossSpec, A::Error> {
                LossTable::deserialize(MapAccessDeserializer::new(map)).map(LossSpec::Table)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Packets held back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Number of lost packets.
    #[serde(default)]
    pub share: Share,
    /// The segments with these bytes of the stream, from 0, are held back as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Size>,
    /// They arrive this much later (at most, when `gap` is given).
    pub delay: Time,
    /// They arrive behind this many later packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<u32>,
    /// How much each loss depends on the previous packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Share>,
}

/// A token bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketSpec {
    /// Tokens come at this rate.
    pub rate: BitRate,
    /// The bucket.
    pub burst: Size,
}

/// A smaller MTU on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MtuSpec {
    /// Largest IP packet.
    pub size: Size,
    /// Whether the sender gets an ICMP message.
    pub icmp: bool,
}

/// How the path is carried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmulatorSpec {
    /// `veth` or `tun`.
    pub port: PortKind,
    /// Carry neighbouring segments together.
    pub fast: bool,
    /// Pin the emulator to this processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// `auto`, `always` or `never` wait by spinning.
    pub spin: Spin,
    /// How late the latest 1 % of packets may be before a run is void, whatever it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Time>,
}

impl EmulatorSpec {
    /// The emulator's own terms.
    pub fn resolve(&self) -> EmulatorConfig {
        EmulatorConfig {
            port: self.port,
            fast: self.fast,
            cpu: self.cpu,
            spin: self.spin,
            log_limit: None,
            tolerance_ns: self.tolerance.map(|time| time.0),
        }
    }
}

impl PathSpec {
    /// The emulator's own terms, or the error: the key and the allowed values.
    pub fn resolve(&self, key: &str) -> Result<LinkPair, (String, String)> {
        // Two streams of decisions from one seed.
        let up = self.direction(&self.up, &format!("{key}.up"), self.seed.wrapping_mul(2).wrapping_add(1))?;
        let down = self.direction(&self.down, &format!("{key}.down"), self.seed.wrapping_mul(2).wrapping_add(2))?;
        Ok(LinkPair { up, down })
    }

    fn direction(&self, link: &LinkSpec, key: &str, seed: u64) -> Result<LinkConfig, (String, String)> {
        let mut start = Conditions::default();
        if let Some(rtt) = self.rtt {
            if link.delay.is_some() {
                return Err((
                    format!("{key}.delay"),
                    "give either the path's `rtt` or each direction's `delay`".into(),
                ));
            }
            start.delay_ns = rtt.0 / 2;
        }
        link.apply(&mut start);
        start.trace = link.trace.as_deref().map(|file| read_trace(file, key)).transpose()?;
        let mut config = LinkConfig { conditions: start.clone(), steps: Vec::new(), seed };
        for step in &link.step {
            if !step.set.step.is_empty() {
                return Err((format!("{key}.step.set.step"), "a step has no steps of its own".into()));
            }
            if step.set.trace.is_some() {
                return Err((format!("{key}.step.set.trace"), "a trace holds from the start on".into()));
            }
            step.set.apply(&mut start);
            config.steps.push(Step { at_ns: step.at.0, conditions: start.clone() });
        }
        config.check().map_err(|e| (format!("{key}.{}", e.field), e.allowed.to_owned()))?;
        Ok(config)
    }
}

impl LinkSpec {
    /// Applies these changes to the earlier conditions.
    fn apply(&self, to: &mut Conditions) {
        if let Some(rate) = self.rate {
            to.rate_bps = Some(rate.0);
        }
        if let Some(QueueSpec(limit)) = self.queue {
            to.queue.limit = limit;
        }
        if let Some(aqm) = &self.aqm {
            to.queue = Queue { limit: to.queue.limit, discipline: aqm.resolve() };
        }
        if let Some(delay) = self.delay {
            to.delay_ns = delay.0;
        }
        if let Some(jitter) = &self.jitter {
            to.jitter = Some(Jitter {
                amount_ns: jitter.amount.0,
                distribution: jitter.distribution,
                keep_order: jitter.order == Order::Kept,
            });
        }
        if let Some(loss) = &self.loss {
            to.loss = loss.resolve();
        }
        if let Some(Share(share)) = self.duplicate {
            to.duplicate = share;
        }
        if let Some(Share(share)) = self.corrupt {
            to.corrupt = share;
        }
        if let Some(reorder) = &self.reorder {
            let by = match reorder.gap {
                Some(packets) => ReorderBy::Gap { packets, at_most_ns: reorder.delay.0 },
                None => ReorderBy::DelayNs(reorder.delay.0),
            };
            let correlation = reorder.correlation.unwrap_or_default().0;
            to.reorder = Some(Reorder { share: reorder.share.0, listed: places(&reorder.at), correlation, by });
        }
        if let Some(policer) = &self.policer {
            to.policer = Some(policer.resolve());
        }
        if let Some(shaper) = &self.shaper {
            to.shaper = Some(shaper.resolve());
        }
        if let Some(mtu) = &self.mtu {
            to.mtu = Some(Mtu { bytes: mtu.size.0.try_into().unwrap_or(u32::MAX), icmp: mtu.icmp });
        }
        if let Some(overhead) = self.overhead {
            to.overhead_bytes = overhead.0.try_into().unwrap_or(u32::MAX);
        }
        if let Some(ecn) = self.ecn {
            to.ecn = ecn;
        }
        if let Some(mark) = &self.mark {
            to.mark = mark.resolve();
        }
    }
}

impl BucketSpec {
    fn resolve(&self) -> TokenBucket {
        TokenBucket { rate_bps: self.rate.0, burst_bytes: self.burst.0 }
    }
}

impl AqmSpec {
    fn resolve(&self) -> Discipline {
        match self {
            Self::Codel(c) => Discipline::Codel { target_ns: c.target.0, interval_ns: c.interval.0 },
            Self::Red(r) => {
                Discipline::Red { min_bytes: r.min.0, max_bytes: r.max.0, max_share: r.share.0, weight: r.weight.0 }
            }
        }
    }
}

/// Reads a trace, or returns the key and what is wrong.
fn read_trace(file: &std::path::Path, key: &str) -> Result<DeliveryTrace, (String, String)> {
    let wrong = |why: String| (format!("{key}.trace"), format!("{}: {why}", file.display()));
    let length = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
    if length > LONGEST_TRACE {
        return Err(wrong("a trace has at most 64 MB".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    DeliveryTrace::parse(&text).map_err(wrong)
}

/// The segments with these bytes.
fn places(list: &[Size]) -> Loss {
    let mut places: Vec<u64> = list.iter().map(|place| place.0).collect();
    places.sort_unstable();
    if places.is_empty() { Loss::None } else { Loss::Places(places) }
}

impl LossSpec {
    fn resolve(&self) -> Loss {
        match self {
            Self::Share(Share(share)) if *share == 0.0 => Loss::None,
            Self::Share(Share(share)) => Loss::Independent(*share),
            Self::Table(LossTable::Packets(list)) => Loss::DataPackets(list.clone()),
            Self::Table(LossTable::At(list)) => places(list),
            Self::Table(LossTable::GilbertElliott(ge)) => Loss::GilbertElliott {
                to_bad: ge.to_bad.0,
                to_good: ge.to_good.0,
                loss_good: ge.loss_good.0,
                loss_bad: ge.loss_bad.0,
            },
        }
    }
}

//! [`Metrics`]: counts reports for Prometheus.
//!
//! Labels are bounded: the first servers and programs that lost time have their own, the others are
//! counted together. A server's label is its address; its name only if asked for, because clients
//! choose it.

mod format;
mod label;
pub(crate) mod server;

use super::batch::{Batch, Counts};
use super::choice::Choice;
use super::closed::Account;
use super::holder::PodName;
use super::record::Record;
use super::tally::OTHER;
use label::Label;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use whyslow_analysis::{Endpoint, Retransmitted, host_and_port};
use whyslow_units::Nanos;

/// Maximum number of servers, and of programs, with a label of their own.
const MAX_NAMES: usize = 50;
/// Maximum number of pods with labels of their own: as many as a large node runs in a day. Source:
/// the kubelet's default of 110 pods at a time (maxPods).
const MAX_PODS: usize = 300;
/// Bounds of round trips and of transfers, seconds.
const RTTS: [f64; 12] = [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];
const TIMES: [f64; 12] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0];

type Seconds = Counter<f64, AtomicU64>;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfServer {
    server: Label,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfCause {
    cause: &'static str,
    server: Label,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfProcess {
    process: Label,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfPod {
    namespace: Label,
    pod: Label,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfPodCause {
    cause: &'static str,
    namespace: Label,
    pod: Label,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfKind {
    kind: &'static str,
    server: Label,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfClosed {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct By {
    by: &'static str,
}

/// Names that have a label of their own.
#[derive(Debug, Default)]
struct Names(HashSet<Label>);

impl Names {
    fn label(&mut self, name: &str) -> Label {
        let label = Label::new(name);
        if self.0.len() < MAX_NAMES && !self.0.contains(&label) {
            self.0.insert(label.clone());
        }
        if self.0.contains(&label) { label } else { Label::new(OTHER) }
    }
}

/// Pods that have labels of their own.
#[derive(Debug, Default)]
struct Pods(HashSet<(Label, Label)>);

impl Pods {
    /// Namespace and name. Further pods are counted together.
    fn label(&mut self, namespace: &str, name: &str) -> (Label, Label) {
        let labels = (Label::new(namespace), Label::new(name));
        if self.0.len() < MAX_PODS && !self.0.contains(&labels) {
            self.0.insert(labels.clone());
        }
        if self.0.contains(&labels) { labels } else { (Label::new(OTHER), Label::new(OTHER)) }
    }
}

/// The metrics themselves.
#[derive(Debug)]
struct Families {
    lost: Family<OfCause, Seconds>,
    process_lost: Family<OfProcess, Seconds>,
    pod_lost: Family<OfPodCause, Seconds>,
    pod_transfers: Family<OfPod, Counter>,
    transfers: Family<OfServer, Counter>,
    bytes: Family<OfServer, Counter>,
    took: Histogram,
    rtt: Family<OfServer, Histogram>,
    retransmitted: Family<OfKind, Counter>,
    packets: Counter,
    dropped: Family<By, Counter>,
    cut: Counter,
    unlisted: Counter,
    connections: Gauge,
    closed: Counter,
    closed_sending: Family<By, Seconds>,
    closed_segments: Family<OfClosed, Counter>,
    closed_missed: Counter,
}

/// The counters, and the server that exports them.
pub(super) struct Metrics {
    families: Families,
    servers: Servers,
    state: Mutex<State>,
}

/// What labels a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Servers {
    ByAddress,
    /// The name that clients ask for, if known.
    ByName,
}

impl Servers {
    fn name(self, server: &Endpoint) -> String {
        match self {
            Self::ByAddress => host_and_port(&server.address, server.port),
            Self::ByName => server.host_and_port(),
        }
    }
}

#[derive(Default)]
struct State {
    servers: Names,
    processes: Names,
    pods: Pods,
    counts: Counts,
    /// Counts of connections that are open.
    retransmitted: HashMap<u64, [u64; 4]>,
}

impl Metrics {
    /// Offers them at this address.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub(super) fn serve(address: SocketAddr, servers: Servers) -> anyhow::Result<Self> {
        let (families, registry) = register();
        server::start(address, registry)?;
        Ok(Self { families, servers, state: Mutex::default() })
    }

    /// Counts reports.
    pub(super) fn add(&self, batch: &Batch, choice: &Choice) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for record in batch.records.iter().filter(|record| choice.concerns(record)) {
            let server = state.servers.label(&self.servers.name(&record.connection.server));
            self.families.add(record, &server, &mut state);
        }
        let closed = batch.closed.iter().filter(|closed| choice.concerns_closed(closed));
        closed.for_each(|closed| self.families.add_closed(&closed.account));
        // Nothing more comes of these.
        for record in batch.records.iter().filter(|record| record.over) {
            state.retransmitted.remove(&record.connection.id);
        }
        let before = std::mem::replace(&mut state.counts, batch.counts);
        self.families.count(&before, &batch.counts);
    }
}

/// All metrics by name. The prefix is `whyslow_`, and the encoder adds `_total` to counters.
fn register() -> (Families, Registry) {
    let mut registry = Registry::with_prefix("whyslow");
    let families = Families {
        lost: Family::default(),
        process_lost: Family::default(),
        pod_lost: Family::default(),
        pod_transfers: Family::default(),
        transfers: Family::default(),
        bytes: Family::default(),
        took: Histogram::new(TIMES),
        rtt: Family::new_with_constructor(|| Histogram::new(RTTS)),
        retransmitted: Family::default(),
        packets: Counter::default(),
        dropped: Family::default(),
        cut: Counter::default(),
        unlisted: Counter::default(),
        connections: Gauge::default(),
        closed: Counter::default(),
        closed_sending: Family::default(),
        closed_segments: Family::default(),
        closed_missed: Counter::default(),
    };
    let all = &mut registry;
    let lost = "Time that a cause cost transfers and connections to a server; causes may overlap in time";
    all.register_with_unit("lost", lost, Unit::Seconds, families.lost.clone());
    let process = "What its costliest cause cost each transfer of a program on this machine";
    all.register_with_unit("process_lost", process, Unit::Seconds, families.process_lost.clone());
    let pod = "Time that a cause cost transfers of a pod on this machine; causes may overlap in time";
    all.register_with_unit("pod_lost", pod, Unit::Seconds, families.pod_lost.clone());
    let pod = "Transfers of a pod on this machine that have ended";
    all.register("pod_transfers", pod, families.pod_transfers.clone());
    all.register("transfers", "Transfers that have ended", families.transfers.clone());
    all.register_with_unit("transfer", "Payload of transfers that have ended", Unit::Bytes, families.bytes.clone());
    let took = "How long transfers took for their users, from the request on";
    all.register_with_unit("transfer_duration", took, Unit::Seconds, families.took.clone());
    let rtt = "Median round-trip time of a connection, when a transfer of it has ended";
    all.register_with_unit("rtt", rtt, Unit::Seconds, families.rtt.clone());
    all.register("retransmitted_segments", "Segments that were sent again, by why", families.retransmitted.clone());
    all.register("packets", "Packets that were looked at", families.packets.clone());
    let dropped = "Packets that were not, because the ring or an interface dropped them";
    all.register("dropped_packets", dropped, families.dropped.clone());
    all.register("cut_packets", "Packets of which only the first bytes were taken", families.cut.clone());
    let unlisted = "Transfers that ended and were not listed: one connection had too many at once";
    all.register("unlisted_transfers", unlisted, families.unlisted.clone());
    let connections = "Connections that are open";
    all.register("connections", connections, families.connections.clone());
    let closed = "Connections of this machine that have closed, by the kernel's account (--closed)";
    all.register("closed_connections", closed, families.closed.clone());
    let sending = "Time in which closed connections had data outstanding, by what held them";
    all.register_with_unit("closed_sending", sending, Unit::Seconds, families.closed_sending.clone());
    let segments = "Segments with payload of closed connections: all, and those sent again";
    all.register("closed_segments", segments, families.closed_segments.clone());
    let missed = "Closed connections that are in no other figure: they came faster than they were read";
    all.register("closed_missed", missed, families.closed_missed.clone());
    for by in ["ring", "interface"] {
        drop(families.dropped.get_or_create(&By { by }));
    }
    (families, registry)
}

impl Families {
    /// Counts a transfer once: if it continues after its report, only its connection's
    /// retransmissions are added.
    fn add(&self, record: &Record, server: &Label, state: &mut State) {
        let connection = &record.connection;
        self.add_retransmitted(record, server, state);
        if record.revised {
            return;
        }
        let of_server = OfServer { server: server.clone() };
        for finding in record.findings().iter().filter(|finding| finding.is_waited_for()) {
            if finding.cost_s > Nanos::ZERO {
                let labels = OfCause { cause: finding.cause.slug(), server: server.clone() };
                self.lost.get_or_create(&labels).inc_by(finding.cost_s.as_secs_f64());
            }
        }
        if let Some(process) = record.holders.process() {
            let labels = OfProcess { process: state.processes.label(process) };
            self.process_lost.get_or_create(&labels).inc_by(record.lost().as_secs_f64());
        }
        self.add_to_pods(record, state);
        if let Some(transfer) = record.transfer() {
            self.transfers.get_or_create(&of_server).inc();
            self.bytes.get_or_create(&of_server).inc_by(transfer.bytes);
            self.took.observe(record.took().as_secs_f64());
            if let Some(rtt) = connection.rtt_ms.p50 {
                self.rtt.get_or_create(&of_server).observe(rtt / 1_000.0);
            }
        }
    }

    /// Counts a transfer for the pods that have its ends: one within a pod once.
    fn add_to_pods(&self, record: &Record, state: &mut State) {
        let mut pods: Vec<&PodName> = record.holders.all().filter_map(|holder| holder.pod.as_ref()).collect();
        pods.dedup_by_key(|pod| &pod.uid);
        for (namespace, pod) in pods.into_iter().filter_map(|pod| pod.namespace.as_ref().zip(pod.name.as_ref())) {
            let (namespace, pod) = state.pods.label(namespace, pod);
            for finding in record.findings().iter().filter(|finding| finding.is_waited_for()) {
                if finding.cost_s > Nanos::ZERO {
                    let labels =
                        OfPodCause { cause: finding.cause.slug(), namespace: namespace.clone(), pod: pod.clone() };
                    self.pod_lost.get_or_create(&labels).inc_by(finding.cost_s.as_secs_f64());
                }
            }
            if record.transfer().is_some() {
                self.pod_transfers.get_or_create(&OfPod { namespace, pod }).inc();
            }
        }
    }

    /// The counts of a connection since its last report.
    fn add_retransmitted(&self, record: &Record, server: &Label, state: &mut State) {
        let mut now = [0; 4];
        for direction in &record.connection.directions {
            let Retransmitted { fast, timeout, tail_probe, spurious, .. } = direction.retransmitted;
            for (all, kind) in now.iter_mut().zip([fast, timeout, tail_probe, spurious]) {
                *all += kind;
            }
        }
        let before = state.retransmitted.insert(record.connection.id, now);
        for ((kind, now), before) in
            ["fast", "timeout", "tail_probe", "spurious"].into_iter().zip(now).zip(before.unwrap_or_default())
        {
            let labels = OfKind { kind, server: server.clone() };
            self.retransmitted.get_or_create(&labels).inc_by(now.saturating_sub(before));
        }
    }

    fn add_closed(&self, account: &Account) {
        self.closed.inc();
        let held = account.receive_window_s + account.send_buffer_s;
        let rest = (account.sending_s - held).max(Nanos::ZERO);
        for (by, time) in
            [("receive_window", account.receive_window_s), ("send_buffer", account.send_buffer_s), ("network", rest)]
        {
            self.closed_sending.get_or_create(&By { by }).inc_by(time.as_secs_f64());
        }
        for (kind, segments) in [("sent", account.sent_segments), ("retransmitted", account.retransmitted_segments)] {
            self.closed_segments.get_or_create(&OfClosed { kind }).inc_by(segments);
        }
    }

    fn count(&self, before: &Counts, now: &Counts) {
        let missed = |counts: &Counts| counts.closed_missed.unwrap_or(0);
        self.closed_missed.inc_by(missed(now).saturating_sub(missed(before)));
        self.packets.inc_by(now.packets - before.packets);
        self.cut.inc_by(now.drops.cut.saturating_sub(before.drops.cut));
        self.unlisted.inc_by(now.unlisted.saturating_sub(before.unlisted));
        self.connections.set(i64::try_from(now.connections).unwrap_or(i64::MAX));
        let (old, new) = (before.drops, now.drops);
        for (by, more) in
            [("ring", new.ring.saturating_sub(old.ring)), ("interface", new.interface.saturating_sub(old.interface))]
        {
            self.dropped.get_or_create(&By { by }).inc_by(more);
        }
    }
}

#[cfg(test)]
mod tests;

//! Machines made by hand, for tests of rules.

#![allow(clippy::unwrap_used)]

use crate::finding::{Evidence, Finding, Who};
use crate::snapshot::{Again, Snapshot};
use std::collections::BTreeMap;
use whyslow_evidence::Fix;
use whyslow_live::host::{
    Conntrack, Device, Host, Memory, Namespace, Owner, PeerMetrics, Socket, State, Timer, TimerKind,
};
use whyslow_live::tcp_info::TcpInfo;
use whyslow_report::words::{Lang, evidence, host};

/// A machine with one namespace, now and a while ago.
pub(crate) struct SyntheticHost {
    pub(crate) host: Host,
    /// Ten seconds ago, where there was a look.
    pub(crate) earlier: Option<Namespace>,
    pub(crate) closed_since: BTreeMap<u64, f64>,
    /// The second reading, half a second later.
    pub(crate) again: Option<Again>,
}

impl SyntheticHost {
    /// A healthy machine with Linux's defaults and nothing connected.
    pub(crate) fn new() -> Self {
        let settings = [
            ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
            ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
            ("net.ipv4.tcp_window_scaling", "1"),
            ("net.ipv4.tcp_sack", "1"),
            ("net.ipv4.tcp_timestamps", "1"),
            ("net.ipv4.tcp_slow_start_after_idle", "1"),
            ("net.ipv4.tcp_early_retrans", "3"),
            ("net.ipv4.tcp_recovery", "1"),
            ("net.ipv4.tcp_mtu_probing", "0"),
            ("net.ipv4.tcp_no_ssthresh_metrics_save", "1"),
            ("net.ipv4.ip_local_port_range", "32768 60999"),
            ("net.core.somaxconn", "4096"),
            ("net.core.netdev_max_backlog", "1000"),
            ("net.core.rmem_max", "212992"),
        ];
        let counters = [
            ("Tcp.OutSegs", 1_000_000),
            ("Tcp.InSegs", 1_000_000),
            ("Tcp.RetransSegs", 100),
            ("Tcp.PassiveOpens", 10_000),
            ("Tcp.InCsumErrors", 0),
            ("TcpExt.TCPTimeouts", 20),
            ("TcpExt.TCPSynRetrans", 5),
            ("TcpExt.TCPSpuriousRTOs", 0),
            ("TcpExt.TCPDSACKRecv", 10),
            ("TcpExt.TCPDSACKOfoRecv", 0),
            ("TcpExt.TCPLossProbes", 50),
            ("TcpExt.TCPLossProbeRecovery", 10),
            ("TcpExt.TCPLostRetransmit", 1),
            ("TcpExt.ListenOverflows", 0),
            ("TcpExt.RcvPruned", 0),
            ("TcpExt.TCPMTUPSuccess", 0),
        ];
        let namespace = Namespace {
            id: 1,
            sysctls: settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            counters: counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            ..Namespace::default()
        };
        let host = Host {
            kernel: "6.18.0".to_owned(),
            uptime_s: 86_400.0,
            processors: 4,
            namespaces: vec![namespace],
            cpu_pressure: Some(0.5),
            ..Host::default()
        };
        Self { host, earlier: None, closed_since: BTreeMap::new(), again: None }
    }

    pub(crate) fn namespace(&mut self) -> &mut Namespace {
        &mut self.host.namespaces[0]
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.namespace().sysctls.insert(format!("net.{name}"), value.to_owned());
    }

    pub(crate) fn count(&mut self, name: &str, value: u64) {
        self.namespace().counters.insert(name.to_owned(), value);
    }

    /// Makes this scene the snapshot of ten seconds ago.
    pub(crate) fn then(&mut self) {
        self.earlier = Some(self.namespace().clone());
    }

    pub(crate) fn add(&mut self, socket: Socket) {
        self.namespace().sockets.push(socket);
    }

    pub(crate) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            host: &self.host,
            namespace: &self.host.namespaces[0],
            earlier: self.earlier.as_ref().map(|earlier| (earlier, 10.0)),
            softnet_earlier: None,
            again: self.again.as_ref(),
            is_first: true,
            is_own: true,
            closed_since: &self.closed_since,
        }
    }

    /// The findings of all rules.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        super::judge(&[self.snapshot()])
    }

    /// The same findings in words.
    pub(crate) fn summaries(&self) -> Vec<FindingSummary> {
        self.findings().iter().map(FindingSummary::of).collect()
    }

    /// The names of the findings.
    pub(crate) fn causes(&self) -> Vec<&'static str> {
        self.summaries().iter().map(|listed| listed.cause).collect()
    }

    /// The one finding that there is.
    #[track_caller]
    pub(crate) fn finding(&self, slug: &str) -> FindingSummary {
        let mut listed = self.summaries();
        assert_eq!(listed.len(), 1, "{:?}", self.causes());
        let listed = listed.pop().unwrap();
        assert_eq!(listed.cause, slug);
        listed
    }
}

/// A finding as it is printed.
#[derive(Debug)]
pub(crate) struct FindingSummary {
    pub(crate) cause: &'static str,
    pub(crate) seconds: Option<f64>,
    pub(crate) cost: String,
    pub(crate) peer: Option<String>,
    pub(crate) confidence: f64,
    pub(crate) summary: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) fix: PrintedFix,
}

/// The first remedy of a finding.
#[derive(Debug)]
pub(crate) struct PrintedFix {
    pub(crate) who: Who,
    pub(crate) what: String,
    pub(crate) command: Option<String>,
    pub(crate) verify: String,
}

impl FindingSummary {
    pub(crate) fn of(finding: &Finding) -> Self {
        let Some(Fix::OfHost { actor, command, .. }) = finding.remedies.first() else { panic!("{finding:?}") };
        let fix = PrintedFix {
            who: *actor,
            what: evidence::fix(&finding.remedies[0], Lang::En),
            command: command.clone(),
            verify: host::check(finding.verify.as_ref().unwrap(), Lang::En),
        };
        Self {
            cause: finding.cause.unwrap().slug(),
            seconds: finding.cost_s,
            cost: host::extent(finding.extent.unwrap(), Lang::En),
            peer: finding.peer.map(|peer| peer.to_string()),
            confidence: finding.confidence,
            summary: evidence::statement(&finding.statement, Lang::En),
            evidence: finding.evidence.clone(),
            fix,
        }
    }

    /// A figure of the evidence.
    #[track_caller]
    pub(crate) fn figure(&self, name: &str) -> f64 {
        let found = self.evidence.iter().find(|evidence| evidence.name == name);
        found.unwrap_or_else(|| panic!("{name} is not in {:?}", self.evidence)).value
    }
}

/// A connection of nginx that is busy and well: 20 ms, 100 segments of window, nothing lost.
pub(crate) fn connection() -> Socket {
    let info = TcpInfo {
        state: Some(1),
        options: Some(7),
        rto: Some(220_000),
        snd_mss: Some(1_448),
        unacked: Some(50),
        rtt: Some(20_000),
        min_rtt: Some(19_000),
        snd_cwnd: Some(100),
        snd_wnd: Some(1_000_000),
        rcv_wnd: Some(1_000_000),
        rcv_space: Some(14_480),
        pmtu: Some(1_500),
        total_retrans: Some(0),
        dsack_dups: Some(0),
        data_segs_out: Some(10_000),
        bytes_acked: Some(14_000_000),
        bytes_received: Some(10_000),
        notsent_bytes: Some(1_000_000),
        delivery_rate: Some(3_600_000),
        busy_time: Some(5_000_000),
        rwnd_limited: Some(0),
        sndbuf_limited: Some(0),
        last_data_sent: Some(5),
        last_data_recv: Some(5_000),
        last_ack_recv: Some(5),
        total_rto: Some(0),
        total_rto_time: Some(0),
        ..TcpInfo::default()
    };
    Socket {
        cookie: Some(1),
        state: State::Established,
        local: "192.0.2.1:443".parse().unwrap(),
        remote: "198.51.100.7:50000".parse().unwrap(),
        recv_queue: 0,
        send_queue: 72_400,
        owners: vec![owner("nginx", 812)],
        inode: 4711,
        uid: 0,
        cgroup: None,
        interface: None,
        mark: None,
        route: None,
        congestion_control: Some("cubic".to_owned()),
        info: Some(info),
        memory: Some(Memory { rcvbuf: 131_072, sndbuf: 4_194_304, wmem_queued: 1_000_000, ..Memory::default() }),
        timer: None,
        drops: Some(0),
    }
}

/// The same with some of TCP_INFO changed.
pub(crate) fn connection_with(change: impl FnOnce(&mut TcpInfo)) -> Socket {
    let mut socket = connection();
    change(socket.info.as_mut().unwrap());
    socket
}

pub(crate) fn owner(name: &str, pid: u32) -> Owner {
    Owner {
        pid,
        name: name.to_owned(),
        container: None,
        unit: None,
        pod: None,
        throttled: None,
        throttled_in: None,
        cpu_pressure: None,
        cpu_pressure_in: None,
    }
}

/// A socket in another state, silent for a minute and a half.
pub(crate) fn in_state(state: State) -> Socket {
    let mut socket = connection_with(|info| {
        info.unacked = Some(0);
        info.last_data_sent = Some(95_000);
        info.last_data_recv = Some(95_000);
        info.last_ack_recv = Some(90_000);
    });
    socket.state = state;
    socket.send_queue = 0;
    socket
}

pub(crate) fn listener(backlog: u32, waiting: u32, drops: u32) -> Socket {
    let mut socket = in_state(State::Listen);
    socket.local = "0.0.0.0:443".parse().unwrap();
    socket.remote = "0.0.0.0:0".parse().unwrap();
    (socket.send_queue, socket.recv_queue, socket.drops, socket.info) = (backlog, waiting, Some(drops), None);
    socket
}

pub(crate) fn timer(kind: TimerKind, retransmits: u8) -> Option<Timer> {
    Some(Timer { kind, expires_ms: 1_000, retransmits })
}

/// The kernel's remembered values for the peer.
pub(crate) fn remembered(rtt_us: u32, ssthresh: u32, age_ms: u64) -> PeerMetrics {
    PeerMetrics {
        address: "198.51.100.7".parse().unwrap(),
        source: None,
        age_ms: Some(age_ms),
        rtt_us: Some(rtt_us),
        rttvar_us: Some(rtt_us / 4),
        ssthresh: Some(ssthresh),
        cwnd: Some(ssthresh),
        reordering: None,
    }
}

pub(crate) fn device(counters: &[(&str, u64)]) -> Device {
    Device {
        index: 2,
        name: "eth0".to_owned(),
        mtu: 1_500,
        counters: counters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        ..Device::default()
    }
}

pub(crate) fn conntrack(count: u64, max: u64, dropped: u64) -> Option<Conntrack> {
    Some(Conntrack { count, max, dropped: Some(dropped), early_dropped: None, insert_failed: None })
}

//! A host in a scenario: every setting that changes how its TCP behaves, and its default. Nothing
//! is left to this machine's own defaults.

use super::units::{Size, Time};
use crate::net::config::{HostConfig, Route};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The settings of one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostSpec {
    /// `net.ipv4.tcp_rmem`: least, initial and largest receive buffer.
    pub tcp_rmem: [Size; 3],
    /// `net.ipv4.tcp_wmem`: least, initial and largest send buffer.
    pub tcp_wmem: [Size; 3],
    /// SO_RCVBUF on every socket (switches autotuning off); the kernel doubles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf: Option<Size>,
    /// SO_SNDBUF on every socket (switches autotuning off); the kernel doubles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf: Option<Size>,
    /// Whether the receive buffer grows with the need.
    pub moderate_rcvbuf: bool,
    /// RFC 7323 window scaling.
    pub window_scaling: bool,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Reports of segments received twice.
    pub dsack: bool,
    /// RFC 7323 timestamps.
    pub timestamps: bool,
    /// Asks for ECN and agrees to it.
    pub ecn: bool,
    /// Back to the initial window after an idle time.
    pub slow_start_after_idle: bool,
    /// Nothing is remembered of earlier connections to the same peer.
    pub no_metrics_save: bool,
    /// The slow-start threshold is not remembered.
    pub no_ssthresh_metrics_save: bool,
    /// The slow-start threshold in segments that it remembers of its peer from an earlier
    /// connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u32>,
    /// `tcp_early_retrans`: 3 sends tail loss probes, 0 does not.
    pub early_retrans: u8,
    /// `tcp_recovery`: bits: 1 RACK, 2 static reordering window, 4 none.
    pub recovery: u8,
    /// `tcp_reordering`: duplicate ACKs that the sender first regards as reordering.
    pub reordering: u32,
    /// `tcp_mtu_probing`: 0 off, 1 after a black hole was noticed, 2 always.
    pub mtu_probing: u8,
    /// `tcp_limit_output_bytes`: what one socket may keep in the device's queue.
    pub limit_output: Size,
    /// `tcp_notsent_lowat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notsent_lowat: Option<Size>,
    /// Initial congestion window in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initcwnd: Option<u32>,
    /// Initial receive window in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initrwnd: Option<u32>,
    /// ACKs are never delayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quickack: Option<bool>,
    /// Minimum retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Time>,
    /// `reno`, `cubic` or `bbr`, set on every socket before it connects or listens.
    pub congestion: String,
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// SO_MAX_PACING_RATE, bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pacing: Option<super::units::BitRate>,
    /// MTU of its device.
    pub mtu: Size,
    /// Segmentation offload: its own capture shows super-packets.
    pub tso: bool,
    /// Receive offload.
    pub gro: bool,
    /// Its program runs on this processor alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// The number of busy loops on the same processor.
    pub hogs: u32,
    /// Nice value of its program (0 to 19; lower needs privilege).
    pub nice: i32,
    /// Commands that a shell on the host runs before the work begins, as `sysctl -w …`; `ip route
    /// show default` is read as the route to the other host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Any other sysctl, by its name below `net.ipv4`, for instance `tcp_autocorking = "0"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, String>,
}

impl Default for HostSpec {
    /// A default Linux host, except that the congestion control is named and offloads are off.
    fn default() -> Self {
        Self {
            tcp_rmem: [Size(4096), Size(131_072), Size(6_291_456)],
            tcp_wmem: [Size(4096), Size(16_384), Size(4_194_304)],
            rcvbuf: None,
            sndbuf: None,
            moderate_rcvbuf: true,
            window_scaling: true,
            sack: true,
            dsack: true,
            timestamps: true,
            ecn: false,
            slow_start_after_idle: true,
            no_metrics_save: true,
            no_ssthresh_metrics_save: true,
            ssthresh: None,
            early_retrans: 3,
            recovery: 1,
            reordering: 3,
            mtu_probing: 0,
            limit_output: Size(4_194_304),
            notsent_lowat: None,
            initcwnd: Some(10),
            initrwnd: None,
            quickack: None,
            rto_min: None,
            congestion: "cubic".to_owned(),
            nodelay: false,
            max_pacing: None,
            mtu: Size(1500),
            tso: false,
            gro: false,
            cpu: None,
            hogs: 0,
            nice: 0,
            before: Vec::new(),
            sysctl: BTreeMap::new(),
        }
    }
}

/// Settings of each socket rather than of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SocketOptions {
    /// SO_RCVBUF.
    pub rcvbuf: Option<Size>,
    /// SO_SNDBUF.
    pub sndbuf: Option<Size>,
    /// TCP_CONGESTION.
    pub congestion: String,
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// SO_MAX_PACING_RATE in bits per second.
    pub max_pacing: Option<super::units::BitRate>,
}

impl HostSpec {
    /// The namespace's settings, or the error: the key and the allowed values.
    pub fn resolve(&self, key: &str) -> Result<HostConfig, (String, String)> {
        self.check(key)?;
        Ok(HostConfig {
            sysctls: self.sysctls(),
            route: Route {
                initcwnd: self.initcwnd,
                initrwnd: self.initrwnd,
                quickack: self.quickack,
                congestion_control: None,
                ecn: self.ecn,
                rto_min_ms: self.rto_min.map(|t| u32::try_from(t.0 / 1_000_000).unwrap_or(u32::MAX)),
                advmss: None,
            },
            mtu: u32::try_from(self.mtu.0).unwrap_or(1500),
            tso: self.tso,
            gro: self.gro,
            ssthresh: self.ssthresh,
        })
    }

    /// Returns an error if a value is not allowed: the key and the allowed values.
    fn check(&self, key: &str) -> Result<(), (String, String)> {
        let wrong = |name: &str, allowed: &str| Err((format!("{key}.{name}"), allowed.to_owned()));
        for (name, sizes) in [("tcp_rmem", &self.tcp_rmem), ("tcp_wmem", &self.tcp_wmem)] {
            if !sizes.is_sorted() || sizes[0].0 == 0 || sizes[2].0 > 2_147_483_647 {
                return wrong(name, "three sizes, none smaller than the one before it: least, initial, largest");
            }
        }
        if !matches!(self.congestion.as_str(), "reno" | "cubic" | "bbr") {
            return wrong("congestion", "must be \"reno\", \"cubic\" or \"bbr\"");
        }
        if !(0..=19).contains(&self.nice) {
            return wrong("nice", "must be from 0 to 19");
        }
        if !(576..=9000).contains(&self.mtu.0) {
            return wrong("mtu", "must be from 576B to 9000B");
        }
        if self.early_retrans > 4 || self.recovery > 7 || self.mtu_probing > 2 {
            return wrong("early_retrans", "early_retrans is 0 to 4, recovery 0 to 7, mtu_probing 0 to 2");
        }
        if self.hogs > 64 {
            return wrong("hogs", "must be at most 64");
        }
        if [self.initcwnd, self.initrwnd].into_iter().flatten().any(|n| !(1..=10_000).contains(&n)) {
            return wrong("initcwnd", "an initial window is from 1 to 10000 segments");
        }
        if self.ssthresh.is_some_and(|n| !(2..=1_000_000).contains(&n)) {
            return wrong("ssthresh", "a threshold is from 2 to 1000000 segments");
        }
        if !self.sysctl.keys().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')) {
            return wrong("sysctl", "names are those below net.ipv4, such as tcp_autocorking");
        }
        Ok(())
    }

    /// The namespace's settings by their names.
    fn sysctls(&self) -> BTreeMap<String, String> {
        let three = |sizes: &[Size; 3]| format!("{} {} {}", sizes[0].0, sizes[1].0, sizes[2].0);
        let bit = |on: bool| u8::from(on).to_string();
        let own = [
            ("tcp_rmem", three(&self.tcp_rmem)),
            ("tcp_wmem", three(&self.tcp_wmem)),
            ("tcp_moderate_rcvbuf", bit(self.moderate_rcvbuf)),
            ("tcp_window_scaling", bit(self.window_scaling)),
            ("tcp_sack", bit(self.sack)),
            ("tcp_dsack", bit(self.dsack)),
            ("tcp_timestamps", bit(self.timestamps)),
            ("tcp_ecn", bit(self.ecn)),
            ("tcp_slow_start_after_idle", bit(self.slow_start_after_idle)),
            // A remembered value must have been saved, and is used only if it would be saved.
            ("tcp_no_metrics_save", bit(self.no_metrics_save && self.ssthresh.is_none())),
            ("tcp_no_ssthresh_metrics_save", bit(self.no_ssthresh_metrics_save && self.ssthresh.is_none())),
            ("tcp_early_retrans", self.early_retrans.to_string()),
            ("tcp_recovery", self.recovery.to_string()),
            ("tcp_reordering", self.reordering.to_string()),
            ("tcp_mtu_probing", self.mtu_probing.to_string()),
            ("tcp_limit_output_bytes", self.limit_output.0.to_string()),
            ("tcp_notsent_lowat", self.notsent_lowat.map_or(u64::from(u32::MAX), |s| s.0).to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let given = self.sysctl.iter().map(|(name, value)| (name.clone(), value.clone()));
        own.into_iter().chain(given).map(|(name, value)| (format!("net.ipv4.{name}"), value)).collect()
    }

    /// The options that its program sets on each socket.
    pub fn socket(&self) -> SocketOptions {
        SocketOptions {
            rcvbuf: self.rcvbuf,
            sndbuf: self.sndbuf,
            congestion: self.congestion.clone(),
            nodelay: self.nodelay,
            max_pacing: self.max_pacing,
        }
    }
}

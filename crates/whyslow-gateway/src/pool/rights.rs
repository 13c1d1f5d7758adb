//! [`Rights`]: the means of this process to keep the windows of idle connections.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::options::Warmth;

/// The setting of the network namespace.
const AFTER_IDLE: &str = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
const WRITE_MEMORY: &str = "/proc/sys/net/ipv4/tcp_wmem";
/// Bit of CAP_NET_ADMIN (capability.h).
const NET_ADMIN: u32 = 12;

/// How idle connections keep their windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKeeping {
    /// `net.ipv4.tcp_slow_start_after_idle` is 0.
    Sysctl,
    /// BBR, whose window does not depend on idle time.
    Bbr,
    /// Not at all: a window is opened when an upload is announced.
    OnDemand,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// The effective CAP_NET_ADMIN of this process.
    pub has_net_admin: bool,
    /// The value of `net.ipv4.tcp_slow_start_after_idle`; `None` if it cannot be read.
    pub slow_start_after_idle: Option<bool>,
    /// Whether it can be written.
    pub can_set_sysctl: bool,
    /// Whether BBR is loaded, and permitted to this process.
    pub has_bbr: bool,
    /// Maximum that the send buffer of a socket grows to by itself, bytes (`tcp_wmem`, third
    /// number).
    pub max_send_buffer: Option<u64>,
}

impl Rights {
    /// Reads them, and changes nothing.
    pub fn detect() -> Self {
        let has_net_admin = std::fs::read_to_string("/proc/self/status").is_ok_and(|status| net_admin(&status));
        let names = |file| std::fs::read_to_string(file).unwrap_or_default();
        let list = if has_net_admin { AVAILABLE } else { ALLOWED };
        Self {
            has_net_admin,
            slow_start_after_idle: read_flag(Path::new(AFTER_IDLE)),
            can_set_sysctl: OpenOptions::new().write(true).open(AFTER_IDLE).is_ok(),
            has_bbr: names(list).split_whitespace().any(|name| name == "bbr"),
            max_send_buffer: names(WRITE_MEMORY).split_whitespace().nth(2).and_then(|most| most.parse().ok()),
        }
    }

    /// Chooses the best available and permitted way, and applies it: with `may_set_sysctl` it
    /// writes the sysctl.
    pub fn keep_windows(&mut self, warmth: &Warmth) -> WindowKeeping {
        if self.slow_start_after_idle == Some(true) && self.can_set_sysctl && warmth.may_set_sysctl {
            let written = OpenOptions::new().write(true).open(AFTER_IDLE).and_then(|mut file| file.write_all(b"0"));
            if written.is_ok() {
                self.slow_start_after_idle = read_flag(Path::new(AFTER_IDLE));
            }
        }
        if self.slow_start_after_idle == Some(false) {
            WindowKeeping::Sysctl
        } else if self.has_bbr && warmth.may_use_bbr {
            WindowKeeping::Bbr
        } else {
            WindowKeeping::OnDemand
        }
    }
}

fn read_flag(file: &Path) -> Option<bool> {
    match std::fs::read_to_string(file).ok()?.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn net_admin(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> NET_ADMIN & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_way_that_is_permitted_is_taken() {
        let rights = |idle, bbr| Rights {
            has_net_admin: false,
            slow_start_after_idle: idle,
            can_set_sysctl: false,
            has_bbr: bbr,
            max_send_buffer: None,
        };
        let warmth = Warmth::default();
        let no_bbr = Warmth { may_use_bbr: false, ..Warmth::default() };
        assert_eq!(rights(Some(false), true).keep_windows(&warmth), WindowKeeping::Sysctl);
        assert_eq!(rights(Some(true), true).keep_windows(&warmth), WindowKeeping::Bbr);
        assert_eq!(rights(Some(true), true).keep_windows(&no_bbr), WindowKeeping::OnDemand);
        assert_eq!(rights(None, false).keep_windows(&warmth), WindowKeeping::OnDemand);
    }

    #[test]
    fn capabilities_are_read() {
        assert!(net_admin("Name:\tx\nCapEff:\t0000000000001000\n"));
        assert!(!net_admin("CapEff:\t000001ffffffefff\n"));
        assert!(!net_admin(""));
    }
}

//! Sets the sysctls of a host.
//!
//! A new namespace inherits a mixture of kernel defaults and this machine's values. So everything
//! that matters to TCP is set explicitly, and read back for the record.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::namespace::Namespace;

/// Defaults of Linux 6.x as kernel.org ships it, whatever this machine's values are. Keys that this
/// kernel lacks are skipped.
pub const DEFAULT_SYSCTLS: &[(&str, &str)] = &[
    ("net.ipv4.ip_local_port_range", "32768 60999"),
    ("net.ipv4.ip_no_pmtu_disc", "0"),
    ("net.ipv4.tcp_adv_win_scale", "1"),
    ("net.ipv4.tcp_app_win", "31"),
    ("net.ipv4.tcp_autocorking", "1"),
    ("net.ipv4.tcp_base_mss", "1024"),
    ("net.ipv4.tcp_comp_sack_delay_ns", "1000000"),
    ("net.ipv4.tcp_comp_sack_nr", "44"),
    ("net.ipv4.tcp_comp_sack_slack_ns", "100000"),
    ("net.ipv4.tcp_dsack", "1"),
    ("net.ipv4.tcp_early_retrans", "3"),
    ("net.ipv4.tcp_ecn", "2"),
    ("net.ipv4.tcp_ecn_fallback", "1"),
    ("net.ipv4.tcp_fastopen", "1"),
    ("net.ipv4.tcp_fin_timeout", "60"),
    ("net.ipv4.tcp_frto", "2"),
    ("net.ipv4.tcp_invalid_ratelimit", "500"),
    ("net.ipv4.tcp_keepalive_time", "7200"),
    ("net.ipv4.tcp_limit_output_bytes", "4194304"),
    ("net.ipv4.tcp_max_reordering", "300"),
    ("net.ipv4.tcp_min_tso_segs", "2"),
    ("net.ipv4.tcp_moderate_rcvbuf", "1"),
    ("net.ipv4.tcp_mtu_probing", "0"),
    ("net.ipv4.tcp_no_metrics_save", "0"),
    ("net.ipv4.tcp_no_ssthresh_metrics_save", "1"),
    ("net.ipv4.tcp_notsent_lowat", "4294967295"),
    ("net.ipv4.tcp_pacing_ca_ratio", "120"),
    ("net.ipv4.tcp_pacing_ss_ratio", "200"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_reordering", "3"),
    ("net.ipv4.tcp_retries2", "15"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_rto_min_us", "200000"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_shrink_window", "0"),
    ("net.ipv4.tcp_slow_start_after_idle", "1"),
    ("net.ipv4.tcp_syn_retries", "6"),
    ("net.ipv4.tcp_thin_linear_timeouts", "0"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_tso_rtt_log", "9"),
    ("net.ipv4.tcp_tso_win_divisor", "3"),
    ("net.ipv4.tcp_window_scaling", "1"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
];

/// Sets the defaults, then `own`.
pub(super) fn apply(namespace: &Namespace, own: &BTreeMap<String, String>) -> Result<(), Error> {
    let set = || {
        for (key, value) in DEFAULT_SYSCTLS.iter().filter(|(key, _)| !own.contains_key(*key)) {
            match put(key, value) {
                // A kernel may lack a key, or hide it from a user namespace; the value in force is
                // recorded.
                Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
                    return Err((key.to_string(), value.to_string(), error));
                }
                _ => {}
            }
        }
        own.iter().try_for_each(|(key, value)| put(key, value).map_err(|error| (key.clone(), value.clone(), error)))
    };
    namespace.within(set)?.map_err(|(key, value, source)| Error::Sysctl { host: namespace.name(), key, value, source })
}

/// Everything under `net.ipv4.tcp_`, and `net.core`'s buffer limits, as it is in force.
pub(super) fn in_force(namespace: &Namespace) -> Result<BTreeMap<String, String>, Error> {
    namespace.within(|| {
        let names = fs::read_dir("/proc/sys/net/ipv4").into_iter().flatten().flatten();
        let tcp =
            names.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name.starts_with("tcp_"));
        let core = ["rmem_default", "rmem_max", "wmem_default", "wmem_max", "netdev_max_backlog"];
        let keys = tcp.map(|name| format!("net.ipv4.{name}")).chain(core.map(|name| format!("net.core.{name}")));
        keys.filter_map(|key| get(&key).map(|value| (key, value))).collect()
    })
}

/// `net.ipv4.tcp_rmem` → its file. Only names below `net.` have one that differs between hosts.
fn file(key: &str) -> io::Result<PathBuf> {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    if key.strip_prefix("net.").is_none_or(|rest| !rest.split('.').all(is_plain)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "only settings named net.… belong to a host"));
    }
    Ok(Path::new("/proc/sys").join(key.replace('.', "/")))
}

fn put(key: &str, value: &str) -> io::Result<()> {
    fs::write(file(key)?, value)
}

fn get(key: &str) -> Option<String> {
    let text = fs::read_to_string(file(key).ok()?).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Counters of a namespace: pairs of lines in net/snmp and net/netstat, names above values.
pub(super) fn counters(namespace: &Namespace) -> Result<BTreeMap<String, u64>, Error> {
    namespace.within(|| {
        let mut counters = BTreeMap::new();
        for file in ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"] {
            let text = fs::read_to_string(file).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.chunks_exact(2) {
                let group = pair[0].split(':').next().unwrap_or_default();
                let values = pair[1].split_whitespace().skip(1);
                for (name, value) in pair[0].split_whitespace().skip(1).zip(values) {
                    // MaxConn is -1: no count.
                    if let Ok(value) = value.parse() {
                        counters.insert(format!("{group}:{name}"), value);
                    }
                }
            }
        }
        counters
    })
}

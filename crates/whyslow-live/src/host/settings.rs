//! Settings of `net.*` (sysctl(8)) of the thread's network namespace.

use std::collections::BTreeMap;
use std::path::Path;

const ROOT: &str = "/proc/sys";

/// Settings by the folder and by the beginning of their names.
const WANTED: [(&str, &[&str]); 3] = [
    ("net/ipv4", &["tcp_", "ip_local_port_range", "ip_no_pmtu_disc", "ip_forward"]),
    (
        "net/core",
        &[
            "rmem_",
            "wmem_",
            "optmem_max",
            "somaxconn",
            "netdev_max_backlog",
            "netdev_budget",
            "default_qdisc",
            "busy_",
            "rps_sock_flow_entries",
        ],
    ),
    ("net/netfilter", &["nf_conntrack_max", "nf_conntrack_buckets", "nf_conntrack_tcp_"]),
];

/// A secret, and no setting that costs time.
const SECRET: &str = "tcp_fastopen_key";

/// Settings by their names (`net.ipv4.tcp_rmem`), words with one space between. /proc/sys/net is
/// that of the reader's namespace.
pub(super) fn all() -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for (folder, beginnings) in WANTED {
        let folder = Path::new(ROOT).join(folder);
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == SECRET || !beginnings.iter().any(|beginning| name.starts_with(beginning)) {
                continue;
            }
            // Some can only be written.
            if let Ok(text) = std::fs::read_to_string(entry.path()) {
                settings.insert(format!("{}.{name}", prefix(&folder)), one_line(&text));
            }
        }
    }
    settings
}

/// Adds what a namespace does not show, and the own one does: a setting that is not of a
/// namespace is the machine's, and only the first namespace shows it. Filters are of each.
pub(super) fn complete(settings: &mut BTreeMap<String, String>, own: &BTreeMap<String, String>) {
    for (name, value) in own.iter().filter(|(name, _)| !name.starts_with("net.netfilter.")) {
        settings.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

fn prefix(folder: &Path) -> String {
    folder.strip_prefix(ROOT).unwrap_or(folder).to_string_lossy().replace('/', ".")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_sysctl_names_them() {
        let settings = all();
        for name in ["net.ipv4.tcp_rmem", "net.ipv4.tcp_available_congestion_control"] {
            let expected = std::fs::read_to_string(Path::new(ROOT).join(name.replace('.', "/"))).unwrap_or_default();
            assert_eq!(
                settings.get(name).map(|value| value.split(' ').collect()),
                Some(expected.split_whitespace().collect::<Vec<_>>()),
                "{name}"
            );
        }
        assert!(!settings.contains_key("net.ipv4.tcp_fastopen_key"));
    }
}

//! The kernel's counters in text: `/proc/net/netstat`, `snmp`, `snmp6`, `sockstat`, `softnet_stat`.

use super::Softnet;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Counters of the namespace that a folder `net` of `/proc` is of.
///
/// # Errors
/// Where the kernel's counters of TCP cannot be read.
pub(super) fn all(net: &Path) -> io::Result<BTreeMap<String, u64>> {
    let mut counters = parse_pairs(&std::fs::read_to_string(net.join("netstat"))?);
    counters.extend(parse_pairs(&std::fs::read_to_string(net.join("snmp"))?));
    // Not there without IPv6.
    counters.extend(parse_names(&std::fs::read_to_string(net.join("snmp6")).unwrap_or_default()));
    Ok(counters)
}

/// Sockets and memory as they stand.
pub(super) fn gauges(net: &Path) -> BTreeMap<String, u64> {
    ["sockstat", "sockstat6"]
        .iter()
        .flat_map(|file| parse_gauges(&std::fs::read_to_string(net.join(file)).unwrap_or_default()))
        .collect()
}

/// Packets that each processor took from the devices.
///
/// # Errors
/// If `softnet_stat` cannot be read.
pub(super) fn softnet(proc: &Path) -> io::Result<Vec<Softnet>> {
    Ok(parse_softnet(&std::fs::read_to_string(proc.join("net/softnet_stat"))?))
}

/// Reads `netstat` and `snmp`: a line of names, then a line of values, each behind their group. A
/// negative value is not a counter (`Tcp.MaxConn`: there is no limit).
pub(super) fn parse_pairs(text: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((group, names)), Some((other, values))) = (names.split_once(':'), values.split_once(':')) else {
            continue;
        };
        if group == other {
            let pairs = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
            let numbers = pairs.filter_map(|(name, value)| Some((format!("{group}.{name}"), value.parse().ok()?)));
            counters.extend(numbers);
        }
    }
    counters
}

/// Reads `snmp6`: a name and a value each line; those of IPv6 itself.
fn parse_names(text: &str) -> BTreeMap<String, u64> {
    let pair = |line: &str| {
        let (name, value) = line.split_once(char::is_whitespace)?;
        Some((format!("Ip6.{}", name.strip_prefix("Ip6")?), value.trim().parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// Reads `sockstat`: a group, then names and values by turns.
fn parse_gauges(text: &str) -> BTreeMap<String, u64> {
    let mut gauges = BTreeMap::new();
    for (group, rest) in text.lines().filter_map(|line| line.split_once(':')) {
        let mut words = rest.split_ascii_whitespace();
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            gauges.extend(value.parse().ok().map(|value| (format!("{group}.{name}"), value)));
        }
    }
    gauges
}

/// Reads `softnet_stat`: a line a processor that is online, hexadecimal; the thirteenth column,
/// since Linux 5.10, is the processor's number.
fn parse_softnet(text: &str) -> Vec<Softnet> {
    let line = |(place, line): (usize, &str)| {
        let columns: Vec<u64> =
            line.split_ascii_whitespace().map_while(|word| u64::from_str_radix(word, 16).ok()).collect();
        let cpu = columns.get(12).copied().or_else(|| u64::try_from(place).ok())?;
        Some(Softnet {
            cpu: u32::try_from(cpu).ok()?,
            processed: *columns.first()?,
            dropped: *columns.get(1)?,
            time_squeezed: *columns.get(2)?,
        })
    };
    text.lines().enumerate().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From Linux 5.15, shortened.
    const NETSTAT: &str = "\
TcpExt: SyncookiesSent SyncookiesRecv ListenOverflows ListenDrops TCPLossProbes TCPDSACKRecv
TcpExt: 0 3 17 19 53219 4711
IpExt: InNoRoutes InCsumErrors InOctets
IpExt: 4 0 28913781927381
";
    const SNMP: &str = "\
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 6713 902 0 127 2
";

    #[test]
    fn counters_are_named_by_group() {
        let counters = parse_pairs(NETSTAT);
        assert_eq!((counters["TcpExt.TCPLossProbes"], counters["TcpExt.ListenDrops"]), (53_219, 19));
        assert_eq!((counters["IpExt.InOctets"], counters.len()), (28_913_781_927_381, 9));
        let snmp = parse_pairs(SNMP);
        assert_eq!((snmp["Tcp.RetransSegs"], snmp.get("Tcp.MaxConn")), (902, None));
        let snmp6 = parse_names("Ip6InReceives                   \t3\nIcmp6InMsgs                     \t7\n");
        assert_eq!(snmp6, BTreeMap::from([("Ip6.InReceives".to_owned(), 3)]));
    }

    #[test]
    fn gauges_are_named_by_group() {
        let gauges =
            parse_gauges("sockets: used 175\nTCP: inuse 5 orphan 0 tw 2 alloc 9 mem 3\nFRAG: inuse 0 memory 0\n");
        assert_eq!((gauges["TCP.tw"], gauges["TCP.mem"], gauges["sockets.used"]), (2, 3, 175));
    }

    #[test]
    fn processors_are_numbered_by_the_kernel_or_by_line() {
        let new = "0001a2b3 00000005 00000007 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 \
                   00000000 00000002 00000000 00000000\n";
        let expected = Softnet { cpu: 2, processed: 0x1_a2b3, dropped: 5, time_squeezed: 7 };
        assert_eq!(parse_softnet(new), [expected]);
        let old =
            "0001a2b3 00000005 00000007 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n";
        assert_eq!(parse_softnet(old), [Softnet { cpu: 0, ..expected }]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[A-Za-z0-9: \n-]{0,200}") {
            let _ = (parse_pairs(&text), parse_names(&text), parse_gauges(&text), parse_softnet(&text));
        }
    }
}

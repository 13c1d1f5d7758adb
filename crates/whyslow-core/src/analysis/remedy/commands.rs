//! Commands that are printed to be pasted on Linux. Each is whole, and raises a value that is too small without lowering one
//! that is larger already.

/// Has new connections use BBR.
pub(super) const BBR: &str = "modprobe tcp_bbr && sysctl -w net.ipv4.tcp_congestion_control=bbr";

/// Error counters of all network interfaces that are not zero.
pub(super) const ERROR_COUNTERS: &str =
    "for d in $(ls /sys/class/net); do ethtool -S $d | grep -iE '(err|crc|drop).*: *[1-9]'; done";

/// Processors and offloads of a host that sends.
pub(super) const SENDING_PROCESSORS: &str = "mpstat -P ALL 1 5; cat /proc/net/softnet_stat; for d in $(ls /sys/class/net); do ethtool -k $d | grep -E 'tcp-seg|generic'; done";

/// Processors and receive queues of a host that receives.
pub(super) const RECEIVING_PROCESSORS: &str = "mpstat -P ALL 1 5; cat /proc/net/softnet_stat; for d in $(ls /sys/class/net); do ethtool -l $d; ethtool -c $d; done";

/// Queues and classes of all interfaces of a router.
pub(super) const QUEUES: &str =
    "tc -s qdisc show; for d in $(ls /sys/class/net); do tc -s class show dev $d; done   # on routers of one's own";

/// Sets an attribute of the default route, and leaves the rest of the route as it is.
pub(super) fn default_route(ipv6: bool, attribute: &str) -> String {
    let ip = if ipv6 { "ip -6" } else { "ip" };
    format!("{ip} route change $({ip} route show default | head -n 1) {attribute}")
}

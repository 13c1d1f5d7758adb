//! Commands that are printed to be pasted on Linux. Each is whole, and raises a value that is too
//! small without lowering one that is larger already.

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

/// The largest receive buffer of an untuned Linux (`tcp_rmem`), bytes.
const USUAL_RMEM: u64 = 6_291_456;
/// The largest send buffer of an untuned Linux (`tcp_wmem`), bytes.
const USUAL_WMEM: u64 = 4_194_304;

/// Receive buffers that hold `bytes` from the first round trip on. The second value is where each
/// connection begins; raising the third alone leaves the kernel to grow the buffer while the sender
/// waits for it.
pub(super) fn receive_buffer(bytes: u64) -> String {
    at_least("tcp_rmem", bytes, USUAL_RMEM.max(2 * bytes))
}

/// Send buffers that may grow to `bytes`. They grow with the congestion window, so that only the
/// largest matters.
pub(super) fn send_buffer(bytes: u64) -> String {
    at_least("tcp_wmem", 0, USUAL_WMEM.max(bytes))
}

/// Keeps what is larger already.
fn at_least(name: &str, usual: u64, most: u64) -> String {
    let second = if usual > 0 { format!("($2>{usual}?$2:{usual})") } else { "$2".into() };
    format!(
        "sysctl -w net.ipv4.{name}=\"$(sysctl -n net.ipv4.{name} | awk '{{print $1, {second}, ($3>{most}?$3:{most})}}')\""
    )
}

#[cfg(test)]
mod tests;

//! Commands for Linux (`Documentation/networking/ip-sysctl.rst`, ip-route(8), tc(8), nstat(8)).
//! Each is whole, and raises a value that is too small without lowering one that is larger
//! already.

use super::super::step::{Form, Step};

/// Has new connections use BBR.
const BBR: &str = "modprobe tcp_bbr && sysctl -w net.ipv4.tcp_congestion_control=bbr";

/// Error counters of all network interfaces that are not zero.
const ERROR_COUNTERS: &str =
    "for d in $(ls /sys/class/net); do ethtool -S $d | grep -iE '(err|crc|drop).*: *[1-9]'; done";

/// Processors and offloads of a host that sends.
const SENDING_PROCESSORS: &str = "mpstat -P ALL 1 5; cat /proc/net/softnet_stat; for d in $(ls /sys/class/net); do ethtool -k $d | grep -E 'tcp-seg|generic'; done";

/// Processors and receive queues of a host that receives.
const RECEIVING_PROCESSORS: &str = "mpstat -P ALL 1 5; cat /proc/net/softnet_stat; for d in $(ls /sys/class/net); do ethtool -l $d; ethtool -c $d; done";

/// Queues and classes of all interfaces of a router.
const QUEUES: &str =
    "tc -s qdisc show; for d in $(ls /sys/class/net); do tc -s class show dev $d; done   # on routers of one's own";

/// Sets an attribute of the default route, and leaves the rest of the route as it is.
fn default_route(ipv6: bool, attribute: &str) -> String {
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
fn receive_buffer(bytes: u64) -> String {
    at_least("tcp_rmem", bytes, USUAL_RMEM.max(2 * bytes))
}

/// Send buffers that may grow to `bytes`. They grow with the congestion window, so that only the
/// largest matters.
fn send_buffer(bytes: u64) -> String {
    at_least("tcp_wmem", 0, USUAL_WMEM.max(bytes))
}

/// Keeps a value that is already larger.
fn at_least(name: &str, usual: u64, most: u64) -> String {
    let second = if usual > 0 { format!("($2>{usual}?$2:{usual})") } else { "$2".into() };
    format!(
        "sysctl -w net.ipv4.{name}=\"$(sysctl -n net.ipv4.{name} | awk '{{print $1, {second}, ($3>{most}?$3:{most})}}')\""
    )
}

/// The form of a step.
pub(in super::super) fn form(step: &Step) -> Form {
    let sysctl = |settings: &str| format!("sysctl -w {settings}");
    Form::Command(match step {
        Step::InitialWindow { segments, ipv6 } => default_route(*ipv6, &format!("initcwnd {segments}")),
        Step::WindowScaling => sysctl("net.ipv4.tcp_window_scaling=1"),
        Step::Hystart => "echo 0 > /sys/module/tcp_cubic/parameters/hystart".to_owned(),
        Step::Threshold { peer } => {
            let which = peer.as_ref().map_or("flush all".to_owned(), |peer| format!("delete {peer}"));
            format!("ip tcp_metrics {which}; sysctl -w net.ipv4.tcp_no_ssthresh_metrics_save=1")
        }
        Step::ReceiveBuffer(bytes) => receive_buffer(*bytes),
        Step::SendBuffer(bytes) => send_buffer(*bytes),
        Step::NoDelay => "setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int))".to_owned(),
        Step::QuickAck { ipv6 } => default_route(*ipv6, "quickack 1"),
        Step::RateLimit(kilobytes) => {
            format!("grep -r limit_rate /etc/nginx; tc -s qdisc show   # look for about {kilobytes}k")
        }
        Step::IdleWindow => sysctl("net.ipv4.tcp_slow_start_after_idle=0"),
        Step::Rack => sysctl("net.ipv4.tcp_recovery=1 net.ipv4.tcp_sack=1 net.ipv4.tcp_timestamps=1"),
        Step::Sack => sysctl("net.ipv4.tcp_sack=1"),
        Step::TailProbes { sack: false } => sysctl("net.ipv4.tcp_early_retrans=3 net.ipv4.tcp_recovery=1"),
        Step::TailProbes { sack: true } => {
            sysctl("net.ipv4.tcp_early_retrans=3 net.ipv4.tcp_recovery=1 net.ipv4.tcp_sack=1")
        }
        Step::ErrorCounters => ERROR_COUNTERS.to_owned(),
        Step::MtuProbing => sysctl("net.ipv4.tcp_mtu_probing=1"),
        Step::TimerFloor { ipv6 } => default_route(*ipv6, "rto_min 500ms"),
        Step::Bbr => BBR.to_owned(),
        Step::ReceivingProcessors => RECEIVING_PROCESSORS.to_owned(),
        Step::SendingProcessors => SENDING_PROCESSORS.to_owned(),
        Step::ManagedQueue(rate) => {
            let rate = rate.map_or("RATE".to_owned(), |rate| format!("{rate}kbit"));
            format!("tc qdisc replace dev DEV root cake bandwidth {rate}")
        }
        Step::Pacing(rate) => {
            format!("setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &(unsigned){{{rate}}}, sizeof(unsigned))")
        }
        Step::Queues => QUEUES.to_owned(),
        Step::Marking { target, interval } => {
            format!("tc qdisc change dev DEV root fq_codel ecn target {target}ms interval {interval}ms")
        }
        Step::Route { at, to } => format!("ip route get {to}   # at {at}"),
        Step::Neighbour { host, at } => format!("ip neigh show {host}   # at {at}"),
        Step::Listener(port) => format!("ss -ltn 'sport = :{port}'"),
        Step::Filter { at } => format!("nft list ruleset   # at {at}"),
        Step::Trace { host, port: Some(port) } => format!("traceroute -n -T -p {port} {host}"),
        Step::Trace { host, port: None } => format!("traceroute -n {host}"),
        Step::Keepalive => sysctl("net.ipv4.tcp_keepalive_time=60 net.ipv4.tcp_keepalive_intvl=15"),
        Step::DroppedConnections => {
            "nstat -az TcpExtListenOverflows TcpExtTCPAbortOnData TcpExtTCPAbortOnClose".to_owned()
        }
        Step::DroppedSyns => "nstat -az TcpExtListenOverflows TcpExtListenDrops".to_owned(),
        Step::DroppedDatagrams => "nstat -az UdpRcvbufErrors UdpInErrors Udp6RcvbufErrors Udp6InErrors".to_owned(),
        Step::TlsRecords(to) => tls_records(*to),
    })
}

/// The settings of two servers, which are the same on every platform.
pub(super) fn tls_records(to: u64) -> String {
    format!("nginx: ssl_buffer_size {}k;   HAProxy: tune.ssl.maxrecord {to}", to / 1024)
}

#[cfg(test)]
mod tests;

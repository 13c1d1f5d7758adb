//! Commands for FreeBSD 13 and later (tcp(4), `tcp_rack`(4), `tcp_bbr`(4), ipfw(8) on dummynet and
//! `FQ-CoDel`, sockstat(1), netstat(1)).

use super::super::step::{Form, Step};
use super::linux;

/// The form of a step.
pub(in super::super) fn form(step: &Step) -> Form {
    let sysctl = |settings: &str| Form::Command(format!("sysctl {settings}"));
    let command = |text: &str| Form::Command(text.to_owned());
    match step {
        Step::InitialWindow { segments, .. } => sysctl(&format!("net.inet.tcp.initcwnd_segments={segments}")),
        Step::WindowScaling => sysctl("net.inet.tcp.rfc1323=1"),
        Step::Threshold { .. } => sysctl("net.inet.tcp.hostcache.purgenow=1"),
        Step::ReceiveBuffer(bytes) => sysctl(&format!(
            "kern.ipc.maxsockbuf={} net.inet.tcp.recvbuf_max={} net.inet.tcp.recvspace={bytes}",
            bytes.saturating_mul(4),
            bytes.saturating_mul(2)
        )),
        Step::SendBuffer(bytes) => {
            sysctl(&format!("kern.ipc.maxsockbuf={} net.inet.tcp.sendbuf_max={bytes}", bytes.saturating_mul(2)))
        }
        Step::QuickAck { .. } => sysctl("net.inet.tcp.delayed_ack=0"),
        Step::Rack | Step::TailProbes { .. } => {
            command("kldload -n tcp_rack && sysctl net.inet.tcp.functions_default=rack net.inet.tcp.sack.enable=1")
        }
        Step::Bbr => command("kldload -n tcp_bbr && sysctl net.inet.tcp.functions_default=bbr"),
        Step::Sack => sysctl("net.inet.tcp.sack.enable=1"),
        Step::MtuProbing => sysctl("net.inet.tcp.pmtud_blackhole_detection=1"),
        Step::TimerFloor { .. } => sysctl("net.inet.tcp.rexmit_min=500"),
        Step::Keepalive => sysctl("net.inet.tcp.keepidle=60000 net.inet.tcp.keepintvl=15000"),
        Step::RateLimit(_) | Step::Queues => command("ipfw pipe show; ipfw sched show"),
        Step::ErrorCounters => command("netstat -i"),
        Step::ReceivingProcessors | Step::SendingProcessors => command("top -HSPb -d 1; netstat -Q"),
        Step::ManagedQueue(rate) => Form::Command(format!(
            "ipfw pipe 1 config bw {}Kbit/s && ipfw sched 1 config pipe 1 type fq_codel",
            rate.map_or("RATE".to_owned(), |rate| rate.to_string())
        )),
        Step::Marking { target, interval } => Form::Command(format!(
            "ipfw sched 1 config pipe 1 type fq_codel target {target}ms interval {interval}ms ecn"
        )),
        Step::Route { to, .. } => Form::Command(format!("route -n get {to}")),
        Step::Neighbour { host, .. } => Form::Command(format!("arp -n {host}")),
        Step::Listener(port) => Form::Command(format!("sockstat -l -P tcp -p {port}")),
        Step::Filter { .. } => command("pfctl -sr; ipfw list"),
        Step::Trace { host, port: Some(port) } => Form::Command(format!("traceroute -n -P tcp -p {port} {host}")),
        Step::Trace { host, port: None } => Form::Command(format!("traceroute -n {host}")),
        Step::DroppedDatagrams => command("netstat -s -p udp"),
        Step::DroppedConnections | Step::DroppedSyns => command("netstat -s -p tcp; netstat -Lan"),
        Step::NoDelay | Step::TlsRecords(_) => linux::form(step),
        // Socket pacing needs an interface that does it; CUBIC's HyStart and the restart after idle
        // have no setting in all supported releases.
        Step::Hystart | Step::IdleWindow | Step::Pacing(_) => Form::Lacks,
    }
}

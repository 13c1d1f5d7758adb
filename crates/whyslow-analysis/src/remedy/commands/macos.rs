//! Commands for macOS (sysctl(8), XNU `bsd/netinet/tcp_input.c`, `tcp_subr.c`; ESnet, "macOS
//! tuning"; pfctl(8), dnctl(8), lsof(8)). iOS has no shell.

use super::super::step::{Form, Step};
use super::linux;

/// The form of a step.
pub(in super::super) fn form(step: &Step) -> Form {
    let sysctl = |settings: &str| Form::Command(format!("sysctl -w {settings}"));
    let command = |text: &str| Form::Command(text.to_owned());
    match step {
        // The sum of both buffers must fit maxsockbuf.
        Step::ReceiveBuffer(bytes) => sysctl(&format!(
            "kern.ipc.maxsockbuf={} net.inet.tcp.autorcvbufmax={}",
            bytes.saturating_mul(4),
            bytes.saturating_mul(2)
        )),
        Step::SendBuffer(bytes) => {
            sysctl(&format!("kern.ipc.maxsockbuf={} net.inet.tcp.autosndbufmax={bytes}", bytes.saturating_mul(2)))
        }
        Step::QuickAck { .. } => sysctl("net.inet.tcp.delayed_ack=0"),
        Step::Sack => sysctl("net.inet.tcp.sack=1"),
        Step::MtuProbing => sysctl("net.inet.tcp.pmtud_blackhole_detection=1"),
        Step::Keepalive => sysctl("net.inet.tcp.keepidle=60000 net.inet.tcp.keepintvl=15000"),
        Step::RateLimit(_) | Step::Queues => command("dnctl list; pfctl -sq"),
        Step::ErrorCounters => command("netstat -i"),
        Step::ReceivingProcessors | Step::SendingProcessors => command("top -l 2 -n 10 -o cpu; netstat -s -p tcp"),
        Step::ManagedQueue(rate) => Form::Command(format!(
            "dnctl pipe 1 config bw {}Kbit/s   # and a rule of pf that sends through it",
            rate.map_or("RATE".to_owned(), |rate| rate.to_string())
        )),
        Step::Route { to, .. } => Form::Command(format!("route -n get {to}")),
        Step::Neighbour { host, .. } => Form::Command(format!("arp -n {host}")),
        Step::Listener(port) => Form::Command(format!("lsof -nP -iTCP:{port} -sTCP:LISTEN")),
        Step::Filter { .. } => command("pfctl -sr"),
        Step::Trace { host, port: Some(port) } => Form::Command(format!("traceroute -n -P tcp -p {port} {host}")),
        Step::Trace { host, port: None } => Form::Command(format!("traceroute -n {host}")),
        Step::DroppedDatagrams => command("netstat -s -p udp"),
        Step::DroppedConnections | Step::DroppedSyns => command("netstat -s -p tcp; netstat -Lan"),
        Step::NoDelay | Step::TlsRecords(_) => linux::form(step),
        // Scaling is always on since 10.14; XNU has no such setting for the others.
        Step::InitialWindow { .. }
        | Step::WindowScaling
        | Step::Hystart
        | Step::Threshold { .. }
        | Step::IdleWindow
        | Step::Rack
        | Step::TailProbes { .. }
        | Step::TimerFloor { .. }
        | Step::Bbr
        | Step::Pacing(_)
        | Step::Marking { .. } => Form::Lacks,
    }
}

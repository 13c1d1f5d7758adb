//! What to do on a machine, or at its peer.

use super::bytes;
use crate::words::quantity::{rate, seconds, thousands};
use whyslow_evidence::host::{BufferSize, Cap, HostAction as A, TcpOption};

/// What it rests on: eight times rate × round trip, or Linux' default.
fn size(size: &BufferSize) -> String {
    let (bytes, rate, rtt) = (bytes(size.bytes), rate(size.rate_bps), seconds(size.rtt_s));
    if size.is_default {
        format!("{bytes} (Linux' default: the path may carry more than the {rate} that this buffer allows over {rtt})")
    } else {
        format!(
            "{bytes} (8 × {rate} × {rtt}: half of a buffer is the kernel's own, and the path may carry more than this buffer allows)"
        )
    }
}

fn option(option: TcpOption) -> &'static str {
    match option {
        TcpOption::Sack => "SACK",
        TcpOption::WindowScaling => "window scaling",
    }
}

fn accept(asked: u64, most: Option<u64>, is_bounded: bool) -> String {
    match most {
        _ if is_bounded => format!(
            "accept faster, and let the application ask for a longer queue: net.core.somaxconn is {asked}, too, and bounds it"
        ),
        Some(most) if most > asked => {
            format!("accept faster, or ask for a longer queue in listen(2): it asked for {asked}, and may have {most}")
        }
        _ => "accept faster: more threads, and no other work where connections are accepted".to_owned(),
    }
}

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(in crate::words) fn action(action: &A) -> String {
    match action {
        A::KeepQueueShort { or_bbr } => format!(
            "a queue that keeps itself short at the narrow link (cake, fq_codel){}; no larger buffer anywhere",
            if *or_bbr { ", or BBR at this sender" } else { "" }
        ),
        A::FindDamage => "find what damages packets: the counters of each device, then the path".to_owned(),
        A::AcceptAsTheyCome => "accept connections as they come, and close those whose peer has gone".to_owned(),
        A::CloseAtEndOfFile => {
            "close a connection when a read returns nothing, also in error paths and in pools".to_owned()
        }
        A::EnlargeConntrack { entries, bytes: memory } => {
            format!("let the table be larger: {} entries take about {}", thousands(*entries), bytes(*memory))
        }
        A::RaiseCpuLimit => "raise its processor limit (cpu.max, or cpu.cfs_quota_us of cgroup v1; resources.limits.cpu, CPUQuota=), or let it use fewer threads".to_owned(),
        A::RaiseCpuShare => "see which programs take the processors (`top -H`), and give its control group a larger share (cpu.weight, CPUWeight=)".to_owned(),
        A::FreeProcessors { offload: Some([device, name]) } => {
            format!("switch `{name}` of {device} on, and see which programs take the processors")
        }
        A::FreeProcessors { offload: None } => "see which programs take the processors (`top -H`)".to_owned(),
        A::KeepIdleShorter { seconds: kept } => format!(
            "keep idle connections for less than {}, or set SO_KEEPALIVE with TCP_KEEPIDLE below that",
            seconds(*kept)
        ),
        A::AcceptFaster { asked, most, is_bounded } => accept(*asked, *most, *is_bounded),
        A::FindListener => {
            "find the listener whose Recv-Q comes near its Send-Q, and let its application accept faster".to_owned()
        }
        A::FindLoss { peer } => format!("find where the path to {peer} loses packets"),
        A::LookWhileSlow => {
            "look again while transfers are slow: the connections then name the peer".to_owned()
        }
        A::FindPolicer => {
            "look for a policer or a link with bursts of errors; a capture at the sender shows which".to_owned()
        }
        A::LetTooBigPass => {
            "let ICMP \"packet too big\" pass on the path; until then let this machine find the size by itself".to_owned()
        }
        A::ProbesOff => "switch tail loss probes off: they repaired next to nothing; a tail that is lost then waits for the timeout".to_owned(),
        A::MoveProxy => {
            "let the proxy be nearer to its servers; the probes themselves also repair losses here".to_owned()
        }
        A::ReuseConnections { with_timestamps: true } => "keep connections to it open and reuse them; and switch timestamps on, without which no new connection can take over the port of a closed one (tcp_tw_reuse)".to_owned(),
        A::ReuseConnections { with_timestamps: false } => "keep connections to it open and reuse them".to_owned(),
        A::KeepServedOpen => "keep connections open for the next request: this end closed them first".to_owned(),
        A::EnlargeRing { device, packets } => format!(
            "let its ring hold {} packets (`ethtool -G {device} rx {packets}`), at a moment when the link may be gone for a second",
            thousands(*packets)
        ),
        A::SpreadInterrupts => "spread its interrupts over more processors".to_owned(),
        A::CheckServer { target } => format!(
            "see whether {} is up, listens on port {}, and what drops SYNs to it (a firewall that refused them would cost no time)",
            target.ip(),
            target.port()
        ),
        A::SwitchOn { option: of } => format!("switch {} on; connections that are open stay as they are", option(*of)),
        A::SwitchOnAtPeer { option: of } => format!(
            "this end offers {}: switch it on there, or find the firewall that takes it out of SYNs",
            option(*of)
        ),
        A::RemoveNetem { device } => format!("`netem` on {device} drops on purpose: remove it unless a test runs"),
        A::RaiseShaper { device, discipline } => {
            format!("raise the rate of `{discipline}` on {device}, or let it hold more (`limit`, `latency`)")
        }
        A::FasterLink { device, discipline } => format!(
            "the link behind {device} is full, and `{discipline}` drops to keep its queue short: a faster link, or less to send"
        ),
        A::LongerQueue { device } => {
            format!("let the queue of {device} be longer (`txqueuelen`, `limit`), or pace senders (`fq`)")
        }
        A::ReadSooner => "let the applications read sooner, and take a small SO_RCVBUF out of them".to_owned(),
        A::PeerBuffer { size: of } => format!(
            "let its receive buffer be larger{}, and take SO_RCVBUF out of its application; or let that application read faster",
            of.as_ref().map_or(String::new(), |of| format!(", up to {}", size(of)))
        ),
        A::PeerReadsFaster => {
            "let the application at the other end read faster: its buffer is not too small".to_owned()
        }
        A::GrowReceiveBuffer { size: of, begin: None } => format!("let receive buffers grow to {}", size(of)),
        A::GrowReceiveBuffer { size: of, begin: Some(begin) } => format!(
            "let receive buffers begin with {}, for they do not grow here, and grow to {}",
            bytes(*begin),
            size(of)
        ),
        A::DropReceiveBuffer { cap } => format!(
            "take SO_RCVBUF out of the application: it stops the kernel from growing the buffer{}",
            if *cap == Cap::Core { ", and net.core.rmem_max bounds it" } else { "" }
        ),
        A::KeepWindows => "keep windows over idle times".to_owned(),
        A::GrowSendBuffer { size: of, after } => format!(
            "let send buffers grow to {}{}",
            size(of),
            after.map_or(String::new(), |peer| format!(
                "; but first the queue that stands on the way to {peer}, which larger buffers fill"
            ))
        ),
        A::DropSendBuffer => "take SO_SNDBUF out of the application (nginx `sndbuf=`): it stops the kernel from growing the buffer".to_owned(),
        A::DropMetric { metric } => format!("take {metric} out of the route"),
        A::LongerBacklog => "let the backlog be longer, and spread the work over more processors".to_owned(),
        A::TimestampsOn => {
            "switch timestamps on, so that a sender notices its error and takes the slowdown back".to_owned()
        }
        A::FindReordering => "find what reorders or delays packets: bonded links, radio, a queue".to_owned(),
        A::ForgetThresholds { route } => format!(
            "remember no thresholds, and delete the remembered ones: either alone leaves the other{}",
            route.as_ref().map_or(String::new(), |route| format!(
                "; take `ssthresh` out of the route to {route}, too, for entries begin with it"
            ))
        ),
        A::SeeQdiscDrops { device } => {
            format!("the queue in front of {device} on this machine drops packets: see qdisc-drops")
        }
        A::LossDetectionOn { name, value } => {
            format!("{name} is 0: with {value} most losses are found without a timeout")
        }
        A::PaceWithFq { device } => format!(
            "let `fq` pace it: make it the root discipline of {device} while little is sent: it drops queued packets"
        ),
        A::ReadHere => "read as data comes, in a thread of its own; a larger buffer only fills later".to_owned(),
        A::PeerReads => "its application must read; nothing on this machine opens that window".to_owned(),
    }
}

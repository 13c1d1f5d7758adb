//! Findings without packets.

mod device;
mod phase;
mod process;

use crate::words::quantity::{number, percent as share, rate, seconds, thousands};
use whyslow_evidence::{Advice, Limitation, Statement as S};

fn bytes(value: f64) -> String {
    format!("{} B", number(value))
}

fn of(all: Option<f64>, noun: &str) -> String {
    all.map_or(String::new(), |all| format!(" of {} {noun}", number(all)))
}

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(in crate::words) fn statement(statement: &S) -> String {
    match statement {
        S::PeerWindow { limited_s, busy_s, window } => format!(
            "the peer's receive window was full for {} of the {} with data to send{}",
            seconds(*limited_s),
            seconds(*busy_s),
            window.map_or(String::new(), |window| format!(" (window: {})", bytes(window)))
        ),
        S::PeerShut { waiting } => {
            format!(
                "the application at the peer does not read: {} wait for its window, which is closed",
                bytes(*waiting)
            )
        }
        S::Unread { bytes: unread } => {
            format!("the application here does not read: {} have come and lie unread", bytes(*unread))
        }
        S::OwnWindow { window, rate_bps } => {
            format!("this end's receive window of {} lets no more than {} come", bytes(*window), rate(*rate_bps))
        }
        S::SendBuffer { limited_s, busy_s } => format!(
            "the send buffer here was full for {} of the {} with data to send",
            seconds(*limited_s),
            seconds(*busy_s)
        ),
        S::Application { idle_s: Some(idle), over_s: Some(over) } => format!(
            "the sending application had nothing to send for {} of {}; no window and no loss held it",
            seconds(*idle),
            seconds(*over)
        ),
        S::Application { .. } => {
            "the sending application writes less than the connection could send at this moment (app_limited)".to_owned()
        }
        S::Lost { segments, of: all } => {
            let part = all.map_or(String::new(), |all| format!(", {}", share(segments / all.max(*segments))));
            format!("{}{} were retransmitted as lost{part}", number(*segments), of(*all, "segments"))
        }
        S::Spurious { segments, of: all } => format!(
            "{} of {} retransmissions were spurious: the data had arrived, late or out of order",
            number(segments.min(all.max(*segments))),
            number(all.max(*segments))
        ),
        S::LostAgain { segments, of: all } => {
            format!("{} of {} retransmissions were lost again: losses come in bursts", number(*segments), number(*all))
        }
        S::TimingOut { row } => {
            format!("the connection gets no ACK: its retransmission timer has expired {} times in a row", number(*row))
        }
        S::Timeouts { count, of: all } => format!(
            "{} retransmission timeouts in {} segments, each a silence of 200 ms or more",
            number(*count),
            number(*all)
        ),
        S::SynUnanswered { retries, connections } => format!(
            "SYNs get no answer: {} sent again for {} {}",
            number(*retries),
            number(*connections),
            if *connections == 1.0 { "connection" } else { "connections" }
        ),
        S::Queue { rtt_s, least_s } => format!(
            "a queue stands on the path: the round trip is {} instead of {}",
            seconds(*rtt_s),
            seconds(*least_s)
        ),
        S::SlowStart { window } => {
            format!("the congestion window is full and still growing (slow start): {} segments so far", number(*window))
        }
        S::CongestionWindow { window, threshold } => format!(
            "the congestion window of {} segments is full; slow start ended at {} segments although nothing was lost",
            number(*window),
            number(*threshold)
        ),
        S::Bbr { rate_bps } => {
            format!("BBR sends at the rate that it measured on the path, {}", rate(*rate_bps))
        }
        S::Paced { rate_bps } => {
            format!("a setting or the application limits the sender to {} (SO_MAX_PACING_RATE)", rate(*rate_bps))
        }
        S::NoScaling { rtt_s } => format!(
            "window scaling is off, so that at most 65,535 B are in flight in a round trip of {}",
            seconds(*rtt_s)
        ),
        S::AcceptQueueFull { waiting, most } => format!(
            "the accept queue of this listener is full: {} connections wait, {} may",
            number(*waiting),
            number(*most)
        ),
        S::AcceptQueueOverflows { count, of: all } => format!(
            "a listener's accept queue overflowed {} times{}; each costs a client 1 s or more",
            number(*count),
            all.map_or(String::new(), |all| format!(" for {} accepted connections", number(all)))
        ),
        S::CloseWait { connections } => format!(
            "the peers closed {} connections, and the application here has not closed them",
            number(*connections)
        ),
        S::ReceiveDrops { segments, of: all } => format!(
            "{}{} that had arrived were dropped or pruned because a receive buffer was full",
            number(*segments),
            of(*all, "segments")
        ),
        S::Damaged { segments, of: all } => {
            format!("{} of {} segments arrived damaged", number(*segments), number(*all))
        }
        S::UdpDrops { datagrams, of: all } => format!(
            "{} of {} UDP datagrams were dropped because the application's buffer was full",
            number(*datagrams),
            number(*all)
        ),
        S::Stalled { seconds: silent, of_s } => {
            format!("nothing was transferred for {} of {}", seconds(*silent), seconds(*of_s))
        }
        S::WindowPerRoundTrip { window, rtt_s, rate_bps } => format!(
            "one window of {} a round trip of {} is all that goes: {}",
            bytes(*window),
            seconds(*rtt_s),
            rate(*rate_bps)
        ),
        S::LinkFull { nominal_bps: Some(nominal), rate_bps } => {
            format!("the link of {} is full: {}", rate(*nominal), rate(*rate_bps))
        }
        S::LinkFull { nominal_bps: None, rate_bps } => {
            format!("the link is full at about {}: what is in flight stands in a queue", rate(*rate_bps))
        }
        S::OneConnectionHeld { one_bps, all_bps, connections } => format!(
            "one connection gets {}, and {} together get {}: the link carries more, each connection is limited by a window or by loss",
            rate(*one_bps),
            number(*connections),
            rate(*all_bps)
        ),
        S::UdpLost { datagrams, of: all, received_bps } => format!(
            "{} of {} datagrams were lost ({}){}",
            number(*datagrams),
            number(*all),
            share(datagrams / all),
            received_bps.map_or(String::new(), |bps| format!("; {} arrived", rate(bps)))
        ),
        S::Processor { percent, at_peer } => {
            format!("a processor {} is busy: {percent:.0} %", if *at_peer { "at the peer" } else { "here" })
        }
        S::Phase { phase, took_s, whole_s } => {
            format!("{} took {} of {}", phase::name(*phase), seconds(*took_s), seconds(*whole_s))
        }
        S::SynRetried { took_s } => format!(
            "connecting took {}, as long as when the first SYN or its answer is lost and sent again",
            seconds(*took_s)
        ),
        S::RoundTrips { count, rtt_s, whole_s } => format!(
            "distance: about {} round trips of {} before the first byte, of {} in all",
            number(*count),
            seconds(*rtt_s),
            seconds(*whole_s)
        ),
        S::Transactions { per_s, each_s } => format!(
            "{} transactions a second: each takes {}, a round trip and the time of both applications",
            number(*per_s),
            seconds(*each_s)
        ),
        S::DelayedTransactions { each_s } => {
            format!("each transaction takes {}, as long as a delayed ACK", seconds(*each_s))
        }
        S::Device(statement) => device::statement(statement),
        S::Calls(statement) => process::calls(statement),
        S::Page(statement) => process::page(statement),
        S::Host(statement) => super::host::statement(statement),
        S::ProbesLost { share: lost, of: all, from } => format!(
            "{} of {} probes got no reply{}",
            share(*lost),
            number(*all),
            from.as_ref().map_or(String::new(), |hop| format!(", from {hop} to the end"))
        ),
        S::NoReply { probes } => format!("none of {} probes got a reply", number(*probes)),
        S::Varies { least_s, mean_s, most_s } => format!(
            "the round trip is {} on average and up to {}, and {} at best: a queue or a radio link delays packets",
            seconds(*mean_s),
            seconds(*most_s),
            seconds(*least_s)
        ),
        S::Jump { hop, by_s, rtt_s } => format!(
            "{} of the round trip of {} begin at {hop}, and stay to the end: distance, or a queue before it",
            seconds(*by_s),
            seconds(*rtt_s)
        ),
    }
}

pub(in crate::words) fn advice(advice: &Advice) -> String {
    match advice {
        Advice::EnlargePeerWindow => "let the peer's receive buffer grow (tcp_rmem), remove SO_RCVBUF (iperf3 -w) from its application, or let that application read faster".to_owned(),
        Advice::EnlargeOwnWindow => "let the receive buffer here grow (tcp_rmem), and remove SO_RCVBUF from the application".to_owned(),
        Advice::PeerReads => "make the application at the peer read: nothing here opens its window".to_owned(),
        Advice::ReadHere => "make the application read as data comes; a larger buffer only fills later".to_owned(),
        Advice::EnlargeSendBuffer => "remove SO_SNDBUF (iperf3 -w, nginx sndbuf=) from the sending application, or raise tcp_wmem".to_owned(),
        Advice::WindowScaling => "turn window scaling on at both ends, or find the balancer or firewall that strips the option".to_owned(),
        Advice::AcceptFaster => "accept connections faster, or raise the backlog of listen() and net.core.somaxconn".to_owned(),
        Advice::CloseSockets => "close connections when the peer has closed them".to_owned(),
        Advice::EnlargeUdpBuffer => "read faster, or raise SO_RCVBUF of the UDP application and net.core.rmem_max".to_owned(),
        Advice::CheckReach => "check that the other end is up, and that no firewall or route drops packets either way".to_owned(),
        Advice::FindDamage => "find what damages packets: the error counters of each device on the path".to_owned(),
        Advice::SendSlower { received_bps } => format!("send no faster than about {}, or use a faster link", rate(*received_bps)),
        Advice::CheckResolver => "check the resolvers in /etc/resolv.conf one by one (dig), and cache names".to_owned(),
        Advice::CheckTls => "look at the TLS server: its processor, its certificate chain, session resumption".to_owned(),
        Advice::AvoidRedirects => "ask for the last URL directly".to_owned(),
        Advice::EnlargeRing => "let the receive ring be as large as the card can (ethtool -G), and spread its interrupts over processors (ethtool -L)".to_owned(),
        Advice::EnlargeSendRing => "let the send ring be larger (ethtool -G tx), and use more send queues (ethtool -L)".to_owned(),
        Advice::CheckCable => "replace the cable or the transceiver, and check that both ends have the same speed and duplex".to_owned(),
        Advice::FindPause => "find the device that sends the pause frames (usually the switch port, or a slow host behind it), or turn flow control off (ethtool -A)".to_owned(),
        Advice::LargerInstance => "use a larger instance, or spread the traffic over several".to_owned(),
        Advice::FewerConnections => "reuse connections, avoid connection tracking (security groups that allow all), or use a larger instance".to_owned(),
        Advice::LookAtPeer => "find out at the peer why it responds late: its log, or a capture there".to_owned(),
        Advice::OwnWork => "do this work in parallel with the transfer: read ahead, write behind, or use another thread".to_owned(),
        Advice::MoreStreams => "use HTTP/2 or HTTP/3, or send fewer requests to one host: browsers open six connections a host for HTTP/1.1".to_owned(),
        Advice::Preconnect => "connect to fewer hosts, keep connections open, or connect before they are needed (rel=preconnect)".to_owned(),
        Advice::SmallerResponses => "send less (compression, smaller images), or from a place that is nearer".to_owned(),
        Advice::NoDelay => "set TCP_NODELAY (netperf -- -D), or write each message at once".to_owned(),
        Advice::LookAtHop { hop } => format!("ask the operator of {hop}, or of the hop before it, about the link between them"),
    }
}

pub(in crate::words) fn gap(gap: Limitation) -> &'static str {
    match gap {
        Limitation::SinceConnection => {
            "counts are since the connection began: a second look some seconds later shows the current limit"
        }
        Limitation::SinceBoot => {
            "counts are since boot, or since the last nstat: run it twice, some seconds apart, while it is slow"
        }
        Limitation::NoTimes => "the looks have no times, so there are counts and no rates: print `date` with each",
        Limitation::ReceiverSide => {
            "this end receives, and its kernel does not know the sender's limit: run ss -tin at the sender"
        }
        Limitation::Idle => "nothing was being sent at this moment: look while a transfer runs",
        Limitation::WhereLost => "where packets are lost is not shown: a capture at each end, or mtr --tcp, shows it",
        Limitation::WindowOrReader => {
            "whether the buffer is small or the application slow: Recv-Q in ss -tm at the peer shows it"
        }
        Limitation::WhichLimit => "ss -tin at the sender during the transfer names the limit",
        Limitation::NoDenominator => {
            "the count of segments sent (OutSegs) is missing, so there is no share: give all of nstat -az or netstat -s"
        }
        Limitation::NoRoundTrip => "the round trip is unknown: give a ping to the same host too, or use iperf3 --json",
        Limitation::DownloadUnknown => {
            "why receiving takes its time is not in these figures: a capture, or ss -tin at the server, shows it"
        }
        Limitation::ServerOrBackend => "whether the server itself, a proxy or a backend took it",
        Limitation::ProbesOnly => "probes may be treated differently from TCP, and do not show windows",
        Limitation::FewProbes => "fewer than 100 probes: a small loss would not be seen",
        Limitation::HopsLimitReplies => {
            "loss at hops in between that the last hop does not have is routers limiting their replies, and no fault"
        }
        Limitation::UdpRate => "iperf3 -u sends 1 Mbit/s unless -b is given: that is not the rate of the link",
        Limitation::OneEnd => {
            "this is one end's account: what the other end's application waits for is only seen there"
        }
        Limitation::WhichConnection => "counters are of the whole host: ss -tin shows which connection it is",
        Limitation::TestOnly => "this is the rate of a test: another application may have limits of its own",
        Limitation::OneRequest => "this is about these requests alone: others may take longer, at other times too",
        Limitation::WhichTraffic => "counters are of the whole card: which connection lost packets is shown by ss -tin",
        Limitation::SinceUp => {
            "counts are since the card was set up: a second look some seconds later, with date, shows what happens now"
        }
        Limitation::PeerOrNetwork => "whether the peer or the network took the time: a capture, or ss -tin, shows it",
        Limitation::NoCallTimes => "the trace has no time for each call: run strace with -T",
        Limitation::CallsOnly => "this is what the process asked the kernel for: losses and windows are not seen",
        Limitation::BrowserOnly => {
            "this is the browser's account: losses, windows and the server's reasons are not seen"
        }
        Limitation::Cut => "the text ends in the middle: what follows is not known",
        Limitation::ServerKernel => {
            "this is the account of the server's kernel: what the client's network did is only estimated"
        }
    }
}

pub(in crate::words) fn healthy() -> &'static str {
    "Nothing slow here, as far as this output shows."
}

pub(in crate::words) fn unknown() -> &'static str {
    "This output does not show why anything was slow."
}

pub(in crate::words) fn more(count: usize) -> String {
    format!("{} more without a finding", thousands(count as u64))
}

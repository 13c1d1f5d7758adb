//! What shows that a fix worked, by cause: the section of that name in the rule's documentation.

use whyslow_analysis::Cause;

/// The clause; `None` if the cause has none.
pub(in crate::words) fn verification(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::AmplificationRisk => "新的抓包中，服务器的第一批数据最多 10 个报文段",
        Cause::Application => "传输期间，发送端的 `ss -tin` 不再显示 `app_limited`",
        Cause::Bandwidth => "用 `whyslow compare` 与同一传输的新抓包比较，速率更高",
        Cause::Bufferbloat => "传输期间，发送端的 `ss -tin` 显示 `rtt` 始终接近 `minrtt`",
        Cause::ClientThink => "新的抓包中，客户端发出请求之前的时间更短",
        Cause::DelayedAck => "接收端的 `ip route show` 显示 `quickack 1`，新的抓包中没有 ACK 迟于一个往返",
        Cause::Duplication => "传输期间，发送端的 `nstat -az TcpExtTCPDSACKRecv` 不再增长",
        Cause::EarlySlowStartExit => {
            "新连接在发送端的 `ss -tin` 中没有很小的 `ssthresh`，`nstat -az 'TcpExtTCPHystart*'` 不再增长"
        }
        Cause::Ecn => "同一传输在该队列的 `tc -s qdisc show` 中的 `ecn_mark` 计数更少",
        Cause::HostCpu => "传输期间，`mpstat -P ALL 1` 中没有接近 100 % 的处理器",
        Cause::Loss | Cause::Policer => "在发送端于传输前后运行 `nstat TcpRetransSegs`，重传很少",
        Cause::LostRetransmission => "传输期间，发送端的 `nstat -az TcpExtTCPLostRetransmit` 不再增长",
        Cause::MtuBlackHole => "对接收端运行 `tracepath -n` 显示 `pmtu`，传输立即越过第一个满长报文段",
        Cause::NagleDelayedAck => "新的抓包中，下一个小报文段不再等待前一个的 ACK",
        Cause::NewConnectionEachTime => "客户端的 `ss -tn` 在相继的请求中显示同一本地端口；`curl -v` 报告复用了连接",
        Cause::NoAnswer => "从客户端运行 `nc -vz ADDRESS PORT` 立即连上，请求得到响应",
        Cause::NoSack => "任一端的 `ss -tin` 对新连接显示 `sack`",
        Cause::NoWindowScaling => "任一端的 `ss -tin` 对新连接显示 `wscale`",
        Cause::Pacing => "发送端的 `ss -tin` 显示的 `delivery_rate` 高于本次传输的速率",
        Cause::PathLatency => "停顿之后 `curl -so /dev/null -w '%{time_connect}\\n' URL` 不比紧接着另一次运行时更慢",
        Cause::ProtocolWindow => "新的抓包中，发送端不再停下等待接收应用的消息",
        Cause::ProxySplit => "`curl -so /dev/null -w '%{time_starttransfer} %{time_total}\\n' URL` 的时间变短",
        Cause::RandomLoss => "`ethtool -S` 的错误计数不再增长，发送端的 `nstat TcpRetransSegs` 中重传很少",
        Cause::ReceiveWindow => "传输期间，发送端的 `ss -tin` 显示很少或没有 `rwnd_limited`",
        Cause::Reordering => "传输期间，发送端的 `nstat -az TcpExtTCPSACKReorder TcpExtTCPTSReorder` 不再增长",
        Cause::Reset => "响应完整到达，发出 RST 的主机上 `nstat -az TcpOutRsts` 不再增长",
        Cause::RestartAfterIdle => "停顿之后，发送端的 `ss -tin` 显示的 `cwnd` 与之前相同",
        Cause::SenderCap => "传输期间，发送端的 `ss -tin` 显示很少或没有 `sndbuf_limited`",
        Cause::ServerThink | Cause::TlsRecordBuffering => {
            "`curl -so /dev/null -w '%{time_starttransfer}\\n' URL` 显示第一个字节来得更早"
        }
        Cause::Shaper => "发送端的 `ss -tin` 显示 `delivery_rate` 在整个传输期间保持不降",
        Cause::SlowLookup => "`curl -so /dev/null -w '%{time_namelookup}\\n' URL` 只需几毫秒",
        Cause::SlowStart => "新的抓包中第一批数据更大，或请求之前没有握手",
        Cause::SmallSegments => "发送端的 `ss -tin` 中 `bytes_sent` / `data_segs_out` 接近 `mss`",
        Cause::SpuriousRetransmission => {
            "传输期间，发送端的 `nstat -az TcpExtTCPDSACKRecv TcpExtTCPSpuriousRTOs` 不再增长"
        }
        Cause::SynLoss => "建立连接时，客户端的 `nstat -az TcpExtTCPSynRetrans` 不再增长",
        Cause::TailLoss => "传输期间，发送端的 `nstat -az TcpExtTCPTimeouts TcpExtTCPLossProbes` 不再增长",
        Cause::Timeout => "传输期间，发送端的 `nstat -az TcpExtTCPTimeouts` 不再增长",
        Cause::TurnTaking => "完成同样的工作，新的抓包中请求更少",
        Cause::ZeroWindow => "传输期间，接收端的 `nstat -az TcpExtTCPToZeroWindowAdv` 不再增长",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_diagnosis::cause_pages;

    /// The commands in a text.
    fn commands(text: &str) -> Vec<&str> {
        let mut all: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn each_verification_has_a_translation_with_the_same_commands() {
        for &cause in Cause::ALL {
            let (english, chinese) = (cause_pages::verification(cause), verification(cause));
            assert_eq!(english.map(commands), chinese.map(commands), "{cause}");
            assert!(chinese.is_none_or(|text| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))), "{cause}");
        }
    }
}

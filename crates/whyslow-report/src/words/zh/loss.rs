//! Lost, repeated and reordered packets.

use super::ends::{name, syn};
use crate::words::quantity::{percent, thousands, time};
use whyslow_analysis::{LossAction, LossQuestion, LossStatement, RepairSpeed, TailRepair};
use whyslow_units::Nanos;

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(super) fn statement(statement: &LossStatement) -> String {
    match statement {
        LossStatement::DeliveredTwice { packets, share, cost_s } => format!(
            "网络把 {} 个报文送达了两次，占该方向报文的 {:.1} %，占用链路 {}",
            thousands(*packets),
            share * 100.0,
            time(*cost_s),
        ),
        LossStatement::FewLost { segments, cost_s, whole_s } => {
            format!("重传了 {} 个丢失的报文段{}", thousands(*segments), repair(*cost_s, *whole_s))
        }
        LossStatement::LargeSegmentsMissing { largest, agreed, silence_s, packets } => format!(
            "两端协商的报文段为 {} B，但大于 {} B 的报文段从未到达这里：在 {} 的静默中，发送端发出的 {} 个报文没有到达",
            thousands(*agreed),
            thousands(*largest),
            time(*silence_s),
            thousands(*packets),
        ),
        LossStatement::LargeSegmentsStuck { size, times, cost_s, whole_s } => format!(
            "{} B 的报文段连续 {} 次未能通过，较小的报文却能通过：{} 中有 {} 在等待超时重传",
            thousands(*size),
            thousands(*times),
            time(*whole_s),
            time(*cost_s),
        ),
        LossStatement::LateResponse { wait_s, packets } => format!(
            "响应晚了 {} 才开始：发送端此前发出的 {} 个报文从未到达这里，它一直在等待超时重传",
            time(*wait_s),
            thousands(*packets),
        ),
        LossStatement::Lost { share, segments, cost_s, whole_s } => format!(
            "{} 的字节丢失并被重传（{} 个报文段）{}",
            percent(*share),
            thousands(*segments),
            repair(*cost_s, *whole_s),
        ),
        LossStatement::LostAtRandom { share, segments, cost_s, whole_s } => format!(
            "{} 的字节零散丢失（{} 个报文段），与在途数据多少无关，也没有排队{}",
            percent(*share),
            thousands(*segments),
            repair(*cost_s, *whole_s),
        ),
        LossStatement::NoSack { missing, recoveries, took_s, with_sack_s } => format!(
            "{}没有 SACK-permitted 选项，{} 次恢复用了 {}，而不是约 {}：每个空洞都要一个往返",
            syn(*missing),
            thousands(*recoveries),
            time(*took_s),
            time(*with_sack_s),
        ),
        LossStatement::Reordered { segments, of, by_s } => format!(
            "{} 个报文段中有 {} 个乱序到达{}，发送端误以为其中一些已丢失",
            thousands(*of),
            thousands(*segments),
            by_s.map_or(String::new(), |by| format!("（最多晚 {}）", time(by))),
        ),
        LossStatement::RetransmissionsLost { segments, cost_s, whole_s } => format!(
            "{} 次重传也丢失了：{} 中有 {} 在等待下一次重传",
            thousands(*segments),
            time(*whole_s),
            time(*cost_s),
        ),
        LossStatement::SizeIgnored { by, mtu } => {
            format!("{by} 用 ICMP 告知只能通过不超过 {} B 的报文，发送端没有理会", thousands(u64::from(*mtu)))
        }
        LossStatement::SpuriouslyRetransmitted { segments, of, cost_s } => format!(
            "{} 次重传中有 {} 次是虚假重传（数据已经到达），约占修复时间中的 {}",
            thousands(*of),
            thousands(*segments),
            time(*cost_s),
        ),
        LossStatement::TailLost { repaired_by, times, cost_s, whole_s } => format!(
            "一批数据的尾部丢失，发送端只能靠{}修复：{} 中有 {} 在等待，共 {} 次",
            match repaired_by {
                TailRepair::Probe => "尾部丢包探测（TLP）",
                TailRepair::Timer => "超时重传",
            },
            time(*whole_s),
            time(*cost_s),
            thousands(*times),
        ),
        LossStatement::TimerWaits { times, cost_s, whole_s } => {
            format!("发送端在 {} 中有 {} 在等待超时重传，共 {} 次", time(*whole_s), time(*cost_s), thousands(*times),)
        }
    }
}

/// What the losses cost, as a clause behind another one.
fn repair(cost: Nanos, whole: Nanos) -> String {
    format!("；修复丢包以及之后的降速在 {} 中占 {}", time(whole), time(cost))
}

pub(super) fn question(question: &LossQuestion) -> String {
    match question {
        LossQuestion::BurstOrigin => {
            "成串丢包来自满队列、限速丢弃，或短时故障的链路：以低于当前的恒定速率发送，队列或限速造成的丢包就会消失"
                .to_owned()
        }
        LossQuestion::DuplicationPlace => "在每一跳抓包，可以看到第二个副本从哪里开始出现".to_owned(),
        LossQuestion::FirstCopiesUnseen => {
            "从发送端的 IP 标识看，首个副本从未到达这里：在发送端抓包可以看到它们".to_owned()
        }
        LossQuestion::OriginOfCopies => "IP 标识（tcpdump -v）可以说明第二个副本是发送端还是网络产生的".to_owned(),
        LossQuestion::PingLarge { fails } => {
            format!("用该大小的不可分片报文 ping：`ping -M do -s {fails}` 应失败，而 `ping -M do -s 1000` 应成功")
        }
        LossQuestion::PingReportedSize { from, passes } => format!(
            "在{end}上，`ping -M do -s {passes}` 应成功，`ping -M do -s {}` 应失败；在{end}自己的网卡上抓包，可以看到 ICMP 差错是否到达",
            passes + 1,
            end = name(*from),
        ),
        LossQuestion::RandomOrQueue => {
            "以恒定的低速率发送（iperf3 -u -b 1M）：随机丢包的比例不变，队列或限速造成的丢包会消失".to_owned()
        }
        LossQuestion::SackAtItsEnd { end } => {
            format!("在{}旁抓包，可以看到它自己的 SYN 是否带有该选项", name(*end))
        }
    }
}

pub(super) fn action(action: &LossAction) -> String {
    match action {
        LossAction::AcceptIcmp { from, on } => format!(
            "让{}主机接受 {from} 发来的 ICMP 差错（它们已到达）：防火墙丢弃了它们，或因没有到 {from} 的路由而被反向路径过滤丢弃",
            name(*on)
        ),
        LossAction::BalanceByFlow => "找出按报文分担这条流的并行链路（ECMP、LAG），改为按流分担".to_owned(),
        LossAction::ClampMss { to: Some(to) } => format!("把 MSS 限制为 {} B", thousands(*to)),
        LossAction::ClampMss { to: None } => "在隧道处限制 MSS".to_owned(),
        LossAction::EnableRack => "启用 RACK 和 SACK：发送端不用等超时就能发现丢失的重传".to_owned(),
        LossAction::EnableSack { on } => format!("在{}上启用 SACK", name(*on)),
        LossAction::EnableSackForProbes { on } => {
            format!("在{}上启用 SACK：没有它，发送端不会发送尾部丢包探测", name(*on))
        }
        LossAction::EnableTailProbes { missed_s: Some(wait) } => {
            format!("启用尾部丢包探测（RACK-TLP）：{} 内没有出现探测", time(*wait))
        }
        LossAction::EnableTailProbes { missed_s: None } => "启用尾部丢包探测（RACK-TLP）和 SACK".to_owned(),
        LossAction::FindBurstLoss => "找出连续丢弃多个报文的地方：限速丢弃、满队列、无线链路".to_owned(),
        LossAction::FindDamage { share } => format!(
            "找出损坏 {} 报文的链路：检查每个网卡和交换机端口的错误计数（CRC、FCS）、线缆、光模块、无线信号、双工",
            percent(*share)
        ),
        LossAction::FindDuplication => {
            "找出复制报文的地方：环路、广播模式的 bond、走两条链路的隧道、未知地址泛洪".to_owned()
        }
        LossAction::FindFlightLoss => "找出网络在哪里丢失整批数据，或丢失某个报文段及其重传".to_owned(),
        LossAction::FindLargeLoss => "找出网络在哪里丢失了这批数据及其重传，而较小的报文却能通过".to_owned(),
        LossAction::FindLoss { share } => {
            let packets = share.map_or("报文".to_owned(), |share| format!(" {} 的报文", percent(share)));
            format!("找出网络在哪里丢失{packets}：线缆、无线、限速丢弃、满队列")
        }
        LossAction::FindSackStripper => "找出删除 SACK 选项的防火墙或负载均衡".to_owned(),
        LossAction::FindTailLoss { repair: RepairSpeed::Best } => {
            "找出网络在哪里丢包；发送端修复尾部丢包已是 TCP 能做到的最快".to_owned()
        }
        LossAction::FindTailLoss { repair: RepairSpeed::Improvable } => "找出网络在哪里丢包".to_owned(),
        LossAction::PaceSender => "让发送端均匀发送（BBR，或在其网卡上使用 fq 队列），使重传避开这样的突发".to_owned(),
        LossAction::PassIcmp => "放行 ICMP“需要分片”和“报文过大”差错".to_owned(),
        LossAction::PassIcmpOf { from, to } => {
            format!("放行 {from} 发往{}的 ICMP 差错：它们只到达了抓包点", name(*to))
        }
        LossAction::ProbeMtu => "启用 MTU 探测".to_owned(),
        LossAction::RaiseTimerFloor { .. } => "把超时重传的下限提高到网络时延尖峰之上".to_owned(),
        LossAction::UpdateKernel => "如果内核早于 Linux 4.0，请升级".to_owned(),
        LossAction::UseBbr => "在丢包修复之前使用 BBR：它对随机丢包反应较小".to_owned(),
    }
}

//! The rate of the link and its queue, and the hosts at its ends.

use crate::words::quantity::{rate, thousands, time};
use whyslow_analysis::{
    CommonEnds, Excess, LinkAction, LinkQuestion, LinkStatement, PolicerEvidence, QueueSight, SharedBottleneck,
};

/// Rates of more transfers than these are printed as a range.
const LISTED: usize = 4;

pub(super) fn statement(statement: &LinkStatement) -> String {
    match statement {
        LinkStatement::LateAcks { delay_s, rtt_s, cost_s, whole_s } => format!(
            "接收主机在数据到达 {} 后才确认（中位数），每个 {} 的往返都因此变长：{} 中约占 {}",
            time(*delay_s),
            time(*rtt_s),
            time(*whole_s),
            time(*cost_s),
        ),
        LinkStatement::Marked { echoes, before, after, cost_s, whole_s } => format!(
            "有队列标记了报文（{} 个 ACK 回显），没有丢包，发送端却把窗口从 {} B 减到 {} B；{} 中有 {} 处于减小后的窗口",
            thousands(*echoes),
            thousands(*before),
            thousands(*after),
            time(*whole_s),
            time(*cost_s),
        ),
        LinkStatement::Policed { segments, shown, cost_s, whole_s } => format!(
            "看起来是限速丢弃（policing）：丢失了 {} 个报文段，{}；{} 中占 {}",
            thousands(*segments),
            policer(shown),
            time(*whole_s),
            time(*cost_s),
        ),
        LinkStatement::QueueGrew { least_s, most_s } => {
            format!("排队随在途数据增长：往返时延从 {} 升到 {}", time(*least_s), time(*most_s))
        }
        LinkStatement::SenderPaused { times, cost_s } => format!(
            "发送主机停顿了 {} 次，共 {}，当时有满长报文段要发，两个窗口都有余量，也没有可等待的事",
            thousands(*times),
            time(*cost_s),
        ),
        LinkStatement::Shaped { burst, burst_bps, rate_bps, queue } => format!(
            "网络先以 {} 放行了 {} B，之后把传输限制在 {}，{}",
            rate(*burst_bps),
            thousands(*burst),
            rate(*rate_bps),
            queue.map_or("在此处看不到是否排队".to_owned(), |rise| format!(
                "并出现排队：往返时延从 {} 升到 {}",
                time(rise.before_s),
                time(rise.after_s)
            )),
        ),
        LinkStatement::SharedLink { link, own_bps } => {
            format!("{}；本次传输得到 {}", bottleneck(link), rate(*own_bps))
        }
        LinkStatement::SharedLinkOfAll { link, ends, rates_bps } => {
            format!("{}，{}；各自得到：{}", bottleneck(link), common(ends), rates(rates_bps))
        }
        LinkStatement::SteadyRate { payload_bps, wire_bps, held_s, whole_s } => format!(
            "整个传输受一个速率支配：有效数据 {}，线路上约 {}，{} 中占 {}",
            rate(*payload_bps),
            rate(*wire_bps),
            time(*whole_s),
            time(*held_s),
        ),
    }
}

fn policer(shown: &PolicerEvidence) -> String {
    match shown {
        PolicerEvidence::RateBetweenLosses { rate_bps, queue } => {
            let queue = match queue {
                QueueSight::Absent => "但没有排队",
                QueueSight::Hidden => "在此处看不到是否排队",
            };
            format!("两次丢包之间通过的速率总是 {}，{queue}", rate(*rate_bps))
        }
        PolicerEvidence::ExcessLost { offered_bps, passed_bps } => {
            format!("发送速率达到或超过 {} 时只有 {} 通过，通过的数据没有排队", rate(*offered_bps), rate(*passed_bps))
        }
        PolicerEvidence::FasterFirstFlight { offered_bps, passed_bps } => format!(
            "发送速率达到或超过 {} 时只有 {} 通过，而第一批数据来得更快，在此处看不到是否排队",
            rate(*offered_bps),
            rate(*passed_bps)
        ),
    }
}

fn bottleneck(link: &SharedBottleneck) -> String {
    let SharedBottleneck { excess, transfers, connections, payload_bps, wire_bps, time_s } = link;
    let those = if transfers == connections {
        format!("{} 个同时进行的传输", thousands(*transfers))
    } else {
        format!("{} 条连接上 {} 个同时进行的传输", thousands(*connections), thousands(*transfers))
    };
    let rates = format!("{}（有效数据，线路上约 {}）", rate(*payload_bps), rate(*wire_bps));
    match excess {
        Excess::Queued => format!("{those}共用一个 {rates}的瓶颈，持续 {}", time(*time_s)),
        Excess::Dropped => format!(
            "看起来是限速丢弃（policing）：{those}共用 {rates}，持续 {}，超出部分丢失，但没有排队",
            time(*time_s)
        ),
    }
}

fn common(ends: &CommonEnds) -> String {
    match ends {
        CommonEnds::Both { sender, receiver } => format!("都从 {sender} 到 {receiver}"),
        CommonEnds::Sender { sender } => format!("都来自 {sender}"),
        CommonEnds::Receiver { receiver } => format!("都发往 {receiver}"),
    }
}

fn rates(rates_bps: &[f64]) -> String {
    match rates_bps {
        [most, .., least] if rates_bps.len() > LISTED => format!("{} 到 {}", rate(*least), rate(*most)),
        _ => rates_bps.iter().map(|&own| rate(own)).collect::<Vec<_>>().join("，"),
    }
}

pub(super) fn question(question: &LinkQuestion) -> String {
    match question {
        LinkQuestion::ApplicationOrProcessor => {
            "应用写得晚而每次写满整个报文段时，看起来相同：在发送端用 `perf top` 和 `mpstat -P ALL 1` 判断".to_owned()
        }
        LinkQuestion::CaptureBesideReceiver => {
            "抓包点离接收端一跳时，看起来相同：在接收端用 `mpstat -P ALL 1` 判断".to_owned()
        }
        LinkQuestion::ConfiguredLimit => "人为配置的限速看起来相同：与购买或配置的速率比较".to_owned(),
        LinkQuestion::FallByLongerPath => {
            "接收窗口在前后都是满的，路径变长看起来相同：路径空闲时用 `ping` 查看其往返时延".to_owned()
        }
        LinkQuestion::FallByOtherTraffic => {
            "当时开始的其他流量看起来相同：停一段时间再重复，令牌桶会给出同样的突发量和同样的速率".to_owned()
        }
        LinkQuestion::FallBySender => {
            "在接收端且没有时间戳时，发送端自己降速（limit_rate_after）看起来相同：在发送端抓包".to_owned()
        }
        LinkQuestion::MarkingQueue => {
            "路由器上的 `tc -s qdisc show` 会统计 ecn_mark；在做标记的队列之后抓包，IP 首部中有 CE".to_owned()
        }
        LinkQuestion::NotCompared { transfers } => {
            format!("抓包中还有 {} 个更小的传输没有计入这些总和", thousands(*transfers))
        }
        LinkQuestion::OtherTraffic => {
            "抓包中没有的其他流量也可能共用这条链路；只运行一个传输可以看到全部速率".to_owned()
        }
        LinkQuestion::PartOfTime => "该速率只在部分时间起作用：更长的传输可以看出它有多重要".to_owned(),
        LinkQuestion::PolicerWithoutQueue => "几乎没有排队，超出该速率的部分可能被限速丢弃".to_owned(),
        LinkQuestion::QueueHidden => "在接收端且没有时间戳时，看不到排队（bufferbloat）：在发送端抓包".to_owned(),
        LinkQuestion::QueueOrPolicer => {
            "在此处满队列看起来相同：在发送端抓包，或分别以低于和高于它的恒定速率发送".to_owned()
        }
        LinkQuestion::ShortQueueOrPolicer => {
            "很短的队列看起来相同：询问运营商，或分别以低于和高于它的恒定速率发送".to_owned()
        }
    }
}

pub(super) fn action(action: &LinkAction) -> String {
    match action {
        LinkAction::AddCapacity { beyond_bps: Some(beyond) } => format!("使用快于 {} 的链路", rate(*beyond)),
        LinkAction::AddCapacity { beyond_bps: None } => "使用更快的链路".to_owned(),
        LinkAction::AskForShaping { rate_bps } => {
            format!("请运营商改用约 {} 的整形，而不是限速丢弃", rate(*rate_bps))
        }
        LinkAction::CheckReceivingProcessors => {
            "在传输时检查接收主机的处理器：被中断占满的核、被虚拟化窃取的时间（steal）、只有一个接收队列".to_owned()
        }
        LinkAction::CheckSendingProcessors => {
            "在传输时检查发送主机的处理器：占满的核、被虚拟化窃取的时间（steal）、未启用的网卡卸载".to_owned()
        }
        LinkAction::ManageQueue { rate_bps } => {
            let rate = match rate_bps {
                Some(_) => "",
                None => "，RATE 取略低于链路速率的值",
            };
            format!("在瓶颈处管理队列（CAKE、fq_codel）；DEV 是通向瓶颈的网卡{rate}")
        }
        LinkAction::PaceBelow { rate_bps } => format!("让发送端以低于 {} 的速率均匀发送", rate(*rate_bps)),
        LinkAction::RaisePolicedRate { from_bps } => format!("请求高于 {} 的限速", rate(*from_bps)),
        LinkAction::RaiseShapedRate { from_bps, burst } => format!(
            "找出约 {}、突发量 {} B 的整形器（套餐、QoS 类别、云主机的基准速率），提高它的速率",
            rate(*from_bps),
            thousands(*burst),
        ),
        LinkAction::RunInTurn => "让这些传输依次进行：链路已满，一个变快，其他就变慢".to_owned(),
        LinkAction::SendLess => "减少发送的字节（压缩、缓存）".to_owned(),
        LinkAction::ShapeTogether { rate_bps } => format!("把所有传输一起整形到 {} 以下", rate(*rate_bps)),
        LinkAction::ShrinkBuffer => "减小瓶颈处的缓冲区".to_owned(),
        LinkAction::TuneMarking { rtt_s, target_s, interval_s } => format!(
            "让做标记的队列的目标时延适合{}往返时延：interval {:.0} ms，target {:.0} ms；DEV 是它的网卡",
            rtt_s.map_or("该".to_owned(), |rtt| format!(" {} 的", time(rtt))),
            interval_s.as_millis_f64(),
            target_s.as_millis_f64(),
        ),
    }
}

//! Lookups of names.

use super::super::quantity::{thousands, time};
use whyslow_analysis::{ExchangeAction, ExchangeStatement, NameLookup};

/// The lookup that a connection waited for.
pub(in crate::words) fn lookup(of: &NameLookup) -> String {
    let silent = of.silent_server.as_ref().map(|server| format!("；{server} 没有应答")).unwrap_or_default();
    format!(
        "域名查询：{} 用时 {}，由 {} 应答（{}）{silent}",
        of.name,
        time(of.duration_s),
        of.server,
        queries(of.queries, of.unanswered, of.searched),
    )
}

fn queries(queries: u64, unanswered: u64, searched: u64) -> String {
    let mut text = format!("{} 次查询", thousands(queries));
    if unanswered > 0 {
        text += &format!("，{} 次没有应答", thousands(unanswered));
    }
    if searched > 0 {
        text += &format!("，先尝试了 {} 个搜索域", thousands(searched));
    }
    text
}

pub(super) fn slow(statement: &ExchangeStatement) -> String {
    let ExchangeStatement::LookupsSlow {
        name,
        names,
        server,
        silent,
        connections,
        queries: asked,
        unanswered,
        searched,
        waited_s,
        whole_s,
    } = statement
    else {
        return String::new();
    };
    let others = match names.saturating_sub(1) {
        0 => String::new(),
        others => format!("和另外 {} 个域名", thousands(others)),
    };
    let silent = silent.as_ref().map(|silent| format!("；先询问的 {silent} 没有应答")).unwrap_or_default();
    format!(
        "{} 条连接在 {} 中有 {} 等待 {name} {others}的查询，直到 {server} 应答（{}）{silent}",
        thousands(*connections),
        time(*whole_s),
        time(*waited_s),
        queries(*asked, *unanswered, *searched),
    )
}

/// What to do about slow lookups.
pub(super) fn action(action: &ExchangeAction) -> String {
    use ExchangeAction as A;
    match action {
        A::CheckNameServer { server } => format!(
            "查明域名服务器 {server} 为何没有及时应答；在此之前，从客户端的列表中删除它，或缩短超时（resolv.conf：`options timeout:1 attempts:2`）"
        ),
        A::CacheLookups => {
            "在客户端主机上缓存域名（systemd-resolved、dnsmasq、nscd、NodeLocal DNSCache），或使用更近的域名服务器"
                .to_owned()
        }
        A::QualifyNames => {
            "使用以点结尾的完整域名，或降低 `ndots`（Kubernetes：dnsConfig）：每个搜索域都先于域名本身被查询".to_owned()
        }
        _ => String::new(),
    }
}

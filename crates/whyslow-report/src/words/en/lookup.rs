//! Lookups of names.

use super::super::quantity::{count, thousands, time};
use whyslow_analysis::{ExchangeAction, ExchangeStatement, NameLookup};

/// The lookup that a connection waited for.
pub(in crate::words) fn lookup(of: &NameLookup) -> String {
    let silent = of.silent_server.as_ref().map(|server| format!("; {server} did not answer")).unwrap_or_default();
    format!(
        "name lookup: {} took {} until {} answered ({}){silent}",
        of.name,
        time(of.duration_s),
        of.server,
        queries(of.queries, of.unanswered, of.searched),
    )
}

fn queries(queries: u64, unanswered: u64, searched: u64) -> String {
    let mut text = match queries {
        1 => "1 query".to_owned(),
        queries => format!("{} queries", thousands(queries)),
    };
    if unanswered > 0 {
        text += &format!(", {} without a response", thousands(unanswered));
    }
    if searched > 0 {
        text += &format!(", first with {}", count(searched, "search domain"));
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
        others => format!(" and of {}", count(others, "other name")),
    };
    let silent =
        silent.as_ref().map(|silent| format!("; {silent} was asked first and did not answer")).unwrap_or_default();
    format!(
        "{} waited {} of {} for the lookup of {name}{others}, until {server} answered ({}){silent}",
        count(*connections, "connection"),
        time(*waited_s),
        time(*whole_s),
        queries(*asked, *unanswered, *searched),
    )
}

/// What to do about slow lookups.
pub(super) fn action(action: &ExchangeAction) -> String {
    use ExchangeAction as A;
    match action {
        A::CheckNameServer { server } => format!(
            "find out why the name server {server} does not answer in time; until then, remove it from the client's list, or set a short timeout (resolv.conf: `options timeout:1 attempts:2`)"
        ),
        A::CacheLookups => {
            "keep the names on the client's host (systemd-resolved, dnsmasq, nscd, NodeLocal DNSCache), or ask a nearer name server".to_owned()
        }
        A::QualifyNames => {
            "use full names with a final dot, or lower `ndots` (Kubernetes: dnsConfig): each search domain is asked for before the name itself".to_owned()
        }
        _ => String::new(),
    }
}

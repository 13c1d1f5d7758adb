//! The administrator's page: the contents of `/stats`, as HTML that loads nothing and runs nothing.

use super::row::Row;
use super::stats::Report;
use std::fmt::Write;
use whyslow_text::units::{bytes, figure, thousands};

const STYLE: &str = "\
:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;margin:1.5rem auto;max-width:75rem;padding:0 1rem}\
h1{font-size:1.3rem}h2{font-size:1.05rem;margin:1.6rem 0 .4rem}.wide{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{text-align:left;padding:.15rem .9rem .15rem 0;vertical-align:top}\
th{font-weight:600;opacity:.65;white-space:nowrap}td.n,th.n{text-align:right;white-space:nowrap}td.k{overflow-wrap:anywhere;min-width:12rem}\
tr.bad td{color:#b3261e}@media(prefers-color-scheme:dark){tr.bad td{color:#ff8a80}}";

/// The whole page.
pub(super) fn html(report: &Report) -> String {
    let mut page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <title>whyslow-gateway</title><style>{STYLE}</style><h1>whyslow-gateway</h1>"
    );
    let (totals, storage, memory) = (&report.totals, &report.storage, &report.memory);
    let mut line = |text: String| page.push_str(&format!("<p>{}</p>", escaped(&text)));
    line(format!(
        "Since {} ({}): {} requests, {} refused, {} failed; {} in, {} out.",
        report.since,
        figure(report.uptime_s, "s"),
        thousands(totals.requests),
        thousands(totals.refused),
        thousands(totals.failed),
        bytes(totals.bytes_in),
        bytes(totals.bytes_out)
    ));
    line(format!(
        "Memory: {} of {} in use, {} at most so far.",
        bytes(memory.in_use),
        bytes(memory.limit),
        bytes(memory.peak)
    ));
    line(format!("Storage: {}", storage.store));
    if let Some(kept) = &storage.windows_kept_by {
        line(format!(
            "{} connections open, {} idle; {} opened, {} requests on one that was open already; windows are kept by \
             {kept}: {} bursts of {} in all, {} heartbeats, {} uploads larger than the window they met.",
            storage.open,
            storage.idle,
            thousands(storage.opened),
            thousands(storage.reused),
            thousands(storage.bursts),
            bytes(storage.burst_bytes),
            thousands(storage.heartbeats),
            thousands(storage.window_misses)
        ));
    }
    limits(&mut page, report);
    rows(&mut page, "Slowest", &report.slowest);
    rows(&mut page, "Last", &report.recent);
    page
}

fn limits(page: &mut String, report: &Report) {
    if report.limits.is_empty() {
        return;
    }
    page.push_str("<h2>What limited the transfers</h2><div class=wide><table><tr><th>limit<th class=n>time<th>");
    for share in &report.limits {
        let _ = write!(
            page,
            "<tr><td>{}<td class=n>{}<td>{}",
            escaped(&share.limit),
            escaped(&figure(share.seconds, "s")),
            escaped(super::super::stats::meaning(&share.limit))
        );
    }
    page.push_str("</table></div>");
}

fn rows(page: &mut String, title: &str, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<h2>{title}</h2><div class=wide><table><tr><th>time<th>operation<th>object<th class=n>status\
         <th class=n>in<th class=n>out<th class=n>took<th>limited by<th>connection"
    );
    for row in rows {
        let way = row.storage.as_ref();
        let limit = way.and_then(|way| way.limits.first());
        let limit = limit.map(|share| format!("{} {}", share.limit, figure(share.seconds, "s"))).unwrap_or_default();
        let connection = way.map_or_else(String::new, |way| {
            let window = way.window_at_start.map_or_else(String::new, |window| format!(", window {}", bytes(window)));
            format!("{} {}{window}", way.connection, if way.reused { "reused" } else { "new" })
        });
        let is_bad = row.status.is_none_or(|status| status >= 500) || !row.is_whole;
        let _ = write!(page, "<tr{}>", if is_bad { " class=bad" } else { "" });
        let status = row.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let operation = row.operation.as_deref().unwrap_or(&row.method);
        let time = row.time.get(..19).unwrap_or(&row.time).replace('T', " ");
        for (class, cell) in [
            ("", time),
            ("", operation.to_owned()),
            ("k", row.object()),
            ("n", status),
            ("n", bytes(row.bytes_in)),
            ("n", bytes(row.bytes_out)),
            ("n", figure(row.took_s, "s")),
            ("", limit),
            ("", connection),
        ] {
            let _ = write!(page, "<td class='{class}'>{}", escaped(&cell));
        }
    }
    page.push_str("</table></div>");
}

/// Escapes text for HTML, between tags and in attributes; hidden characters become their codes.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if whyslow_text::is_hidden(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text() {
        assert_eq!(escaped("<script>'\"&\u{202e}x"), "&lt;script&gt;&#39;&quot;&amp;\\u{202e}x");
    }
}

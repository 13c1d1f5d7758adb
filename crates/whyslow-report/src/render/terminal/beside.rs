//! Pings and name lookups of a text capture, apart from its connections.

use crate::text::styles::DIM;
use crate::text::{Line, Page, units};
use anstyle::Style;
use whyslow_analysis::{Analysis, Capture, Lookup, Ping};

/// The most lines of a kind.
const LISTED: usize = 8;

/// Whether the text holds only pings, and no packets.
pub(super) fn is_all(analysis: &Analysis) -> bool {
    analysis.captures.iter().all(|capture| capture.packets == 0 && !capture.pings.is_empty())
}

/// Prints a line for each, and one that counts the rest.
pub(super) fn print(page: &mut Page, capture: &Capture) {
    list(page, &capture.pings, ping);
    // The longest ones, those without a response first.
    let mut lookups: Vec<&Lookup> = capture.lookups.iter().collect();
    lookups.sort_by_key(|lookup| std::cmp::Reverse((lookup.answers.is_none(), lookup.duration_s)));
    list(page, &lookups, |one| lookup(one));
}

fn list<T>(page: &mut Page, all: &[T], words: impl Fn(&T) -> (String, String)) {
    for one in all.iter().take(LISTED) {
        let (head, text) = words(one);
        page.hanging(&Line::new().pad(2).styled(DIM, &head), Style::new(), &text, 4);
    }
    if let Some(rest @ 1..) = all.len().checked_sub(LISTED) {
        page.line(&Line::new().pad(2).styled(DIM, &format!("… and {} more", units::thousands(rest as u64))));
    }
}

/// `ping 192.0.2.9: `, `5 sent, 4 answered (20 % lost); round trips 11.5, 11.7 and 12.0 ms (least,
/// mean, most)`.
fn ping(ping: &Ping) -> (String, String) {
    let from = ping.from.as_ref().map_or(String::new(), |from| format!("{from} → "));
    let counts = match (ping.sent, ping.received, ping.loss) {
        (Some(sent), Some(received), Some(loss)) => {
            let [sent, received] = [sent, received].map(units::thousands);
            let lost = if loss > 0.0 { format!(" ({} lost)", percent(loss)) } else { String::new() };
            format!("{sent} sent, {received} answered{lost}")
        }
        _ => "how many were sent and lost is not in the text".to_owned(),
    };
    let times = ping.rtt_ms.map_or(String::new(), |times| {
        let [least, mean, most] = [times.min, times.avg, times.max].map(units::millis);
        format!("; round trip minimum {least}, mean {mean}, maximum {most}")
    });
    (format!("ping {from}{}: ", ping.to), counts + &times)
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 && percent.fract() > 0.05 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// `DNS A www.example.com: `, `resolved in 23.0 ms by 192.0.2.53`.
fn lookup(lookup: &Lookup) -> (String, String) {
    let took = lookup.duration_s.map(|took| format!(" in {}", units::span(took))).unwrap_or_default();
    let asked =
        if lookup.queries > 1 { format!(", asked {} times", units::thousands(lookup.queries)) } else { String::new() };
    let text = match (&lookup.answers, &lookup.refusal) {
        (_, Some(refusal)) => format!("{refusal} from {}{took}{asked}", lookup.server),
        (Some(0), None) => format!("no such record, by {}{took}{asked}", lookup.server),
        (Some(_), None) => format!("resolved by {}{took}{asked}", lookup.server),
        (None, None) => format!("{} did not answer{asked}", lookup.server),
    };
    (format!("DNS {} {}: ", lookup.kind, lookup.name), text)
}

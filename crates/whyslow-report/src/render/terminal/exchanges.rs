//! Which end waited, in a connection with more than one exchange.

mod responses;

use crate::text::{Column, Page, Table, units};
use whyslow_analysis::{Connection, End, Exchange, Message};
use whyslow_units::Nanos;

/// Exchanges listed if everything must fit one screen: those with the longest waits.
const FEW: usize = 6;
/// Shorter times of an exchange are not mentioned.
const NOTED: Nanos = Nanos::from_millis(1);

/// One line an exchange, in time order.
pub(super) fn print(page: &mut Page, connection: &Connection, full: bool) {
    let exchanges = &connection.exchanges;
    let total = connection.exchanges_total.max(exchanges.len() as u64);
    if exchanges.is_empty() || total < 2 {
        return;
    }
    let listed = if full { (0..exchanges.len()).collect() } else { longest(exchanges) };
    page.gap();
    if total > FEW as u64 {
        responses::print(page, connection, total);
        if !full && are_alike(exchanges) {
            return;
        }
    }
    let mut table = Table::new(vec![
        Column::figures("start"),
        Column::figures("request"),
        Column::figures("response"),
        Column::figures("waited"),
        Column::figures("server"),
        Column::figures("client before").optional(),
        Column::figures("idle").optional(),
        Column::words("what").optional(),
    ]);
    for &index in &listed {
        table.row(cells(&exchanges[index]));
    }
    let unlisted = total.saturating_sub(listed.len() as u64);
    if unlisted > 0 {
        table.remark(format!("… and {} with shorter waits", units::count(unlisted, "more exchange")));
    }
    table.print(page, 2);
}

/// Whether no exchange stands out: the longest wait is at most twice the usual one.
fn are_alike(exchanges: &[Exchange]) -> bool {
    let mut waits: Vec<Nanos> = exchanges.iter().map(|exchange| exchange.wait_s).collect();
    waits.sort_unstable();
    match (waits.last(), waits.get(waits.len() / 2)) {
        (Some(longest), Some(usual)) => longest.0 <= 2 * usual.0,
        _ => true,
    }
}

fn longest(exchanges: &[Exchange]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..exchanges.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(exchanges[index].wait_s), index));
    order.truncate(FEW);
    order.sort_unstable();
    order
}

fn cells(exchange: &Exchange) -> [String; 8] {
    let noted = |time: Nanos| if time >= NOTED { units::span(time) } else { String::new() };
    let bytes = |message: &Option<Message>, none: &str| {
        message.as_ref().map_or(none.to_owned(), |message| {
            let arrow = if message.from == End::Client { "↑" } else { "↓" };
            format!("{} {arrow}", units::bytes(message.bytes))
        })
    };
    let label = exchange.request.iter().chain(&exchange.answer).find_map(|message| message.label.clone());
    [
        units::seconds(exchange.start_s),
        bytes(&exchange.request, "push"),
        bytes(&exchange.answer, "none"),
        units::span(exchange.wait_s),
        exchange.server_s.map_or(String::new(), noted),
        noted(exchange.client_s),
        noted(exchange.idle_s),
        label.unwrap_or_default(),
    ]
}

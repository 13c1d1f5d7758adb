//! Requests of a connection on which several were under way at once: each has its own wait.

use crate::text::{Column, Page, Table, units};
use whyslow_analysis::{Connection, Request};
use whyslow_units::Nanos;

/// Requests listed if everything must fit one screen: those with the longest waits.
const FEW: usize = 6;
/// Shorter waits are not listed: what is slow costs as much (see `--threshold`).
const SLOW: Nanos = Nanos::from_millis(100);

/// One line a slow request, in time order, where the exchanges do not show them one by one.
pub(super) fn print(page: &mut Page, connection: &Connection, full: bool) {
    let requests = &connection.requests;
    if requests.len() < 2 || connection.requests_total <= connection.exchanges_total {
        return;
    }
    let mut slow: Vec<usize> = (0..requests.len()).filter(|&index| is_slow(&requests[index])).collect();
    if slow.is_empty() {
        return;
    }
    if !full {
        slow.sort_by_key(|&index| (std::cmp::Reverse(requests[index].wait_s), index));
        slow.truncate(FEW);
        slow.sort_unstable();
    }
    page.gap();
    let mut table = Table::new(vec![
        Column::figures("start"),
        Column::figures("waited"),
        Column::figures("to response"),
        Column::words("outcome").optional(),
        Column::words("slow request").optional(),
    ]);
    for index in slow {
        table.row(cells(&requests[index]));
    }
    table.print(page, 2);
}

fn is_slow(request: &Request) -> bool {
    !request.poll && request.wait_s.is_some_and(|wait| wait >= SLOW)
}

fn cells(request: &Request) -> [String; 5] {
    let span = |time: Option<Nanos>| time.map_or(String::new(), units::span);
    let status = request.status.map(|status| status.to_string());
    let grpc = request.grpc_status.filter(|status| *status != 0).map(|status| format!("gRPC {status}"));
    [
        units::seconds(request.start_s),
        span(request.wait_s),
        span(request.headers_s),
        request.error.clone().or(grpc).or(status).unwrap_or_default(),
        request.label.clone(),
    ]
}

//! The page for a person: the verdict, then a request step by step, or many in a table; on demand
//! the analysis of the packets.

use super::figures::speed;
use super::floor::Paths;
use super::{duel, picture, side_by_side, spread, verdict};
use crate::client::dial::{Attempt, Outcome};
use crate::client::exchange::{Exchange, Handshake, Hop};
use crate::requests::Request;
use crate::results::Results;
use anstyle::Style;
use std::time::Duration;
use whyslow_report::render::terminal;
use whyslow_report::text::styles::{BOLD, DIM, WARNING};
use whyslow_report::text::{Column, Line, Page, Table, units};
use whyslow_report::words::Lang;

/// The narrowest and the widest page.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=100;
/// Up to this many requests are listed; from more, the slowest.
const LISTED: usize = 10;
const SLOWEST: usize = 5;
/// A record that is this much later readable than its first packet came is worth a word, seconds.
const LATE: f64 = 0.001;

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The verdict and the figures: one screen.
    Screen,
    /// The findings of the packets with their evidence as well.
    Full,
}

/// Lays out the results.
pub fn page(results: &Results, width: usize, detail: Detail) -> String {
    let mut page = Page::new(width.clamp(*WIDTHS.start(), *WIDTHS.end()));
    let are_two = duel::print(&mut page, results);
    if !are_two {
        verdict::print(&mut page, results);
    }
    let answered: Vec<&Request> = results.requests.iter().filter(|request| request.outcome.is_ok()).collect();
    if let [request] = results.requests.as_slice()
        && let Ok(exchange) = &request.outcome
    {
        print_one(&mut page, exchange);
    } else {
        spread::print(&mut page, &results.requests);
        if !are_two || detail == Detail::Full || answered.len() > 2 {
            print_listed(&mut page, &answered, if detail == Detail::Full { usize::MAX } else { LISTED });
        }
        if !are_two || detail == Detail::Full {
            side_by_side::print(&mut page, results);
        }
    }
    match &results.recorded {
        Ok(recorded) => {
            if recorded.dropped > 0 {
                page.gap();
                let text = format!(
                    "{} of {} packets were not recorded, for this machine was too slow",
                    units::thousands(recorded.dropped),
                    units::thousands(recorded.dropped + recorded.packets)
                );
                page.wrapped(&Line::new().styled(WARNING, "! "), Style::new(), &text);
            }
            if detail == Detail::Screen {
                page.gap();
                page.wrapped(&Line::new(), DIM, "--full shows the findings with their evidence, --report FILE a page");
                return page.finish();
            }
            page.gap();
            let view = terminal::View { width, top: None, full: false, transfer: None, lang: Lang::En };
            let mut text = page.finish();
            text += &terminal::page(&recorded.analysis, view);
            if let Some(compared) = side_by_side::compared(results, width) {
                text.push('\n');
                text += &compared;
            }
            text
        }
        Err(why) => {
            page.gap();
            let text = format!("no packets were recorded, and nothing above rests on them: {why}");
            page.wrapped(&Line::new().styled(WARNING, "! "), Style::new(), &text);
            page.finish()
        }
    }
}

fn print_one(page: &mut Page, exchange: &Exchange) {
    for hop in &exchange.hops {
        print_hop(page, hop);
    }
    if exchange.hops.len() > 1 {
        let total = units::figure(exchange.took.as_secs_f64(), "s");
        page.gap();
        page.line(
            &Line::new().plain(&format!("with {}: {total}", units::count(exchange.hops.len() as u64 - 1, "redirect"))),
        );
    }
    picture::print(page, exchange.last(), 2);
}

fn print_hop(page: &mut Page, hop: &Hop) {
    page.gap();
    let tls = hop.tls.as_ref().map_or(String::new(), |tls| format!(", TLS {}", tls.version));
    let bytes = if hop.upload_bytes > 0 {
        let sent = if hop.sent_bytes < hop.upload_bytes {
            format!("{} of {}", units::bytes(hop.sent_bytes), units::bytes(hop.upload_bytes))
        } else {
            units::bytes(hop.sent_bytes)
        };
        format!("{sent} sent, {} received", units::bytes(hop.body_bytes))
    } else {
        units::bytes(hop.body_bytes)
    };
    let rate = units::rate(speed(hop) * 8.0);
    let total = units::figure(hop.times.total.as_secs_f64(), "s");
    let status_line = format!("{}, HTTP/{}{tls}, {bytes} in {total} = {rate}", hop.status, hop.http);
    page.hanging(&Line::new().styled(BOLD, &hop.url).plain(": "), Style::new(), &status_line, 2);
    if let Some(proxy) = &hop.proxy {
        let text = format!("through the proxy {proxy}: what follows is between this machine and the proxy");
        page.wrapped(&Line::new().pad(2).styled(WARNING, "! "), Style::new(), &text);
    }
    print_attempts(page, &hop.attempts);
    let mut table = Table::new(vec![
        Column::words(""),
        Column::figures("took"),
        Column::figures("by then"),
        Column::words("").optional(),
    ]);
    let mut before = Duration::ZERO;
    for Step { name, at, remark } in steps(hop) {
        let took = units::figure(at.saturating_sub(before).as_secs_f64(), "s");
        table.row([name.to_owned(), took, units::figure(at.as_secs_f64(), "s"), remark]);
        before = before.max(at);
    }
    table.print(page, 2);
}

/// A step and its time.
struct Step {
    name: &'static str,
    at: Duration,
    remark: String,
}

fn steps(hop: &Hop) -> Vec<Step> {
    let times = &hop.times;
    let mut out = Vec::new();
    let mut add = |name, at: Option<Duration>, remark: String| {
        out.extend(at.map(|at| Step { name, at, remark }));
    };
    add("DNS lookup", times.namelookup, String::new());
    add("connect", times.connect, hop.remote.to_string());
    add("tunnel of the proxy", times.tunnel, String::new());
    let tls = hop.tls.as_ref();
    let tls = tls.map_or(String::new(), |tls| match tls.handshake {
        Handshake::Full => tls.cipher.clone(),
        Handshake::FullWithRetry => format!("{}, the server asked for another key: a round trip more", tls.cipher),
        Handshake::Resumed => format!("{}, resumed", tls.cipher),
    });
    add("TLS handshake", times.appconnect, tls);
    let reused = if hop.is_reused { format!("on the open connection to {}", hop.remote) } else { String::new() };
    if hop.upload_bytes > 0 {
        add("request written", times.posttransfer, reused);
        add("request sent", times.sent, "has left the send buffer".to_owned());
        let before_answer = times.acknowledged.filter(|at| *at <= times.first_packet);
        add("request acknowledged", before_answer, "by the server's kernel".to_owned());
    } else {
        add("request sent", times.posttransfer, reused);
    }
    let late = times.starttransfer.saturating_sub(times.first_packet).as_secs_f64() >= LATE;
    if late {
        add("answer, first packet", Some(times.first_packet), String::new());
    }
    let record = hop.first_record.filter(|_| late);
    let record = record.map_or(String::new(), |record| format!("in a TLS record of {}", units::bytes(record.bytes)));
    add(if late { "answer, first byte readable" } else { "answer, first byte" }, Some(times.starttransfer), record);
    add("answer, last byte", Some(times.total), String::new());
    out
}

/// Addresses, where not the only one answered.
fn print_attempts(page: &mut Page, attempts: &[Attempt]) {
    if attempts.len() < 2 {
        return;
    }
    for (index, attempt) in attempts.iter().enumerate() {
        let took = units::figure(attempt.took.as_secs_f64(), "s");
        let until_next = attempts.get(index + 1).map(|next| next.after.saturating_sub(attempt.after));
        let cost = until_next.map_or(String::new(), |cost| {
            format!(": it cost {} until the next one was tried", units::figure(cost.as_secs_f64(), "s"))
        });
        let text = match &attempt.outcome {
            Outcome::Connected => format!("connected after {took}"),
            Outcome::GivenUp => format!("no answer in {took}, and given up{cost}"),
            Outcome::TimedOut => format!("no answer in {took}{cost}"),
            Outcome::Failed(why) => format!("{why} after {took}{cost}"),
        };
        let style = if attempt.outcome == Outcome::Connected { DIM } else { WARNING };
        page.hanging(
            &Line::new().pad(2).plain("tried ").plain(&attempt.address.to_string()).plain(": "),
            style,
            &text,
            4,
        );
    }
}

/// The slowest of many requests, in the order in which they were made.
fn slowest<'a>(answered: &[&'a Request], most: usize) -> Vec<&'a Request> {
    if answered.len() <= most {
        return answered.to_vec();
    }
    let took = |request: &Request| request.outcome.as_ref().map_or(Duration::ZERO, |exchange| exchange.took);
    let mut times: Vec<Duration> = answered.iter().map(|request| took(request)).collect();
    times.sort_unstable();
    let least = times[times.len() - SLOWEST];
    answered.iter().copied().filter(|request| took(request) >= least).take(SLOWEST).collect()
}

/// Up to `most` requests, or the slowest ones.
fn print_listed(page: &mut Page, answered: &[&Request], most: usize) {
    let shown = slowest(answered, most);
    page.gap();
    print_series(page, answered, &shown);
    if shown.len() < answered.len() {
        let text = format!("the slowest {} of {} requests", shown.len(), units::thousands(answered.len() as u64));
        page.wrapped(&Line::new(), DIM, &text);
    }
}

/// Each request with its own time: a mean hides the slow ones.
fn print_series(page: &mut Page, all: &[&Request], requests: &[&Request]) {
    let urls: Vec<&str> = requests.iter().map(|request| request.url.as_str()).collect();
    let paths = Paths::of(all.iter().copied());
    let are_many = urls.iter().any(|url| *url != urls[0]);
    let mut table = Table::new(vec![
        Column::words(if are_many { "URL" } else { "" }),
        Column::words("connection"),
        Column::figures("size"),
        Column::figures("sent"),
        Column::figures("acked").optional(),
        Column::figures("first byte"),
        Column::figures("total"),
        Column::figures("floor"),
        Column::words("the rest"),
    ]);
    for request in requests {
        let Ok(exchange) = &request.outcome else { continue };
        let hop = exchange.last();
        let floor = paths.to(request).floor(request, exchange);
        let short = |seconds: f64| units::figure(seconds, "s");
        let upload = |time: Option<Duration>| {
            time.filter(|_| hop.sent_bytes > 0).map_or(String::new(), |time| short(time.as_secs_f64()))
        };
        let rest = floor.as_ref().map_or(String::new(), |floor| {
            floor
                .rest
                .iter()
                .map(|rest| format!("{} {}", rest.what, short(rest.seconds)))
                .collect::<Vec<_>>()
                .join(", ")
        });
        table.row([
            if are_many { request.url.clone() } else { String::new() },
            if hop.is_reused { "reused" } else { "new" }.to_owned(),
            units::bytes(hop.sent_bytes.max(hop.body_bytes)),
            upload(hop.times.sent),
            upload(hop.times.acknowledged),
            short(hop.times.starttransfer.as_secs_f64()),
            short(exchange.took.as_secs_f64()),
            floor.map_or(String::new(), |floor| short(floor.seconds)),
            rest,
        ]);
    }
    let is_ignored = |request: &&&Request| {
        let part = request.outcome.as_ref().is_ok_and(|exchange| exchange.last().is_part);
        request.size.is_some() && !request.is_upload && !part
    };
    if let Some(request) = requests.iter().find(is_ignored) {
        let text = format!("{} does not send parts (Range): each time all of it came", request.url);
        page.wrapped(&Line::new().styled(WARNING, "! "), Style::new(), &text);
    }
    table.print(page, 0);
    page.gap();
    let text = "floor: one round trip, and the bytes at the highest rate that was seen";
    page.wrapped(&Line::new(), DIM, text);
}

//! A capture: a line for each, and where a connection's packets come from.

use crate::text::styles::{BOLD, DIM};
use crate::text::{Line, Page, units};
use anstyle::Style;
use whyslow_analysis::{Analysis, Capture, Connection, Near};

/// Where one connection's packets come from: `(slow.pcap, captured at the client)`. With several
/// captures it gives the capture's number, with several connections the `tcp.stream` by which
/// Wireshark shows this one.
pub(super) fn source(analysis: &Analysis, connection: &Connection) -> String {
    let name = match analysis.captures.get(connection.capture) {
        Some(_) if analysis.captures.len() > 1 => Some(format!("capture {}", connection.capture + 1)),
        Some(capture) if analysis.connections.len() == 1 => Some(name(capture).to_owned()),
        _ => None,
    };
    let is_one_of_several = |stream: &u64| analysis.connections.len() > 1 || *stream > 0;
    let stream = connection.origin.stream.filter(is_one_of_several).map(|stream| format!("tcp.stream {stream}"));
    let place = near(connection.near).map(|near| match analysis.captures.len() {
        0 | 1 => near,
        _ => near.trim_start_matches("captured "),
    });
    let parts: Vec<_> = name.into_iter().chain(stream).chain(place.map(str::to_owned)).collect();
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) }
}

/// Its path, or `stdin`.
fn name(capture: &Capture) -> &str {
    if capture.path == "-" { "stdin" } else { &capture.path }
}

/// The capture point in words, if it is known.
pub(super) fn near(near: Near) -> Option<&'static str> {
    match near {
        Near::Client => Some("captured at the client"),
        Near::Server => Some("captured at the server"),
        Near::Middle => Some("captured between the two ends"),
        Near::Unknown => None,
    }
}

/// One line for a capture.
pub(super) fn print(page: &mut Page, analysis: &Analysis, index: usize, capture: &Capture) {
    let connections: Vec<_> = analysis.connections.iter().filter(|c| c.capture == index).collect();
    let mut summary = units::count(capture.packets, "packet");
    if let Some(duration) = capture.duration_s.filter(|_| capture.packets > 1) {
        summary += &format!(" in {}", units::seconds(duration));
    }
    if capture.tcp_packets < capture.packets {
        summary += &match capture.tcp_packets {
            0 => ", none of them TCP".to_owned(),
            some => format!(", {} of them TCP", units::thousands(some)),
        };
    }
    if !connections.is_empty() || (analysis.pairs.is_empty() && capture.tcp_packets > 0) {
        summary += &format!(", {}", units::count(connections.len() as u64, "connection"));
        let quic = connections.iter().filter(|connection| connection.quic.is_some()).count();
        match (quic, connections.len()) {
            (0, _) => {}
            (quic, all) if quic == all => summary += " of QUIC",
            (quic, _) => summary += &format!(" ({} of them QUIC)", units::thousands(quic as u64)),
        }
    }
    if let Some((first, rest)) = connections.split_first()
        && rest.iter().all(|connection| connection.near == first.near)
    {
        summary += &near(first.near).map_or(String::new(), |near| format!(", {near}"));
    }
    let number = if analysis.captures.len() > 1 { format!("{}  ", index + 1) } else { String::new() };
    let head = Line::new().styled(DIM, &number).styled(BOLD, name(capture)).plain(": ");
    if head.width() * 2 > page.width() {
        page.line(&head);
        page.wrapped(&Line::new().pad(2), Style::new(), &summary);
    } else {
        page.hanging(&head, Style::new(), &summary, 4);
    }
}

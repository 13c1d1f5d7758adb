//! Parses the part of a line before the segment: the two ends, and the IP header that `-v` prints.

use super::body::{decimal, hex};
use super::tcp_line::{IpLine, Pair, Span};

/// The last `host.port > host.port` in `head`; it is at its end.
pub(super) fn pair(head: &str) -> Option<Pair> {
    let (src, dst) = ends(head, head.len())?;
    let outer = head.get(..src.start).and_then(|before| before.rfind(" > "));
    let parts = [src, dst].map(|end| split_port(head, end));
    let mut pair = match (parts, outer) {
        ([Some((src, src_port)), Some((dst, dst_port))], _) => Pair { src, src_port, dst, dst_port, v6: false },
        ([None, None], Some(separator)) => {
            // After IPv6 extension headers, ports are without hosts: `A > B: HBH 443 > 60402:
            // Flags`.
            let rest = head.get(separator + 3..src.start)?;
            let end = rest.find(": ").or_else(|| rest.find(' '))?;
            let (outer_src, outer_dst) = ends(head, separator + 3 + end)?;
            Pair { src: outer_src, src_port: src, dst: outer_dst, dst_port: dst, v6: false }
        }
        // An anonymised host may have no port: `client > server-1: Flags`.
        ([one, two], _) => {
            let [(src, src_port), (dst, dst_port)] =
                [one.unwrap_or((src, Span::default())), two.unwrap_or((dst, Span::default()))];
            Pair { src, src_port, dst, dst_port, v6: false }
        }
    };
    let last = |word: &str| head.get(..pair.src.start).and_then(|before| before.rfind(word));
    pair.v6 = pair.src.of(head).contains(':') || last("IP6").max(last("IPv6")) > last("IP ").max(last("IPv4"));
    Some(pair)
}

/// The words on both sides of the last ` > ` before `end`; the right one ends there.
fn ends(head: &str, end: usize) -> Option<(Span, Span)> {
    let head = head.get(..end)?;
    let separator = head.rfind(" > ")?;
    let dst = Span { start: separator + 3, end };
    let before = head.get(..separator)?;
    let start = before.rfind([' ', '\t', '(']).map_or(0, |at| at + 1);
    let src = Span { start, end: separator };
    let whole = !dst.of(head).is_empty() && !dst.of(head).contains([' ', '\t']) && !src.of(head).is_empty();
    whole.then_some((src, dst))
}

fn split_port(head: &str, end: Span) -> Option<(Span, Span)> {
    let dot = end.of(head).rfind('.')? + end.start;
    Some((Span { start: end.start, end: dot }, Span { start: dot + 1, end: end.end }))
}

/// The innermost IP header that `-v` prints in parentheses before the addresses.
pub(super) fn ip_line(head: &str, v6: bool) -> IpLine {
    let mark = if v6 { "hlim " } else { "ttl " };
    let Some(at) = head.rfind(mark) else { return IpLine::default() };
    let start = head.get(..at).and_then(|before| before.rfind('(')).unwrap_or(0);
    let start = if v6 { start } else { head.get(..at).and_then(|before| before.rfind("(tos ")).unwrap_or(start) };
    let group = head.get(start..).unwrap_or("");
    let after = |word: &str| group.find(word).and_then(|at| group.get(at + word.len()..)).unwrap_or("");
    let flags = after("flags [");
    let flags = flags.get(..flags.find(']').unwrap_or(0)).unwrap_or("");
    // The length of the packet differs from other lengths by its position: it follows the protocol.
    let length = if v6 { after("payload length") } else { after("), length").trim_start() };
    let length = if length.is_empty() && !v6 { after(", length").trim_start() } else { length };
    IpLine {
        tos: hex(after(if v6 { "class 0x" } else { "tos 0x" })) as u8,
        ttl: decimal(after(mark).trim_start()).map_or(0, |(ttl, _)| ttl as u8),
        id: decimal(after(", id ")).map_or(0, |(id, _)| id as u16),
        dont_fragment: flags.contains("DF"),
        more_fragments: flags.contains('+'),
        length: decimal(length.trim_start_matches([':', ' '])).map(|(length, _)| length),
    }
}

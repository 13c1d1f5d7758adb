//! Parses the text of one packet.
//!
//! Supports tcpdump's TCP line of today (`Flags [P.], seq 1:3, ack 1, win 502, length 2`) and of
//! before version 4.0 (`P 1:3(2) ack 1 win 502`), and the IP line that `-v` adds. The text before
//! the two addresses (interface, link layer, tunnels) is skipped, so that the innermost of nested
//! packets counts. It is strict from the flags on, so that prose is not mistaken for a packet, and
//! a line that was split in two is recognised as incomplete.

use super::addresses::{ip_line, pair};
use super::body::{Body, decimal};
use super::old_body::old_body;
use super::tcp_line::{Class, TcpLine};

/// Largest text of one packet, over all its lines.
pub(super) const MAX_TEXT: usize = 8 * 1024;
/// Maximum number of ` > ` of a line that are examined: the first few separate addresses.
const MAX_PAIRS: usize = 16;

/// The part of `text` that is parsed.
pub(super) fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or(text)
}

/// Parses the text of one packet after its time.
pub(super) fn classify(text: &str) -> Class {
    let text = head(text);
    if let Some(anchor) = text.find(": Flags [") {
        let head = text.get(..anchor).unwrap_or("");
        if is_quoted(head) {
            return other(text);
        }
        let Some(pair) = pair(head) else { return Class::Bad };
        let mut line = TcpLine { pair, ip: ip_line(head, pair.v6), ..TcpLine::default() };
        return Body { text, at: anchor + ": Flags [".len() }.read(&mut line);
    }
    for (separator, _) in text.match_indices(" > ").take(MAX_PAIRS) {
        let after = text.get(separator + 3..).unwrap_or("");
        let Some(colon) = after.find([' ', '\t']).filter(|&at| after.get(..at).is_some_and(|dst| dst.ends_with(':')))
        else {
            continue;
        };
        let (anchor, body) = (separator + 3 + colon - 1, after.get(colon + 1..).unwrap_or(""));
        let head = text.get(..anchor).unwrap_or("");
        if is_quoted(head) {
            break;
        }
        if let Some(quiet) = body.trim_start().strip_prefix("tcp ") {
            if body.contains("[bad hdr") {
                return Class::Cut;
            }
            if quiet.starts_with(|c: char| c.is_ascii_digit()) && pair(head).is_some() {
                return Class::Quiet;
            }
        }
        if body.trim_start().starts_with("[|tcp]") || body.trim_start().starts_with("truncated-tcp") {
            return Class::Cut;
        }
        if let Some(class) = old_body(text, head, anchor + 2) {
            return class;
        }
    }
    if is_head_only(text) {
        Class::Partial(None)
    } else if text.contains("bad-len ") {
        Class::Cut
    } else {
        other(text)
    }
}

/// Whether a packet inside this one is quoted and not carried: an ICMP error, a flow sample.
fn is_quoted(head: &str) -> bool {
    head.contains("ICMP") || head.contains("icmp") || head.contains("sFlow")
}

/// Whether the text ends before the kind of packet is known: after the IP line of `-v`, or after an
/// address.
fn is_head_only(text: &str) -> bool {
    let text = text.trim_end();
    let last = |word| text.rfind(word).and_then(|at| text.get(at..));
    let group = last("(tos 0x").or_else(|| last("IP6 ("));
    if group.is_some_and(|group| !group.contains(" > ")) {
        return true;
    }
    if text.ends_with(" >") {
        return true;
    }
    if let Some(frame) = after_ethernet(text) {
        // The description of the frame follows its length.
        return frame.split_once(": ").is_none_or(|(_, packet)| !packet.contains(' ') && packet.contains('.'));
    }
    if let Some((before, after)) = text.rfind(" > ").map(|at| text.split_at(at)) {
        let src = before.rsplit(' ').next().unwrap_or("");
        let (dst, rest) = after[3..].split_once(' ').unwrap_or((&after[3..], ""));
        return src.contains(['.', ':']) && !dst.contains(',') && "Flags [".starts_with(rest.trim_start());
    }
    let rest = text.strip_prefix("IP6").or_else(|| text.strip_prefix("IP")).unwrap_or("x");
    rest.is_empty() || rest.strip_prefix(' ').is_some_and(|rest| !rest.contains(' ')) || rest.ends_with(" >")
}

/// Whether the text ends before the addresses of the packet in an Ethernet frame (`-e`).
pub(super) fn is_ethernet_head(text: &str) -> bool {
    after_ethernet(text).is_some()
}

/// The text after the two Ethernet addresses that `-e` prints, if no other addresses follow.
fn after_ethernet(text: &str) -> Option<&str> {
    let (before, after) = text.rfind(" > ").map(|at| text.split_at(at))?;
    let after = after.get(3..)?;
    let (dst, rest) = after.split_once(',').unwrap_or((after, ""));
    let is_ethernet = |word: &str| word.len() == 17 && word.split(':').count() == 6;
    (is_ethernet(dst) && is_ethernet(before.rsplit(' ').next()?)).then_some(rest)
}

/// The protocol of a packet that is not TCP, or whose text ends before its body.
pub(super) fn other(text: &str) -> Class {
    if let Some(at) = text.find("proto").or_else(|| text.find("next-header")) {
        let group = text.get(at..).unwrap_or("");
        let number = group.find('(').and_then(|open| decimal(group.get(open + 1..).unwrap_or("")));
        if let Some((number @ 0..=255, _)) = number {
            // TCP that was not parsed here is in a fragment, a tunnel or an ICMP error: not a
            // segment.
            return Class::Ip(if number == 6 { 253 } else { number as u8 });
        }
    }
    const WORDS: [(&str, u8); 7] =
        [("ICMP6", 58), ("icmp6", 58), ("ICMP", 1), ("icmp", 1), ("igmp", 2), ("GREv", 47), ("OSPF", 89)];
    let is_ip = text.starts_with("IP") || text.contains(" IP ") || text.contains(" IP6 ") || text.contains(" > ");
    if text.starts_with("ARP") || text.starts_with("arp ") || text.contains("ethertype ARP") {
        return Class::NotIp(0x0806);
    }
    if !is_ip || (text.contains("ethertype") && !text.contains("ethertype IP") && !text.contains("802.1Q")) {
        return Class::NotIp(0xffff);
    }
    let word = WORDS.iter().find(|(word, _)| text.contains(word));
    // Lines of DNS, NTP and similar protocols do not mention UDP: they have ports, but no TCP
    // flags.
    Class::Ip(match word {
        Some((_, number)) => *number,
        None if text.contains("UDP") || shows_ports(text) => 17,
        None => 253,
    })
}

/// Whether the first ` > ` separates numeric addresses with ports.
fn shows_ports(text: &str) -> bool {
    let src = text.find(" > ").and_then(|at| text.get(..at)).and_then(|before| before.rsplit(' ').next());
    let host = src.and_then(|src| src.rsplit_once('.')).map(|(host, _)| host);
    host.is_some_and(|host| host.parse::<std::net::IpAddr>().is_ok())
}

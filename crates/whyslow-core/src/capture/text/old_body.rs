//! Parses a segment as tcpdump printed it before version 4.0: `P 1:3(2) ack 1 win 502 <nop>`.

use super::addresses::{ip_line, pair};
use super::body::{Body, decimal, flags};
use super::tcp_line::{Class, IpLine, Span, TcpLine};

/// The body of tcpdump before 4.0, if there is one at `at`:
/// `S, cksum 0x1a2b (correct), 5:5(0) ack 1 win 5840 urg 3
/// <mss 1460,nop>`; older still, without the commas.
pub(super) fn old_body(text: &str, head: &str, at: usize) -> Option<Class> {
    let mut body = Body { text, at };
    let end = body.rest().find([' ', ',']).unwrap_or(body.rest().len());
    let letters = Span { start: at, end: at + end };
    if letters.of(text).is_empty() || !letters.of(text).bytes().all(|b| b"SFRPWEU.".contains(&b)) {
        return None;
    }
    let pair = pair(head)?;
    let mut line = TcpLine { pair, ip: ip_line(head, pair.v6), ..TcpLine::default() };
    line.flags = flags(letters.of(text))?;
    if letters.of(text).contains('.') {
        line.flags = 0;
    }
    body.at = letters.end;
    let mut known = false;
    loop {
        while body.take(" ") || body.take(",") {}
        let start = body.at;
        if line.window.is_none() && is_cut(body.rest()) {
            // A mail may break a line between any two words.
            return (known || pair.has_ports(text)).then(|| line.partial());
        }
        if body.take("cksum 0x") {
            body.checksum(&mut line);
            body.take(",");
        } else if body.take("ack ") {
            line.ack = Some(body.number()?);
            line.flags |= 0x10;
            known = true;
        } else if body.take("win ") {
            line.window = Some(u16::try_from(body.number()?).ok()?);
        } else if body.take("urg ") {
            line.urgent = body.number()? as u16;
            line.flags |= 0x20;
        } else if let Some(seq) = body.number() {
            let end = body.take(":").then(|| body.number()).flatten()?;
            line.seq = Some(seq);
            line.seq_end = Some(end);
            line.length = Some(body.take("(").then(|| body.number()).flatten()?);
            if !body.take(")") {
                return None;
            }
            known = true;
        } else if body.take("<") {
            let end = body.rest().find('>');
            line.options = Span { start: body.at, end: body.at + end.unwrap_or(body.rest().len()) };
            if end.is_none() && line.window.is_some() {
                line.length = line.length.or(Some(0));
                return Some(line.partial());
            }
            body.at = line.options.end + usize::from(end.is_some());
            break;
        } else {
            body.at = start;
            break;
        }
    }
    // The window is the last field that every segment has.
    line.window?;
    line.length = line.length.or(Some(0));
    line.tail = Span { start: body.at, end: text.len() };
    read_tail(&mut line.ip, line.tail.of(text));
    Some(Class::Tcp(line))
}

/// Whether a line without a window stops before the next word, or in it.
fn is_cut(rest: &str) -> bool {
    let rest = rest.trim_end();
    ["ack", "win", "urg"].iter().any(|word| word.starts_with(rest))
}

/// Parses the part that `-v` prints after a segment: `(DF) (ttl 64, id 7)`.
fn read_tail(ip: &mut IpLine, tail: &str) {
    ip.dont_fragment |= tail.contains("(DF)") || tail.contains("(DF,");
    if let Some(at) = tail.find("ttl ").filter(|_| ip.ttl == 0) {
        ip.ttl = decimal(tail.get(at + 4..).unwrap_or("").trim_start()).map_or(0, |(ttl, _)| ttl as u8);
        let id = tail.find("id ").and_then(|at| decimal(tail.get(at + 3..).unwrap_or("")));
        ip.id = id.map_or(0, |(id, _)| id as u16);
    }
}

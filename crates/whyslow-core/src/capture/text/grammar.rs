//! One packet's text → what it says.
//!
//! Knows the words of tcpdump's TCP line, of today
//! (`Flags [P.], seq 1:3, ack 1, win 502, length 2`) and of before version 4.0
//! (`P 1:3(2) ack 1 win 502`), and of the IP line that `-v` adds. What stands before the two
//! addresses (interface, link layer, tunnels) is skipped, so that of several packets inside each
//! other the innermost counts. It is strict from the flags on, so that prose is not taken for a
//! packet and a line cut in two is seen to be cut.

use super::options;

/// How much text one packet may have, over all its lines.
pub(super) const MAX_TEXT: usize = 8 * 1024;
/// How many ` > ` of a line are looked at: the first few stand between addresses.
const MAX_PAIRS: usize = 16;

/// The part of `text` that is read.
pub(super) fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or(text)
}

/// A piece of the packet's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: usize,
    end: usize,
}

impl Span {
    pub(super) fn of<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// The two ends, as printed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    pub(super) src: Span,
    pub(super) src_port: Span,
    pub(super) dst: Span,
    pub(super) dst_port: Span,
    pub(super) v6: bool,
}

/// The IP header as `-v` prints it; 0 or none where it does not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IpLine {
    pub(super) tos: u8,
    pub(super) ttl: u8,
    pub(super) id: u16,
    pub(super) dont_fragment: bool,
    pub(super) more_fragments: bool,
    /// IPv4: the total length. IPv6: the payload length.
    pub(super) length: Option<u32>,
}

/// A TCP segment as its text tells it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TcpLine {
    pub(super) pair: Pair,
    pub(super) ip: IpLine,
    pub(super) flags: u16,
    pub(super) seq: Option<u32>,
    pub(super) seq_end: Option<u32>,
    pub(super) ack: Option<u32>,
    pub(super) window: Option<u16>,
    pub(super) urgent: u16,
    pub(super) options: Span,
    pub(super) length: Option<u32>,
    /// The checksum as it was on the wire, and whether tcpdump found it right.
    pub(super) checksum: Option<(u16, bool)>,
    /// What follows the length: the protocol above.
    pub(super) tail: Span,
}

impl TcpLine {
    /// Payload bytes, as printed or by the sequence numbers.
    pub(super) fn payload_len(&self) -> u32 {
        let range = || Some(self.seq_end?.wrapping_sub(self.seq?));
        self.length.or_else(range).unwrap_or(0)
    }
}

impl TcpLine {
    /// How much in a line that was put together from two speaks against it: options that make no
    /// sense, a word too many before the addresses.
    pub(super) fn doubts(&self, text: &str) -> u32 {
        let before = text.get(..self.pair.src.start).unwrap_or("").trim_end();
        let last = before.rsplit(' ').next().unwrap_or("");
        let usual = matches!(last, "" | "IP" | "IP6") || last.ends_with([')', ':', ',', ']']);
        options::doubts(self.options.of(text)) + u32::from(!usual)
    }
}

/// What a packet's text is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Class {
    /// A TCP segment.
    Tcp(TcpLine),
    /// The text ends too early; with a segment if it holds all but the end.
    Partial(Option<TcpLine>),
    /// TCP as `-q` prints it, without sequence numbers.
    Quiet,
    /// TCP whose header tcpdump itself found cut or broken.
    Cut,
    /// Like a TCP segment, and yet not to be read.
    Bad,
    /// Another protocol over IP; its number, or 253 if it is not told.
    Ip(u8),
    /// Not IP; the EtherType, or 0xffff if it is not told.
    NotIp(u16),
}

/// Reads the text of one packet, from behind its time.
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

/// The last `host.port > host.port` of `head`, which ends with it.
fn pair(head: &str) -> Option<Pair> {
    let (src, dst) = ends(head, head.len())?;
    let outer = head.get(..src.start).and_then(|before| before.rfind(" > "));
    let parts = [src, dst].map(|end| split_port(head, end));
    let mut pair = match (parts, outer) {
        ([Some((src, src_port)), Some((dst, dst_port))], _) => Pair { src, src_port, dst, dst_port, v6: false },
        ([None, None], Some(separator)) => {
            // Behind IPv6 extension headers the ports stand alone: `A > B: HBH 443 > 60402: Flags`.
            let rest = head.get(separator + 3..src.start)?;
            let end = rest.find(": ").or_else(|| rest.find(' '))?;
            let (outer_src, outer_dst) = ends(head, separator + 3 + end)?;
            Pair { src: outer_src, src_port: src, dst: outer_dst, dst_port: dst, v6: false }
        }
        // What hides a host may hide its port as well: `client > server-1: Flags`.
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

/// The words on both sides of the last ` > ` before `end`, the right one up to `end`.
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
fn ip_line(head: &str, v6: bool) -> IpLine {
    let mark = if v6 { "hlim " } else { "ttl " };
    let Some(at) = head.rfind(mark) else { return IpLine::default() };
    let start = head.get(..at).and_then(|before| before.rfind('(')).unwrap_or(0);
    let start = if v6 { start } else { head.get(..at).and_then(|before| before.rfind("(tos ")).unwrap_or(start) };
    let group = head.get(start..).unwrap_or("");
    let after = |word: &str| group.find(word).and_then(|at| group.get(at + word.len()..)).unwrap_or("");
    let flags = after("flags [");
    let flags = flags.get(..flags.find(']').unwrap_or(0)).unwrap_or("");
    // The fields before it tell a length from that of the packet: it comes after the protocol.
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

/// Whether the text stops before it says what the packet is: the IP line of `-v`, or an address at
/// the line's end.
fn is_head_only(text: &str) -> bool {
    let text = text.trim_end();
    let last = |word| text.rfind(word).and_then(|at| text.get(at..));
    let group = last("(tos 0x").or_else(|| last("IP6 ("));
    if group.is_some_and(|group| !group.contains(" > ")) {
        return true;
    }
    if let Some((before, after)) = text.rfind(" > ").map(|at| text.split_at(at)) {
        let src = before.rsplit(' ').next().unwrap_or("");
        let (dst, rest) = after[3..].split_once(' ').unwrap_or((&after[3..], ""));
        return src.contains(['.', ':']) && !dst.contains(',') && "Flags [".starts_with(rest.trim_start());
    }
    let rest = text.strip_prefix("IP6").or_else(|| text.strip_prefix("IP")).unwrap_or("x");
    rest.is_empty() || rest.strip_prefix(' ').is_some_and(|rest| !rest.contains(' ')) || rest.ends_with(" >")
}

/// The protocol of a packet that is not TCP, or whose text ends before its body.
pub(super) fn other(text: &str) -> Class {
    if let Some(at) = text.find("proto").or_else(|| text.find("next-header")) {
        let group = text.get(at..).unwrap_or("");
        let number = group.find('(').and_then(|open| decimal(group.get(open + 1..).unwrap_or("")));
        if let Some((number @ 0..=255, _)) = number {
            // TCP that was not read here is in a fragment, a tunnel or an ICMP error: not a
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
    // Lines of DNS, NTP and the like do not say that they are UDP: they show ports, and no TCP
    // flags.
    Class::Ip(match word {
        Some((_, number)) => *number,
        None if text.contains("UDP") || shows_ports(text) => 17,
        None => 253,
    })
}

/// Whether the first ` > ` stands between numeric addresses with ports.
fn shows_ports(text: &str) -> bool {
    let src = text.find(" > ").and_then(|at| text.get(..at)).and_then(|before| before.rsplit(' ').next());
    let host = src.and_then(|src| src.rsplit_once('.')).map(|(host, _)| host);
    host.is_some_and(|host| host.parse::<std::net::IpAddr>().is_ok())
}

/// Reads on in `text` from `at`.
struct Body<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Body<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn number(&mut self) -> Option<u32> {
        let (value, len) = decimal(self.rest())?;
        self.at += len;
        Some(value)
    }

    /// The text up to `end`, which is taken as well.
    fn until(&mut self, end: &str) -> Option<Span> {
        let len = self.rest().find(end)?;
        let span = Span { start: self.at, end: self.at + len };
        self.at += len + end.len();
        Some(span)
    }

    /// `S.], seq 1:3, ack 1, win 502, options [nop], length 2: HTTP`
    fn read(mut self, line: &mut TcpLine) -> Class {
        let Some(letters) = self.until("]") else { return Class::Partial(None) };
        match flags(letters.of(self.text)) {
            Some(flags) => line.flags = flags,
            None => return Class::Bad,
        }
        loop {
            let rest = self.rest();
            let ends_here = rest.trim().is_empty() || rest.trim() == ",";
            if ends_here || rest.trim() == "..." || rest.trim_start_matches([',', ' ']).starts_with('…') {
                return line.partial();
            }
            if rest.trim_start().starts_with("[bad hdr") {
                return Class::Cut;
            }
            if rest.trim_start().starts_with("[|tcp]") {
                return line.window.map_or(Class::Cut, |_| Class::Tcp(*line));
            }
            if !self.take(",") {
                return Class::Bad;
            }
            while self.take(" ") {}
            match self.field(line) {
                Field::Read => {}
                Field::Last => return Class::Tcp(*line),
                Field::Short => return line.partial(),
                Field::Wrong => return Class::Bad,
            }
        }
    }

    fn field(&mut self, line: &mut TcpLine) -> Field {
        const WORDS: [&str; 7] = ["cksum 0x", "seq ", "ack ", "win ", "urg ", "options [", "length "];
        let Some(word) = WORDS.into_iter().find(|word| self.take(word)) else {
            let rest = self.rest();
            if WORDS.iter().any(|word| word.starts_with(rest)) {
                return Field::Short;
            }
            // `[ack 5 != 0 while ACK flag not set]` tells of a field that means nothing.
            let note = rest.starts_with('[') && self.until("]").is_some();
            return if note { Field::Read } else { Field::Wrong };
        };
        let at_end = |body: &Self| body.rest().is_empty();
        if at_end(self) {
            return Field::Short;
        }
        let read = match word {
            "cksum 0x" => self.checksum(line),
            "seq " => {
                line.seq = self.number();
                if self.take(":") {
                    if at_end(self) {
                        return Field::Short;
                    }
                    line.seq_end = self.number();
                }
                line.seq.is_some()
            }
            "ack " => {
                line.ack = self.number();
                line.ack.is_some()
            }
            "win " => {
                line.window = self.number().and_then(|window| u16::try_from(window).ok());
                line.window.is_some()
            }
            "urg " => self.number().is_some_and(|urgent| {
                line.urgent = urgent as u16;
                urgent <= 0xffff
            }),
            "options [" => return self.options(line),
            _ => {
                line.length = self.number();
                line.tail = Span { start: self.at, end: self.text.len() };
                let range = line.seq_end.zip(line.seq).map(|(end, seq)| end.wrapping_sub(seq));
                if at_end(self) && range.is_some() && range != line.length {
                    line.length = None;
                    return Field::Short;
                }
                return if line.length.is_some() { Field::Last } else { Field::Wrong };
            }
        };
        if read { Field::Read } else { Field::Wrong }
    }

    /// `1a2b (correct)`, `1a2b (incorrect -> 0x3c4d)`
    fn checksum(&mut self, line: &mut TcpLine) -> bool {
        let digits = self.rest().bytes().take_while(u8::is_ascii_hexdigit).count();
        let value = hex(self.rest()) as u16;
        self.at += digits;
        let right = self.take(" (correct)");
        let wrong = !right && self.take(" (incorrect") && self.until(")").is_some();
        // Before 4.0 a wrong one was `(incorrect (-> 0x3c4d)`, its second bracket left open.
        line.checksum = (right || wrong).then_some((value, right));
        digits > 0
    }

    fn options(&mut self, line: &mut TcpLine) -> Field {
        if let Some(options) = self.until("], length ") {
            line.options = options;
            self.at -= ", length ".len();
            return Field::Read;
        }
        let rest = self.rest();
        let broken = rest.find("[|tcp]").or_else(|| rest.find("[bad opt]"));
        line.options = Span { start: self.at, end: self.at + broken.unwrap_or(rest.len()) };
        if broken.is_some() { Field::Last } else { Field::Short }
    }
}

enum Field {
    Read,
    Last,
    Short,
    Wrong,
}

impl TcpLine {
    /// The line ended too early; it can be used if it shows all but the options and the length.
    fn partial(&self) -> Class {
        Class::Partial(self.window.is_some().then_some(*self))
    }
}

/// The body of tcpdump before 4.0, if there is one at `at`:
/// `S, cksum 0x1a2b (correct), 5:5(0) ack 1 win 5840 urg 3
/// <mss 1460,nop>`; older still, without the commas.
fn old_body(text: &str, head: &str, at: usize) -> Option<Class> {
    let mut body = Body { text, at };
    let letters = body.rest().find([' ', ',']).map(|end| Span { start: at, end: at + end })?;
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
            let end = body.rest().find('>').unwrap_or(body.rest().len());
            line.options = Span { start: body.at, end: body.at + end };
            body.at += end + usize::from(end < body.rest().len());
            break;
        } else {
            body.at = start;
            break;
        }
    }
    // A window's number is the last that every segment has; before it, at least one other must have
    // made sense.
    if line.window.is_none() {
        let short = body.rest().is_empty() && known;
        return if short { Some(Class::Partial(None)) } else { None };
    }
    line.length = line.length.or(Some(0));
    line.tail = Span { start: body.at, end: text.len() };
    let tail = line.tail.of(text);
    line.ip.dont_fragment |= tail.contains("(DF)") || tail.contains("(DF,");
    if let Some(at) = tail.find("ttl ").filter(|_| line.ip.ttl == 0) {
        line.ip.ttl = decimal(tail.get(at + 4..).unwrap_or("").trim_start()).map_or(0, |(ttl, _)| ttl as u8);
        let id = tail.find("id ").and_then(|at| decimal(tail.get(at + 3..).unwrap_or("")));
        line.ip.id = id.map_or(0, |(id, _)| id as u16);
    }
    Some(Class::Tcp(line))
}

/// The flags for tcpdump's letters; RFC 9293 section 3.1 order, `e` is accurate ECN.
fn flags(letters: &str) -> Option<u16> {
    if letters == "none" {
        return Some(0);
    }
    let mut flags = 0;
    for letter in letters.bytes() {
        flags |= match letter {
            b'F' => 0x001,
            b'S' => 0x002,
            b'R' => 0x004,
            b'P' => 0x008,
            b'.' => 0x010,
            b'U' => 0x020,
            b'E' => 0x040,
            b'W' => 0x080,
            b'e' => 0x100,
            _ => return None,
        };
    }
    (!letters.is_empty()).then_some(flags)
}

/// The decimal number that `text` starts with, if it fits 32 bits, and its length.
fn decimal(text: &str) -> Option<(u32, usize)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text.get(..len)?.parse().ok()?, len))
}

/// The hexadecimal number that `text` starts with, or 0.
fn hex(text: &str) -> u32 {
    let len = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    text.get(..len).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

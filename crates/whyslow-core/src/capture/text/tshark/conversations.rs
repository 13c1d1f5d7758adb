//! Rewrites summary lines of tshark in tcpdump's form.
//!
//! Wireshark prints windows with the scale applied. The header's 16 bits are that window shifted
//! back by the scale in the sender's SYN. Without the SYN the scale is unknown, and a larger window
//! becomes the largest that fits.
//!
//! A packet with the info of another protocol has no ports and numbers. It belongs to the only
//! connection between its hosts, and follows the last known byte of its sender. Its payload is the
//! frame's length minus that of the headers in other packets of its sender. If one of these is
//! unknown, the packet stays without its TCP header, and is counted.

use super::{Info, SummaryLine, TcpInfo};
use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;
use std::fmt::Write;

/// Maximum number of stored conversations; the oldest ones are dropped.
const MAX_CONVERSATIONS: usize = 16_384;
/// Distance between the numbers of two connections with the same ends: Wireshark restarts from 0.
const NEXT_CONNECTION: u32 = 0x2000_0000;
const FIN: u16 = 0x01;
const SYN: u16 = 0x02;
const ACK: u16 = 0x10;
/// Minimum length of an Ethernet frame: shorter ones are padded.
const MIN_FRAME: u32 = 60;
/// Headers of Ethernet, IPv4 and TCP, each without options.
const MIN_HEADERS: u32 = 54;

/// A packet in tcpdump's form, in the caller's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Rewritten {
    /// Its numbers follow from other packets.
    pub(in super::super) inferred: bool,
    /// It acknowledges or follows bytes that Wireshark has seen and the text does not show.
    pub(in super::super) after_gap: bool,
}

/// State of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    /// The window's scale; `None` before a SYN.
    shift: Option<u8>,
    /// Sequence number after the last byte sent or acknowledged.
    next: Option<u32>,
    /// Its last acknowledgment number.
    ack: Option<u32>,
    /// The 16 bits of its last window.
    window: u16,
    /// Bytes of a frame before the payload.
    headers: Option<u32>,
}

#[derive(Debug)]
struct Conversation {
    /// Host and port; the hosts in alphabetical order.
    ends: [[Box<str>; 2]; 2],
    directions: [Direction; 2],
    /// Number to add to the printed numbers.
    base: u32,
}

/// The conversations between two hosts.
#[derive(Clone, Debug)]
struct HostPair {
    conversations: u32,
    last: Box<str>,
}

/// The conversations of a text.
#[derive(Debug)]
pub(in super::super) struct SummaryConversations {
    table: HashMap<Box<str>, Conversation>,
    order: VecDeque<Box<str>>,
    hosts: HashMap<Box<str>, HostPair>,
    /// The only host that each one communicates with; `None` if there are several.
    peers: HashMap<Box<str>, Option<Box<str>>>,
    key: String,
}

impl SummaryConversations {
    pub(in super::super) fn new() -> Self {
        Self {
            table: HashMap::new(),
            order: VecDeque::new(),
            hosts: HashMap::new(),
            peers: HashMap::new(),
            key: String::new(),
        }
    }

    /// Writes the packet of `line` to `out` in tcpdump's form; `None` if it is not certainly a TCP
    /// segment with known numbers.
    pub(in super::super) fn rewrite(&mut self, line: &SummaryLine<'_>, out: &mut String) -> Option<Rewritten> {
        out.clear();
        match &line.info {
            Info::Tcp(tcp) => {
                let (conversation, own) = self.conversation(line, tcp);
                let after_gap = conversation.follow(own, line, tcp);
                conversation.write(own, line, tcp, out);
                Some(Rewritten { inferred: false, after_gap })
            }
            Info::Other(info) => {
                if line.protocol == "ICMP" {
                    self.write_icmp(line, info, out);
                    return None;
                }
                if !is_over_tcp(line.protocol) || info.starts_with("[TCP ") {
                    return None;
                }
                self.key(line.src, line.dst);
                let pair = self.hosts.get(self.key.as_str()).filter(|pair| pair.conversations == 1)?;
                let conversation = self.table.get_mut(&pair.last)?;
                conversation.infer(line, out).then_some(Rewritten { inferred: true, after_gap: false })
            }
        }
    }

    /// Writes an ICMP error to `out`, if it can only be about the segments of one host.
    fn write_icmp(&self, line: &SummaryLine<'_>, info: &str, out: &mut String) {
        let Some(Some(about)) = self.peers.get(line.dst) else { return };
        let (scope, why) = match info {
            _ if info.contains("(Fragmentation needed") => ("", " - need to frag"),
            _ if info.contains("(Host unreachable") => ("host ", ""),
            _ if info.contains("(Network unreachable") => ("net ", ""),
            _ if info.contains("administratively filtered") => ("host ", " - admin prohibited filter"),
            _ => return,
        };
        let _ = write!(out, "IP {} > {}: ICMP {scope}{about} unreachable{why}, length 36", line.src, line.dst);
    }

    /// Records that two hosts communicate.
    fn see_peer(&mut self, host: &str, peer: &str) {
        let has_room = self.peers.len() < 2 * MAX_CONVERSATIONS;
        match self.peers.get_mut(host) {
            Some(known) if known.as_deref() == Some(peer) => {}
            Some(known) => *known = None,
            None if has_room => {
                self.peers.insert(host.into(), Some(peer.into()));
            }
            None => {}
        }
    }

    /// Whether the text has a TCP segment between the hosts of `line`.
    pub(in super::super) fn may_be_tcp(&mut self, line: &SummaryLine<'_>) -> bool {
        self.key(line.src, line.dst);
        is_over_tcp(line.protocol) && self.hosts.contains_key(self.key.as_str())
    }

    /// Writes the key of two hosts to `self.key`.
    fn key(&mut self, a: &str, b: &str) {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        self.key.clear();
        self.key.extend([a, " ", b]);
    }

    /// Whether `line` is a SYN of a connection whose SYN was already read.
    pub(in super::super) fn knows_syn(&mut self, line: &SummaryLine<'_>) -> bool {
        let Info::Tcp(tcp) = &line.info else { return false };
        let (_, own) = self.connection_key(line, tcp);
        let known = self.table.get(self.key.as_str()).and_then(|known| known.directions[own].shift);
        tcp.flags & (SYN | ACK) == SYN && known.is_some()
    }

    /// Writes the key of a segment's connection to `self.key`; returns it, and the direction of the
    /// sender.
    fn connection_key(&mut self, line: &SummaryLine<'_>, tcp: &TcpInfo<'_>) -> (&str, usize) {
        let (from, to) = ([line.src, tcp.src_port], [line.dst, tcp.dst_port]);
        let own = usize::from(from > to);
        let ends = if own == 0 { [from, to] } else { [to, from] };
        self.key.clear();
        self.key.extend([ends[0][0], " ", ends[0][1], " ", ends[1][0], " ", ends[1][1]]);
        (self.key.as_str(), own)
    }

    /// The conversation of a segment, and the direction of its sender.
    fn conversation(&mut self, line: &SummaryLine<'_>, tcp: &TcpInfo<'_>) -> (&mut Conversation, usize) {
        let (key, own) = self.connection_key(line, tcp);
        let key: Box<str> = key.into();
        let (from, to) = ([line.src, tcp.src_port], [line.dst, tcp.dst_port]);
        let ends = if own == 0 { [from, to] } else { [to, from] };
        if !self.table.contains_key(&key) {
            if self.order.len() >= MAX_CONVERSATIONS
                && let Some(oldest) = self.order.pop_front()
                && let Some(gone) = self.table.remove(&oldest)
            {
                self.key(&gone.ends[0][0], &gone.ends[1][0]);
                self.hosts.remove(self.key.as_str());
            }
            self.order.push_back(key.clone());
            self.see_peer(line.src, line.dst);
            self.see_peer(line.dst, line.src);
            self.key(line.src, line.dst);
            let new = HostPair { conversations: 0, last: key.clone() };
            let pair = self.hosts.entry(self.key.as_str().into()).or_insert(new);
            pair.conversations += 1;
            pair.last = key.clone();
        }
        let new =
            || Conversation { ends: ends.map(|end| end.map(Into::into)), directions: Default::default(), base: 0 };
        (self.table.entry(key).or_insert_with(new), own)
    }
}

/// Whether a protocol in the protocol column may use TCP.
fn is_over_tcp(protocol: &str) -> bool {
    const OTHERS: [&str; 24] = [
        "ARP", "BROWSER", "DCCP", "DHCP", "DHCPv6", "DNS", "DTLS", "ICMP", "ICMPv6", "IGMPv2", "IGMPv3", "IPv4",
        "IPv6", "LLMNR", "MDNS", "NBNS", "NTP", "OSPF", "QUIC", "SCTP", "SSDP", "STP", "SYSLOG", "UDP",
    ];
    // The line of a TCP segment itself, truncated before its numbers.
    !OTHERS.contains(&protocol) && !protocol.starts_with("DTLS") && protocol != "TCP"
}

impl Conversation {
    /// Processes a segment; returns whether bytes before it are missing that Wireshark has seen.
    fn follow(&mut self, own: usize, line: &SummaryLine<'_>, tcp: &TcpInfo<'_>) -> bool {
        let again = tcp.notes.contains("Retransmission");
        if tcp.flags & (SYN | ACK) == SYN && self.directions[own].next.is_some() && !again {
            // A new connection between the same ends.
            let reused = tcp.notes.contains("numbers reused") || self.directions[1 - own].ack.is_some();
            if reused && tcp.seq == 0 {
                self.base = self.base.wrapping_add(NEXT_CONNECTION);
            }
            self.directions = Default::default();
        }
        if tcp.flags & SYN != 0 {
            self.directions[own].shift = Some(tcp.scale.unwrap_or(0));
            if tcp.flags & ACK != 0 && tcp.scale.is_none() {
                // RFC 7323 section 2.2: a scale is used only if both sides offer one.
                self.directions[1 - own].shift = Some(0);
            }
        }
        let base = self.base;
        let seq = tcp.seq.wrapping_add(base);
        let length = self.length(own, line, tcp).unwrap_or(0);
        let phantom = u32::from(tcp.flags & SYN != 0) + u32::from(tcp.flags & FIN != 0);
        let is_behind = |at: Option<u32>, number: u32| at.is_some_and(|at| number.wrapping_sub(at) as i32 > 0);
        let before = &mut self.directions[own];
        let mut gap = is_behind(before.next, seq) && !tcp.notes.contains("Previous segment");
        let end = seq.wrapping_add(length).wrapping_add(phantom);
        if before.next.is_none() || is_behind(before.next, end) {
            before.next = Some(end);
        }
        let has_sack = tcp.sack[0].is_some();
        if let (Some(frame), Some(_)) = (line.frame_len, tcp.len)
            && tcp.flags & SYN == 0
            && !has_sack
        {
            before.headers = if frame == MIN_FRAME && length <= MIN_FRAME - MIN_HEADERS {
                Some(MIN_HEADERS)
            } else {
                frame.checked_sub(length).filter(|headers| *headers <= 256)
            };
        }
        before.window = tcp.window.map_or(before.window, |window| scaled_back(window, tcp.flags, before.shift));
        if let Some(ack) = tcp.ack.filter(|_| tcp.flags & ACK != 0).map(|ack| ack.wrapping_add(base)) {
            before.ack = Some(ack);
            let peer = &mut self.directions[1 - own];
            gap |= is_behind(peer.next, ack) && !tcp.notes.contains("unseen") && !tcp.notes.contains("lost segment");
            if peer.next.is_none() || is_behind(peer.next, ack) {
                peer.next = Some(ack);
            }
        }
        gap
    }

    /// The payload's length: as printed, or from that of the frame.
    fn length(&self, own: usize, line: &SummaryLine<'_>, tcp: &TcpInfo<'_>) -> Option<u32> {
        let headers = self.directions[own].headers.filter(|_| tcp.flags & SYN == 0);
        tcp.len.or_else(|| line.frame_len?.checked_sub(headers?))
    }

    fn write(&self, own: usize, line: &SummaryLine<'_>, tcp: &TcpInfo<'_>, out: &mut String) {
        let seq = tcp.seq.wrapping_add(self.base);
        let direction = &self.directions[own];
        let numbers = Numbers {
            seq,
            ack: direction.ack.filter(|_| tcp.flags & ACK != 0),
            window: direction.window,
            length: self.length(own, line, tcp).unwrap_or(0),
        };
        head(line.src, tcp.src_port, line.dst, tcp.dst_port, out);
        numbers.write(tcp.flags, &|out| options(tcp, self.base, out), out);
    }

    /// Writes a segment of which only the hosts and the frame's length are known; returns `false`
    /// if its position is unknown.
    fn infer(&mut self, line: &SummaryLine<'_>, out: &mut String) -> bool {
        let own = usize::from(&*self.ends[0][0] != line.src);
        let peer = self.directions[1 - own];
        let direction = &mut self.directions[own];
        let headers = direction.headers.or(peer.headers);
        let length = line.frame_len.zip(headers).and_then(|(frame, headers)| frame.checked_sub(headers));
        let (Some(length @ 1..), Some(seq), Some(ack)) = (length, direction.next, direction.ack) else { return false };
        // The same address twice: the directions cannot be distinguished.
        if self.ends[0][0] == self.ends[1][0] {
            return false;
        }
        direction.next = Some(seq.wrapping_add(length));
        let numbers = Numbers { seq, ack: Some(ack), window: direction.window, length };
        let ([_, src_port], [_, dst_port]) = (&self.ends[own], &self.ends[1 - own]);
        head(line.src, src_port, line.dst, dst_port, out);
        numbers.write(ACK | 0x08, &|_| false, out);
        true
    }
}

/// The header's 16 bits for a window as printed by Wireshark.
fn scaled_back(window: u32, flags: u16, shift: Option<u8>) -> u16 {
    let shift = if flags & SYN != 0 { 0 } else { shift.unwrap_or(0) };
    (window >> shift).try_into().unwrap_or(u16::MAX)
}

fn head(src: &str, src_port: &str, dst: &str, dst_port: &str, out: &mut String) {
    let ip = if src.contains(':') || dst.contains(':') { "IP6" } else { "IP" };
    let _ = write!(out, "{ip} {src}.{src_port} > {dst}.{dst_port}: ");
}

/// The printed numbers of a segment.
struct Numbers {
    seq: u32,
    ack: Option<u32>,
    window: u16,
    length: u32,
}

impl Numbers {
    /// Writes `Flags [.], seq 1:3, ack 1, win 502, options […], length 2`; `options` writes the
    /// options, if any.
    fn write(&self, flags: u16, options: &dyn Fn(&mut String) -> bool, out: &mut String) {
        const LETTERS: [char; 9] = ['F', 'S', 'R', 'P', '.', 'U', 'E', 'W', 'e'];
        out.push_str("Flags [");
        if flags == 0 {
            out.push_str("none");
        }
        out.extend(LETTERS.iter().enumerate().filter(|(bit, _)| flags & 1 << bit != 0).map(|(_, letter)| letter));
        let Self { seq, ack, window, length } = *self;
        let _ = write!(out, "], seq {seq}");
        if length > 0 {
            let _ = write!(out, ":{}", seq.wrapping_add(length));
        }
        if let Some(ack) = ack {
            let _ = write!(out, ", ack {ack}");
        }
        let _ = write!(out, ", win {window}");
        let without = out.len();
        out.push_str(", options [");
        if options(out) {
            // Each item ends with a comma.
            out.pop();
            out.push(']');
        } else {
            out.truncate(without);
        }
        let _ = write!(out, ", length {length}");
    }
}

/// Writes the options, each followed by a comma; returns `false` if there are none.
fn options(tcp: &TcpInfo<'_>, base: u32, out: &mut String) -> bool {
    let start = out.len();
    if let Some(mss) = tcp.mss {
        let _ = write!(out, "mss {},", mss.min(0xffff));
    }
    if tcp.sack_permitted {
        out.push_str("sackOK,");
    }
    if let Some((value, echo)) = tcp.timestamps {
        let _ = write!(out, "nop,nop,TS val {value} ecr {echo},");
    }
    if let Some(shift) = tcp.scale {
        let _ = write!(out, "nop,wscale {shift},");
    }
    let blocks = tcp.sack.iter().flatten().count();
    if blocks > 0 {
        let _ = write!(out, "nop,nop,sack {blocks} ");
        for (left, right) in tcp.sack.iter().flatten() {
            let _ = write!(out, "{{{}:{}}}", left.wrapping_add(base), right.wrapping_add(base));
        }
        out.push(',');
    }
    out.len() > start
}

//! tcpdump's relative sequence numbers → the real ones.
//!
//! tcpdump (`print-tcp.c`, unless `-S`) keeps a zero point for each direction of a conversation. It
//! sets both from the first packet with an ACK that it sees, and again from every SYN-ACK: the
//! packet's own sequence number, and its acknowledgement number − 1. That packet is printed as it
//! is; later ones with an ACK, and all SACK blocks of packets with an ACK, are printed relative to
//! the zero points; packets without an ACK are always printed as they are.
//!
//! The text may lack the packet that set the zero points, or come from `-S`. So the first number
//! after a zero point was set is read both ways, and the way that lands nearer to where the
//! conversation was decides for the rest of it. A zero point that the text cannot tell is taken as
//! 0: later numbers are then right relative to each other. A sequence number that was not printed
//! (tcpdump leaves it out of pure ACKs) is taken as the next one to be sent.

use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;
use std::net::IpAddr;

/// How many conversations are remembered; the oldest is forgotten first.
const MAX_CONVERSATIONS: usize = 65_536;

/// At most so many conversations are looked at for ICMP errors, over a whole text: a second's work.
const MAX_LOOKS: u64 = 1 << 26;

const FIN: u16 = 0x01;
pub(super) const SYN: u16 = 0x02;
pub(super) const ACK: u16 = 0x10;
pub(super) const RST: u16 = 0x04;

/// An address and a port.
pub(super) type End = (IpAddr, u16);

/// A segment's numbers, as a line shows them or its dumped bytes have them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentNumbers {
    pub(super) flags: u16,
    pub(super) seq: Option<u32>,
    pub(super) ack: Option<u32>,
    pub(super) length: u32,
}

/// The numbers as they were on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WireNumbers {
    pub(super) seq: u32,
    pub(super) ack: u32,
    sack_zero: u32,
    sack_unsure: bool,
}

impl WireNumbers {
    /// A SACK edge as it was on the wire.
    pub(super) fn edge(&self, printed: u32) -> u32 {
        let relative = self.sack_zero.wrapping_add(printed);
        if self.sack_unsure && distance(printed, self.ack) < distance(relative, self.ack) { printed } else { relative }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberStyle {
    Relative,
    AsIs,
}

/// What is remembered of a conversation; index 0 is what the lower end sends.
#[derive(Clone, Copy, Debug, Default)]
struct ConversationState {
    /// tcpdump's zero points, once it has them; none where the line did not show the number.
    zero: Option<[Option<u32>; 2]>,
    style: Option<NumberStyle>,
    /// The initial sequence numbers of a SYN whose SYN-ACK was not seen yet.
    syn: Option<[Option<u32>; 2]>,
    /// Where each direction is: the highest sequence number sent or acknowledged.
    next: [Option<u32>; 2],
    /// What is acknowledged of each.
    acked: [Option<u32>; 2],
}

/// The conversations of a text.
pub(super) struct Conversations {
    table: HashMap<[End; 2], ConversationState>,
    order: VecDeque<[End; 2]>,
    /// At so many conversations it was looked for ICMP errors.
    looks: u64,
}

impl Conversations {
    pub(super) fn new() -> Self {
        Self { table: HashMap::new(), order: VecDeque::new(), looks: 0 }
    }

    /// The real numbers of a segment whose line shows `printed`.
    pub(super) fn resolve(&mut self, from: End, to: End, printed: &SegmentNumbers) -> WireNumbers {
        let (state, own) = self.state(from, to);
        state.resolve(own, printed)
    }

    /// The numbers of a segment that prints them as they are, which decides for its conversation.
    pub(super) fn as_printed(&mut self, from: End, to: End, printed: &SegmentNumbers) -> WireNumbers {
        let (state, own) = self.state(from, to);
        state.style = Some(NumberStyle::AsIs);
        state.advance(own, printed);
        WireNumbers { seq: printed.seq.unwrap_or(0), ack: printed.ack.unwrap_or(0), sack_zero: 0, sack_unsure: false }
    }

    /// Follows a segment whose real numbers are known from its bytes.
    pub(super) fn follow(&mut self, from: End, to: End, real: &SegmentNumbers) {
        let (state, own) = self.state(from, to);
        let real = SegmentNumbers { ack: real.ack.filter(|_| real.flags & ACK != 0), ..*real };
        if let Some(ack) = real.ack
            && (state.zero.is_none() || real.flags & SYN != 0)
        {
            state.set_zero(own, real.seq, ack);
            state.style = Some(NumberStyle::Relative);
        }
        state.advance(own, &real);
    }

    /// The one conversation with something in flight from one end to another for which `is` holds:
    /// these ends, and the first number in flight. None where there are several. And whether there
    /// is any such conversation, in flight or not.
    pub(super) fn in_flight(&mut self, is: impl Fn(End, End) -> bool) -> (Option<(End, End, u32)>, bool) {
        let (mut found, mut several, mut any) = (None, false, false);
        // Each look goes over all of them; a text that asks for very many is answered no more.
        let looks = self.table.len() as u64;
        if self.looks + looks > MAX_LOOKS {
            return (None, true);
        }
        self.looks += looks;
        for (key, state) in &self.table {
            for own in 0..2 {
                if is(key[own], key[1 - own]) {
                    any = true;
                    if let Some(seq) = state.in_flight(own) {
                        several |= found.is_some();
                        found = Some((key[own], key[1 - own], seq));
                    }
                }
            }
        }
        (found.filter(|_| !several), any)
    }

    fn state(&mut self, from: End, to: End) -> (&mut ConversationState, usize) {
        let (key, own) = if from <= to { ([from, to], 0) } else { ([to, from], 1) };
        if !self.table.contains_key(&key) {
            if self.order.len() >= MAX_CONVERSATIONS
                && let Some(oldest) = self.order.pop_front()
            {
                self.table.remove(&oldest);
            }
            self.order.push_back(key);
        }
        (self.table.entry(key).or_default(), own)
    }
}

impl ConversationState {
    fn resolve(&mut self, own: usize, printed: &SegmentNumbers) -> WireNumbers {
        let Some(ack) = printed.ack.filter(|_| printed.flags & ACK != 0) else {
            return self.without_ack(own, printed);
        };
        let peer = 1 - own;
        if printed.flags & SYN != 0 {
            *self = Self { next: self.next, ..Self::default() };
        }
        let zero = self.choose(own, printed.seq, ack);
        let sure = self.style == Some(NumberStyle::Relative);
        let seq = printed.seq.map(|seq| zero[own].unwrap_or(0).wrapping_add(seq));
        let ack = zero[peer].unwrap_or(0).wrapping_add(ack);
        if self.zero.is_none() {
            self.set_zero(own, seq, ack);
        }
        let sack_zero = match self.style {
            Some(NumberStyle::AsIs) => 0,
            _ => self.zero.and_then(|zero| zero[peer]).unwrap_or(0),
        };
        let real = seq.or(self.next[own]).or(zero[own]).unwrap_or(0);
        self.advance(own, &SegmentNumbers { seq: seq.or(self.next[own]), ack: Some(ack), ..*printed });
        WireNumbers { seq: real, ack, sack_zero, sack_unsure: !sure }
    }

    /// A packet without an ACK is printed as it is, and sets no zero point.
    fn without_ack(&mut self, own: usize, printed: &SegmentNumbers) -> WireNumbers {
        let seq = printed.seq.or(self.next[own]).unwrap_or(0);
        if printed.flags & SYN != 0 {
            let again = [self.zero, self.syn].iter().flatten().any(|first| first[own] == Some(seq));
            if !again {
                let mut syn = [None; 2];
                syn[own] = Some(seq);
                self.syn = Some(syn);
                self.next = [None; 2];
            }
        }
        self.advance(own, &SegmentNumbers { seq: Some(seq), ack: None, ..*printed });
        WireNumbers { seq, ack: 0, sack_zero: 0, sack_unsure: false }
    }

    fn set_zero(&mut self, own: usize, seq: Option<u32>, ack: u32) {
        let mut zero = [Some(ack.wrapping_sub(1)); 2];
        zero[own] = seq;
        self.zero = Some(zero);
        self.syn = None;
    }

    /// The zero points that the printed numbers are to be added to.
    fn choose(&mut self, own: usize, seq: Option<u32>, ack: u32) -> [Option<u32>; 2] {
        const AS_IS: [Option<u32>; 2] = [Some(0); 2];
        if self.syn.is_none() {
            match (self.zero, self.style) {
                (None, _) | (_, Some(NumberStyle::AsIs)) => return AS_IS,
                (Some(zero), Some(NumberStyle::Relative)) => return zero,
                (Some(_), None) => {}
            }
        }
        let error = |zero: [Option<u32>; 2]| {
            let one = |at: usize, printed: Option<u32>| match (printed, self.next[at]) {
                (Some(printed), Some(next)) => u64::from(distance(zero[at].unwrap_or(0).wrapping_add(printed), next)),
                _ => 0,
            };
            one(own, seq) + one(1 - own, Some(ack))
        };
        let as_is = error(AS_IS);
        if let Some(syn) = self.syn {
            // A new connection whose SYN-ACK is not in the text: the zero points are the SYN's, or
            // still those of the connection before it, or are set by this very packet.
            let by_syn = error(syn);
            let by_old = self.zero.map_or(u64::MAX, error);
            if by_syn < as_is && by_syn < by_old {
                (self.zero, self.style, self.syn) = (Some(syn), Some(NumberStyle::Relative), None);
                return syn;
            }
            if let Some(zero) = self.zero
                && by_old <= as_is
            {
                return zero;
            }
            if self.zero.is_some() {
                (self.style, self.syn) = (Some(NumberStyle::AsIs), None);
            }
            return AS_IS;
        }
        let zero = self.zero.unwrap_or(AS_IS);
        match error(zero).cmp(&as_is) {
            std::cmp::Ordering::Less => self.style = Some(NumberStyle::Relative),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => {
                self.style = Some(NumberStyle::AsIs);
                return AS_IS;
            }
        }
        zero
    }

    /// The first number that this end has sent and that is not acknowledged; none where nothing is
    /// in flight.
    fn in_flight(&self, own: usize) -> Option<u32> {
        let next = self.next[own]?;
        match self.acked[own] {
            Some(acked) => (next.wrapping_sub(acked) as i32 > 0).then_some(acked),
            // A SYN, or what came before the text.
            None => Some(next.wrapping_sub(1)),
        }
    }

    /// Moves both directions on by a segment with these real numbers.
    fn advance(&mut self, own: usize, real: &SegmentNumbers) {
        let SegmentNumbers { flags, seq, ack, length } = *real;
        let later = |at: Option<u32>, now: u32| match at {
            Some(at) if (now.wrapping_sub(at) as i32) < 0 => Some(at),
            _ => Some(now),
        };
        if let Some(seq) = seq {
            let phantom = u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
            let end = seq.wrapping_add(length).wrapping_add(phantom);
            self.next[own] = if flags & SYN != 0 { Some(end) } else { later(self.next[own], end) };
        }
        if let Some(ack) = ack {
            self.acked[1 - own] = if flags & SYN != 0 { Some(ack) } else { later(self.acked[1 - own], ack) };
            self.next[1 - own] = if flags & SYN != 0 { Some(ack) } else { later(self.next[1 - own], ack) };
        }
    }
}

/// How far apart two sequence numbers are, by the shorter way round.
fn distance(a: u32, b: u32) -> u32 {
    (a.wrapping_sub(b) as i32).unsigned_abs()
}

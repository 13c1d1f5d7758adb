//! Converts tcpdump's relative sequence numbers to real ones.
//!
//! tcpdump (`print-tcp.c`, unless `-S`) keeps a base number for each direction of a conversation.
//! It sets both from the first packet with an ACK that it sees, and again from every SYN-ACK: the
//! packet's own sequence number, and its acknowledgment number − 1. That packet is printed with
//! real numbers. Later ones with an ACK, and all SACK blocks of packets with an ACK, are printed
//! relative to the base numbers. Packets without an ACK are always printed with real numbers.
//!
//! The text may lack the packet that set the base numbers, or come from `-S`. So the first number
//! after a base was set is interpreted in both ways, and the one closer to the conversation's
//! previous position decides for its rest. An unknown base counts as 0: later numbers are then
//! correct relative to each other. A sequence number that was not printed (tcpdump omits it in pure
//! ACKs) is assumed to be the next one to send.

use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Maximum number of stored conversations; the oldest ones are dropped.
const MAX_CONVERSATIONS: usize = 65_536;

/// Maximum number of conversations that are examined for ICMP errors in a text: a second of work.
const MAX_LOOKS: u64 = 1 << 26;

const FIN: u16 = 0x01;
pub(super) const SYN: u16 = 0x02;
pub(super) const ACK: u16 = 0x10;
pub(super) const RST: u16 = 0x04;

/// An address and a port.
pub(super) type End = (IpAddr, u16);

/// A segment's numbers, as printed or from its dumped bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentNumbers {
    pub(super) flags: u16,
    pub(super) seq: Option<u32>,
    pub(super) ack: Option<u32>,
    pub(super) length: u32,
}

/// The numbers on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WireNumbers {
    pub(super) seq: u32,
    pub(super) ack: u32,
    sack_zero: u32,
    sack_unsure: bool,
}

impl WireNumbers {
    /// A SACK edge on the wire.
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

/// State of a conversation; index 0 is the direction from the lower end.
#[derive(Clone, Copy, Debug, Default)]
struct ConversationState {
    /// tcpdump's base numbers, once it has set them; `None` for a number that the line did not
    /// show.
    zero: Option<[Option<u32>; 2]>,
    style: Option<NumberStyle>,
    /// The initial sequence numbers of a SYN without its SYN-ACK so far.
    syn: Option<[Option<u32>; 2]>,
    /// Position of each direction: the highest sequence number sent or acknowledged.
    next: [Option<u32>; 2],
    /// Acknowledged position of each direction.
    acked: [Option<u32>; 2],
}

/// The conversations of a text.
pub(super) struct Conversations {
    table: HashMap<[End; 2], ConversationState>,
    order: VecDeque<[End; 2]>,
    /// Number of conversations examined for ICMP errors.
    looks: u64,
}

impl Conversations {
    pub(super) fn new() -> Self {
        Self { table: HashMap::new(), order: VecDeque::new(), looks: 0 }
    }

    /// The real numbers of a segment with the `printed` numbers.
    pub(super) fn resolve(&mut self, from: End, to: End, printed: &SegmentNumbers) -> WireNumbers {
        let (state, own) = self.state(from, to);
        state.resolve(own, printed)
    }

    /// The numbers of a segment that is printed with real ones, which also sets its conversation to
    /// real numbers.
    pub(super) fn as_printed(&mut self, from: End, to: End, printed: &SegmentNumbers) -> WireNumbers {
        let (state, own) = self.state(from, to);
        state.style = Some(NumberStyle::AsIs);
        state.advance(own, printed);
        WireNumbers { seq: printed.seq.unwrap_or(0), ack: printed.ack.unwrap_or(0), sack_zero: 0, sack_unsure: false }
    }

    /// Updates the state with a segment whose real numbers are known from its bytes.
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

    /// The only conversation with data in flight from one end to another for which `is` holds:
    /// these ends, and the first number in flight; `None` if there are several. Also returns
    /// whether there is any such conversation, with or without data in flight.
    pub(super) fn in_flight(&mut self, is: impl Fn(End, End) -> bool) -> (Option<(End, End, u32)>, bool) {
        let (mut found, mut several, mut any) = (None, false, false);
        // Each call examines all conversations; the limit stops texts with too many errors.
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

    /// A packet without an ACK is printed with real numbers, and sets no base.
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

    /// The base numbers to add to the printed numbers.
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
            // A new connection whose SYN-ACK is not in the text: the base numbers are those of the
            // SYN, or still those of the previous connection, or this packet sets them.
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

    /// The first number that this end has sent and that is not acknowledged; `None` if nothing is
    /// in flight.
    fn in_flight(&self, own: usize) -> Option<u32> {
        let next = self.next[own]?;
        match self.acked[own] {
            Some(acked) => (next.wrapping_sub(acked) as i32 > 0).then_some(acked),
            // A SYN, or data from before the text.
            None => Some(next.wrapping_sub(1)),
        }
    }

    /// Updates both directions with a segment's real numbers.
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

/// The distance of two sequence numbers, modulo 2^32.
fn distance(a: u32, b: u32) -> u32 {
    (a.wrapping_sub(b) as i32).unsigned_abs()
}

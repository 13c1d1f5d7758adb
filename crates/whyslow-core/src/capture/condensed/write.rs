//! Writes rows.

use super::fields::{put_address, put_end, put_number, put_optional, put_signed, put_text};
use super::headers::{TcpHeaders, TcpOptions};
use super::marks;
use super::row::{ROW_HEADER, RowKind, frame_row};
use super::state::{ConnectionState, DirectionState};
use crate::capture::{Clock, Packet};
use std::net::IpAddr;
use std::ops::Range;
use whyslow_units::Time;

/// A row of packets during writing.
#[derive(Debug)]
pub struct RowWriter {
    out: Vec<u8>,
    /// Times are multiples of this number of nanoseconds.
    unit: i64,
    time: i64,
    frame: u64,
    connections: Vec<ConnectionState>,
    /// Connection and side of the last packet.
    last: Option<(usize, usize)>,
    verbatim: u64,
}

/// Capture time and frame number of a packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketTime {
    /// Capture time.
    pub time: Time,
    /// Frame number, from 1.
    pub frame: u64,
}

impl PacketTime {
    /// The flags of a packet.
    pub fn of(packet: &Packet<'_>) -> Self {
        Self { time: packet.time, frame: packet.frame }
    }
}

/// The stored part of a packet's payload.
#[derive(Clone, Copy, Debug)]
pub struct StoredPayload<'a> {
    /// All captured bytes.
    pub payload: &'a [u8],
    /// The stored ranges, in order and without overlap.
    pub ranges: &'a [Range<usize>],
    /// Whether the payload is text.
    pub is_text: bool,
}

impl RowWriter {
    /// Begins the row with this number; its times are multiples of `unit` nanoseconds.
    pub fn new(number: u64, unit: i64, first: PacketTime) -> Self {
        let unit = unit.max(1);
        let mut out = vec![0; ROW_HEADER];
        put_number(&mut out, number);
        put_number(&mut out, unit as u64);
        put_signed(&mut out, first.time.0);
        put_number(&mut out, first.frame.saturating_sub(1));
        Self {
            out,
            unit,
            time: first.time.0,
            frame: first.frame.saturating_sub(1),
            connections: Vec::new(),
            last: None,
            verbatim: 0,
        }
    }

    /// Whether a packet with this time fits.
    pub fn takes(&self, time: Time) -> bool {
        time.0.wrapping_sub(self.time) % self.unit == 0
    }

    /// Number of bytes so far.
    #[expect(clippy::len_without_is_empty, reason = "a row begins with its header")]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Completes the row.
    pub fn finish(mut self) -> Vec<u8> {
        frame_row(&mut self.out, RowKind::Packets);
        self.out
    }

    /// Writes a packet of a connection, given by its number in this row, if it has one. Returns
    /// that number.
    pub fn packet(
        &mut self,
        place: Option<usize>,
        at: PacketTime,
        headers: &TcpHeaders,
        held: StoredPayload<'_>,
    ) -> usize {
        let place = place.filter(|&place| place < self.connections.len());
        let index = place.unwrap_or_else(|| {
            self.connections.push(ConnectionState::new(headers.ends));
            self.connections.len() - 1
        });
        let Some(connection) = self.connections.get(index) else { return index };
        let side = usize::from(connection.ends[0] != headers.ends[0]);
        let expected = connection.directions[side];
        let reference = match self.last {
            _ if place.is_none() => marks::SPECIAL,
            Some(last) if last == (index, side) => marks::SAME,
            Some((last, _)) if last == index => marks::OTHER_SIDE,
            _ => marks::NAMED,
        };
        let (first, second) = differences(&expected, headers, held);
        let frame = if at.frame == self.frame + 1 { 0 } else { marks::FRAME };
        let more = if second == 0 { 0 } else { marks::MORE };
        self.out.push(reference | first | frame | more);
        match reference {
            marks::SPECIAL => {
                self.out.push(marks::CONNECTION);
                headers.ends.iter().for_each(|&end| put_end(&mut self.out, end));
            }
            marks::NAMED => put_number(&mut self.out, 2 * (self.connections.len() - 1 - index) as u64 + side as u64),
            _ => {}
        }
        self.put_time(at, frame != 0);
        if second != 0 {
            self.out.push(second);
        }
        put_differences(&mut self.out, &expected, headers, (first, second));
        if second & marks::PAYLOAD != 0 {
            put_payload(&mut self.out, held);
        }
        if let Some(connection) = self.connections.get_mut(index) {
            connection.advance(side, headers);
        }
        self.last = Some((index, side));
        index
    }

    /// Writes an unchanged packet, of which `data` is stored. Returns its number among those.
    pub fn verbatim(&mut self, packet: &Packet<'_>, data: &[u8]) -> u64 {
        self.special(marks::VERBATIM, PacketTime { time: packet.time, frame: packet.frame });
        put_number(&mut self.out, packet.link.0.into());
        put_number(&mut self.out, packet.original_len.into());
        put_number(&mut self.out, data.len() as u64);
        self.out.extend(data);
        self.verbatim += 1;
        self.verbatim - 1
    }

    /// Writes a repetition of an unchanged packet, given by its number.
    pub fn repeated(&mut self, number: u64, at: PacketTime) {
        self.special(marks::REPEATED, at);
        put_number(&mut self.out, number);
    }

    /// Writes that the following packets come from text.
    pub fn text(&mut self, clock: Clock) {
        self.out.extend([marks::SPECIAL, marks::TEXT, super::summary::clock_number(clock)]);
    }

    /// Writes that packets are missing in a text.
    pub fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        self.out.extend([marks::SPECIAL, marks::LEFT_OUT]);
        put_optional(&mut self.out, of, |out, ends| ends.iter().for_each(|&end| put_end(out, end)));
        put_signed(&mut self.out, from.0);
        put_signed(&mut self.out, until.0);
    }

    /// Writes the name of an address.
    pub fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        self.out.extend([marks::SPECIAL, marks::HOST_NAME]);
        put_address(&mut self.out, address);
        put_text(&mut self.out, name);
        self.out.push(u8::from(stand_in));
    }

    fn special(&mut self, kind: u8, at: PacketTime) {
        let frame = if at.frame == self.frame + 1 { 0 } else { marks::FRAME };
        self.out.extend([marks::SPECIAL | frame, kind]);
        self.put_time(at, frame != 0);
    }

    fn put_time(&mut self, at: PacketTime, has_frame: bool) {
        put_signed(&mut self.out, at.time.0.wrapping_sub(self.time) / self.unit);
        if has_frame {
            put_number(&mut self.out, at.frame.saturating_sub(self.frame));
        }
        (self.time, self.frame) = (at.time.0, at.frame);
    }
}

/// The fields with unexpected values.
fn differences(expected: &DirectionState, headers: &TcpHeaders, held: StoredPayload<'_>) -> (u8, u8) {
    let bit = |bit: u8, is: bool| if is { bit } else { 0 };
    let options = &headers.options;
    let is_like_before = options.only_timestamps() && options.timestamps.is_some() == expected.stamps.is_some();
    let first = bit(marks::SEQ, headers.seq != expected.seq)
        | bit(marks::ACK, headers.ack != expected.ack)
        | bit(marks::WINDOW, headers.window != expected.window)
        | bit(marks::LENGTH, headers.payload_len != expected.payload_len);
    let second = bit(marks::FLAGS, headers.flags != expected.flags)
        | bit(marks::IP_ID, headers.ip_id != expected.next_ip_id())
        | bit(marks::TTL_ECN, (headers.ttl, headers.ecn) != (expected.ttl, expected.ecn))
        | bit(marks::OPTIONS, !is_like_before)
        | bit(marks::FORM, headers.form != expected.form)
        | bit(marks::PAYLOAD, held.is_text || !held.ranges.is_empty())
        | bit(marks::CAPTURED, headers.captured != expected.captured(headers.payload_len));
    (first, second)
}

fn put_differences(out: &mut Vec<u8>, expected: &DirectionState, headers: &TcpHeaders, marks: (u8, u8)) {
    let (first, second) = marks;
    let differs = |bits: u8, bit: u8| bits & bit != 0;
    let put_word =
        |out: &mut Vec<u8>, word: u32, before: u32| put_signed(out, (word.wrapping_sub(before) as i32).into());
    let put_half =
        |out: &mut Vec<u8>, half: u16, before: u16| put_signed(out, (half.wrapping_sub(before) as i16).into());
    if differs(first, marks::SEQ) {
        put_word(out, headers.seq, expected.seq);
    }
    if differs(first, marks::ACK) {
        put_word(out, headers.ack, expected.ack);
    }
    if differs(first, marks::WINDOW) {
        put_half(out, headers.window, expected.window);
    }
    if differs(first, marks::LENGTH) {
        put_number(out, headers.payload_len.into());
    }
    if differs(second, marks::FLAGS) {
        put_number(out, headers.flags.into());
    }
    if differs(second, marks::IP_ID) {
        put_half(out, headers.ip_id, expected.next_ip_id());
    }
    if differs(second, marks::TTL_ECN) {
        out.extend([headers.ttl, headers.ecn]);
    }
    if differs(second, marks::OPTIONS) {
        put_options(out, &headers.options, headers.ack);
    }
    if let Some((value, echo)) = headers.options.timestamps {
        let (last_value, last_echo) = expected.stamps.unwrap_or_default();
        put_word(out, value, last_value);
        put_word(out, echo, last_echo);
    }
    if differs(second, marks::FORM) {
        let form = headers.form;
        let bit = |bit: u8, is: bool| if is { bit } else { 0 };
        out.push(
            form.tunnels & 15
                | bit(marks::FRAGMENT, form.fragment)
                | bit(marks::LENGTHLESS, form.lengthless)
                | bit(marks::DAMAGED, form.damaged)
                | bit(marks::PARTIAL, form.partial),
        );
        out.extend(form.off_by);
    }
    if differs(second, marks::CAPTURED) {
        put_number(out, headers.captured.into());
    }
}

/// Writes the options without the values of timestamps.
fn put_options(out: &mut Vec<u8>, options: &TcpOptions, ack: u32) {
    let bit = |bit: u8, is: bool| if is { bit } else { 0 };
    out.push(
        bit(marks::MSS, options.mss.is_some())
            | bit(marks::WINDOW_SCALE, options.window_scale.is_some())
            | bit(marks::SACK_PERMITTED, options.sack_permitted)
            | bit(marks::SACK, options.sack.1 > 0)
            | bit(marks::TIMESTAMPS, options.timestamps.is_some())
            | bit(marks::FAST_OPEN, options.fast_open)
            | bit(marks::MPTCP, options.mptcp)
            | bit(marks::MPTCP_JOIN, options.mptcp_join),
    );
    if let Some(mss) = options.mss {
        put_number(out, mss.into());
    }
    if let Some(shift) = options.window_scale {
        out.push(shift);
    }
    let blocks = options.sack_blocks();
    if !blocks.is_empty() {
        out.push(options.sack.1);
        let mut before = ack;
        for &(left, right) in blocks {
            put_signed(out, (left.wrapping_sub(before) as i32).into());
            put_signed(out, (right.wrapping_sub(left) as i32).into());
            before = right;
        }
    }
}

fn put_payload(out: &mut Vec<u8>, held: StoredPayload<'_>) {
    put_number(out, 2 * held.ranges.len() as u64 + u64::from(held.is_text));
    let mut before = 0;
    for range in held.ranges {
        put_number(out, range.start.saturating_sub(before) as u64);
        put_number(out, range.len() as u64);
        out.extend(held.payload.get(range.clone()).unwrap_or_default());
        before = range.end;
    }
}

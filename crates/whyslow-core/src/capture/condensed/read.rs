//! Reads rows of packets.

use super::build::{PacketBuilder, Payload, Piece};
use super::fields::Fields;
use super::headers::{PacketForm, TcpHeaders, TcpOptions};
use super::state::{ConnectionState, DirectionState};
use super::{marks, summary};
use crate::capture::{LinkType, Packet, Sink};
use std::ops::Range;
use whyslow_units::Time;

/// State of a row while it is read: its earlier entries.
#[derive(Debug, Default)]
struct Row<'a> {
    bytes: &'a [u8],
    unit: i64,
    time: i64,
    frame: u64,
    connections: Vec<ConnectionState>,
    last: Option<(usize, usize)>,
    verbatim: Vec<Verbatim<'a>>,
}

/// A packet stored unchanged.
#[derive(Clone, Copy, Debug)]
struct Verbatim<'a> {
    link: LinkType,
    original_len: u32,
    data: &'a [u8],
}

/// Totals of all rows so far.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) packets: u64,
    /// Number of the last frame.
    pub(super) frame: u64,
    /// Earliest and latest time.
    pub(super) times: Option<(Time, Time)>,
    /// Number of the next row.
    pub(super) row: u64,
    builder: PacketBuilder,
}

/// Reads a row of packets and passes them to the sink. Returns `None` if it is damaged, after
/// passing on its valid start.
pub(super) fn read_row<S: Sink>(payload: &[u8], count: &mut Count, sink: &mut S) -> Option<()> {
    let mut fields = Fields::new(payload);
    let number = fields.number()?;
    let unit = i64::try_from(fields.number()?).ok().filter(|&unit| unit > 0)?;
    let (time, frame) = (fields.signed()?, fields.number()?);
    if number < count.row {
        return None;
    }
    count.row = number + 1;
    let mut row = Row { bytes: payload, unit, time, frame, ..Row::default() };
    let mut held = Vec::new();
    while !fields.is_empty() {
        row.record(&mut fields, count, sink, &mut held)?;
    }
    Some(())
}

/// The number of a row of packets.
pub(super) fn row_number(payload: &[u8]) -> Option<u64> {
    Fields::new(payload).number()
}

impl Count {
    fn give<S: Sink>(&mut self, sink: &mut S, packet: &Packet<'_>) {
        self.note(packet.time, packet.frame);
        sink.packet(packet);
    }

    fn note(&mut self, time: Time, frame: u64) {
        self.packets += 1;
        self.frame = frame;
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }
}

impl<'a> Row<'a> {
    fn record<S: Sink>(
        &mut self,
        fields: &mut Fields<'a>,
        count: &mut Count,
        sink: &mut S,
        held: &mut Vec<(usize, Range<usize>)>,
    ) -> Option<()> {
        let first = fields.byte()?;
        let (index, side) = match (first & marks::REFERENCE, self.last) {
            (marks::SAME, Some(last)) => last,
            (marks::OTHER_SIDE, Some((index, side))) => (index, 1 - side),
            (marks::NAMED, _) => {
                let number = fields.number()?;
                let back = usize::try_from(number / 2).ok()?;
                (self.connections.len().checked_sub(back)?.checked_sub(1)?, (number % 2) as usize)
            }
            (marks::SPECIAL, _) => match fields.byte()? {
                marks::CONNECTION => {
                    let ends = [fields.end()?, fields.end()?];
                    self.connections.push(ConnectionState::new(ends));
                    (self.connections.len() - 1, 0)
                }
                other => return self.special(fields, (first, other), count, sink),
            },
            _ => return None,
        };
        self.last = Some((index, side));
        let (time, frame) = self.time_and_frame(fields, first, count)?;
        let second = if first & marks::MORE != 0 { fields.byte()? } else { 0 };
        let connection = self.connections.get_mut(index)?;
        let ends = if side == 0 { connection.ends } else { [connection.ends[1], connection.ends[0]] };
        let mut headers = headers(fields, connection.directions.get(side)?, (first, second))?;
        headers.ends = ends;
        connection.advance(side, &headers);
        let is_text = if second & marks::PAYLOAD != 0 {
            pieces(fields, self.bytes, held)?
        } else {
            held.clear();
            false
        };
        let pieces: Vec<Piece<'_>> =
            held.iter().filter_map(|(at, range)| Some((*at, self.bytes.get(range.clone())?))).collect();
        let payload = Payload { pieces: &pieces, is_text };
        // Packets that cannot be rebuilt are skipped.
        count.builder.build(&headers, payload, |data, original_len| {
            sink.packet(&Packet { frame, time, link: LinkType::ETHERNET, data, original_len });
        })?;
        count.note(time, frame);
        Some(())
    }

    fn time_and_frame(&mut self, fields: &mut Fields<'a>, first: u8, count: &Count) -> Option<(Time, u64)> {
        let step = fields.signed()?;
        self.time = self.time.checked_add(step.checked_mul(self.unit)?)?;
        let frames = if first & marks::FRAME != 0 { fields.number()? } else { 1 };
        self.frame = self.frame.checked_add(frames)?;
        (self.frame > count.frame).then_some((Time(self.time), self.frame))
    }

    fn special<S: Sink>(
        &mut self,
        fields: &mut Fields<'a>,
        (first, kind): (u8, u8),
        count: &mut Count,
        sink: &mut S,
    ) -> Option<()> {
        match kind {
            marks::VERBATIM | marks::REPEATED => {
                let (time, frame) = self.time_and_frame(fields, first, count)?;
                let packet = if kind == marks::VERBATIM {
                    let packet = verbatim(fields)?;
                    self.verbatim.push(packet);
                    packet
                } else {
                    *self.verbatim.get(usize::try_from(fields.number()?).ok()?)?
                };
                let Verbatim { link, original_len, data } = packet;
                count.give(sink, &Packet { frame, time, link, data, original_len });
            }
            marks::TEXT if count.packets == 0 => sink.text(summary::clock(fields.byte()?)?),
            marks::LEFT_OUT if count.packets > 0 => {
                let of = fields.optional(|fields| Some([fields.end()?, fields.end()?]))?;
                sink.left_out(of, Time(fields.signed()?), Time(fields.signed()?));
            }
            marks::HOST_NAME => {
                let (address, name) = (fields.address()?, fields.text()?);
                sink.host_name(address, &name, fields.byte()? == 1);
            }
            _ => return None,
        }
        Some(())
    }
}

fn verbatim<'a>(fields: &mut Fields<'a>) -> Option<Verbatim<'a>> {
    let link = LinkType(fields.number_u16()?);
    let original_len = fields.number_u32()?;
    let data = {
        let length = usize::try_from(fields.number()?).ok()?;
        fields.bytes(length)?
    };
    (data.len() <= original_len as usize).then_some(Verbatim { link, original_len, data })
}

/// Reads the position of each piece of payload in the packet and in the row. Returns whether all of
/// the payload is text.
fn pieces<'a>(fields: &mut Fields<'a>, row: &'a [u8], held: &mut Vec<(usize, Range<usize>)>) -> Option<bool> {
    held.clear();
    let number = fields.number()?;
    let mut at = 0usize;
    for _ in 0..number / 2 {
        at = at.checked_add(usize::try_from(fields.number()?).ok()?)?;
        let length = usize::try_from(fields.number()?).ok()?;
        let rest = fields.left();
        fields.bytes(length)?;
        let start = row.len().checked_sub(rest)?;
        held.push((at, start..start + length));
        at = at.checked_add(length)?;
    }
    Some(number % 2 == 1)
}

/// Reads a packet's fields, except its ends.
fn headers(fields: &mut Fields<'_>, expected: &DirectionState, (first, second): (u8, u8)) -> Option<TcpHeaders> {
    let has = |bits: u8, bit: u8| bits & bit != 0;
    let word = |fields: &mut Fields<'_>, before: u32| Some(before.wrapping_add(fields.signed()? as u32));
    let half = |fields: &mut Fields<'_>, before: u16| Some(before.wrapping_add(fields.signed()? as u16));
    let seq = if has(first, marks::SEQ) { word(fields, expected.seq)? } else { expected.seq };
    let ack = if has(first, marks::ACK) { word(fields, expected.ack)? } else { expected.ack };
    let window = if has(first, marks::WINDOW) { half(fields, expected.window)? } else { expected.window };
    let payload_len = if has(first, marks::LENGTH) { fields.number_u32()? } else { expected.payload_len };
    let flags = if has(second, marks::FLAGS) { fields.number_u16()? & 0x1ff } else { expected.flags };
    let ip_id = if has(second, marks::IP_ID) { half(fields, expected.next_ip_id())? } else { expected.next_ip_id() };
    let (ttl, ecn) =
        if has(second, marks::TTL_ECN) { (fields.byte()?, fields.byte()?) } else { (expected.ttl, expected.ecn) };
    let (mut options, has_stamps) = match has(second, marks::OPTIONS) {
        true => options(fields, ack)?,
        false => (TcpOptions::default(), expected.stamps.is_some()),
    };
    if has_stamps {
        let (value, echo) = expected.stamps.unwrap_or_default();
        options.timestamps = Some((word(fields, value)?, word(fields, echo)?));
    }
    let form = if has(second, marks::FORM) { form(fields)? } else { expected.form };
    let captured = if has(second, marks::CAPTURED) { fields.number_u32()? } else { expected.captured(payload_len) };
    let ends = [(std::net::IpAddr::from([0; 4]), 0); 2];
    Some(TcpHeaders { ends, seq, ack, flags, window, payload_len, captured, options, ip_id, ttl, ecn, form })
}

/// Reads the options without the values of timestamps, and whether there are timestamps.
fn options(fields: &mut Fields<'_>, ack: u32) -> Option<(TcpOptions, bool)> {
    let kinds = fields.byte()?;
    let has = |bit: u8| kinds & bit != 0;
    let mss = if has(marks::MSS) { Some(fields.number_u16()?) } else { None };
    let window_scale = if has(marks::WINDOW_SCALE) { Some(fields.byte()?) } else { None };
    let mut sack = ([(0, 0); 4], 0);
    if has(marks::SACK) {
        sack.1 = fields.byte()?;
        let mut before = ack;
        for block in sack.0.get_mut(..usize::from(sack.1))? {
            let left = before.wrapping_add(fields.signed()? as u32);
            let right = left.wrapping_add(fields.signed()? as u32);
            *block = (left, right);
            before = right;
        }
    }
    let options = TcpOptions {
        mss,
        window_scale,
        sack_permitted: has(marks::SACK_PERMITTED),
        sack,
        timestamps: None,
        fast_open: has(marks::FAST_OPEN),
        mptcp: has(marks::MPTCP),
        mptcp_join: has(marks::MPTCP_JOIN),
    };
    Some((options, has(marks::TIMESTAMPS)))
}

fn form(fields: &mut Fields<'_>) -> Option<PacketForm> {
    let bits = fields.byte()?;
    let has = |bit: u8| bits & bit != 0;
    Some(PacketForm {
        tunnels: bits & 15,
        fragment: has(marks::FRAGMENT),
        lengthless: has(marks::LENGTHLESS),
        damaged: has(marks::DAMAGED),
        partial: has(marks::PARTIAL),
        off_by: *fields.bytes(2)?.first_chunk()?,
    })
}

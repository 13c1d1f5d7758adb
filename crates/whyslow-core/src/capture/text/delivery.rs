//! Passes packets to the sink, after the meaning of their times is known.
//!
//! Also collects the facts that packets show besides TCP (pings, lookups), and the missing packets
//! that timestamps show.

use super::echoes::{SegmentTimestamps, TimestampEchoes};
use super::lookups::{DnsLine, LookupTracker};
use super::pings::{EchoLine, PingTracker};
use super::time::{TextTime, Timeline, TimelinePlace};
use crate::capture::{Clock, LinkType, Packet, Sink};
use whyslow_units::Time;

/// A packet with its printed time; `D` holds its bytes.
pub(super) struct TextPacket<D> {
    pub(super) stamp: Option<TextTime>,
    /// Number of fractional digits of the time.
    pub(super) digits: usize,
    pub(super) frame: u64,
    pub(super) link: LinkType,
    pub(super) data: D,
    pub(super) original_len: u32,
    /// Packets are missing before it.
    pub(super) left_out: bool,
    /// TCP timestamps of a segment.
    pub(super) stamps: Option<SegmentTimestamps>,
    pub(super) non_tcp: Option<NonTcp>,
}

/// A packet with facts other than TCP's.
pub(super) enum NonTcp {
    Dns(DnsLine),
    Echo(EchoLine),
}

/// Queue of packets for the sink.
pub(super) struct Delivery {
    pub(super) timeline: Timeline,
    held: Vec<TextPacket<Vec<u8>>>,
    /// Whether the sink knows that packets come from text.
    announced: bool,
    echoes: TimestampEchoes,
    pub(super) pings: PingTracker,
    pub(super) lookups: LookupTracker,
    /// Number of delivered packets.
    pub(super) packets: u64,
    /// Time of the last delivered packet.
    last: Time,
    /// Earliest and latest delivered time.
    pub(super) span: Option<(Time, Time)>,
}

impl Delivery {
    pub(super) fn new() -> Self {
        Self {
            timeline: Timeline::new(),
            held: Vec::new(),
            announced: false,
            echoes: TimestampEchoes::new(),
            pings: PingTracker::default(),
            lookups: LookupTracker::default(),
            packets: 0,
            last: Time::ZERO,
            span: None,
        }
    }

    /// Passes a packet to the sink, or queues it until its time is known.
    pub(super) fn deliver<S: Sink>(&mut self, packet: TextPacket<&[u8]>, sink: &mut S) {
        let sender = packet.stamps.map(|stamps| (stamps.from, stamps.value));
        match self.timeline.place(packet.stamp, packet.digits, sender) {
            TimelinePlace::At(time) => self.give(packet, time, sink),
            TimelinePlace::Held => {
                self.held.push(packet.map(<[u8]>::to_vec));
                self.release(sink);
            }
        }
    }

    /// Ends the text: delivers all queued packets.
    pub(super) fn finish<S: Sink>(&mut self, sink: &mut S) {
        self.timeline.decide();
        self.release(sink);
    }

    /// Delivers the queued packets, once the meaning of their times is known.
    fn release<S: Sink>(&mut self, sink: &mut S) {
        if self.timeline.is_undecided() {
            return;
        }
        for held in std::mem::take(&mut self.held) {
            if let TimelinePlace::At(time) = self.timeline.place(held.stamp, held.digits, None) {
                self.give(held, time, sink);
            }
        }
    }

    fn give<S: Sink, D: AsRef<[u8]>>(&mut self, packet: TextPacket<D>, time: Time, sink: &mut S) {
        let clock = self.timeline.clock();
        if !std::mem::replace(&mut self.announced, true) {
            sink.text(clock);
        }
        // Do not report unusable times.
        let time = if clock == Clock::None { Time::ZERO } else { time };
        let before = std::mem::replace(&mut self.last, time);
        if packet.left_out && self.packets > 0 {
            sink.left_out(None, before, time);
        }
        if let Some(stamps) = &packet.stamps
            && let Some((from, until)) = self.echoes.observe(stamps, time)
        {
            sink.left_out(Some([stamps.from, stamps.to]), from, until);
        }
        self.packets += 1;
        self.span = Some(self.span.map_or((time, time), |(first, last)| (first.min(time), last.max(time))));
        match packet.non_tcp {
            Some(NonTcp::Dns(line)) => self.lookups.observe(line, time),
            Some(NonTcp::Echo(echo)) => self.pings.observe(echo, time),
            None => {}
        }
        let TextPacket { frame, link, original_len, .. } = packet;
        sink.packet(&Packet { frame, time, link, data: packet.data.as_ref(), original_len });
    }
}

impl<D> TextPacket<D> {
    /// The same packet with its bytes in another form.
    fn map<T>(self, hold: impl FnOnce(D) -> T) -> TextPacket<T> {
        let Self { stamp, digits, frame, link, data, original_len, left_out, stamps, non_tcp } = self;
        TextPacket { stamp, digits, frame, link, data: hold(data), original_len, left_out, stamps, non_tcp }
    }
}

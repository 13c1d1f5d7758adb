//! A connection that is not over yet.

use std::net::{IpAddr, Ipv4Addr};
use whyslow_analysis::types::{Frame, Side};
use whyslow_core::flow::FlowEntry;
use whyslow_core::tcp::{Connection, FrameRef};
use whyslow_core::tls::KeyRing;
use whyslow_core::wire::{Checksum, Flags, Options, SackBlocks, Segment};
use whyslow_units::{SeqNumber, Time};

/// A connection and the capture in which it began.
#[derive(Debug)]
pub(super) struct OpenConnection {
    capture: u32,
    progress: Progress,
}

const _: () = assert!(
    size_of::<FlowEntry<OpenConnection>>() <= 112 && size_of::<Connection>() <= 384,
    "of open connections there may be a million"
);

/// Its progress. In a flood or a scan almost no connection gets beyond its first SYN, of which
/// little has to be kept.
#[derive(Debug)]
enum Progress {
    Opening(Opening),
    Open(Box<Connection>),
}

/// An ordinary SYN, the only segment so far: without payload, damage, and rare options.
#[derive(Clone, Copy, Debug)]
struct Opening {
    time: Time,
    place: FrameRef,
    seq: SeqNumber,
    tsval: u32,
    ports: [u16; 2],
    window: u16,
    mss: u16,
    ip_id: u16,
    flags: Flags,
    window_scale: u8,
    ttl: u8,
    ecn: u8,
    /// The properties that the connection has, as bits.
    bits: u8,
}

/// Bits of [`Opening::bits`].
const HAS_MSS: u8 = 1;
const HAS_WINDOW_SCALE: u8 = 2;
const HAS_TIMESTAMPS: u8 = 4;
const HAS_IP_ID: u8 = 8;
const PERMITS_SACK: u8 = 16;
const GOOD_CHECKSUM: u8 = 32;
/// The payload is missing: the capture was condensed.
const IS_CONDENSED: u8 = 64;

impl OpenConnection {
    /// A connection that begins with this segment, which has yet to be pushed.
    pub(super) fn new(capture: usize, segment: &Segment<'_>, time: Time, frame: Frame) -> Self {
        let progress = Progress::Open(Box::new(Connection::new(segment, time, frame)));
        Self { capture: u32::try_from(capture).unwrap_or(u32::MAX), progress }
    }

    /// The same, with its payload decrypted with these secrets.
    pub(super) fn decrypted(mut self, keys: &KeyRing) -> Self {
        self.tcp().decrypt(keys.clone());
        self
    }

    /// The same for a condensed capture, which lacks the payload for reading messages.
    pub(super) fn condensed(mut self, is_condensed: bool) -> Self {
        match &mut self.progress {
            Progress::Opening(opening) if is_condensed => opening.bits |= IS_CONDENSED,
            Progress::Open(tcp) if is_condensed => tcp.ignore_messages(),
            _ => {}
        }
        self
    }

    /// A connection that has only this segment; `None` if the segment is not an ordinary SYN.
    pub(super) fn opening(capture: usize, segment: &Segment<'_>, time: Time, frame: Frame) -> Option<Self> {
        let opening = Opening::new(segment, time, frame)?;
        Some(Self { capture: u32::try_from(capture).ok()?, progress: Progress::Opening(opening) })
    }

    /// The capture's index.
    pub(super) fn capture(&self) -> usize {
        self.capture as usize
    }

    /// Whether there is a first SYN and nothing else.
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.progress, Progress::Opening(_))
    }

    /// State of TCP; `None` if the connection has only its first SYN.
    pub(super) fn opened(&self) -> Option<&Connection> {
        match &self.progress {
            Progress::Open(tcp) => Some(tcp),
            Progress::Opening(_) => None,
        }
    }

    /// State of TCP, for more of its segments.
    #[inline(always)]
    pub(super) fn tcp(&mut self) -> &mut Connection {
        if let Progress::Opening(opening) = &self.progress {
            self.progress = Progress::Open(opening.begin());
        }
        match &mut self.progress {
            Progress::Open(tcp) => tcp,
            Progress::Opening(_) => unreachable!("it was begun above"),
        }
    }

    /// Returns the TCP connection itself, to be finished.
    pub(super) fn into_tcp(mut self) -> Connection {
        self.tcp();
        match self.progress {
            Progress::Open(tcp) => *tcp,
            Progress::Opening(_) => unreachable!("it was begun above"),
        }
    }
}

impl Opening {
    fn new(segment: &Segment<'_>, time: Time, frame: Frame) -> Option<Self> {
        let options = &segment.options;
        let opens = segment.flags.0 & (Flags::SYN | Flags::ACK | Flags::FIN | Flags::RST).0 == Flags::SYN.0;
        let is_rare = options.malformed || options.fast_open || options.mptcp || options.mptcp_join;
        let (tsval, tsecr) = options.timestamps.unwrap_or_default();
        let is_ordinary = opens && !is_rare && options.sack.is_empty() && tsecr == 0;
        // Others may still turn out to be damaged.
        let is_whole = matches!(segment.checksum, Checksum::Good | Checksum::Partial);
        if !is_ordinary || !is_whole || segment.payload_len > 0 || segment.ack != SeqNumber(0) {
            return None;
        }
        let bit = |bit: u8, is: bool| if is { bit } else { 0 };
        Some(Self {
            time,
            place: frame.into(),
            seq: segment.seq,
            tsval,
            ports: [segment.src_port, segment.dst_port],
            window: segment.window,
            mss: options.mss.unwrap_or_default(),
            ip_id: segment.ip_id.unwrap_or_default(),
            flags: segment.flags,
            window_scale: options.window_scale.unwrap_or_default(),
            ttl: segment.ttl,
            ecn: segment.ecn,
            bits: bit(HAS_MSS, options.mss.is_some())
                | bit(HAS_WINDOW_SCALE, options.window_scale.is_some())
                | bit(HAS_TIMESTAMPS, options.timestamps.is_some())
                | bit(HAS_IP_ID, segment.ip_id.is_some())
                | bit(PERMITS_SACK, options.sack_permitted)
                | bit(GOOD_CHECKSUM, segment.checksum == Checksum::Good),
        })
    }

    /// The connection with this segment.
    #[inline(never)]
    fn begin(&self) -> Box<Connection> {
        let (segment, frame) = (self.segment(), self.place.frame());
        let mut tcp = Box::new(Connection::new(&segment, self.time, frame));
        if self.bits & IS_CONDENSED != 0 {
            tcp.ignore_messages();
        }
        tcp.push(&segment, Side::A, self.time, frame);
        tcp
    }

    /// The segment again, without its addresses, which a connection does not read.
    fn segment(&self) -> Segment<'static> {
        let has = |bit: u8| self.bits & bit != 0;
        let [src_port, dst_port] = self.ports;
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Segment {
            src: nowhere,
            dst: nowhere,
            src_port,
            dst_port,
            seq: self.seq,
            ack: SeqNumber(0),
            flags: self.flags,
            window: self.window,
            payload_len: 0,
            payload: &[],
            options: Options {
                mss: has(HAS_MSS).then_some(self.mss),
                window_scale: has(HAS_WINDOW_SCALE).then_some(self.window_scale),
                sack_permitted: has(PERMITS_SACK),
                sack: SackBlocks::NONE,
                timestamps: has(HAS_TIMESTAMPS).then_some((self.tsval, 0)),
                ..Options::default()
            },
            ip_id: has(HAS_IP_ID).then_some(self.ip_id),
            ttl: self.ttl,
            ecn: self.ecn,
            checksum: if has(GOOD_CHECKSUM) { Checksum::Good } else { Checksum::Unknown },
            fragment: false,
            tunnels: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    /// SYNs, and segments that look like one.
    fn syn() -> impl Strategy<Value = Segment<'static>> {
        let flags = prop_oneof![
            4 => Just(Flags::SYN),
            2 => Just(Flags::SYN | Flags::ECE | Flags::CWR),
            1 => Just(Flags::SYN | Flags::ACK),
            1 => Just(Flags::SYN | Flags::FIN),
            1 => Just(Flags::ACK),
        ];
        let checksum = prop_oneof![
            4 => Just(Checksum::Good),
            1 => Just(Checksum::Partial),
            1 => Just(Checksum::Unknown),
            1 => Just(Checksum::Bad(7)),
        ];
        let rare = prop_oneof![8 => Just(0u32), 1 => 0u32..64];
        let options = (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), any::<Option<u32>>()).prop_map(
            |(mss, window_scale, sack_permitted, tsval)| Options {
                mss,
                window_scale,
                sack_permitted,
                timestamps: tsval.map(|value| (value, 0)),
                ..Options::default()
            },
        );
        (flags, checksum, rare, options, any::<([u16; 4], u32, Option<u16>, u8)>()).prop_map(
            |(flags, checksum, rare, options, ([src_port, dst_port, window, _], seq, ip_id, ttl))| Segment {
                src: IpAddr::from([192, 0, 2, 1]),
                dst: IpAddr::from([192, 0, 2, 2]),
                src_port,
                dst_port,
                seq: SeqNumber(seq),
                ack: SeqNumber(rare & 1),
                flags,
                window,
                payload_len: rare >> 1 & 1,
                payload: &[],
                options: Options {
                    malformed: rare & 4 != 0,
                    fast_open: rare & 8 != 0,
                    mptcp: rare & 16 != 0,
                    timestamps: options.timestamps.map(|(value, _)| (value, rare >> 5)),
                    ..options
                },
                ip_id,
                ttl,
                ecn: 0,
                checksum,
                fragment: false,
                tunnels: 0,
            },
        )
    }

    proptest! {
        #[test]
        fn packed_opening_expands_to_the_same_connection(
            segment in syn(), time in any::<i32>(), frame in (any::<Option<u16>>(), 0u64..1 << 47),
        ) {
            let (time, frame) = (Time(time.into()), Frame { file: frame.0, number: frame.1 });
            let mut general = OpenConnection::new(3, &segment, time, frame);
            general.tcp().push(&segment, Side::A, time, frame);
            let Some(mut opening) = OpenConnection::opening(3, &segment, time, frame) else { return Ok(()) };
            prop_assert!(opening.is_opening() && opening.opened().is_none());
            // The account at its end, without its connection.
            let tcp = general.tcp();
            prop_assert_eq!((tcp.active_until(time).0, tcp.payload()), (0, 0));
            prop_assert!(tcp.bad_checksums().is_none());
            opening.tcp();
            prop_assert_eq!(format!("{opening:?}"), format!("{general:?}"));
        }
    }

    #[test]
    fn ordinary_syns_are_openings() {
        let segment =
            Segment { checksum: Checksum::Good, ..Opening::new(&example(), Time(1), frame()).unwrap().segment() };
        assert!(OpenConnection::opening(0, &segment, Time(1), frame()).unwrap().is_opening());
        let answer = Segment { flags: Flags::SYN | Flags::ACK, ..segment };
        assert!(OpenConnection::opening(0, &answer, Time(1), frame()).is_none());
    }

    fn frame() -> Frame {
        Frame { file: None, number: 1 }
    }

    fn example() -> Segment<'static> {
        Segment {
            src: IpAddr::from([192, 0, 2, 1]),
            dst: IpAddr::from([192, 0, 2, 2]),
            src_port: 1,
            dst_port: 2,
            seq: SeqNumber(9),
            ack: SeqNumber(0),
            flags: Flags::SYN,
            window: 1000,
            payload_len: 0,
            payload: &[],
            options: Options { mss: Some(1460), sack_permitted: true, ..Options::default() },
            ip_id: Some(4),
            ttl: 64,
            ecn: 0,
            checksum: Checksum::Good,
            fragment: false,
            tunnels: 0,
        }
    }
}

//! State that all readers keep about their capture: frame numbers, times, link types and problems.
//!
//! Readers pass all packets to the sink through it, so that counting is the same for every format.

use super::{Clock, LinkType, Packet, Problem, Sink, Summary};
use std::collections::BTreeSet;
use whyslow_units::{Nanos, Time};

/// Times that go back this far mean that the clock was set, and not that several queues are out of
/// order.
const STEP_BACK: i64 = 100_000_000;
/// Times that go forward this far mean that the clock was set (usually from 1970), and not that the
/// network was quiet.
const STEP_FORWARD: i64 = 366 * 86_400 * 1_000_000_000;

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MILLISECOND;
/// Fewer packets may all be in the first millisecond of a second by chance.
const MIN_PACKETS: u64 = 20;

/// Counts packets and problems; see [`CaptureLedger::summary`].
#[derive(Debug)]
pub(super) struct CaptureLedger {
    /// Number of the last frame.
    frames: u64,
    /// Frames without a packet.
    empty: u64,
    /// Packets without a time.
    timeless: u64,
    earliest: i64,
    latest: i64,
    /// Whether a packet has a time that is not a whole second.
    has_fractions: bool,
    links: Vec<LinkType>,
    links_seen: BTreeSet<LinkType>,
    cut: CutPackets,
    /// Bytes skipped because they were unreadable.
    skipped: u64,
    problems: Vec<Problem>,
}

/// A packet in a record, without its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct CapturedRecord<'a> {
    pub(super) link: LinkType,
    pub(super) data: &'a [u8],
    /// At least the captured length.
    pub(super) original_len: u32,
    /// The snapshot length.
    pub(super) snaplen: u32,
}

/// Truncated packets.
#[derive(Debug, Default)]
struct CutPackets {
    count: u64,
    first_frame: u64,
    /// Largest captured length plus one; 0 without any.
    max_captured_plus_one: usize,
    snaplen: u32,
}

impl Default for CaptureLedger {
    fn default() -> Self {
        Self {
            frames: 0,
            empty: 0,
            timeless: 0,
            earliest: i64::MAX,
            latest: i64::MIN,
            has_fractions: false,
            links: Vec::new(),
            links_seen: BTreeSet::new(),
            cut: CutPackets::default(),
            skipped: 0,
            problems: Vec::new(),
        }
    }
}

impl CaptureLedger {
    /// Records the time of packets (ns). For several consecutive packets in time order, the first
    /// and the last are enough.
    #[inline(always)]
    pub(super) fn time(&mut self, time: i64) {
        self.earliest = self.earliest.min(time);
        self.latest = self.latest.max(time);
    }

    /// Passes a packet without a time to the sink, with the latest known time.
    pub(super) fn timeless_packet<S: Sink>(&mut self, sink: &mut S, record: CapturedRecord<'_>) {
        self.timeless += 1;
        let time = if self.latest == i64::MIN { 0 } else { self.latest };
        self.packet(sink, time, record);
    }

    /// Passes a packet to the sink; its time is recorded separately.
    #[inline(always)]
    pub(super) fn packet<S: Sink>(&mut self, sink: &mut S, time: i64, record: CapturedRecord<'_>) {
        let CapturedRecord { link, data, original_len, snaplen } = record;
        self.frames += 1;
        if !self.has_fractions {
            self.has_fractions = time.rem_euclid(SECOND) >= MILLISECOND;
        }
        if data.len() < original_len as usize {
            self.cut.count += 1;
            // Nearly always, all are as long as the first one.
            if data.len() >= self.cut.max_captured_plus_one {
                self.cut_higher(data.len(), snaplen);
            }
        }
        sink.packet(&Packet { frame: self.frames, time: Time(time), link, data, original_len });
    }

    /// More of this packet was captured than of any truncated one before.
    #[cold]
    fn cut_higher(&mut self, captured: usize, snaplen: u32) {
        if self.cut.max_captured_plus_one == 0 {
            self.cut.first_frame = self.frames;
            self.cut.snaplen = snaplen;
        }
        self.cut.max_captured_plus_one = captured + 1;
    }

    /// Counts a record that Wireshark numbers as a frame, but that is not a packet.
    pub(super) fn frame_without_packet(&mut self) {
        self.frames += 1;
        self.empty += 1;
    }

    /// Number of the next frame.
    pub(super) fn next_frame(&self) -> u64 {
        self.frames + 1
    }

    /// Adds a declared link type.
    pub(super) fn link(&mut self, link: LinkType) {
        if self.links_seen.insert(link) {
            self.links.push(link);
        }
    }

    /// Records a problem. Calls `detail` only the first time; it should contain the position.
    pub(super) fn note(&mut self, slug: &'static str, detail: impl FnOnce() -> String) {
        self.note_many(slug, 1, detail);
    }

    /// Like [`Self::note`], `count` times at once.
    pub(super) fn note_many(&mut self, slug: &'static str, count: u64, detail: impl FnOnce() -> String) {
        match self.problems.iter_mut().find(|problem| problem.slug == slug) {
            Some(problem) => problem.count = problem.count.saturating_add(count),
            None => self.problems.push(Problem { slug: slug.into(), count, detail: detail() }),
        }
    }

    /// Counts bytes that were skipped because they were unreadable.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.skipped += bytes as u64;
    }

    /// Records a clock that was set between two consecutive packets of one interface; `time` is
    /// that of the next frame.
    #[inline]
    pub(super) fn compare_times(&mut self, previous: i64, time: i64) {
        if Self::is_step(previous, time) {
            self.clock_step(time.saturating_sub(previous));
        }
    }

    /// Whether a clock was set between two consecutive packets of one interface.
    #[inline(always)]
    pub(super) fn is_step(previous: i64, time: i64) -> bool {
        !(-STEP_BACK..=STEP_FORWARD).contains(&time.saturating_sub(previous))
    }

    #[cold]
    fn clock_step(&mut self, change: i64) {
        let frame = self.next_frame();
        self.note("clock-step", || {
            let direction = if change < 0 { "back" } else { "forward" };
            let seconds = (Nanos(change).as_secs_f64().abs() * 1e3).round() / 1e3;
            format!("the capture's clock was set: it first jumps {direction} by {seconds} s at frame {frame}")
        });
    }

    /// The summary; `lost_since`: position after which no more records were found.
    pub(super) fn summary(mut self, format: &'static str, lost_since: Option<u64>) -> Summary {
        if self.skipped > 0
            && let Some(damaged) = self.problems.iter_mut().find(|problem| problem.slug == "damaged-record")
        {
            damaged.detail += &format!("; {} bytes were skipped in all", self.skipped);
            if let Some(offset) = lost_since {
                damaged.detail += &format!(", and nothing readable was found after byte {offset}");
            }
        }
        let packets = self.frames - self.empty;
        if self.cut.count > 0 {
            let CutPackets { count, first_frame, max_captured_plus_one: above, snaplen } = self.cut;
            let longest = above.saturating_sub(1);
            let limit = match snaplen {
                0 => "none is declared".to_owned(),
                declared => format!("{declared} bytes"),
            };
            self.problems.push(Problem {
                slug: "short-snaplen".into(),
                count,
                detail: format!(
                    "{count} of {packets} packets truncated at {longest} bytes (snapshot length: {limit}); first: frame \
                     {first_frame}"
                ),
            });
        }
        if self.timeless > 0 {
            self.problems.push(Problem {
                slug: "no-time".into(),
                count: self.timeless,
                detail: format!("{} of {packets} packets carry no time (simple packet blocks)", self.timeless),
            });
        }
        let timed = packets > self.timeless;
        let is_coarse = timed && !self.has_fractions && packets >= MIN_PACKETS && self.latest - self.earliest >= SECOND;
        if is_coarse {
            self.problems.push(Problem {
                slug: "coarse-times".into(),
                count: packets,
                detail: "all packets have times in whole seconds: nothing is concluded from times".into(),
            });
        }
        Summary {
            format,
            link_types: self.links,
            packets,
            first_time: timed.then_some(Time(self.earliest)),
            last_time: timed.then_some(Time(self.latest)),
            clock: if is_coarse || (self.timeless > 0 && !timed) { Clock::None } else { Clock::Absolute },
            problems: self.problems,
            ..Summary::default()
        }
    }
}

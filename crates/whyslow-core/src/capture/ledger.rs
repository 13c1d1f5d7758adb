//! What a reader learns about its capture on the way: frame numbers, times, link types and what was
//! odd.
//!
//! Giving a packet to the sink goes through here, so that counting is the same for every format.

use super::{Clock, LinkType, Packet, Problem, Sink, Summary};
use crate::units::{Nanos, Time};
use std::collections::BTreeSet;

/// Going back this far is a clock that was set, not packets of several queues out of order.
const STEP_BACK: i64 = 100_000_000;
/// Going forward this far is a clock that was set (from 1970, usually), not a quiet network.
const STEP_FORWARD: i64 = 366 * 86_400 * 1_000_000_000;

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MILLISECOND;
/// Fewer packets may all come within the first millisecond of a second by chance.
const MIN_PACKETS: u64 = 20;

/// Counts and remembers; [`CaptureLedger::summary`] tells.
#[derive(Debug)]
pub(super) struct CaptureLedger {
    /// Number of the last frame.
    frames: u64,
    /// Frames that hold no packet.
    empty: u64,
    /// Packets that came without a time.
    timeless: u64,
    earliest: i64,
    latest: i64,
    /// A packet came at another time than a whole second.
    has_fractions: bool,
    links: Vec<LinkType>,
    links_seen: BTreeSet<LinkType>,
    cut: CutPackets,
    /// Bytes passed over because nothing could be made of them.
    skipped: u64,
    problems: Vec<Problem>,
}

/// What a record holds of a packet, beside its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct CapturedRecord<'a> {
    pub(super) link: LinkType,
    pub(super) data: &'a [u8],
    /// Not less than what was captured.
    pub(super) original_len: u32,
    /// What the capture was limited to.
    pub(super) snaplen: u32,
}

/// Packets that were captured in part.
#[derive(Debug, Default)]
struct CutPackets {
    count: u64,
    first_frame: u64,
    /// One more than was captured of any; 0 without any.
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
    /// Packets have come that were captured at `time` (ns). Of several in a row, each not before
    /// the one before it, the first and the last are enough.
    #[inline(always)]
    pub(super) fn time(&mut self, time: i64) {
        self.earliest = self.earliest.min(time);
        self.latest = self.latest.max(time);
    }

    /// Gives a packet that has no time to the sink, at the latest time known.
    pub(super) fn timeless_packet<S: Sink>(&mut self, sink: &mut S, record: CapturedRecord<'_>) {
        self.timeless += 1;
        let time = if self.latest == i64::MIN { 0 } else { self.latest };
        self.packet(sink, time, record);
    }

    /// Gives a packet to the sink, whose time was told or will be.
    #[inline(always)]
    pub(super) fn packet<S: Sink>(&mut self, sink: &mut S, time: i64, record: CapturedRecord<'_>) {
        let CapturedRecord { link, data, original_len, snaplen } = record;
        self.frames += 1;
        if !self.has_fractions {
            self.has_fractions = time.rem_euclid(SECOND) >= MILLISECOND;
        }
        if data.len() < original_len as usize {
            self.cut.count += 1;
            // All are as long as the first one, nearly always.
            if data.len() >= self.cut.max_captured_plus_one {
                self.cut_higher(data.len(), snaplen);
            }
        }
        sink.packet(&Packet { frame: self.frames, time: Time(time), link, data, original_len });
    }

    /// More was captured of this packet than of any that was cut before.
    #[cold]
    fn cut_higher(&mut self, captured: usize, snaplen: u32) {
        if self.cut.max_captured_plus_one == 0 {
            self.cut.first_frame = self.frames;
            self.cut.snaplen = snaplen;
        }
        self.cut.max_captured_plus_one = captured + 1;
    }

    /// A record that Wireshark numbers as a frame, but which is no packet.
    pub(super) fn frame_without_packet(&mut self) {
        self.frames += 1;
        self.empty += 1;
    }

    /// The number that the next frame will get.
    pub(super) fn next_frame(&self) -> u64 {
        self.frames + 1
    }

    /// The capture declares a link type.
    pub(super) fn link(&mut self, link: LinkType) {
        if self.links_seen.insert(link) {
            self.links.push(link);
        }
    }

    /// Something is odd. The detail is asked for the first time only, and should say where that
    /// was.
    pub(super) fn note(&mut self, slug: &'static str, detail: impl FnOnce() -> String) {
        self.note_many(slug, 1, detail);
    }

    /// As [`Self::note`], `count` times at once.
    pub(super) fn note_many(&mut self, slug: &'static str, count: u64, detail: impl FnOnce() -> String) {
        match self.problems.iter_mut().find(|problem| problem.slug == slug) {
            Some(problem) => problem.count = problem.count.saturating_add(count),
            None => self.problems.push(Problem { slug: slug.into(), count, detail: detail() }),
        }
    }

    /// Bytes were passed over because nothing could be made of them.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.skipped += bytes as u64;
    }

    /// Notes a clock that was set between two packets in a row of one interface; `time` is that of
    /// the next frame.
    #[inline]
    pub(super) fn compare_times(&mut self, previous: i64, time: i64) {
        if Self::is_step(previous, time) {
            self.clock_step(time.saturating_sub(previous));
        }
    }

    /// Whether a clock was set between two packets in a row of one interface.
    #[inline(always)]
    pub(super) fn is_step(previous: i64, time: i64) -> bool {
        !(-STEP_BACK..=STEP_FORWARD).contains(&time.saturating_sub(previous))
    }

    #[cold]
    fn clock_step(&mut self, gone: i64) {
        let frame = self.next_frame();
        self.note("clock-step", || {
            let direction = if gone < 0 { "back" } else { "forward" };
            let seconds = Nanos(gone).as_secs_f64().abs();
            format!("the capture's clock was set: it first jumps {direction} by {seconds} s at frame {frame}")
        });
    }

    /// What was learnt; `lost_since` is where the reader lost track for good.
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

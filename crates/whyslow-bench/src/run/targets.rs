//! [`judge`]: what was promised, and whether it is met.

use super::contest::{CAT, JSON, PIPE, PIPE_ALONE, TCPTRACE, TOP, TSHARK, UNPACK, WALK};
use super::results::Results;

/// A promise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) what: &'static str,
    pub(super) bound: Bound,
    pub(super) unit: &'static str,
    /// `None` if it could not be measured.
    pub(super) measured: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    /// Whether it is met; `None` if it could not be measured.
    pub(super) fn is_met(&self) -> Option<bool> {
        let measured = self.measured?;
        Some(match self.bound {
            Bound::AtLeast(least) => measured >= least,
            Bound::AtMost(most) => measured <= most,
        })
    }
}

/// All promises.
pub(super) fn judge(results: &Results) -> Vec<Target> {
    use Bound::{AtLeast, AtMost};
    let target = |what, bound, unit, measured| Target { what, bound, unit, measured };
    let times = |what, bound, one, other| target(what, bound, "×", results.ratio(one, other));
    let own = |input| Some(results.row(input, JSON)?.own()? as f64);
    let per_packet = |input| results.row(input, JSON)?.per_packet();
    let sampled = |program| results.row("bulk-sixteenth", program)?.per_packet();
    let per_connection = |input| Some(own(input)? / results.row(input, JSON)?.connections.max(1) as f64);
    let spread = || {
        let all = ["connections-10", "connections-10k", "connections-1m"].map(per_packet);
        let all = all.into_iter().collect::<Option<Vec<_>>>()?;
        Some(all.iter().copied().fold(0.0, f64::max) / all.iter().copied().fold(f64::INFINITY, f64::min))
    };
    // The lower bound: bytes cannot be explained before they arrive.
    let overlapped = |both, coming| {
        let (input, program) = both;
        Some(results.row(input, program)?.wall()? / results.least_together(coming, ("bulk", JSON))?)
    };
    let unpacked = |input| overlapped((input, JSON), (input, UNPACK));
    vec![
        times("bulk: tcptrace's time against whyslow's", AtLeast(10.0), ("bulk", TCPTRACE), ("bulk", JSON)),
        target(
            "bulk: tshark's time a packet, of its first sixteenth, against whyslow's of all",
            AtLeast(300.0),
            "×",
            sampled(TSHARK).zip(per_packet("bulk")).map(|(other, own)| other / own),
        ),
        times("bulk: whyslow's time against the record walk's", AtMost(2.5), ("bulk", JSON), ("bulk", WALK)),
        times("wan: tcptrace's time against whyslow's", AtLeast(6.0), ("wan", TCPTRACE), ("wan", JSON)),
        times("full: whyslow's time against cat's", AtMost(2.5), ("full", JSON), ("full", CAT)),
        target("bulk: own memory", AtMost(100.0), "MB", own("bulk").map(|bytes| bytes / 1e6)),
        target("open: own memory for each open connection", AtMost(1_024.0), "B", per_connection("open")),
        target("flood: time a SYN", AtMost(300.0), "ns", per_packet("flood")),
        target("flood: own memory", AtMost(600.0), "MB", own("flood").map(|bytes| bytes / 1e6)),
        target(
            "flood: own memory, of 5 M sources against 2.5 M",
            AtMost(1.2),
            "×",
            own("flood").zip(own("flood-half")).map(|(all, half)| all / half),
        ),
        target(
            "time a packet, of bulk against its first sixteenth",
            AtMost(1.25),
            "×",
            per_packet("bulk").zip(per_packet("bulk-sixteenth")).map(|(all, part)| all / part),
        ),
        target("time a packet, in 10, 10 k and 1 M connections: most against least", AtMost(2.0), "×", spread()),
        target("gzip: against gzip -dc and plain bulk at once", AtMost(1.2), "×", unpacked("bulk-gzip")),
        target("zstd: against zstd -dc and plain bulk at once", AtMost(1.2), "×", unpacked("bulk-zstd")),
        target(
            "standard input: against the pipe and plain bulk at once",
            AtMost(1.2),
            "×",
            overlapped(("bulk", PIPE), ("bulk", PIPE_ALONE)),
        ),
        times("a rotation set against one file", AtMost(1.2), ("bulk-rotated", JSON), ("bulk", JSON)),
        times("--top 10 against --json", AtMost(1.2), ("bulk", TOP), ("bulk", JSON)),
    ]
}

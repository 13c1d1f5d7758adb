//! The problems of a whole text.

use super::tally::Tally;
use super::{TextReader, build};
use crate::capture::{Clock, LinkType, Problem, Summary};
use whyslow_units::Time;

/// Problems in the order of the report.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, slug: &'static str, count: u64, detail: impl Into<String>) {
        if count > 0 {
            self.0.push(Problem { slug: slug.into(), count, detail: detail.into() });
        }
    }

    /// Adds a problem of lines, with the number of the first one.
    fn add_lines(&mut self, slug: &'static str, tally: Tally, what: &str) {
        self.add(slug, tally.count, format!("{what} (first in line {})", tally.first_line));
    }
}

impl TextReader {
    pub(super) fn summary(mut self) -> Summary {
        let mut problems = Problems::default();
        self.add_elided(&mut problems);
        self.add_unread(&mut problems);
        self.add_times(&mut problems);
        self.add_names(&mut problems);
        let packets = self.delivery.packets;
        let clock = self.delivery.timeline.clock();
        let has_clock = clock != Clock::None;
        let last = self.delivery.span.map_or(Time::ZERO, |(_, last)| last);
        let (pings, more_pings) = self.delivery.pings.finish(has_clock, last);
        let (lookups, more_lookups) = self.delivery.lookups.finish(has_clock);
        problems.add("pings-not-listed", more_pings, "pings beyond the first 64");
        problems.add("lookups-not-listed", more_lookups, "lookups of names beyond the first 256");
        let mut link_types = vec![LinkType(build::RAW)];
        link_types.extend(self.not_ip.then_some(LinkType::ETHERNET));
        let span = self.delivery.span.filter(|_| has_clock);
        Summary {
            format: "tcpdump text",
            link_types,
            packets,
            first_time: span.map(|(first, _)| first),
            last_time: span.map(|(_, last)| last),
            clock,
            problems: problems.0,
            pings,
            lookups,
        }
    }

    /// Packets that the text lacks.
    fn add_elided(&mut self, problems: &mut Problems) {
        problems.add_lines("dropped-by-capture", self.dropped, "tcpdump could not keep up and dropped packets");
        let missing = self.captured.map_or(0, |captured| captured.saturating_sub(self.delivery.packets));
        let (tally, what) = if missing > 0 {
            self.elided.add(missing.saturating_sub(self.elided.count), self.line);
            (self.elided, "tcpdump counted more packets than the text shows")
        } else if self.numbers_missing.count > 0 {
            (self.numbers_missing, "packets whose numbers (tcpdump -#) are not in the text")
        } else if self.summaries.gaps.count > 0 {
            (self.summaries.gaps, "packets before which the text lacks others that Wireshark has seen")
        } else {
            (self.elided, "lines of dots stand for packets that were left out of the text")
        };
        problems.add_lines("elided-text", tally, what);
    }

    /// Lines, or parts of them, that could not be read.
    fn add_unread(&self, problems: &mut Problems) {
        let inferred = "packets whose summary is another protocol's: their length is that of the frame less the usual \
                        headers, and they follow what was sent before";
        let quiet = "segments of tcpdump -q, which shows no sequence numbers: what follows an error of a router is taken \
                     as sent again";
        for (slug, tally, what) in [
            ("unread-line", self.unread, "lines that look like packets and could not be read"),
            ("unread-info", self.summaries.unplaced, "TCP packets whose summary shows no sequence number, left out"),
            ("inferred-info", self.summaries.inferred, inferred),
            ("inferred-info", self.quiet.inferred, quiet),
            (
                "second-capture",
                self.sections.skipped,
                "packets of a second capture of the same connections, left out: \
                                                       give each capture as a file of its own, to compare them",
            ),
            ("cut-header", self.headless, "TCP packets whose header tcpdump itself could not read"),
            ("cut-line", self.cut, "packets whose line ends too early, read as far as it goes"),
            ("long-line", self.long_lines, "lines of more than 64 KiB, read as far as that"),
            ("unread-option", self.unread_options, "TCP options with a name that is not known, left out"),
        ] {
            problems.add_lines(slug, tally, what);
        }
    }

    /// Times that are missing, coarse or irregular.
    fn add_times(&self, problems: &mut Problems) {
        let timeline = &self.delivery.timeline;
        let packets = self.delivery.packets;
        if timeline.coarse {
            let what =
                "packets with times in whole seconds, tcpdump's own times are missing: nothing is concluded from times";
            let logged = if self.logged.count > 0 { self.logged } else { Tally { count: packets, first_line: 1 } };
            problems.add_lines("coarse-times", logged, what);
        } else {
            let what = "packets without tcpdump's own time, told by the time at which a log took the line";
            problems.add_lines("log-times", self.logged, what);
        }
        let odd = "packets whose time has another form than the first one's; they were given the time before theirs";
        problems.add("odd-time", timeline.odd, odd);
        let unclear = "few packets, whose times may count from the first one (tcpdump -ttttt) or each from the one before \
                       (-ttt): nothing is concluded from times";
        problems.add("unclear-times", u64::from(timeline.unclear) * packets, unclear);
    }

    /// Names without an address or a port.
    fn add_names(&self, problems: &mut Problems) {
        let service = self.names.first_unknown_service.as_deref().unwrap_or("");
        let what = format!("ports printed as a name that is not known (first \"{service}\"), given a stand-in number");
        problems.add("unknown-service", self.names.unknown_services, what);
        let what = "packets of hosts beyond the first 16,384 names; two of them may share an address";
        problems.add("many-names", self.names.beyond_table, what);
    }
}

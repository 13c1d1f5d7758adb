//! What there is to say of a whole text.

use super::tally::Tally;
use super::{TextReader, build};
use crate::capture::{Clock, LinkType, Problem, Summary};
use crate::units::Nanos;

impl TextReader {
    pub(super) fn summary(mut self) -> Summary {
        let clock = self.timeline.clock();
        let span = self.span.filter(|_| clock != Clock::None);
        let missing = self.captured.map_or(0, |captured| captured.saturating_sub(self.packets));
        let mut problems = Vec::new();
        let mut say = |slug, tally: Tally, what: &str| {
            if tally.count > 0 {
                let detail = format!("{what} (first in line {})", tally.first_line);
                problems.push(Problem { slug, count: tally.count, detail });
            }
        };
        say("dropped-by-capture", self.dropped, "tcpdump could not keep up and dropped packets");
        if missing > 0 {
            self.elided.add(missing.saturating_sub(self.elided.count), self.line);
            say("elided-text", self.elided, "tcpdump counted more packets than the text shows");
        } else if self.numbers_missing.count > 0 {
            say("elided-text", self.numbers_missing, "packets whose numbers (tcpdump -#) are not in the text");
        } else {
            say("elided-text", self.elided, "lines of dots stand for packets that were left out of the text");
        }
        say("unread-line", self.unread, "lines that look like packets and could not be read");
        say("cut-header", self.headless, "TCP packets whose header tcpdump itself could not read");
        say("cut-line", self.cut, "packets whose line ends too early, read as far as it goes");
        say("long-line", self.long_lines, "lines of more than 64 KiB, read as far as that");
        say("unread-option", self.unread_options, "TCP options with a name that is not known, left out");
        if self.timeline.coarse {
            let what =
                "packets with times in whole seconds, tcpdump's own times are missing: nothing is concluded from times";
            let logged = if self.logged.count > 0 { self.logged } else { Tally { count: self.packets, first_line: 1 } };
            say("coarse-times", logged, what);
        } else {
            let what = "packets without tcpdump's own time, told by the time at which a log took the line";
            say("log-times", self.logged, what);
        }
        let odd_times = Tally { count: self.timeline.odd, first_line: 0 };
        let mut say = |slug, count: u64, detail: String| {
            if count > 0 {
                problems.push(Problem { slug, count, detail });
            }
        };
        say(
            "odd-time",
            odd_times.count,
            "packets whose time has another form than the first one's; they were given the time before theirs".into(),
        );
        let unclear = "few packets, whose times may count from the first one (tcpdump -ttttt) or each from the one before \
                       (-ttt): nothing is concluded from times";
        say("unclear-times", u64::from(self.timeline.unclear) * self.packets, unclear.into());
        let service = self.names.first_unknown_service.as_deref().unwrap_or("");
        say(
            "unknown-service",
            self.names.unknown_services,
            format!("ports printed as a name that is not known (first \"{service}\"), given a stand-in number"),
        );
        let names = "packets of hosts beyond the first 16,384 names; two of them may share an address".into();
        say("many-names", self.names.beyond_table, names);
        let has_clock = clock != Clock::None;
        let (pings, more_pings) = self.pings.finish(has_clock, self.span.map_or(Nanos::ZERO, |(_, last)| last));
        let (lookups, more_lookups) = self.lookups.finish(has_clock);
        say("pings-not-listed", more_pings, "pings beyond the first 64".into());
        say("lookups-not-listed", more_lookups, "lookups of names beyond the first 256".into());
        let mut link_types = vec![LinkType(build::RAW)];
        link_types.extend(self.not_ip.then_some(LinkType::ETHERNET));
        Summary {
            format: "tcpdump text",
            link_types,
            packets: self.packets,
            first_time: span.map(|(first, _)| first),
            last_time: span.map(|(_, last)| last),
            clock,
            problems,
            pings,
            lookups,
        }
    }
}

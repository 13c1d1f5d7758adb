//! Texts of other programs and formats, by their first lines: named when no packet is found.

/// Lines that are examined.
const MAX_LINES: u64 = 200;

const CAPTURE: &str = "give the capture file itself, or its summary lines: tshark -r FILE > packets.txt";

/// A text that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Export {
    Json,
    Ek,
    Pdml,
    Psml,
    Fields,
    Details,
    Follow,
    SocketStatistics,
}

/// How each format is recognized, in this order: the start of a line, and words within it.
const MARKS: &[(Export, &str, &[&str])] = &[
    (Export::Ek, "{\"index\":", &[]),
    (Export::Ek, "", &["{\"timestamp\":", "\"layers\""]),
    (Export::Json, "\"_index\":", &[]),
    (Export::Json, "\"_source\":", &[]),
    (Export::Pdml, "<pdml", &[]),
    (Export::Psml, "<psml", &[]),
    (Export::Fields, "frame.", &[]),
    (Export::Fields, "ip.src", &[]),
    (Export::Fields, "tcp.", &[]),
    (Export::Details, "Transmission Control Protocol, Src Port", &[]),
    (Export::Follow, "Follow: tcp", &[]),
    (Export::Follow, "Filter: tcp.stream eq", &[]),
    (Export::SocketStatistics, "", &["rtt:", "cwnd:", "mss:"]),
];

impl Export {
    /// Returns the format that a line shows; `None` if the line is of no known format.
    pub(super) fn of(line: &str, number: u64) -> Option<Self> {
        if number > MAX_LINES {
            return None;
        }
        let text = line.trim_start();
        let fits = |(_, start, words): &&(Self, &str, &[&str])| {
            text.starts_with(start) && words.iter().all(|word| text.contains(word))
        };
        let marked = MARKS.iter().find(fits).map(|&(export, ..)| export);
        marked.or_else(|| is_row_of_fields(text).then_some(Self::Fields))
    }

    /// Names the format and the input to use instead.
    pub(super) fn message(self) -> String {
        let (name, advice) = match self {
            Self::Json => ("JSON of tshark (-T json) or Wireshark", CAPTURE),
            Self::Ek => ("JSON of tshark for Elasticsearch (-T ek)", CAPTURE),
            Self::Pdml => ("PDML of tshark (-T pdml) or Wireshark", CAPTURE),
            Self::Psml => ("PSML of tshark (-T psml) or Wireshark", CAPTURE),
            Self::Fields => ("a table of fields by tshark (-T fields)", CAPTURE),
            Self::Details => ("packet details of tshark (-V) or Wireshark without summary lines", CAPTURE),
            Self::Follow => {
                ("the payload of a stream (Follow TCP Stream), which has neither times nor headers", CAPTURE)
            }
            Self::SocketStatistics => (
                "the output of ss -ti, which has counters and no packets",
                "whyslow FILE explains it; other commands need packets: tcpdump -s 128 -w FILE, or whyslow host on that machine",
            ),
        };
        format!("this is {name}; {advice}")
    }
}

/// Whether a line is a row of tshark's fields without their names: it has cells with two addresses,
/// and no words.
fn is_row_of_fields(line: &str) -> bool {
    ['\t', ',', ';', '|'].into_iter().any(|separator| {
        let is_address = |cell: &str| cell.trim_matches('"').parse::<std::net::IpAddr>().is_ok();
        let cells = || line.split(separator);
        cells().count() >= 5 && cells().filter(|cell| is_address(cell)).count() == 2 && !line.contains(' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_export_is_named_with_its_remedy() {
        for (line, export, words) in [
            ("    \"_index\": \"packets-2026-01-05\",", Export::Json, "-T json"),
            ("{\"index\":{\"_index\":\"packets-2026-01-05\"}}", Export::Ek, "-T ek"),
            ("<pdml version=\"0\" creator=\"wireshark/4\">", Export::Pdml, "PDML"),
            ("<psml version=\"0\">", Export::Psml, "PSML"),
            ("frame.number\tframe.time_epoch\ttcp.seq", Export::Fields, "-T fields"),
            ("1\t0.000000000\t192.0.2.1\t192.0.2.2\t40000\t80\t0", Export::Fields, "-T fields"),
            ("1,0.1,192.0.2.1,40000,2001:db8::1,80,0", Export::Fields, "-T fields"),
            ("Transmission Control Protocol, Src Port: 443, Dst Port: 4000, Seq: 1", Export::Details, "-V"),
            ("Follow: tcp,ascii", Export::Follow, "Follow TCP Stream"),
            ("\t cubic wscale:7,7 rto:204 rtt:3.5/1.1 mss:1448 cwnd:10", Export::SocketStatistics, "whyslow host"),
        ] {
            assert_eq!(Export::of(line, 1), Some(export), "{line}");
            assert!(export.message().contains(words), "{line}");
            assert_eq!(Export::of(line, MAX_LINES + 1), None);
        }
        assert_eq!(Export::of("hello", 1), None);
    }
}

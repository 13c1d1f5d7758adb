//! Texts of other programs and formats, by their first lines: named when no packet is found.

/// How many lines are looked at.
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

impl Export {
    /// What a line shows; `None` if it may be of anything.
    pub(super) fn of(line: &str, number: u64) -> Option<Self> {
        if number > MAX_LINES {
            return None;
        }
        let text = line.trim_start();
        let has_all = |words: &[&str]| words.iter().all(|word| text.contains(word));
        const TCP_DETAILS: &str = "Transmission Control Protocol, Src Port";
        Some(match text {
            _ if text.starts_with("{\"index\":") || has_all(&["{\"timestamp\":", "\"layers\""]) => Self::Ek,
            _ if text.starts_with("\"_index\":") || text.starts_with("\"_source\":") => Self::Json,
            _ if text.starts_with("<pdml") => Self::Pdml,
            _ if text.starts_with("<psml") => Self::Psml,
            _ if text.starts_with("frame.") || text.starts_with("ip.src") || text.starts_with("tcp.") => Self::Fields,
            _ if text.starts_with(TCP_DETAILS) => Self::Details,
            _ if text.starts_with("Follow: tcp") || text.starts_with("Filter: tcp.stream eq") => Self::Follow,
            _ if has_all(&["rtt:", "cwnd:"]) && text.contains("mss:") => Self::SocketStatistics,
            _ => return None,
        })
    }

    /// What it is, and what to give instead.
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
                "run whyslow host on that machine, or capture the connection: tcpdump -s 128 -w FILE",
            ),
        };
        format!("this is {name}; {advice}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_export_is_named_with_what_to_give_instead() {
        for (line, export, words) in [
            ("    \"_index\": \"packets-2026-01-05\",", Export::Json, "-T json"),
            ("{\"index\":{\"_index\":\"packets-2026-01-05\"}}", Export::Ek, "-T ek"),
            ("<pdml version=\"0\" creator=\"wireshark/4\">", Export::Pdml, "PDML"),
            ("<psml version=\"0\">", Export::Psml, "PSML"),
            ("frame.number\tframe.time_epoch\ttcp.seq", Export::Fields, "-T fields"),
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

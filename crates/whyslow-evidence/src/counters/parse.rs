//! Reads counters under the names of `nstat` with a point behind the group: `TcpExt.ListenDrops`.

use crate::report::Source;
use crate::text::{self, Text};
use std::collections::BTreeMap;

/// The tools.
pub(crate) const SOURCE: Source = Source::new("counters");

/// Maximum number of looks of a text.
const LOOKS: usize = 10_000;
/// Counters that show that a text is of this kind.
const LEAST: usize = 2;

/// Counters at one time.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub time: Option<f64>,
    pub counts: BTreeMap<String, f64>,
    /// `nstat` without `-a`: since the last `nstat`.
    pub relative: bool,
}

const GROUPS: &[&str] = &["TcpExt", "IpExt", "Icmp6", "IcmpMsg", "Icmp", "UdpLite", "Udp6", "Udp", "Tcp", "Ip6", "Ip"];

/// Sentences of `netstat -s` (net-tools, Linux), by a part that versions have in common. Those with
/// a capital letter are other systems'.
const SENTENCES: &[(&str, &str)] = &[
    ("segments received", "Tcp.InSegs"),
    ("segments sent out", "Tcp.OutSegs"),
    ("segments send out", "Tcp.OutSegs"),
    ("segments retransmited", "Tcp.RetransSegs"),
    ("segments retransmitted", "Tcp.RetransSegs"),
    ("bad segments received", "Tcp.InErrs"),
    ("active connection openings", "Tcp.ActiveOpens"),
    ("active connections openings", "Tcp.ActiveOpens"),
    ("passive connection openings", "Tcp.PassiveOpens"),
    ("failed connection attempts", "Tcp.AttemptFails"),
    ("times the listen queue of a socket overflowed", "TcpExt.ListenOverflows"),
    ("SYNs to LISTEN sockets dropped", "TcpExt.ListenDrops"),
    ("SYNs to LISTEN sockets ignored", "TcpExt.ListenDrops"),
    ("packets pruned from receive queue because of socket buffer overrun", "TcpExt.PruneCalled"),
    ("packets pruned from receive queue", "TcpExt.RcvPruned"),
    ("packets dropped from out-of-order queue because of socket buffer overrun", "TcpExt.OfoPruned"),
    ("packets collapsed in receive queue", "TcpExt.TCPRcvCollapsed"),
    ("other TCP timeouts", "TcpExt.TCPTimeouts"),
    ("timeouts after SACK recovery", "TcpExt.TCPSackFailures"),
    ("retransmits lost", "TcpExt.TCPLostRetransmit"),
    ("retransmits in slow start", "TcpExt.TCPSlowStartRetrans"),
    ("fast retransmits", "TcpExt.TCPFastRetrans"),
    ("DSACKs received", "TcpExt.TCPDSACKRecv"),
    ("DSACKs for out of order packets received", "TcpExt.TCPDSACKOfoRecv"),
    ("DSACKs sent for old packets", "TcpExt.TCPDSACKOldSent"),
    ("packet receive errors", "Udp.InErrors"),
    ("receive buffer errors", "Udp.RcvbufErrors"),
    ("packets to unknown port received", "Udp.NoPorts"),
    // Windows.
    ("Segments Received", "Tcp.InSegs"),
    ("Segments Sent", "Tcp.OutSegs"),
    ("Segments Retransmitted", "Tcp.RetransSegs"),
    // macOS and FreeBSD.
    ("retransmit timeouts", "TcpExt.TCPTimeouts"),
    ("listen queue overflow", "TcpExt.ListenOverflows"),
    ("dropped due to full socket buffers", "Udp.RcvbufErrors"),
];

pub(super) fn looks(text: &Text<'_>) -> Vec<Look> {
    let mut reader = Reader { looks: vec![Look::default()], ..Reader::default() };
    // Without -a, nstat prints its counts since its last call.
    let absolute = ["nstat -a", "nstat -za", "nstat -sa", "nstat -saz", "nstat -asz"]
        .iter()
        .any(|command| text.all().contains(command));
    for line in text.lines() {
        reader.line(line, absolute);
    }
    reader.looks.retain(|look| look.counts.len() >= LEAST || look.counts.keys().any(|name| is_telling(name)));
    reader.looks
}

/// Names that no other text has.
fn is_telling(name: &str) -> bool {
    name.starts_with("TcpExt.") || name.ends_with("RetransSegs") || name.ends_with("RcvbufErrors")
}

#[derive(Default)]
struct Reader {
    looks: Vec<Look>,
    /// The latest line of names of `/proc/net/netstat`; the line of values follows it.
    names: Option<(String, Vec<String>)>,
    /// The section of `netstat -s`.
    section: String,
}

impl Reader {
    fn line(&mut self, line: &str, absolute: bool) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        if let Some(rest) = trimmed.strip_suffix(':').filter(|rest| !rest.contains(' ')) {
            self.section = rest.to_ascii_lowercase();
            return;
        }
        if let Some((group, rest)) = trimmed.split_once(": ").filter(|(group, _)| GROUPS.contains(group)) {
            self.pairs(group, rest);
            return;
        }
        if self.nstat(trimmed, absolute) || self.sentence(trimmed) {
            return;
        }
        if let Some(time) = text::time(trimmed).filter(|_| trimmed.len() < 80) {
            self.next(Some(time));
        }
    }

    fn next(&mut self, time: Option<f64>) {
        let has_room = self.looks.len() < LOOKS;
        match self.looks.last_mut() {
            Some(look) if look.counts.is_empty() => look.time = time.or(look.time),
            _ if has_room => self.looks.push(Look { time, ..Look::default() }),
            _ => {}
        }
    }

    fn add(&mut self, name: String, value: f64) {
        if self.looks.last().is_some_and(|look| look.counts.contains_key(&name)) {
            self.next(None);
        }
        if let Some(look) = self.looks.last_mut().filter(|look| look.counts.len() < 2_000) {
            look.counts.insert(name, value);
        }
    }

    /// A line of names, then one of values (`/proc/net/netstat`).
    fn pairs(&mut self, group: &str, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let is_names = words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
        if is_names {
            self.names = Some((group.to_owned(), words.iter().map(|word| (*word).to_owned()).collect()));
            return;
        }
        let Some((_, names)) = self.names.take_if(|(of, _)| of == group) else { return };
        for (name, value) in names.iter().zip(words) {
            if let Some(value) = text::whole(value) {
                self.add(format!("{group}.{name}"), value as f64);
            }
        }
    }

    /// `TcpExtListenDrops   12   0.0`.
    fn nstat(&mut self, line: &str, absolute: bool) -> bool {
        let mut words = line.split_whitespace();
        let (Some(name), Some(value)) = (words.next(), words.next().and_then(text::whole)) else { return false };
        let has_rate = words.next().is_none_or(|rate| text::number(rate).is_some()) && words.next().is_none();
        let Some(group) = GROUPS.iter().find(|group| name.len() > group.len() && name.starts_with(**group)) else {
            return false;
        };
        if !has_rate || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return false;
        }
        self.add(format!("{group}.{}", &name[group.len()..]), value as f64);
        if let Some(look) = self.looks.last_mut() {
            look.relative = !absolute;
        }
        true
    }

    /// A line of `netstat -s`.
    fn sentence(&mut self, line: &str) -> bool {
        // `    TCPLossProbes: 53219`, `  Segments Sent  = 12`.
        if let Some((name, value)) = line.split_once([':', '=']) {
            let name = name.trim();
            let Some(value) = text::whole(value.trim()) else { return false };
            if let Some((_, counter)) = SENTENCES.iter().find(|(sentence, _)| *sentence == name) {
                self.add((*counter).to_owned(), value as f64);
                return true;
            }
            let is_name = name.starts_with("TCP") && name.chars().all(|c| c.is_ascii_alphanumeric());
            let is_udp = self.section == "udp" && matches!(name, "RcvbufErrors" | "InErrors" | "InCsumErrors");
            let is_tcp = self.section == "tcp" && name == "InCsumErrors";
            let group = if is_name {
                "TcpExt"
            } else if is_udp {
                "Udp"
            } else if is_tcp {
                "Tcp"
            } else {
                return false;
            };
            self.add(format!("{group}.{name}"), value as f64);
            return true;
        }
        let Some((value, rest)) =
            line.split_once(' ').and_then(|(value, rest)| Some((text::whole(value)?, rest.trim())))
        else {
            return false;
        };
        let udp = self.section.starts_with("udp");
        let name = match rest {
            "packets received" if udp => "Udp.InDatagrams",
            "packets sent" if udp => return true,
            "packets sent" if self.section == "tcp" => "Tcp.OutSegs",
            "packets received" if self.section == "tcp" => "Tcp.InSegs",
            _ if rest.starts_with("data packets") && rest.ends_with("retransmitted") => "Tcp.RetransSegs",
            _ => match SENTENCES.iter().find(|(sentence, _)| rest.starts_with(sentence)) {
                Some((_, name)) => name,
                None => return false,
            },
        };
        self.add(name.to_owned(), value as f64);
        true
    }
}

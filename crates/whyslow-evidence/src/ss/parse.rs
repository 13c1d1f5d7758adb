//! Reads `ss`' text as a stream of words, because mails break its lines anywhere.

use crate::report::Source;
use crate::text::{self, Text};
use std::collections::BTreeMap;

/// The tool.
pub(crate) const SOURCE: Source = Source::new("ss");

/// Maximum number of sockets of a text.
const MOST: usize = 100_000;
/// Maximum number of values that are kept of a socket: `ss` has about 60.
const VALUES: usize = 100;

const STATES: &[&str] = &[
    "ESTAB",
    "SYN-SENT",
    "SYN-RECV",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "UNCONN",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
];

/// A look at all sockets.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub time: Option<f64>,
    pub sockets: Vec<Socket>,
}

/// A socket as `ss` prints it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Socket {
    pub state: String,
    pub recv_q: Option<f64>,
    pub send_q: Option<f64>,
    pub local: String,
    pub remote: String,
    /// Flags: `ts`, `sack`, `app_limited`, the congestion control.
    pub flags: Vec<String>,
    /// `key:value` and `key value`.
    pub values: BTreeMap<String, String>,
}

impl Socket {
    fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Whether the kernel's figures are there (`-i`, and not in TIME-WAIT).
    pub(crate) fn has_info(&self) -> bool {
        self.has("cwnd") || self.has("rto")
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    /// The number that a value begins with.
    pub(crate) fn get(&self, key: &str) -> Option<f64> {
        text::number(self.values.get(key)?).map(|(value, _)| value)
    }

    /// The part after the slash of `rtt:A/B`, `retrans:A/B`.
    pub(crate) fn second(&self, key: &str) -> Option<f64> {
        text::number(self.values.get(key)?.split_once('/')?.1).map(|(value, _)| value)
    }

    /// A time with its unit, seconds; without a unit milliseconds.
    pub(crate) fn seconds(&self, key: &str) -> Option<f64> {
        let (value, unit) = text::number(self.values.get(key)?)?;
        let unit = unit.split(['(', '/']).next()?;
        Some(match unit {
            "s" | "sec" => value,
            "us" => value / 1e6,
            "min" => value * 60.0,
            _ => value / 1e3,
        })
    }

    /// A rate, bits per second: of `a/b` the first.
    pub(crate) fn rate(&self, key: &str) -> Option<f64> {
        self.rate_of(self.values.get(key)?.split('/').next()?)
    }

    /// The second rate of `a/b`.
    pub(crate) fn second_rate(&self, key: &str) -> Option<f64> {
        self.rate_of(self.values.get(key)?.split_once('/')?.1)
    }

    #[expect(clippy::unused_self, reason = "it reads like the others")]
    fn rate_of(&self, value: &str) -> Option<f64> {
        let (value, unit) = text::number(value)?;
        Some(text::scaled(value, unit, 1000.0))
    }

    /// `on`, `persist`, …, and how often it ran out.
    pub(crate) fn timer(&self) -> Option<(&str, f64)> {
        let inner = self.values.get("timer")?.trim_matches(['(', ')']);
        let mut parts = inner.split(',');
        let kind = parts.next()?;
        Some((kind, parts.nth(1).and_then(|row| text::number(row)).map_or(0.0, |(row, _)| row)))
    }

    /// A part of `skmem:(r0,rb131072,…)`.
    pub(crate) fn memory(&self, part: &str) -> Option<f64> {
        let inner = self.values.get("skmem").or_else(|| self.values.get("mem"))?.trim_matches(['(', ')']);
        inner.split(',').find_map(|word| {
            let digits = word.strip_prefix(part)?;
            text::whole(digits).map(|value| value as f64)
        })
    }
}

/// All looks of a text; empty if it is not of `ss`.
pub(crate) fn looks(text: &Text<'_>) -> Vec<Look> {
    // Both fields are in every line of `ss -i`, and in no other text.
    let all = text.all();
    let is_ss = all.contains("cwnd:") && (all.contains("rto:") || all.contains("rtt:"))
        || all.contains("Recv-Q")
            && all.contains("Send-Q")
            && (all.contains("Address:Port") || STATES.iter().any(|state| all.contains(state)));
    if !is_ss {
        return Vec::new();
    }
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    if reader.looks.iter().any(|look| !look.sockets.is_empty()) {
        reader.looks.retain(|look| !look.sockets.is_empty());
    }
    reader.looks
}

#[derive(Default)]
struct Reader {
    looks: Vec<Look>,
    count: usize,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let is_info = line.contains("cwnd:") || line.contains("rto:") || line.contains(" mss:");
        if !is_info && let Some(time) = text::time(line) {
            self.next_look(Some(time));
            if line.split_whitespace().count() < 12 {
                return;
            }
        }
        if line.contains("Recv-Q") && line.contains("Send-Q") {
            self.next_look(None);
            return;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut at = 0;
        while at < words.len() {
            at += self.word(&words[at..]);
        }
    }

    fn next_look(&mut self, time: Option<f64>) {
        match self.looks.last_mut() {
            Some(last) if last.sockets.is_empty() => last.time = time.or(last.time),
            _ => self.looks.push(Look { time, sockets: Vec::new() }),
        }
    }

    fn start(&mut self, socket: Socket) {
        if self.looks.is_empty() {
            self.looks.push(Look::default());
        }
        self.count += 1;
        if let Some(look) = self.looks.last_mut().filter(|_| self.count <= MOST) {
            look.sockets.push(socket);
        }
    }

    fn current(&mut self) -> Option<&mut Socket> {
        self.looks.last_mut()?.sockets.last_mut()
    }

    /// Takes the first words; returns how many.
    fn word(&mut self, words: &[&str]) -> usize {
        let state = STATES.contains(&words[0]);
        let rest = if state { &words[1..] } else { words };
        if let [recv, send, local, ..] = rest
            && let (Some(recv), Some(send)) = (text::whole(recv), text::whole(send))
            && is_address(local)
        {
            let remote = rest.get(3).filter(|word| is_address(word)).copied().unwrap_or_default();
            let socket = Socket {
                state: if state { words[0].to_owned() } else { "ESTAB".to_owned() },
                recv_q: Some(recv as f64),
                send_q: Some(send as f64),
                local: (*local).to_owned(),
                remote: remote.to_owned(),
                ..Socket::default()
            };
            self.start(socket);
            return usize::from(state) + 3 + usize::from(!remote.is_empty());
        }
        self.value(words)
    }

    fn value(&mut self, words: &[&str]) -> usize {
        let word = words[0].trim_start_matches('<').trim_end_matches('>');
        if let Some((key, value)) = word.split_once(':')
            && !key.is_empty()
            && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        {
            // A second value of what a line has once is another connection.
            let again = matches!(key, "rto" | "cwnd" | "rtt") && self.current().is_none_or(|socket| socket.has(key));
            if again {
                self.start(Socket { state: "ESTAB".to_owned(), ..Socket::default() });
            }
            self.set(key, value);
            return 1;
        }
        if matches!(word, "send" | "pacing_rate" | "delivery_rate" | "max_pacing_rate")
            && words.get(1).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.set(word, words[1]);
            return 2;
        }
        // A peer whose line was broken before it.
        if is_address(word) && self.current().is_some_and(|socket| socket.remote.is_empty() && !socket.has("rto")) {
            if let Some(socket) = self.current() {
                word.clone_into(&mut socket.remote);
            }
            return 1;
        }
        let is_flag = word.len() < 24 && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if let Some(socket) = self.current().filter(|socket| is_flag && socket.flags.len() < VALUES) {
            socket.flags.push(word.to_owned());
        }
        1
    }

    fn set(&mut self, key: &str, value: &str) {
        if let Some(socket) = self.current().filter(|socket| socket.values.len() < VALUES) {
            socket.values.entry(key.to_owned()).or_insert_with(|| value.trim_end_matches(',').to_owned());
        }
    }
}

/// `192.0.2.1:443`, `[::1]:22`, `*:80`, `192.0.2.1%eth0:http`.
fn is_address(word: &str) -> bool {
    word.rsplit_once(':').is_some_and(|(host, port)| {
        let is_host = host == "*" || host.contains('.') || host.contains(':') || host.starts_with('[');
        is_host && !port.is_empty() && port.chars().all(|c| c.is_ascii_alphanumeric() || c == '*' || c == '-')
    })
}

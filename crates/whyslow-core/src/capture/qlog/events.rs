//! [`Log`]: what the events of a qlog say, as records.

use super::frames::{headers, number, write};
use super::record::{Record, Space};
use serde_json::Value;
use std::collections::HashMap;
use whyslow_analysis::types::TransportParameters;
use whyslow_units::Time;

/// Maximum number of connections of a log: each has a port of its own.
const MAX_CONNECTIONS: usize = 4_096;
/// Maximum number of records that wait until it is known whose log it is.
const MAX_WAITING: usize = 16;

/// A record, and whose.
#[derive(Debug)]
pub(super) struct Out<'a> {
    pub(super) connection: u16,
    pub(super) from_client: bool,
    pub(super) time: Time,
    pub(super) record: Record<'a>,
}

type Give<'a> = &'a mut dyn FnMut(Out<'_>);

/// The meaning of its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TimeFormat {
    /// Since the epoch, or since the reference time.
    #[default]
    Whole,
    /// Since the event before.
    Delta,
}

/// All traces of a log.
#[derive(Debug, Default)]
pub(super) struct Log {
    trace: u64,
    connections: HashMap<(u64, String), Connection>,
    /// The connection of events that name none.
    common: Option<String>,
    format: TimeFormat,
    reference: f64,
    last: f64,
    /// The log's times are not since the epoch.
    relative: bool,
    local_is_client: Option<bool>,
}

#[derive(Debug)]
struct Connection {
    number: u16,
    local_is_client: Option<bool>,
    waiting: Vec<(bool, Event)>,
    /// The last packet: its heads are reported after it.
    held: Option<(bool, Time, Packet)>,
    /// Whether the next bytes are HTTP/3.
    is_http3: bool,
}

#[derive(Debug)]
enum Event {
    Parameters(TransportParameters),
    Alpn(String),
}

#[derive(Debug)]
struct Packet {
    space: Space,
    number: u64,
    frames: Vec<u8>,
}

impl Log {
    pub(super) fn is_relative(&self) -> bool {
        self.relative
    }

    /// The next events belong to another trace.
    pub(super) fn begin_trace(&mut self, give: Give<'_>) {
        self.flush(give);
        *self = Self { trace: self.trace + 1, relative: self.relative, ..std::mem::take(self) };
        (self.common, self.format, self.local_is_client) = (None, TimeFormat::Whole, None);
        (self.reference, self.last) = (0.0, 0.0);
    }

    pub(super) fn finish(&mut self, give: Give<'_>) {
        self.flush(give);
    }

    fn flush(&mut self, give: Give<'_>) {
        let mut all: Vec<&mut Connection> = self.connections.values_mut().collect();
        all.sort_by_key(|one| one.number);
        all.into_iter().for_each(|one| one.flush(give));
    }

    /// Takes an object of the log. Returns how many frames in it were not understood.
    pub(super) fn take(&mut self, value: &Value, give: Give<'_>) -> u64 {
        let name = value.get("name").and_then(Value::as_str);
        let (Some(name), Some(data)) = (name, value.get("data")) else {
            self.fields(value);
            return 0;
        };
        let Some(time) = value.get("time").and_then(Value::as_f64) else { return 0 };
        let time = self.time(time);
        let (category, event) = name.rsplit_once(':').unwrap_or(("", name));
        let Some(connection) = self.connection(value) else { return 0 };
        let is_http = category.starts_with("http") || category.starts_with("h3");
        if is_http {
            connection.is_http3(time, give);
        }
        match event {
            "parameters_set" if !is_http => {
                connection.parameters(data, time, give);
                0
            }
            "alpn_information" => {
                connection.alpn(data, time, give);
                0
            }
            "packet_sent" | "packet_received" => connection.packet(data, event == "packet_sent", time, give),
            "frame_created" | "frame_parsed" if is_http => {
                connection.http(data, event == "frame_created", time, give);
                0
            }
            _ => 0,
        }
    }

    /// Fields of a trace, or the first record of a sequence, which holds them.
    fn fields(&mut self, value: &Value) {
        let trace = value.get("trace").unwrap_or(value);
        let point = trace.get("vantage_point").unwrap_or(trace);
        if let Some(kind) = point.get("type").and_then(Value::as_str) {
            self.local_is_client = match kind {
                "client" => Some(true),
                "server" => Some(false),
                _ => self.local_is_client,
            };
        }
        let common = trace.get("common_fields").unwrap_or(trace);
        if let Some(id) = group_of(common) {
            self.common = Some(id);
        }
        match common.get("time_format").and_then(Value::as_str) {
            Some("delta" | "relative_to_previous_event") => self.format = TimeFormat::Delta,
            Some(_) => self.format = TimeFormat::Whole,
            None => {}
        }
        if let Some(reference) = common.get("reference_time") {
            let epoch = reference.get("epoch").unwrap_or(reference);
            self.reference = epoch.as_f64().or_else(|| epoch.as_str()?.parse().ok()).unwrap_or(self.reference);
        }
    }

    fn time(&mut self, given: f64) -> Time {
        let whole = match self.format {
            TimeFormat::Whole => given,
            TimeFormat::Delta => self.last + given,
        };
        self.last = if whole.is_finite() { whole } else { 0.0 };
        let whole = self.last + self.reference;
        // No log is as old as the first year of the epoch.
        self.relative |= whole < 31_536_000_000.0;
        time_of(whole)
    }

    fn connection(&mut self, event: &Value) -> Option<&mut Connection> {
        let id = group_of(event).or_else(|| self.common.clone()).unwrap_or_default();
        let (key, next) = ((self.trace, id), self.connections.len());
        if next >= MAX_CONNECTIONS && !self.connections.contains_key(&key) {
            return None;
        }
        let local_is_client = self.local_is_client;
        Some(self.connections.entry(key).or_insert_with(|| Connection {
            number: next as u16,
            local_is_client,
            waiting: Vec::new(),
            held: None,
            is_http3: false,
        }))
    }
}

/// The latest time that is read, milliseconds: the end of what a pcap file can say (2106).
const LATEST: f64 = 4_294_967_295_000.0;

/// Milliseconds of a log.
fn time_of(milliseconds: f64) -> Time {
    Time((milliseconds.clamp(0.0, LATEST) * 1e6) as i64)
}

fn group_of(value: &Value) -> Option<String> {
    let id = ["group_id", "ODCID"].iter().find_map(|name| value.get(name))?;
    id.as_str().map(|id| id.chars().take(64).collect())
}

impl Connection {
    fn give(&self, is_local: bool, time: Time, record: Record<'_>, give: Give<'_>) {
        let from_client = self.local_is_client.unwrap_or(true) == is_local;
        give(Out { connection: self.number, from_client, time, record });
    }

    /// Gives what waited for the events behind it.
    fn flush(&mut self, give: Give<'_>) {
        if let Some((is_local, time, packet)) = self.held.take() {
            let Packet { space, number, frames } = &packet;
            self.give(is_local, time, Record::Packet { space: *space, number: *number, frames }, give);
        }
    }

    fn say(&mut self, is_local: bool, event: Event, time: Time, give: Give<'_>) {
        let Some(local_is_client) = self.local_is_client else {
            if self.waiting.len() < MAX_WAITING {
                self.waiting.push((is_local, event));
            }
            return;
        };
        match event {
            Event::Parameters(offered) => {
                let is_client = local_is_client == is_local;
                self.give(is_local, time, Record::Parameters { is_client, offered }, give);
            }
            Event::Alpn(name) => self.give(is_local, time, Record::Alpn(&name), give),
        }
    }

    fn parameters(&mut self, data: &Value, time: Time, give: Give<'_>) {
        let owner = data.get("initiator").or_else(|| data.get("owner")).and_then(Value::as_str);
        let field = |name: &str| data.get(name).and_then(number);
        let offered = TransportParameters {
            initial_max_data: field("initial_max_data"),
            initial_max_stream_data_bidi_local: field("initial_max_stream_data_bidi_local"),
            initial_max_stream_data_bidi_remote: field("initial_max_stream_data_bidi_remote"),
            initial_max_stream_data_uni: field("initial_max_stream_data_uni"),
            max_idle_timeout_ms: field("max_idle_timeout"),
            max_udp_payload_size: None,
        };
        let is_local = match owner {
            Some("local") => true,
            Some("remote") => false,
            _ => return,
        };
        self.say(is_local, Event::Parameters(offered), time, give);
    }

    fn alpn(&mut self, data: &Value, time: Time, give: Give<'_>) {
        let text = |value: &Value| {
            let name = value.as_str().or_else(|| value.get("string_value")?.as_str())?;
            Some(name.chars().take(64).collect::<String>())
        };
        let first = |name: &str| data.get(name)?.as_array()?.iter().find_map(text);
        let chosen = data.get("chosen_alpn").and_then(text).or_else(|| first("client_alpns"));
        if let Some(name) = chosen {
            self.is_http3 |= name.starts_with("h3");
            self.say(true, Event::Alpn(name), time, give);
        }
    }

    /// An event of HTTP/3 shows what the application is, where none names it.
    fn is_http3(&mut self, time: Time, give: Give<'_>) {
        if !std::mem::replace(&mut self.is_http3, true) {
            self.say(true, Event::Alpn("h3".to_owned()), time, give);
        }
    }

    fn packet(&mut self, data: &Value, is_local: bool, time: Time, give: Give<'_>) -> u64 {
        self.flush(give);
        let header = data.get("header").unwrap_or(data);
        let kind = header.get("packet_type").or_else(|| data.get("packet_type")).and_then(Value::as_str);
        let kind = kind.unwrap_or("1RTT");
        // A client begins.
        self.local_is_client.get_or_insert(is_local);
        for (is_local, event) in std::mem::take(&mut self.waiting) {
            self.say(is_local, event, time, give);
        }
        let space = match kind {
            "initial" => Space::Initial,
            "handshake" => Space::Handshake,
            "retry" => {
                self.give(is_local, time, Record::Retry, give);
                return 0;
            }
            "0RTT" | "1RTT" => Space::Application,
            _ => return 0,
        };
        let Some(number) = header.get("packet_number").and_then(number) else { return 1 };
        let mut frames = Vec::new();
        let list = data.get("frames").and_then(Value::as_array);
        let unread = list.map_or(0, |list| write(list, &mut frames));
        self.held = Some((is_local, time, Packet { space, number, frames }));
        unread
    }

    fn http(&mut self, data: &Value, is_local: bool, time: Time, give: Give<'_>) {
        let Some(frame) = data.get("frame") else { return };
        let is_headers = frame.get("frame_type").and_then(Value::as_str) == Some("headers");
        let fields = frame.get("headers").and_then(Value::as_array).filter(|_| is_headers);
        let (Some(fields), Some(stream)) = (fields, data.get("stream_id").and_then(number)) else { return };
        // The packet that brought it waits; one that the end sends next carries it.
        let time = if is_local { time } else { self.held.as_ref().map_or(time, |held| held.1) };
        if is_local {
            self.flush(give);
        }
        self.give(is_local, time, Record::Headers { stream, frame: &headers(fields) }, give);
    }
}

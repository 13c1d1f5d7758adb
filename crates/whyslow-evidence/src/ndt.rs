//! M-Lab's NDT7 results and tcp-info snapshots: the kernel's account of the server, in JSON.

use crate::evidence::Evidence;
use crate::json;
use crate::report::{Limitation, Source, Subject};
use crate::ss::judge;
use crate::ss::parse::{Look, Socket};
use crate::text::Text;
use serde_json::{Map, Value};

/// NDT7's JSON, one line or many, and tcp-info's lines.
pub(crate) struct Ndt;

/// The tool.
pub(crate) const SOURCE: Source = Source::new("ndt7");

/// Maximum number of snapshots of a text.
const SNAPSHOTS: usize = 100_000;

impl Evidence for Ndt {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::ServerKernel]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let all = text.all();
        if !all.contains("\"TCPInfo\"") {
            return Vec::new();
        }
        let (ends, mut snapshots) = (ends(all), Vec::new());
        let mut is_cut = false;
        for test in all.split("\"ServerMeasurements\"").skip(1) {
            let (list, whole) = json::list::<Value>(&format!("\"ServerMeasurements\"{test}"), "ServerMeasurements");
            is_cut |= !whole;
            snapshots.extend(list);
        }
        if snapshots.is_empty() {
            let lines = text.lines().filter(|line| line.contains("\"TCPInfo\""));
            snapshots = lines.filter_map(|line| serde_json::from_str(line.trim()).ok()).take(SNAPSHOTS).collect();
        }
        let looks: Vec<Look> = snapshots
            .iter()
            .filter_map(|one| {
                let (info, place) = (find(one, "TCPInfo", 4)?, place(one).or_else(|| ends.clone())?);
                let at = info.get("ElapsedTime").and_then(Value::as_f64).map(|us| us / 1e6);
                // Without a clock the order alone is known.
                let time = at.or_else(|| timestamp(one));
                Some(Look { time, sockets: vec![socket(info, place)] })
            })
            .collect();
        let mut subjects = judge::subjects(&looks);
        for subject in &mut subjects {
            subject.source = SOURCE;
            if is_cut {
                subject.gaps.push(Limitation::Cut);
            }
        }
        subjects
    }
}

/// Finds the object with this name at any depth.
fn find<'a>(value: &'a Value, name: &str, depth: usize) -> Option<&'a Map<String, Value>> {
    let object = value.as_object()?;
    if let Some(found) = object.get(name).and_then(Value::as_object) {
        return Some(found);
    }
    if depth == 0 {
        return None;
    }
    object.values().find_map(|inner| find(inner, name, depth - 1))
}

/// Server's and client's address and port: of NDT7's `ConnectionInfo`, or of the kernel's identity
/// of the socket.
fn place(one: &Value) -> Option<(String, String)> {
    if let Some(info) = find(one, "ConnectionInfo", 3) {
        let text = |name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
        return text("Server").zip(text("Client"));
    }
    let id = find(one, "ID", 4).or_else(|| find(one, "SockID", 4))?;
    let text = |names: [&str; 2]| {
        names.iter().find_map(|name| {
            let value = id.get(*name)?;
            value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
        })
    };
    let end = |address: Option<String>, port: Option<String>| Some(format!("[{}]:{}", address?, port?));
    let local = end(text(["IDiagSrc", "SrcIP"]), text(["IDiagSPort", "SPort"]))?;
    Some((local, end(text(["IDiagDst", "DstIP"]), text(["IDiagDPort", "DPort"]))?))
}

/// The ends that NDT7 names once for a result.
fn ends(text: &str) -> Option<(String, String)> {
    let value = |name: &str| {
        let quoted = format!("\"{name}\"");
        let rest = text[text.find(&quoted)? + quoted.len()..].trim_start().strip_prefix(':')?.trim_start();
        let end = rest.find([',', '}', '\n'])?;
        Some(rest[..end].trim().trim_matches('"').to_owned()).filter(|word| word.len() < 64)
    };
    let end = |address: Option<String>, port: Option<String>| Some(format!("[{}]:{}", address?, port?));
    Some((end(value("ServerIP"), value("ServerPort"))?, end(value("ClientIP"), value("ClientPort"))?))
}

fn timestamp(one: &Value) -> Option<f64> {
    crate::text::time(one.as_object()?.get("Timestamp")?.as_str()?)
}

/// The same as `ss` would print it.
fn socket(info: &Map<String, Value>, (local, remote): (String, String)) -> Socket {
    let mut socket = Socket { state: "ESTAB".to_owned(), local, remote, ..Socket::default() };
    let number = |name: &str| info.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0 && *value < 1e18);
    let mut set = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            socket.values.insert(key.to_owned(), value);
        }
    };
    let plain = |name: &str| number(name).map(|value| format!("{value:.0}"));
    let milliseconds = |name: &str| number(name).map(|us| format!("{:.3}", us / 1e3));
    let spent = |name: &str| number(name).filter(|us| *us > 0.0).map(|us| format!("{:.0}ms", us / 1e3));
    let bits = |name: &str| {
        number(name).filter(|bytes| *bytes > 0.0 && *bytes < 1e12).map(|bytes| format!("{:.0}bps", bytes * 8.0))
    };
    set("rto", milliseconds("RTO"));
    set("rtt", milliseconds("RTT"));
    // The kernel has all ones before the first sample.
    set("minrtt", number("MinRTT").filter(|us| *us < 4e9).map(|us| format!("{:.3}", us / 1e3)));
    set("mss", plain("SndMSS"));
    set("cwnd", plain("SndCwnd"));
    // 0x7fffffff is "never set".
    set("ssthresh", number("SndSsThresh").filter(|segments| *segments < 2e9).map(|segments| format!("{segments:.0}")));
    set("bytes_acked", plain("BytesAcked"));
    set("bytes_sent", plain("BytesSent"));
    set("bytes_received", plain("BytesReceived"));
    set("segs_out", plain("SegsOut"));
    set("data_segs_out", plain("DataSegsOut"));
    set("retrans", number("TotalRetrans").filter(|count| *count > 0.0).map(|count| format!("0/{count:.0}")));
    set("dsack_dups", plain("DSackDups"));
    set("unacked", plain("Unacked"));
    set("notsent", plain("NotsentBytes"));
    set("backoff", number("Backoff").filter(|count| *count > 0.0).map(|count| format!("{count:.0}")));
    set("busy", spent("BusyTime"));
    set("rwnd_limited", spent("RWndLimited"));
    set("sndbuf_limited", spent("SndBufLimited"));
    set("delivery_rate", bits("DeliveryRate"));
    set("pacing_rate", bits("PacingRate"));
    set("snd_wnd", plain("SndWnd"));
    set("lastsnd", plain("LastDataSent"));
    set("wscale", plain("WScale"));
    if number("AppLimited").is_some_and(|flag| flag > 0.0) {
        socket.flags.push("app_limited".to_owned());
    }
    // The kernel's options: timestamps, so that a missing scale is not taken for none.
    socket.values.entry("wscale".to_owned()).or_insert_with(|| "?".to_owned());
    socket
}

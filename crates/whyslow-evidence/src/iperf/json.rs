//! Reads iperf3's JSON (`-J`) and lines of it (`--json-stream`).

use super::measured::{Interval, Test};
use serde_json::Value;

/// Maximum number of intervals that are kept.
const INTERVALS: usize = 100_000;

pub(super) fn tests(text: &str) -> Vec<Test> {
    if !text.contains("\"intervals\"") && !text.contains("\"event\"") {
        return Vec::new();
    }
    // A prompt or a command may precede the first brace.
    let Some(start) = text.find('{') else { return Vec::new() };
    let mut tests = Vec::new();
    let mut stream = Value::Null;
    for value in serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>().map_while(Result::ok) {
        match value.get("event").and_then(Value::as_str) {
            Some("start") => stream = serde_json::json!({ "start": value["data"], "intervals": [] }),
            Some("interval") => {
                if let Some(intervals) = stream.get_mut("intervals").and_then(Value::as_array_mut) {
                    intervals.push(value["data"].clone());
                }
            }
            Some("end") => {
                if let Some(whole) = stream.as_object_mut() {
                    whole.insert("end".to_owned(), value["data"].clone());
                }
                tests.extend(test(&std::mem::take(&mut stream)));
            }
            Some(_) => {}
            None => tests.extend(test(&value)),
        }
    }
    tests.extend(test(&stream));
    tests
}

fn float(value: &Value, path: &str) -> Option<f64> {
    value.pointer(path)?.as_f64().filter(|value| value.is_finite() && *value >= 0.0)
}

fn interval(value: &Value) -> Option<Interval> {
    Some(Interval {
        seconds: float(value, "/seconds")?,
        bytes: float(value, "/bytes")?,
        bps: float(value, "/bits_per_second")?,
        retransmits: float(value, "/retransmits"),
        cwnd: float(value, "/snd_cwnd"),
        rtt_s: float(value, "/rtt").filter(|rtt| *rtt > 0.0).map(|us| us / 1e6),
    })
}

fn test(value: &Value) -> Option<Test> {
    let rows = value.get("intervals")?.as_array()?;
    let end = value.get("end").unwrap_or(&Value::Null);
    let host = value.pointer("/start/connecting_to/host").and_then(Value::as_str).unwrap_or_default();
    let is_kept = |row: &&Value| row.pointer("/sum/omitted").and_then(Value::as_bool) != Some(true);
    let intervals: Vec<Interval> = rows
        .iter()
        .filter(is_kept)
        .take(INTERVALS)
        .filter_map(|row| row.pointer("/streams/0").and_then(interval))
        .collect();
    let of = |path: &str| end.pointer(path).and_then(interval);
    let streams = end.get("streams").and_then(Value::as_array).map(Vec::len);
    let streams = streams.or_else(|| value.pointer("/start/connected")?.as_array().map(Vec::len)).unwrap_or(1);
    let mut rtts: Vec<f64> = intervals.iter().filter_map(|one| one.rtt_s).collect();
    rtts.sort_by(f64::total_cmp);
    let rtt_s = float(end, "/streams/0/sender/mean_rtt").filter(|rtt| *rtt > 0.0).map(|us| us / 1e6);
    let udp = value.pointer("/start/test_start/protocol").and_then(Value::as_str) == Some("UDP");
    let lost = float(end, "/sum/lost_packets").zip(float(end, "/sum/packets"));
    (!intervals.is_empty() || of("/sum_sent").is_some() || lost.is_some()).then(|| Test {
        name: host.to_owned(),
        udp,
        streams,
        sent: of("/sum_sent").or_else(|| of("/sum")),
        received: of("/sum_received").filter(|sum| sum.bytes > 0.0),
        lost: lost.filter(|_| udp),
        rtt_s: rtt_s.or_else(|| rtts.get(rtts.len() / 2).copied()),
        least_rtt_s: float(end, "/streams/0/sender/min_rtt")
            .filter(|rtt| *rtt > 0.0)
            .map(|us| us / 1e6)
            .or(rtts.first().copied()),
        cpu: [float(end, "/cpu_utilization_percent/host_total"), float(end, "/cpu_utilization_percent/remote_total")],
        intervals,
    })
}

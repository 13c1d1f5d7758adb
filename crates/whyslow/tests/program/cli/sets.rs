//! Several inputs: parts of one capture, and captures of one thing from two places.

use crate::pcap::{self, Packet};
use crate::{Folder, json};
use serde_json::Value;
use std::path::PathBuf;

const START: u64 = 1_700_000_000_000_000;

/// Six downloads that overlap, 700 ms apart.
fn whole() -> Vec<Packet> {
    pcap::merged((0..6).map(|n| pcap::slow_on(40_000 + n, START + 700_000 * u64::from(n))))
}

/// The connections and findings without what must differ: which frame of which file.
fn without_frames(mut analysis: Value) -> (Value, Value) {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !["frames", "first_frame", "last_frame", "capture"].contains(&name.as_str()));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut analysis["connections"]);
    strip(&mut analysis["findings"]);
    (analysis["connections"].take(), analysis["findings"].take())
}

fn paths(analysis: &Value) -> Vec<String> {
    let captures = analysis["captures"].as_array().unwrap();
    captures.iter().map(|c| c["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect()
}

#[test]
fn a_capture_in_parts_gives_the_result_of_the_whole() {
    let folder = Folder::new();
    let packets = whole();
    let expected = json(&[folder.put("whole.pcap", &pcap::file(&packets))]);
    assert_eq!(expected["connections"].as_array().unwrap().len(), 6);
    let expected = without_frames(expected);

    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for run in 0..8 {
        let mut cuts: Vec<_> = (0..=run).map(|_| random(packets.len())).collect();
        cuts.extend([0, packets.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut files: Vec<PathBuf> = cuts
            .windows(2)
            .enumerate()
            .map(|(n, cut)| folder.put(format!("run{run}-{n:05}.pcap"), &pcap::file(&packets[cut[0]..cut[1]])))
            .collect();
        // Whatever their order on the command line.
        for place in (1..files.len()).rev() {
            files.swap(place, random(place + 1));
        }
        let parts = json(&files);
        let mut sorted = paths(&parts);
        sorted.sort();
        assert_eq!(paths(&parts), sorted, "read in the order of time");
        assert_eq!(without_frames(parts), expected, "run {run}, cut at {cuts:?}");
    }
}

#[test]
fn frames_of_several_files_have_the_file_in_front() {
    let folder = Folder::new();
    let packets = whole();
    let (first, second) = packets.split_at(packets.len() / 2);
    let parts = json(&[folder.put("a1.pcap", &pcap::file(first)), folder.put("a2.pcap", &pcap::file(second))]);
    let mut frames = Vec::new();
    for connection in parts["connections"].as_array().unwrap() {
        for transfer in connection["transfers"].as_array().unwrap() {
            for round in transfer["rounds"].as_array().unwrap() {
                frames.push(round["first_frame"].as_str().unwrap().to_owned());
            }
        }
    }
    for (file, length) in [("1:", first.len()), ("2:", second.len())] {
        let numbers: Vec<usize> =
            frames.iter().filter_map(|frame| frame.strip_prefix(file)).map(|n| n.parse().unwrap()).collect();
        assert!(!numbers.is_empty() && numbers.iter().all(|&n| (1..=length).contains(&n)), "{file} {numbers:?}");
    }
}

#[test]
fn two_vantage_points_are_kept_apart() {
    let folder = Folder::new();
    let client = pcap::slow();
    // The other end sees the same packets; once at nearly the same time, and once by a clock that
    // is a day behind.
    for shift in [50_000, 86_400_000_000] {
        let server: Vec<_> =
            client.iter().map(|packet| Packet { time: packet.time - shift, bytes: packet.bytes.clone() }).collect();
        let files = [folder.put("client.pcap", &pcap::file(&client)), folder.put("server.pcap", &pcap::file(&server))];
        let both = json(&files);
        assert_eq!(paths(&both), ["server.pcap", "client.pcap"]);
        let ids: Vec<_> = both["connections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| (c["id"].as_u64().unwrap(), c["capture"].as_u64().unwrap()))
            .collect();
        assert_eq!(ids, [(1, 0), (2, 1)]);
        let alone = without_frames(json(&files[..1])).0;
        assert_eq!(without_frames(both).0[1]["transfers"], alone[0]["transfers"]);
    }
}

//! Compares with tshark's facts about real captures. They are not part of the project; without them
//! these tests do nothing.

use super::*;
use std::collections::BTreeMap;

/// Address and port of sender and receiver.
type Flow = (Vec<u8>, u16, Vec<u8>, u16);

/// The content of each direction in the first `snap` bytes of each packet. Supports only the forms
/// of pcap (little-endian, microseconds), Ethernet and IP in these files.
fn read(name: &str, snap: usize) -> Option<BTreeMap<Flow, Content>> {
    let file = std::fs::read(whyslow_testing::capture(name)?).unwrap();
    assert_eq!(file[..4], [0xd4, 0xc3, 0xb2, 0xa1]);
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let mut streams: BTreeMap<Flow, (Stream, u32)> = BTreeMap::new();
    let mut at = 24;
    while at < file.len() {
        let packet = &file[at + 16..at + 16 + word(at + 8)];
        at += 16 + packet.len();
        let short = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        let (src, dst, tcp, ip_end) = match short(12) {
            0x0800 if packet[23] == 6 => {
                (26..30, 30..34, 14 + usize::from(packet[14] & 15) * 4, 14 + usize::from(short(16)))
            }
            0x86dd if packet[20] == 6 => (22..38, 38..54, 54, 54 + usize::from(short(18))),
            _ => continue,
        };
        let flow = (packet[src].to_vec(), short(tcp), packet[dst].to_vec(), short(tcp + 2));
        let seq = u32::from_be_bytes(packet[tcp + 4..tcp + 8].try_into().unwrap());
        let data = tcp + usize::from(packet[tcp + 12] >> 4) * 4;
        let (stream, isn) = streams.entry(flow.clone()).or_insert_with(|| (Stream::default(), seq.wrapping_sub(1)));
        if packet[tcp + 13] & 2 != 0 {
            (*stream, *isn) = (Stream::default(), seq);
        }
        if ip_end > data {
            let relative = seq.wrapping_sub(*isn);
            let next = stream.next();
            let start = next.saturating_add_signed(i64::from(relative.wrapping_sub(next as u32) as i32));
            let captured = &packet[..ip_end.min(packet.len()).min(snap)];
            let captured = captured.get(data..).unwrap_or_default();
            stream.feed(start, (ip_end - data) as u64, captured);
            if stream.next() > next
                && let Some((other, _)) = streams.get_mut(&(flow.2, flow.3, flow.0, flow.1))
            {
                other.on_turn();
            }
        }
    }
    Some(streams.into_iter().map(|(flow, (stream, _))| (flow, stream.finish())).collect())
}

/// The direction from one port to another; each of these files has at most one.
fn direction(streams: &BTreeMap<Flow, Content>, from: u16, to: u16) -> &Content {
    streams.iter().find(|(flow, _)| (flow.1, flow.3) == (from, to)).map(|(_, content)| content).unwrap()
}

#[test]
fn small_records() {
    // Complete packets, and packets truncated to a snapshot length of 96.
    for snap in [usize::MAX, 96] {
        let Some(streams) = read("pku.cap", snap) else { return };
        let (client, server) = (direction(&streams, 60382, 443), direction(&streams, 443, 60382));
        assert_eq!(client.firsts, [(1, 308, 22), (308, 575, 22), (650, 943, 23)]);
        assert_eq!(client.first_application_data, Some((650, 943)));
        assert_eq!(server.firsts.first(), Some(&(1, 87, 22)));
        assert_eq!(server.firsts.last(), Some(&(3046, 4459, 23)));
        assert_eq!(server.first_application_data, Some((3046, 4459)));
        assert_eq!(client.server_name, None, "this client names no server");
        if snap == usize::MAX {
            assert_eq!((client.records, client.largest_record, client.handshake_end), (5, 307, Some(650)));
            assert_eq!((server.records, server.largest_record, server.handshake_end), (136, 13_733, Some(3046)));
            assert_eq!(server.second_application_data, Some(4459));
            assert_eq!(server.tls13, Some(false));
        }
    }
}

#[test]
fn records_of_16_kib() {
    let Some(streams) = read("thu.cap", usize::MAX) else { return };
    let (client, server) = (direction(&streams, 60402, 443), direction(&streams, 443, 60402));
    assert_eq!((client.records, client.handshake_end, client.first_application_data), (5, Some(434), Some((434, 737))));
    assert_eq!((server.records, server.largest_record, server.handshake_end), (43, 16_413, Some(2954)));
    assert_eq!(server.firsts, [(1, 67, 22), (2712, 2903, 22), (2954, 19_367, 23)]);
    assert_eq!(server.second_application_data, Some(19_367));
}

#[test]
fn http_under_a_short_snapshot() {
    for (name, port) in [
        ("bandwidth_1mbps", 58698),
        ("loss_20pct", 44366),
        ("rmem_4096_rtt_100ms", 34360),
        ("wmem_4096_rtt_100ms", 55664),
    ] {
        for side in ["client", "server"] {
            let Some(streams) = read(&format!("exp2/{name}/{side}.pcap"), usize::MAX) else { return };
            let client = direction(&streams, port, 8000);
            assert_eq!(client.heads, [(1, "GET /0000000000000000.data".into())], "{name}/{side}");
            assert_eq!(client.server_name, None, "the Host field is cut");
            assert_eq!(direction(&streams, 8000, port).heads, [(1, "200 OK".into())], "{name}/{side}");
            // The ssh connections that began before the capture are not recognised.
            assert!(
                streams
                    .iter()
                    .filter(|(flow, _)| flow.1 == 22 || flow.3 == 22)
                    .all(|(_, ssh)| *ssh == Content::default())
            );
        }
    }
}

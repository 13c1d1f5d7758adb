//! Real captures with known answers: their authors' statements, measurements by tshark and
//! tcptrace, and, where the two tools count differently from whyslow, the mechanism. They are not
//! part of the project: the tests look for them next to the repository, or in WHYSLOW_CAPTURES, and
//! report that they skip if they are missing.

mod xplot;

use crate::common::{self, bulk, causes, main_connection};
use serde_json::Value;
use whyslow_testing::capture;

/// The explanation of a capture; `None` if the captures are missing.
#[track_caller]
fn known(name: &str) -> Option<Value> {
    Some(common::explain(&capture(name)?))
}

fn rounds(transfer: &Value) -> Vec<u64> {
    transfer["rounds"].as_array().unwrap().iter().map(|round| round["bytes"].as_u64().unwrap()).collect()
}

fn frames(transfer: &Value) -> Vec<(u64, u64)> {
    let frame = |round: &Value, field: &str| round[field].as_u64().unwrap();
    let rounds = transfer["rounds"].as_array().unwrap();
    rounds.iter().map(|round| (frame(round, "first_frame"), frame(round, "last_frame"))).collect()
}

fn starts(transfer: &Value) -> Vec<f64> {
    transfer["rounds"].as_array().unwrap().iter().map(|round| round["start_s"].as_f64().unwrap()).collect()
}

fn figure(finding: &Value, name: &str) -> f64 {
    let evidence = finding["evidence"].as_array().unwrap();
    let found = evidence.iter().find(|evidence| evidence["kind"].as_str().unwrap() == name);
    found.unwrap_or_else(|| panic!("no figure {name:?} in {finding:#}"))["value"].as_f64().unwrap()
}

/// How often a problem was met, in a capture or a connection.
#[track_caller]
fn problem(holder: &Value, slug: &str) -> u64 {
    let problems = holder["problems"].as_array().unwrap();
    problems.iter().find(|problem| problem["slug"] == slug).unwrap()["count"].as_u64().unwrap()
}

fn resent(direction: &Value) -> u64 {
    let kinds = &direction["retransmitted"];
    ["fast", "timeout", "tail_probe", "spurious"].iter().map(|kind| kinds[kind].as_u64().unwrap()).sum()
}

fn near(value: f64, truth: f64, share: f64) -> bool {
    (value - truth).abs() <= truth * share
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn pku_a_server_that_never_has_more_than_64_kib_in_flight() {
    let Some(analysis) = known("pku.cap") else { return };
    let connection = main_connection(&analysis);
    let transfer = bulk(connection);
    assert_eq!(connection["near"], "client");
    assert!(near(seconds(&connection["rtt_ms"]["min"]), 25.7, 0.02));
    assert!(near(seconds(&connection["rtt_ms"]["p50"]), 25.7, 0.02));
    assert_eq!(transfer["bytes"], 532_255);
    assert_eq!(connection["directions"][1]["bytes"], 535_300, "the answer ends at 535,301");
    assert_eq!((resent(&connection["directions"][1]), resent(&connection["directions"][0])), (0, 0));
    assert_eq!(rounds(transfer), [65_535, 65_535, 65_535, 65_188, 65_535, 65_535, 65_535, 65_535, 8_322]);
    let truth =
        [(18, 91), (118, 196), (222, 303), (325, 425), (437, 499), (529, 603), (631, 713), (742, 842), (860, 875)];
    assert_eq!(frames(transfer), truth);
    let truth = [0.108201, 0.134567, 0.160474, 0.186271, 0.212371, 0.238520, 0.264673, 0.290735, 0.316496];
    assert!(starts(transfer).iter().zip(truth).all(|(start, truth)| (start - truth).abs() < 1e-6));
    assert_eq!(causes(transfer), ["sender-cap"]);
    let finding = &transfer["findings"][0];
    assert_eq!(figure(finding, "most-in-flight"), 65_535.0);
    assert!(figure(finding, "least-window-meanwhile") >= 128_000.0);
    assert!(near(figure(finding, "cap-rate"), 2.52e6 * 8.0, 0.02));
}

#[test]
fn thu_a_server_that_starts_at_ten_segments() {
    let Some(analysis) = known("thu.cap") else { return };
    let connection = main_connection(&analysis);
    let transfer = bulk(connection);
    assert_eq!(connection["near"], "client");
    assert_eq!(rounds(transfer), [14_280, 18_564, 34_272, 55_692, 85_680, 125_664, 161_130, 68_451]);
    let truth = [(13, 29), (30, 49), (53, 85), (97, 142), (165, 226), (273, 400), (430, 593), (629, 703)];
    assert_eq!(frames(transfer), truth);
    assert_eq!(causes(transfer), ["slow-start", "tls-record-buffering"]);
    let resumed: u64 = rounds(transfer)[..2].iter().sum();
    assert!((14_280..resumed).contains(&16_408), "the first record spans the first two rounds");
    // The first TLS record is whole with the second round: a TLS client sees its first byte a round
    // trip late.
    let second_round = starts(transfer)[1] - seconds(&transfer["start_s"]);
    assert!((seconds(&transfer["first_byte_s"]) - second_round).abs() < 1e-9);
    assert!(near(seconds(&transfer["first_byte_s"]), 0.026, 0.02));
    let phases: Vec<_> = transfer["before"].as_array().unwrap().iter().map(|p| p["limit"].as_str().unwrap()).collect();
    assert_eq!(phases, ["handshake", "tls-handshake", "request-wait", "server-think"]);
}

#[test]
fn slow_start_of_512_kb_from_text() {
    let Some(analysis) = known("text/slow-start-512k-rtt7ms.txt") else { return };
    let connection = main_connection(&analysis);
    let transfer = bulk(connection);
    assert_eq!(connection["near"], "server", "TSO proves it, though its netem holds data back");
    assert_eq!(rounds(transfer), [14_480, 28_960, 46_080, 104_256, 78_720, 232_600, 19_487]);
    assert!(near(seconds(&connection["rtt_ms"]["p50"]), 7.0, 0.05));
    assert!(near(seconds(&connection["duration_s"]), 0.063, 0.02));
    assert_eq!(causes(transfer)[0], "slow-start");
    let problems = connection["problems"].as_array().unwrap();
    assert!(problems.iter().any(|problem| problem["slug"] == "offload"), "segments of up to 62,264 B");
}

#[test]
fn an_upload_of_1_kb_takes_three_round_trips() {
    let Some(analysis) = known("text/upload-1k-rtt200ms.txt") else { return };
    let connection = main_connection(&analysis);
    assert_eq!(connection["near"], "client");
    assert!(near(seconds(&connection["rtt_ms"]["p50"]), 200.4, 0.001));
    assert!(near(seconds(&connection["duration_s"]), 0.606, 0.001));
    assert_eq!(connection["closed_by"], "client");
    assert_eq!(connection["state"], "closed");
    // Connect, exchange, close: each a round trip.
    assert!(near(seconds(&connection["handshake"]["rtt_ms"]), 200.4, 0.001));
    assert_eq!(connection["transfers_total"], 2);
    let transfers = connection["transfers"].as_array().unwrap();
    assert_eq!(transfers.iter().map(|t| t["bytes"].as_u64().unwrap()).collect::<Vec<_>>(), [1_745, 214]);
    let think = transfers[1]["before"].as_array().unwrap().iter().find(|p| p["limit"] == "server-think").unwrap();
    assert!((seconds(&think["seconds"]) - 0.003).abs() < 0.0002);
    assert!(causes(&transfers[0]).is_empty() && causes(&transfers[1]).is_empty());
}

#[test]
fn five_uploads_on_one_connection_grow_faster() {
    let Some(analysis) = known("text/upload-100k-reused-connection.txt") else { return };
    assert_eq!(analysis["connections"].as_array().unwrap().len(), 1);
    let connection = main_connection(&analysis);
    let uploads: Vec<&Value> =
        connection["transfers"].as_array().unwrap().iter().filter(|t| t["from"] == "client").collect();
    let took: Vec<f64> = uploads.iter().map(|upload| seconds(&upload["duration_s"])).collect();
    let opened: f64 = uploads[0]["before"].as_array().unwrap().iter().map(|phase| seconds(&phase["seconds"])).sum();
    for (time, truth) in
        [took[0] + opened, took[1], took[2], took[3], took[4]].into_iter().zip([1.02, 0.439, 0.268, 0.253, 0.254])
    {
        assert!(near(time, truth, 0.02), "{time} s instead of {truth} s");
    }
    assert!(uploads.iter().all(|upload| near(seconds(&upload["bytes"]), 103_123.0, 0.001)));
    // Nearly all packets were left out of the text: totals are reported, and nothing about the time
    // between.
    for upload in &uploads {
        assert!(causes(upload).is_empty());
        assert_eq!(upload["limits"][0]["limit"], "unknown");
        assert_eq!(upload["verdict"], "unknown-elided");
    }
    let problems: Vec<_> =
        connection["problems"].as_array().unwrap().iter().map(|p| p["slug"].as_str().unwrap()).collect();
    assert!(problems.contains(&"elided-text"));
}

/// Two captures of one transfer, on hosts whose clocks differ, give the same result.
#[test]
fn both_captures_of_a_pair_agree() {
    for experiment in ["rmem_4096_rtt_100ms", "wmem_4096_rtt_100ms", "loss_20pct", "bandwidth_1mbps"] {
        let [Some(client), Some(server)] =
            ["client", "server"].map(|end| known(&format!("exp2/{experiment}/{end}.pcap")))
        else {
            return;
        };
        let [client, server] = [main_connection(&client), main_connection(&server)];
        assert_eq!(client["server"]["port"], 8000);
        for field in ["client", "server", "state", "closed_by"] {
            assert_eq!(client[field], server[field], "{experiment}");
        }
        assert!(near(seconds(&client["duration_s"]), seconds(&server["duration_s"]), 1e-5), "{experiment}");
        let [client, server] = [bulk(client), bulk(server)];
        assert_eq!(client["bytes"], server["bytes"], "{experiment}");
        assert!(near(seconds(&client["duration_s"]), seconds(&server["duration_s"]), 1e-4), "{experiment}");
        let [here, there] = [client, server].map(|transfer| &transfer["findings"][0]);
        assert_eq!(here["cause"], there["cause"], "{experiment}");
        assert!(near(seconds(&here["cost_s"]), seconds(&there["cost_s"]), 0.01), "{experiment}");
        let share = |transfer: &Value| seconds(&transfer["limits"][0]["share"]);
        assert_eq!(client["limits"][0]["limit"], server["limits"][0]["limit"], "{experiment}");
        assert!(near(share(client), share(server), 0.01), "{experiment}");
    }
}

#[test]
fn a_receive_buffer_of_4096_bytes() {
    for end in ["client", "server"] {
        let Some(analysis) = known(&format!("exp2/rmem_4096_rtt_100ms/{end}.pcap")) else { return };
        let connection = main_connection(&analysis);
        let transfer = bulk(connection);
        assert_eq!(connection["near"], "server", "both stand at the server's side in time");
        assert!(near(seconds(&connection["rtt_ms"]["p50"]), 100.4, 0.002));
        // So small a window that the sender halves its segments, where the path carries far larger
        // ones.
        assert_eq!(causes(transfer), ["receive-window", "small-segments"]);
        assert!(rounds(transfer)[1..].iter().all(|&bytes| bytes == 2_048));
        // Two segments of 1,024 B a round.
        let segments = connection["directions"][1]["packets"].as_u64().unwrap();
        assert!(near(segments as f64, 1_252_560.0 / 1_024.0, 0.01));
        assert_eq!(figure(&transfer["findings"][0], "receive-window"), 2_048.0);
        assert!(near(figure(&transfer["findings"][0], "window-rate"), 20_400.0 * 8.0, 0.01));
    }
}

#[test]
fn a_fifth_of_the_segments_lost_before_the_capture() {
    let mut both = Vec::new();
    // 795 and 800 late segments (860 packets) fill holes. By the server's IP numbers 1,229 packets
    // are missing; 44 times such a one was in no hole, and a silence of a timer's length followed.
    // The rest are copies that were lost again.
    for (end, late) in [("client", 795 + 44), ("server", 800 + 44)] {
        let Some(analysis) = known(&format!("exp2/loss_20pct/{end}.pcap")) else { return };
        let connection = main_connection(&analysis);
        let transfer = bulk(connection);
        let server = &connection["directions"][1];
        assert_eq!(server["bytes"], 43_559_931);
        assert_eq!(resent(server), late);
        assert_eq!(server["out_of_order"], 0);
        assert_eq!(server["retransmitted"]["unseen_original"], late);
        assert!(["loss", "timeout"].contains(&causes(transfer)[0]));
        both.push(seconds(&transfer["findings"][0]["cost_s"]));
    }
    assert!(near(both[0], both[1], 0.01), "{both:?}");
}

#[test]
fn a_ceiling_of_8_mbit() {
    for end in ["client", "server"] {
        let Some(analysis) = known(&format!("exp2/bandwidth_1mbps/{end}.pcap")) else { return };
        let transfer = bulk(main_connection(&analysis));
        assert_eq!(causes(transfer)[0], "bandwidth");
        assert!(near(figure(&transfer["findings"][0], "wire-rate"), 8e6, 0.01));
    }
}

#[test]
fn a_send_buffer_of_4096_bytes() {
    for end in ["client", "server"] {
        let Some(analysis) = known(&format!("exp2/wmem_4096_rtt_100ms/{end}.pcap")) else { return };
        let connection = main_connection(&analysis);
        let transfer = bulk(connection);
        assert_eq!(causes(transfer), ["sender-cap", "delayed-ack"]);
        // 9,001 B of MTU, less the headers and 12 B of timestamps, make segments of 8,949 B.
        assert_eq!(connection["handshake"]["mss"], serde_json::json!([8_961, 8_961]));
        assert_eq!(connection["directions"][1]["max_window"], 714_240);
        let cap = &transfer["findings"][0];
        assert_eq!(figure(cap, "bytes-in-two-rounds"), 131_072.0);
        assert!(near(figure(cap, "least-window-meanwhile"), 714_000.0, 0.03));
        assert!(near(figure(&transfer["findings"][1], "typical-delay"), 45.0, 0.1));
        let usual = rounds(transfer).iter().filter(|bytes| [14_735, 116_337].contains(bytes)).count();
        assert!(usual >= 45, "{usual} of the first 64 rounds");
    }
}

#[test]
fn a_speed_test_over_a_lossy_path() {
    let Some(lossy) = known("mlab/ndt-4dh2l_1591894023_0000000000363A84.pcap.gz") else { return };
    let capture = &lossy["captures"][0];
    // In 16 ACKs something on the path has cut the SACK option off the packet, but not out of the
    // TCP header's length.
    assert_eq!((capture["packets"].as_u64(), capture["tcp_packets"].as_u64()), (Some(5_690), Some(5_674)));
    assert_eq!(problem(capture, "malformed-packet"), 16);
    let connection = main_connection(&lossy);
    assert_eq!(connection["near"], "server");
    let server = &connection["directions"][1];
    assert_eq!(server["bytes"], 7_232_887);
    assert!(near(7_232_887.0 / seconds(&connection["duration_s"]), 698_075.0, 1e-5));
    // tcptrace: 101 segments, 147,460 B, which is 2.0 % of the bytes. This is 3.6 % of the 2,841
    // segments in the capture, because the sender's network card splits most of them in two.
    assert_eq!(resent(server), 101);
    assert_eq!(server["retransmitted"]["spurious"], 1, "one D-SACK");
    let transfer = bulk(connection);
    // At any flight, with no queue, and at the rate that chance leaves Reno.
    assert_eq!(causes(transfer)[0], "random-loss");
    assert!(near(figure(&transfer["findings"][0], "retransmitted-share"), 2.0, 0.02));
    // Each hole was filled by a segment that was retransmitted.
    assert!(!causes(transfer).contains(&"reordering"));
}

#[test]
fn a_speed_test_with_a_slow_reader() {
    let Some(slow_reader) = known("mlab/ndt-nnwk2_1611335823_00000000000C2DA9.pcap.gz") else { return };
    assert_eq!(slow_reader["captures"][0]["packets"], 5_180);
    assert!((seconds(&slow_reader["captures"][0]["duration_s"]) - 13.444117).abs() < 1e-6);
    let connection = main_connection(&slow_reader);
    let server = &connection["directions"][1];
    assert_eq!((server["bytes"].as_u64(), server["zero_windows"].as_u64()), (Some(81_240_087), Some(122)));
    assert!(near(81_240_087.0 / seconds(&connection["duration_s"]), 6_042_798.0, 1e-6));
    assert_eq!(server["max_window"], 1_097_216);
    assert_eq!(resent(server), 0);
    assert!(connection["server"]["address"].as_str().unwrap().contains(':'), "over IPv6");
    assert_eq!(causes(bulk(connection))[0], "zero-window");
}

#[test]
fn a_speed_test_over_a_path_that_stalls() {
    let Some(small) = known("mlab/ndt-nnwk2_1611335823_00000000000C2DFE.pcap.gz") else { return };
    assert_eq!(small["captures"][0]["packets"], 336);
    assert!((seconds(&small["captures"][0]["duration_s"]) - 15.409174).abs() < 1e-6);
    let connection = main_connection(&small);
    let [client, server] = [0, 1].map(|end| &connection["directions"][end]);
    // tcptrace: 93,762 and 45,403 unique bytes.
    assert_eq!((client["bytes"].as_u64(), server["bytes"].as_u64()), (Some(93_762), Some(45_403)));
    // The client's: frames 131, 319, 323, 325 and 327 repeat bytes of the capture (tcptrace's 5),
    // and 154, 156, 158, 160, 162, 164, 321 and 332 fill holes whose first copies were lost before
    // it. tshark calls six of these out of order: they come 10 ms behind what overtook them, but
    // answer its SACKs, with newer timestamps.
    assert_eq!((resent(client), client["retransmitted"]["unseen_original"].as_u64()), (13, Some(8)));
    // Frames 323, 325 and 327 repeat acknowledged data; D-SACK 320 reports the first of frames 319
    // and 131 as needless.
    assert_eq!(client["retransmitted"]["spurious"], 4);
    assert_eq!((client["out_of_order"].as_u64(), server["out_of_order"].as_u64()), (Some(0), Some(0)));
    // The server's: tcptrace's 12. tshark calls eleven retransmissions and frame 145 a fast one.
    assert_eq!(resent(server), 12);
    // D-SACKs in frames 39, 44, 46, 47 and 286.
    assert_eq!(server["retransmitted"]["spurious"], 5);
    // Frames 145 and 282 answer SACKs at once; 110 and 308 resend the highest segment with others
    // outstanding, which only a probe does; 309, 310 and 330 resend the first after a silence.
    let kind = |kind: &str| server["retransmitted"][kind].as_u64();
    assert_eq!((kind("fast"), kind("tail_probe"), kind("timeout")), (Some(2), Some(2), Some(3)));
    // The client is silent for 5.64 s (frames 303 to 311); within it, the server's timer for 2.59 s
    // (309 to 310).
    let transfers = connection["transfers"].as_array().unwrap();
    let stalled = transfers.iter().filter(|transfer| transfer["from"] == "server");
    let stalled = stalled.max_by(|a, b| seconds(&a["duration_s"]).total_cmp(&seconds(&b["duration_s"]))).unwrap();
    assert_eq!(causes(stalled)[0], "timeout");
    assert!((figure(&stalled["findings"][0], "longest-wait") - 2_591.996).abs() < 1e-3);
}

#[test]
fn a_reader_that_stops() {
    let Some(closed) = known("tcptrace/zwnd.dmp.gz") else { return };
    let connection = main_connection(&closed);
    let client = &connection["directions"][0];
    assert_eq!(
        (client["zero_windows"].as_u64(), client["window_probes"].as_u64(), resent(client)),
        (Some(7), Some(6), 0)
    );
    // tcptrace counts the 24,554,344 B that it sees, at 992,496 B/s; 21,656 B more were
    // acknowledged and not captured.
    assert_eq!(client["bytes"], 24_554_344 + 21_656);
    let capture_loss = connection["problems"].as_array().unwrap();
    assert_eq!((&capture_loss[0]["detail"]["bytes"], &capture_loss[0]["count"]), (&21_656.into(), &2.into()));
    assert!(near(24_554_344.0 / seconds(&connection["duration_s"]), 992_496.0, 1e-5));
    // tcptrace's 8.58 s is the longest silence; the window was shut from frame 18431 (9.53 s) to
    // 18444 (31.61 s).
    assert!((seconds(&client["zero_window_s"]) - 22.08).abs() < 0.001);
    assert_eq!(causes(bulk(connection))[0], "zero-window");
    // Its clock ticks every 10 ms: the handshake and 95 % of the round trips fall into one tick.
    let unknown = serde_json::json!({ "min": null, "p50": null, "p95": null, "samples": 0 });
    assert_eq!(connection["rtt_ms"], unknown);
    assert_eq!(capture_loss[0]["detail"]["first"], 9037, "one input has no number");
}

#[test]
fn a_satellite() {
    let Some(satellite) = known("tcptrace/dsack.dmp.gz") else { return };
    let connection = main_connection(&satellite);
    assert_eq!(bulk(connection)["bytes"], 16_777_216);
    assert!(near(16_777_216.0 / seconds(&connection["duration_s"]), 111_012.0, 1e-4));
    assert!(near(seconds(&connection["rtt_ms"]["min"]), 560.0, 0.01));
    let client = &connection["directions"][0];
    // 10,136 B resent = 7 segments of 1,448 B.
    assert_eq!((resent(client), client["retransmitted"]["fast"].as_u64()), (7, Some(7)));
    assert_eq!(client["max_window"], 121_180);
    // tcptrace's one D-SACK is frame 2534, whose TCP checksum is wrong (0xd593 instead of 0x087c):
    // the sender dropped it, and so do we. The bytes in it were sent once.
    assert_eq!(problem(connection, "bad-checksum"), 1);
    assert_eq!((client["retransmitted"]["spurious"].as_u64(), client["duplicated"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn frames_captured_twice_are_not_loss() {
    let Some(doubled) = known("tcptrace/hardware_dups.dmp.gz") else { return };
    let connection = main_connection(&doubled);
    assert_eq!(problem(connection, "duplicate-frames"), 486);
    let server = &connection["directions"][1];
    // The FIN is one of the 486; tcptrace counts the other 485, 584,269 B, as retransmitted.
    assert_eq!((resent(server), server["bytes"].as_u64(), server["packets"].as_u64()), (0, Some(584_267), Some(486)));
    assert!(!causes(bulk(connection)).iter().any(|cause| ["loss", "timeout", "reordering"].contains(cause)));
    // The second copies have a TTL smaller by one: the capture is on the router. The SYN is
    // answered after 1.384 ms, the SYN-ACK after 0.929 ms. 125 packets have timestamps 10 ms too
    // early, some ACKs before their data: those measure nothing.
    assert_eq!((problem(connection, "clock-step"), connection["near"].as_str()), (125, Some("middle")));
    let trip = seconds(&connection["rtt_ms"]["min"]);
    assert!((1.8..=2.313).contains(&trip), "{trip} ms");
    // The sender had nothing outstanding before 88 of its segments, for 1.19 s together, in a
    // window of 64,240 B that was never more than 8 % full: 4 KiB, 16 KiB, 4 KiB … written as its
    // program had them, each with a short last segment. The longest, 102 ms, is before frame 253.
    assert_eq!(causes(bulk(connection)), ["application"]);
    let pause = bulk(connection)["findings"][0]["evidence"][1]["frames"].clone();
    assert_eq!(pause, serde_json::json!([248, 253]));
}

#[test]
fn link_types_and_cut_packets() {
    let Some(cooked) = known("tcptrace/linux_cooked_socket.dmp.gz") else { return };
    assert_eq!(cooked["captures"][0]["link_types"], serde_json::json!(["LINUX_SLL"]));
    assert_eq!(
        (cooked["captures"][0]["tcp_packets"].as_u64(), main_connection(&cooked)["id"].as_u64()),
        (Some(17), Some(2))
    );

    let Some(pppoe) = known("tcptrace/ppp_over_eth.dmp.gz") else { return };
    assert_eq!(pppoe["captures"][0]["tcp_packets"], 10);
    let sizes = [0, 1].map(|end| main_connection(&pppoe)["directions"][end]["bytes"].as_u64().unwrap());
    assert_eq!(sizes, [189, 320]);

    let Some(cut) = known("tcptrace/trunc.dmp.gz") else { return };
    assert!(cut["connections"].as_array().unwrap().is_empty());
    assert_eq!(problem(&cut["captures"][0], "ip-fragment"), 1);
}

/// The reported differences of two transfers; `None` if the captures are missing.
#[track_caller]
fn compared(a: &str, b: &str) -> Option<Value> {
    let [a, b] = [capture(a)?, capture(b)?];
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .arg("compare")
        .args([a, b])
        .arg("--json")
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(serde_json::from_slice(&out.stdout).unwrap())
}

#[test]
fn pku_and_thu_a_fixed_window_against_one_that_opens() {
    let Some(printed) = compared("pku.cap", "thu.cap") else { return };
    let statement = |wanted: &dyn Fn(&Value) -> bool| {
        let statements = printed["statements"].as_array().unwrap();
        statements.iter().find(|one| wanted(one)).unwrap_or_else(|| panic!("{statements:#?}")).clone()
    };
    let flights = statement(&|one| one["kind"] == "flights")["flights"].clone();
    assert_eq!(flights[0]["first"], 65_535);
    assert_eq!(flights[0]["course"], serde_json::json!({ "course": "same", "rounds": 8 }));
    assert_eq!(flights[1]["first"], 14_280);
    assert_eq!(flights[1]["course"], serde_json::json!({ "course": "growing", "to": 161_130, "round": 7 }));
    for (limit, which, waited) in [("slow-start", 1, 0.159), ("sender-cap", 0, 0.214)] {
        let longer = statement(&|one| one["kind"] == "longer-phase" && one["limit"] == limit);
        assert_eq!((&longer["which"], seconds(&longer["other_s"])), (&which.into(), 0.0));
        assert!((seconds(&longer["wait_s"]) - waited).abs() < 0.001, "{longer}");
    }
    // The author's tool reported 28.2 and 52.1 ms, and 26.2 corrected.
    let ms = |value: &Value| (seconds(value) * 1e3 * 10.0).round() / 10.0;
    let first = &printed["first_byte"];
    assert_eq!([&first["arrived_s"][0], &first["arrived_s"][1]].map(ms), [27.5, 26.1]);
    assert_eq!([&first["readable_s"][0], &first["readable_s"][1]].map(ms), [27.5, 51.8]);
    assert_eq!(first["first_record"][1], 16_413);
    // After six rounds A has 392,863 B and B 334,152; in the seventh, which begins together, B
    // sends 161,130 and A 65,535.
    let leads = printed["leads"].as_array().unwrap();
    let turn = leads.iter().find(|lead| lead["faster"] == 1 && lead["from_bytes"].as_u64().unwrap() > 100_000).unwrap();
    assert!((392_863..=458_400).contains(&turn["from_bytes"].as_u64().unwrap()), "{leads:#?}");
    assert!(leads.iter().any(|lead| lead["faster"] == 0 && lead["by_s"].as_f64().unwrap() > 0.07));
    assert!(near(printed["reach"][0]["rate_bps"].as_f64().unwrap(), 65_535.0 * 8.0 / 0.026, 0.02));
    let settings = printed["settings"].as_array().unwrap();
    let differ: Vec<_> =
        settings.iter().filter(|s| s["differs"] == true).map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(differ, ["window-scale", "first-flight", "initial-window", "first-record", "largest-record"]);
    assert!(printed["caveats"].as_array().unwrap().is_empty());
}

/// Small captures that are not slow. An earlier version named a cause for each.
#[test]
fn what_is_not_slow_has_no_headline() {
    let healthy = ["h2_goaway_after_answer", "heartbeat", "ipid_periodic", "synack_alone"];
    for name in healthy.into_iter().chain(["tail_seen_at_receiver", "whole_seconds"]) {
        let Some(analysis) = known(&format!("minimal/{name}.pcap")) else { return };
        assert!(analysis["headline"].is_null(), "{name}: {}", analysis["headline"]);
    }
    let has = |name: &str, cause: &str| {
        let analysis = known(&format!("minimal/{name}.pcap")).unwrap();
        analysis["connections"].as_array().unwrap().iter().any(|one| causes(one).contains(&cause))
    };
    assert!(has("syn_rst_retry", "reset") && !has("syn_rst_retry", "syn-loss"));
    assert!(!has("h2_ping_ack", "no-answer"), "the ACK of a PING is not a request");
    let one_direction = known("minimal/03.txt").unwrap();
    assert_eq!(one_direction["headline"]["cause"], "no-answer", "{}", one_direction["headline"]);
}

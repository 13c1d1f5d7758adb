//! The bundled captures: each was recorded with a known cause (see samples/README.md), and must be
//! explained by it.

use crate::common;
use serde_json::Value;
use std::path::PathBuf;
use whyslow_diagnosis::cause_pages;
use whyslow_io::{Input, Stop};
use whyslow_report::render::terminal::{self, View};

fn explain(name: &str) -> Value {
    common::explain(&common::sample(name))
}

/// Every finding there is, most seconds first, and behind all what the client's own program took.
fn causes(analysis: &Value) -> Vec<String> {
    let connections = analysis["connections"].as_array().unwrap();
    let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
    let of = |holder: &Value| holder["findings"].as_array().unwrap().clone();
    let mut all: Vec<Value> = of(analysis);
    all.extend(connections.iter().flat_map(of));
    all.extend(transfers.flat_map(of));
    let lost = |found: &Value| if found["cause"] == "client-think" { -1.0 } else { found["cost_s"].as_f64().unwrap() };
    all.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
    all.iter().map(|finding| finding["cause"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn first_cause(name: &str, cause: &str) {
    assert_eq!(causes(&explain(name)).first().map(String::as_str), Some(cause), "{name}");
}

#[track_caller]
fn from_both_ends(name: &str, cause: &str) {
    for end in ["client", "server"] {
        let capture = format!("{name}-{end}");
        first_cause(&capture, cause);
        assert_eq!(explain(&capture)["connections"][0]["near"], end, "{capture}");
    }
}

#[test]
fn each_cause_is_found_where_it_was_made() {
    first_cause("application-server", "application");
    first_cause("bandwidth-server", "bandwidth");
    first_cause("client-think-server", "client-think");
    first_cause("codel-server", "bandwidth");
    first_cause("new-connection-each-time-server", "new-connection-each-time");
    first_cause("no-window-scaling-server", "no-window-scaling");
    first_cause("proxy-split-client", "proxy-split");
    first_cause("server-think-server", "server-think");
    first_cause("mtu-black-hole-server", "mtu-black-hole");
    // There the large segments never came: a silence like a server's that thinks.
    first_cause("mtu-probing-client", "mtu-black-hole");
    first_cause("timeout-server", "timeout");
    first_cause("turn-taking-server", "turn-taking");
}

/// Session tickets of TLS 1.3 and HTTP/2's settings are sent at once; the response follows them.
/// A name server that ignores the first queries.
#[test]
fn lookup_before_a_connection_is_its_wait() {
    let analysis = explain("programs/slow-lookup-client");
    let connection = &analysis["connections"][0];
    let lookup = &connection["lookup"];
    assert_eq!((lookup["name"].as_str(), lookup["server"].as_str()), (Some("files.example.org"), Some("10.77.0.2")));
    assert_eq!([&lookup["queries"], &lookup["unanswered"]].map(|count| count.as_u64()), [Some(4), Some(2)]);
    let (start, took) = (lookup["start_s"].as_f64().unwrap(), lookup["duration_s"].as_f64().unwrap());
    assert!(took > 2.0 && start + took <= connection["start_s"].as_f64().unwrap(), "{lookup}");
    let finding = &analysis["findings"][0];
    assert_eq!((finding["cause"].as_str(), finding["cost_s"].as_f64()), (Some("slow-lookup"), Some(took)));
    assert_eq!(analysis["headline"]["cause"], "slow-lookup");
}

/// Servers, versions of HTTP and the length of the capture differ, the wait does not.
#[test]
fn unrequested_tls_records_are_not_a_response() {
    let of_connection = |connection: &serde_json::Value| -> Vec<f64> {
        let exchanges = connection["exchanges"].as_array().unwrap().iter();
        exchanges.map(|exchange| exchange["server_s"].as_f64().unwrap()).collect()
    };
    let thinking = |name: &str| -> Vec<Vec<f64>> {
        explain(name)["connections"].as_array().unwrap().iter().map(of_connection).collect()
    };
    let programs = thinking("programs/tls-client");
    assert_eq!(programs.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 1, 1, 2]);
    let tickets = thinking("tls-tickets-client");
    assert_eq!(tickets.iter().map(Vec::len).collect::<Vec<_>>(), [1]);
    for seconds in programs.iter().chain(&tickets).flatten() {
        assert!((0.3..0.31).contains(seconds), "{programs:?} {tickets:?}");
    }
    let first = explain("tls-tickets-client")["connections"][0]["transfers"][1]["before"].clone();
    let phases: Vec<_> = first.as_array().unwrap().iter().map(|phase| phase["limit"].as_str().unwrap()).collect();
    assert_eq!(phases, ["handshake", "tls-handshake", "request-wait", "server-think"]);
}

#[test]
fn working_path_mtu_discovery_is_not_loss() {
    let analysis = explain("path-mtu-server");
    assert_eq!(causes(&analysis), ["slow-start"]);
    let connection = &analysis["connections"][0];
    let [error] = connection["icmp"].as_array().unwrap().as_slice() else { panic!("one router") };
    assert_eq!(
        (&error["by"], &error["about"], &error["kind"]),
        (&"10.77.0.254".into(), &"server".into(), &"too-big".into())
    );
    assert_eq!((&error["size"], &error["mtu"], &error["obeyed"]), (&1500.into(), &1400.into(), &true.into()));
    // Frames 16 and 27 to 35, as Wireshark shows them.
    assert_eq!((&error["count"], &error["frame"], &connection["icmp_total"]), (&10.into(), &16.into(), &10.into()));
    // The kernel counted this many segments.
    assert_eq!(connection["directions"][1]["retransmitted"]["fast"], 15);
}

#[test]
fn each_cause_is_found_from_both_ends() {
    from_both_ends("delayed-ack", "delayed-ack");
    from_both_ends("ecn", "ecn");
    from_both_ends("loss", "loss");
    from_both_ends("pacing", "pacing");
    from_both_ends("policer", "policer");
    from_both_ends("nagle-delayed-ack", "nagle-delayed-ack");
    from_both_ends("random-loss", "random-loss");
    from_both_ends("no-answer", "no-answer");
    from_both_ends("no-sack", "no-sack");
    from_both_ends("path-latency", "path-latency");
    from_both_ends("receive-window", "receive-window");
    from_both_ends("reset", "reset");
    from_both_ends("sender-cap", "sender-cap");
    from_both_ends("shaper", "shaper");
    from_both_ends("slow-start", "slow-start");
    from_both_ends("spurious-retransmission", "spurious-retransmission");
    from_both_ends("tail-loss", "tail-loss");
    from_both_ends("tls", "slow-start");
    from_both_ends("zero-window", "zero-window");
}

#[test]
fn a_growing_queue_is_reported_with_the_rate_that_fills_it() {
    for end in ["client", "server"] {
        assert_eq!(causes(&explain(&format!("bufferbloat-{end}"))), ["bandwidth", "bufferbloat"]);
    }
}

#[test]
fn transfers_that_share_a_link_are_explained_together() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("shared-bottleneck-{end}"));
        let shared = &analysis["findings"][0];
        assert_eq!((&shared["cause"], &shared["shared"]), (&"bandwidth".into(), &true.into()), "{end}");
        assert_eq!(shared["connections"].as_array().unwrap().len(), 3);
        // 10 Mbit/s less headers, for nearly all of the time, which is counted once.
        let rate = shared["evidence"][0]["value"].as_f64().unwrap();
        assert!((9.2e6..9.9e6).contains(&rate), "{end}: {rate}");
        assert!((1.3..1.6).contains(&shared["cost_s"].as_f64().unwrap()), "{end}");
        let mut parts = 0.0;
        for connection in analysis["connections"].as_array().unwrap() {
            let transfer = common::bulk(connection);
            let found = &transfer["findings"][0];
            assert_eq!(
                (&found["cause"], &found["connections"]),
                (&"bandwidth".into(), &shared["connections"]),
                "{end}"
            );
            let remedies = found["remedies"].as_array().unwrap();
            assert!(remedies.iter().all(|remedy| remedy["predicted_s"].is_null()), "{found}");
            parts += found["evidence"][0]["value"].as_f64().unwrap();
            assert_eq!(transfer["limits"][0]["limit"], "bandwidth");
            assert_eq!(transfer["verdict"], "cause");
        }
        assert!(parts > 0.9 * rate, "{end}: parts of {parts}");
        assert!(!causes(&analysis).contains(&"loss".to_owned()));
    }
}

#[test]
fn small_segments_are_reported_with_the_window_that_makes_them() {
    for end in ["client", "server"] {
        assert_eq!(causes(&explain(&format!("small-segments-{end}"))), ["receive-window", "small-segments"]);
    }
}

#[test]
fn a_first_record_of_two_flights_is_reported_with_its_slow_start() {
    for end in ["client", "server"] {
        assert_eq!(causes(&explain(&format!("tls-record-buffering-{end}"))), ["slow-start", "tls-record-buffering"]);
        // An HTTP head is a small record by itself.
        assert_eq!(causes(&explain(&format!("tls-{end}"))), ["slow-start"]);
    }
}

#[test]
fn a_risk_costs_no_time_and_is_not_a_verdict() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("amplification-risk-{end}"));
        let transfer = common::bulk(common::main_connection(&analysis));
        assert_eq!(transfer["findings"][0]["cause"], "amplification-risk");
        assert_eq!(transfer["findings"][0]["cost_s"], 0.0);
        assert_eq!(transfer["verdict"], "unexplained");
    }
}

#[test]
fn the_second_of_two_transfers_starts_over() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("restart-after-idle-{end}"));
        let found = causes(&analysis);
        assert!(
            found.contains(&"restart-after-idle".to_owned()) && found.contains(&"slow-start".to_owned()),
            "{found:?}"
        );
        let transfers = analysis["connections"][0]["transfers"].as_array().unwrap();
        let second = transfers.iter().rfind(|transfer| transfer["from"] == "server").unwrap();
        assert_eq!(second["findings"][0]["cause"], "restart-after-idle");
    }
}

#[test]
fn a_threshold_that_was_remembered_ends_the_second_downloads_slow_start() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("early-slow-start-exit-{end}"));
        let connections = analysis["connections"].as_array().unwrap();
        let of = |nth: usize| -> Vec<&str> {
            let transfers = connections[nth]["transfers"].as_array().unwrap();
            let findings = transfers.iter().flat_map(|transfer| transfer["findings"].as_array().unwrap());
            findings.map(|finding| finding["cause"].as_str().unwrap()).collect()
        };
        assert_eq!((of(0)[0], of(1)[0]), ("loss", "early-slow-start-exit"), "{end}");
    }
}

#[test]
fn the_same_threshold_on_three_connections_is_remembered() {
    let analysis = explain("early-slow-start-exits-server");
    assert_eq!(analysis["findings"][0]["cause"], "early-slow-start-exit");
    assert_eq!(analysis["findings"][0]["connections"], serde_json::json!([2, 3, 4]));
    // It is reported once for all of them, and its time is the sum of their findings.
    assert_eq!(analysis["findings"].as_array().unwrap().len(), 1);
    assert_eq!(analysis["findings"][0]["shared"], true);
    // One alone may be chance.
    assert_eq!(explain("early-slow-start-exit-server")["findings"], serde_json::json!([]));
}

#[test]
fn marks_are_seen_behind_the_router_that_makes_them() {
    for (end, marks) in [("client", true), ("server", false)] {
        let analysis = explain(&format!("ecn-{end}"));
        let finding = &common::bulk(common::main_connection(&analysis))["findings"][0];
        let evidence = finding["evidence"].as_array().unwrap();
        assert_eq!(evidence.iter().any(|e| e["kind"] == "congestion-marks" && e["value"] == 3.0), marks);
        assert!(evidence.iter().any(|e| e["kind"] == "window-reductions" && e["value"] == 1.0));
    }
}

#[test]
fn a_lost_syn_is_seen_at_the_client_only() {
    first_cause("syn-loss-client", "syn-loss");
    assert!(!causes(&explain("syn-loss-server")).contains(&"syn-loss".to_owned()));
}

#[test]
fn a_lost_tail_is_a_probe_and_no_timeout() {
    // At the client its first copy never came: a number of the server's is missing there.
    for (end, unseen) in [("client", 1), ("server", 0)] {
        let analysis = explain(&format!("tail-loss-{end}"));
        let kinds = &analysis["connections"][0]["directions"][1]["retransmitted"];
        assert_eq!((kinds["tail_probe"].as_u64(), kinds["timeout"].as_u64()), (Some(1), Some(0)), "{end}");
        assert_eq!(kinds["unseen_original"], unseen, "{end}");
    }
}

#[test]
fn packets_that_come_twice_are_the_networks_doing_where_the_receiver_reports_them() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("duplication-{end}"));
        let connection = &analysis["connections"][0];
        let found = &connection["findings"][0];
        assert_eq!((&found["cause"], &found["evidence"][0]["value"]), (&"duplication".into(), &11.0.into()), "{end}");
        let problems = connection["problems"].as_array().unwrap();
        assert!(!problems.iter().any(|problem| problem["slug"] == "duplicate-frames"), "{end}: not the capture's");
    }
}

#[test]
fn lost_copies_are_reported_with_the_loss() {
    let analysis = explain("lost-retransmission-server");
    let found = common::bulk(&analysis["connections"][0])["findings"].as_array().unwrap().clone();
    let lost = found.iter().find(|finding| finding["cause"] == "lost-retransmission").unwrap();
    assert_eq!(lost["evidence"][0]["value"], 2.0);
    assert!((lost["cost_s"].as_f64().unwrap() - 0.12).abs() < 0.002, "two round trips");
}

#[test]
fn one_capture_never_proves_a_proxy() {
    let analysis = explain("proxy-split-client");
    let found = common::bulk(&analysis["connections"][0])["findings"].as_array().unwrap().clone();
    let causes: Vec<_> = found.iter().map(|finding| finding["cause"].as_str().unwrap()).collect();
    assert_eq!(causes, ["proxy-split", "server-think"]);
    assert!(found.iter().all(|finding| finding["confidence"].as_f64().unwrap() < 0.6), "possible at most");
    assert!(found.iter().all(|finding| finding["to_confirm"].is_array()));
}

#[test]
fn an_application_level_window_shows_by_its_grants() {
    first_cause("protocol-window-server", "protocol-window");
    // A full send buffer has none.
    assert!(!causes(&explain("sender-cap-server")).contains(&"protocol-window".to_owned()));
}

#[test]
fn a_needless_copy_shows_by_the_receivers_report() {
    for end in ["client", "server"] {
        let kinds =
            &explain(&format!("spurious-retransmission-{end}"))["connections"][0]["directions"][1]["retransmitted"];
        assert_eq!((kinds["spurious"].as_u64(), kinds["timeout"].as_u64()), (Some(1), Some(0)), "{end}");
    }
}

#[test]
fn segments_larger_than_the_mss_are_the_capturing_hosts() {
    let connection = &explain("offload-server")["connections"][0];
    let problem = &connection["problems"][0];
    assert_eq!((&problem["slug"], &problem["count"]), (&"offload".into(), &109.into()));
    assert_eq!(causes(&explain("offload-server")), ["slow-start"]);
}

#[test]
fn what_a_capture_cannot_show_is_not_concluded() {
    let derived = |name: &str| common::explain(&common::sample(&format!("derived/{name}")));
    // Both SYNs are there, and their options are cut: no missing option is read from that.
    let cut = derived("short-snaplen");
    assert_eq!(cut["connections"][0]["handshake"], Value::Null);
    assert_eq!(cut["connections"][0]["problems"][0]["slug"], "no-handshake");
    // A rate that a full window makes is not the link's rate, and the window's unit stays unknown.
    for name in ["no-handshake", "short-snaplen"] {
        let found = common::bulk(&derived(name)["connections"][0])["findings"].clone();
        assert_eq!(found[0]["cause"], "receive-window", "{name}");
        assert!(found[0]["confidence"].as_f64().unwrap() <= 0.8, "{name}");
        assert!(found[0]["to_confirm"][0]["kind"] == "window-unit-unknown", "{name}");
    }
    let half = derived("one-direction");
    let transfer = common::bulk(&half["connections"][0]);
    assert_eq!(transfer["verdict"], "unknown");
    // Packets that the capture lost were not lost on the path.
    let lossy = derived("capture-loss");
    assert_eq!(lossy["connections"][0]["directions"][1]["retransmitted"]["fast"], 0);
    assert_eq!(causes(&lossy), ["slow-start"]);
}

#[test]
fn turns_never_take_longer_than_their_connection() {
    let analysis = common::explain(&common::sample("derived/clock-step"));
    let connection = &analysis["connections"][0];
    let found = &connection["findings"][0];
    assert_eq!(found["cause"], "turn-taking");
    assert!(found["cost_s"].as_f64().unwrap() <= connection["duration_s"].as_f64().unwrap());
}

#[test]
fn nothing_is_blamed_on_a_healthy_transfer() {
    assert!(causes(&explain("healthy-server")).is_empty());
}

#[test]
fn both_ends_of_a_lossy_transfer_count_the_same_losses() {
    for end in ["client", "server"] {
        let analysis = explain(&format!("loss-{end}"));
        assert_eq!(analysis["connections"][0]["directions"][1]["retransmitted"]["fast"], 7, "{end}");
    }
}

/// The samples that there are are those that the README lists.
#[test]
fn every_sample_is_explained_without_contradiction() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    let mut listed: Vec<String> = Vec::new();
    for row in rows {
        let (name, rest) = row.split_once(" | ").unwrap();
        let (ends, _) = rest.split_once(" | ").unwrap();
        listed.extend(ends.split(", ").map(|end| format!("{name}-{end}")));
    }
    listed.sort();
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<String> = entries.filter_map(|name| name.strip_suffix(".pcap").map(str::to_owned)).collect();
    there.sort();
    assert_eq!(there, listed);
    for name in there {
        let analysis = explain(&name);
        // Every capture was made next to one of the ends, and its name has the end.
        let end = name.rsplit_once('-').unwrap().1;
        for connection in analysis["connections"].as_array().unwrap() {
            assert_eq!(connection["near"], end, "{name}");
            let state = if name.starts_with("reset-") { "reset" } else { "closed" };
            assert_eq!(connection["state"], state, "{name}");
        }
    }
}

/// The results from both ends of one run are the same.
#[test]
fn both_ends_agree() {
    let pairs = [
        "bufferbloat",
        "loss",
        "nagle-delayed-ack",
        "no-sack",
        "receive-window",
        "restart-after-idle",
        "sender-cap",
        "slow-start",
        "tls",
        "zero-window",
    ];
    for name in pairs {
        let [client, server] = ["client", "server"].map(|end| explain(&format!("{name}-{end}")));
        assert_eq!(causes(&client), causes(&server), "{name}");
        let [client, server] = [&client, &server].map(|analysis| common::bulk(common::main_connection(analysis)));
        assert_eq!(client["bytes"], server["bytes"], "{name}");
        let [here, there] = [client, server].map(|transfer| transfer["duration_s"].as_f64().unwrap());
        assert!((here - there).abs() < 0.01 * there, "{name}: {here} s and {there} s");
    }
}

/// The README's figures for each run, from the kernel's counters.
#[test]
fn the_figures_are_the_kernels() {
    let second = |connection: &Value| connection["directions"][1].clone();
    let of = |name: &str| explain(name)["connections"][0].clone();
    assert_eq!(second(&of("no-window-scaling-server"))["max_window"], 65_535);
    // The 64 KiB of credit that the client gives: at frame 686, 622,592 B are sent and 557,056 B
    // acknowledged.
    assert_eq!(second(&of("protocol-window-server"))["max_in_flight"], 65_536);
    assert_eq!(second(&of("receive-window-server"))["max_in_flight"], 18_824);
    assert_eq!(second(&of("zero-window-server"))["zero_windows"], 3);
    assert_eq!(second(&of("reordering-client"))["out_of_order"], 18);
    assert_eq!(second(&of("bandwidth-server"))["retransmitted"]["fast"], 3);
    for end in ["client", "server"] {
        let kinds = second(&of(&format!("reordering-{end}")))["retransmitted"].clone();
        assert_eq!((kinds["spurious"].as_u64(), kinds["fast"].as_u64()), (Some(2), Some(0)), "{end}");
    }
    // The holes of 16 of them closed by themselves; the other two are those that the sender sent
    // again. The sender took its window back both times, so that opening it took longer than the
    // repairs did.
    for end in ["client", "server"] {
        assert_eq!(causes(&explain(&format!("reordering-{end}"))), ["slow-start", "reordering"], "{end}");
    }
    let reordered = common::bulk(&of("reordering-server"))["findings"][1].clone();
    assert_eq!(reordered["evidence"][0]["value"], 18.0);
    let bloated = of("bufferbloat-server");
    assert!((bloated["rtt_ms"]["p95"].as_f64().unwrap() - 519.0).abs() < 52.0, "{}", bloated["rtt_ms"]);
    assert_eq!(second(&of("timeout-server"))["retransmitted"]["timeout"], 4);
    let rounds = |name: &str| -> Vec<u64> {
        let rounds = common::bulk(&of(name))["rounds"].clone();
        rounds.as_array().unwrap().iter().map(|round| round["bytes"].as_u64().unwrap() / 1_448).collect()
    };
    assert_eq!(rounds("slow-start-server")[..5], [10, 20, 40, 80, 160]);
    assert_eq!(rounds("slow-start-client")[..5], [10, 20, 40, 80, 160]);
    let syns = of("syn-loss-client")["handshake"]["retries"].clone();
    assert_eq!(syns, serde_json::json!([1, 0]));
    let thinking = explain("server-think-server")["connections"][0]["transfers"].clone();
    let answer = thinking.as_array().unwrap().iter().find(|transfer| transfer["from"] == "server").unwrap().clone();
    assert_eq!(answer["findings"][0]["cause"], "server-think");
    assert!((answer["findings"][0]["cost_s"].as_f64().unwrap() - 0.8).abs() < 0.008);
}

/// The pages that a reader sees first, at 100 columns.
#[test]
fn pages() {
    for name in ["slow-start-client", "receive-window-client", "loss-server", "new-connection-each-time-server"] {
        // From the package's folder, which is where tests run.
        let input = Input::Path(format!("../../samples/{name}.pcap").into());
        let analysis = whyslow_io::explain(&[input], &Stop::default(), &mut |_| ()).unwrap();
        let page = terminal::page(
            &analysis,
            View { width: 100, top: Some(10), full: false, transfer: None, lang: Default::default() },
        );
        insta::assert_snapshot!(name, anstream::adapter::strip_str(&page).to_string());
    }
}

#[test]
fn the_server_is_named_by_its_certificate_request() {
    assert_eq!(explain("tls-client")["connections"][0]["server"]["name"], "server.lab.example");
}

#[test]
fn every_cause_explains_itself() {
    for cause in whyslow_analysis::cause::Cause::ALL {
        let page = cause_pages::of(*cause);
        for part in
            ["## What it is", "## How it is recognised", "## What it is confused with", "## The fix", "## References"]
        {
            assert!(page.contains(part), "{} lacks {part:?}", cause.slug());
        }
        assert!(page.lines().next().is_some_and(|line| line.ends_with('.')), "{}", cause.slug());
    }
}

#[test]
fn a_file_with_times_in_whole_seconds_has_no_times() {
    let mut bytes = std::fs::read(common::sample("receive-window-client")).unwrap();
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut at = 24;
    while at + 16 <= bytes.len() {
        bytes[at + 4..at + 8].fill(0);
        at += 16 + word(&bytes, at + 8) as usize;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole-seconds.pcap");
    std::fs::write(&path, bytes).unwrap();
    let analysis = common::explain(&path);
    let slugs: Vec<_> =
        analysis["captures"][0]["problems"].as_array().unwrap().iter().map(|problem| &problem["slug"]).collect();
    assert!(slugs.iter().any(|slug| **slug == "coarse-times"), "{slugs:?}");
    assert!(analysis["headline"].is_null(), "{}", analysis["headline"]);
    assert_eq!(causes(&analysis), [""; 0]);
}

//! What is built of the samples: scenarios that the lab takes, as their captures show them.
#![allow(clippy::unwrap_used)]

use super::captured::Captured;
use super::run::open;
use super::scenario::{Choice, TransferScenario, build};
use super::supposition::Supposition;
use super::{curves, keep, remedy};
use std::path::{Path, PathBuf};
use whyslow_analysis::{Cause, End, LimitingFactor};
use whyslow_cli::place::TransferPlace;
use whyslow_lab::scenario;
use whyslow_lab::scenario::path::{LossSpec, LossTable};
use whyslow_lab::scenario::script::{Message, Script};
use whyslow_lab::scenario::units::{Size, Time};
use whyslow_lab::scenario::work::{Side, Work};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name)
}

fn captured(name: &str) -> Captured {
    open(&TransferPlace::read(&sample(name)).unwrap()).unwrap_or_else(|error| panic!("{name}: {error:#}")).captured
}

fn built(captured: &Captured) -> TransferScenario {
    build(captured, Choice::first(captured), 60.0)
}

fn script(built: &TransferScenario) -> &Script {
    let Work::Script(script) = &built.scenario.work else { panic!("a script") };
    script
}

#[test]
fn every_sample_that_can_be_made_again_is_a_scenario_of_the_lab() {
    let mut made = 0;
    for entry in std::fs::read_dir(sample("")).unwrap().flatten() {
        if entry.path().extension().is_none_or(|extension| extension != "pcap") {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        let Ok(opened) = open(&TransferPlace::read(&entry.path()).unwrap()) else { continue };
        let captured = opened.captured;
        let built = built(&captured);
        let text = keep::toml(&built.scenario, &captured, "again").unwrap();
        let loaded = scenario::load(&name, &text, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(loaded.runs[0].scenario, built.scenario, "{name}");
        assert!(built.scenario.resolve().is_ok(), "{name}: {:?}", built.scenario.resolve());
        // With each of its fixes, too.
        for remedy in remedy::of(&captured) {
            let mut mended = built.scenario.clone();
            remedy.apply(captured.from(), &mut mended);
            assert!(mended.resolve().is_ok(), "{name}, {}: {:?}", remedy.what, mended.resolve());
        }
        made += 1;
    }
    assert!(made > 55, "{made}");
}

#[test]
fn the_conversation_has_the_captures_bytes() {
    for name in ["receive-window-client.pcap", "receive-window-server.pcap"] {
        let captured = captured(name);
        let message = |from, size, wait| Message { from, size: Size(size), wait: Time(wait), after: None };
        let built = built(&captured);
        assert_eq!(
            script(&built).messages,
            [message(Side::Client, 100, 0), message(Side::Server, 409_600, 0)],
            "{name}"
        );
        assert_eq!((built.bytes, built.place, built.factor), (409_600, 0, 1.0), "{name}");
        // 18,824 B of a buffer of 16 KiB, which the kernel has doubled.
        let buffer = built.scenario.client.rcvbuf.unwrap().0;
        assert!((15_000..18_000).contains(&buffer), "{name}: {buffer}");
        let rtt = built.scenario.path.rtt.unwrap().seconds();
        assert!((rtt - 0.1).abs() < 0.001, "{name}: {rtt}");
    }
}

#[test]
fn pauses_are_those_of_the_programs() {
    let application = captured("application-server.pcap");
    let built_application = built(&application);
    let server: Vec<&Message> =
        script(&built_application).messages.iter().filter(|message| message.from == Side::Server).collect();
    assert_eq!(server.len(), 40);
    assert!(server.iter().all(|message| message.size == Size(10_000)), "{server:?}");
    assert!(server[1..].iter().all(|message| (message.wait.seconds() - 0.05).abs() < 0.01), "{server:?}");
    let think = captured("server-think-server.pcap");
    let built_think = built(&think);
    let answer = script(&built_think).messages.iter().find(|message| message.from == Side::Server).unwrap();
    assert!((answer.wait.seconds() - 0.8).abs() < 0.01, "{answer:?}");
    // A sender that is limited by a window does not pause.
    assert!(
        script(&built(&captured("slow-start-client.pcap"))).messages.iter().all(|message| message.wait.0 < 1_000_000)
    );
}

#[test]
fn supposed_cause_takes_the_time_of_the_verdict() {
    let captured = captured("receive-window-client.pcap");
    assert_eq!(captured.own_supposition(), Some(Supposition::ReceiveWindow));
    let before = captured.share(&[LimitingFactor::ReceiveWindow]);
    let supposed = captured.supposing(Supposition::Bandwidth).unwrap();
    assert_eq!(supposed.top().unwrap().cause, Cause::Bandwidth);
    assert!(supposed.share(&[LimitingFactor::Bandwidth]) > before * 0.9, "{:?}", supposed.transfer().limits);
    assert_eq!(supposed.seconds(), captured.seconds());
    // The link is what holds it in the scenario, and no buffer.
    let built = built(&supposed);
    assert!(built.scenario.path.down.rate.is_some_and(|rate| rate.0 < 3_000_000), "{:?}", built.scenario.path);
    for other in Supposition::ALL {
        assert_eq!(Supposition::of(other.cause()), Some(other));
    }
}

#[test]
fn slow_growth_of_a_window_is_built_where_the_rounds_show_it() {
    let captured = captured("slow-start-client.pcap");
    assert_eq!(captured.slow_growth(), None);
    let mut slow = captured.clone();
    let rounds = &mut slow.connection.transfers[slow.index].rounds;
    let mut flight = 14_480.0;
    for round in rounds.iter_mut().filter(|round| round.limit == LimitingFactor::SlowStart) {
        round.bytes = flight as u64;
        flight *= 1.5;
    }
    let growth = slow.slow_growth().unwrap();
    assert!((growth - 0.5).abs() < 0.01, "{growth}");
    let mut choice = Choice::first(&slow);
    choice.host.growth = Some(growth);
    let scenario = build(&slow, choice, 60.0);
    let window = script(&scenario).server_window.unwrap();
    assert_eq!((window.initial, window.by), (Size(14_480), growth));
    assert!(scenario.scenario.resolve().is_ok());
}

#[test]
fn the_very_segments_are_lost_again() {
    for name in ["loss-server.pcap", "loss-client.pcap"] {
        let captured = captured(name);
        let built = built(&captured);
        let Some(LossSpec::Table(LossTable::At(places))) = &built.scenario.path.down.loss else { panic!("{name}") };
        let resent = captured.connection.directions[1].retransmitted;
        assert_eq!(places.len() as u64, resent.fast + resent.timeout + resent.tail_probe, "{name}: {places:?}");
        assert!(places.iter().all(|place| place.0 % 1_448 == 0), "{name}: {places:?}");
    }
}

#[test]
fn the_path_does_what_it_did() {
    for end in ["client", "server"] {
        let down = |cause: &str| built(&captured(&format!("{cause}-{end}.pcap"))).scenario.path.down;
        let near = |value: u64, is: u64, part: f64| (value as f64 / is as f64 - 1.0).abs() < part;
        // As the samples were recorded: 4 Mbit/s behind a bucket of 40 kB, and 5 Mbit/s.
        let policer = down("policer").policer.unwrap();
        assert!(near(policer.rate.0, 4_000_000, 0.01) && near(policer.burst.0, 40_000, 0.03), "{end}: {policer:?}");
        let shaper = down("shaper");
        let bucket = shaper.shaper.unwrap();
        assert!(near(bucket.rate.0, 5_000_000, 0.01) && near(shaper.rate.unwrap().0, 40_000_000, 0.03), "{bucket:?}");
        let Some(LossSpec::Table(LossTable::At(marked))) = down("ecn").mark else { panic!("{end}: no mark") };
        assert_eq!(marked[0].0 / 1_448, 67, "{end}: {marked:?}");
        let late = down("reordering").reorder.unwrap();
        assert_eq!((late.at.len(), late.delay.0 / 100_000), (18, 58), "{end}: {late:?}");
    }
}

#[test]
fn a_hole_swallows_full_segments_until_they_pass() {
    let captured = captured("mtu-black-hole-server.pcap");
    let built = built(&captured);
    let down = &built.scenario.path.down;
    assert_eq!((down.mtu.as_ref().unwrap().size, down.mtu.as_ref().unwrap().icmp), (Size(1_499), false));
    assert_eq!(down.step[0].set.mtu.as_ref().unwrap().size, Size(1_500));
    assert!(down.loss.is_none(), "{:?}", down.loss);
    // Fixed at its source, and nowhere else.
    let fixes = remedy::of(&captured);
    let mut mended = built.scenario.clone();
    fixes[0].apply(End::Server, &mut mended);
    assert!(mended.path.down.mtu.unwrap().icmp, "{fixes:?}");
    assert_eq!(fixes[1].command.as_deref(), Some("sysctl -w net.ipv4.tcp_mtu_probing=1"));
    assert_eq!((fixes[1].promised_s, fixes[0].promised_s.is_some()), (None, true));
}

#[test]
fn a_lost_packet_is_fixed_on_the_path_as_promised() {
    for name in ["timeout-server.pcap", "tail-loss-server.pcap", "loss-server.pcap"] {
        let fixes = remedy::of(&captured(name));
        let promised = fixes.iter().find(|fix| fix.promised_s.is_some()).map(|fix| &fix.how);
        assert_eq!(promised, Some(&remedy::How::Key(remedy::Key::Lossless)), "{name}: {fixes:?}");
    }
    // The sender's missing feature is tried in addition, and nothing is promised for it.
    let fixes = remedy::of(&captured("timeout-server.pcap"));
    let of_sender = fixes.iter().find(|fix| fix.command.is_some()).unwrap();
    assert_eq!(
        (of_sender.what.as_str(), of_sender.promised_s),
        ("net.ipv4.tcp_early_retrans=3 net.ipv4.tcp_recovery=1 on the server", None)
    );
}

#[test]
fn hosts_remember_and_restart_as_they_did() {
    for end in ["client", "server"] {
        let scenario = |cause: &str| built(&captured(&format!("{cause}-{end}.pcap"))).scenario;
        assert_eq!(scenario("early-slow-start-exit").server.ssthresh, Some(10), "{end}");
        let ecn = scenario("ecn");
        assert!(ecn.client.ecn && ecn.server.ecn && !scenario("loss").server.ecn, "{end}");
        let delayed = scenario("delayed-ack");
        // Its pauses of 150 ms are shorter than any usual timeout.
        assert_eq!((delayed.server.initcwnd, delayed.server.rto_min), (Some(1), Some(Time(95_000_000))), "{end}");
        assert_eq!(scenario("loss").server.rto_min, None, "{end}");
        // The program's own buffer: a host's would have scaled its windows.
        let small = scenario("small-segments").client.rcvbuf.unwrap().0;
        assert!((1_152..1_250).contains(&small), "{end}: {small}");
    }
}

#[test]
fn a_sender_with_grants_waits_for_each() {
    let built = built(&captured("protocol-window-server.pcap"));
    let server = script(&built).messages.iter().filter(|message| message.from == Side::Server).skip(1);
    let granted: Vec<&Message> = server.collect();
    // 16 KiB a grant, and some of them come together.
    let is_granted =
        |message: &&Message| message.wait.0 == 0 && message.size.0.is_multiple_of(16_384) && message.size.0 <= 65_536;
    assert!(granted.len() > 20 && granted.iter().all(is_granted), "{granted:?}");
}

#[test]
fn hosts_offer_what_they_offered() {
    let unscaled = built(&captured("no-window-scaling-server.pcap")).scenario;
    assert_eq!((unscaled.client.window_scaling, unscaled.server.window_scaling), (false, true));
    // A buffer too large for the field's scale was not the limit.
    assert!(unscaled.client.tcp_rmem[2].0 > 1_000_000);
    let without = built(&captured("no-sack-client.pcap")).scenario;
    assert_eq!((without.client.sack, without.server.sack), (false, true));
    let nagle = built(&captured("nagle-delayed-ack-client.pcap")).scenario;
    assert_eq!((nagle.client.nodelay, nagle.server.nodelay), (false, true));
}

#[test]
fn a_long_transfer_is_shortened_to_where_it_repeats() {
    let captured = captured("receive-window-client.pcap");
    let built = build(&captured, Choice::first(&captured), 1.0);
    assert!(built.factor > 2.0 && built.factor < 2.6, "{}", built.factor);
    assert!((built.captured_s - 1.0).abs() < 0.01, "{}", built.captured_s);
    assert_eq!(script(&built).bytes_of(Side::Server), built.bytes);
    assert_eq!(captured.from(), End::Server);
}

#[test]
fn the_captures_curve_ends_when_the_time_that_is_compared_does() {
    for name in [
        "receive-window-client.pcap",
        "receive-window-server.pcap",
        "server-think-server.pcap",
        "loss-client.pcap",
        "application-server.pcap",
        "turn-taking-server.pcap",
    ] {
        let captured = captured(name);
        let built = built(&captured);
        let curve = curves::of_capture(&captured, &built);
        let (end, bytes) = *curve.points.last().unwrap();
        assert!((end - built.captured_s).abs() <= 0.01 * built.captured_s, "{name}: {end} of {}", built.captured_s);
        assert!(captured.is_about_connection || bytes == built.bytes, "{name}: {bytes}");
        assert!(curve.points.len() <= curves::MOST && curve.points[0] == (0.0, 0), "{name}");
        assert!(curve.points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1), "{name}");
    }
}

#[test]
fn a_transfer_that_cannot_be_built_has_a_reason() {
    let wrong = |name: &str| match open(&TransferPlace::read(&sample(name)).unwrap()) {
        Ok(_) => panic!("{name} can be read"),
        Err(error) => format!("{error:#}"),
    };
    assert!(wrong("derived/elided-text.txt").contains("give a pcap"), "{}", wrong("derived/elided-text.txt"));
    let missing = wrong("receive-window-client.pcap#7");
    assert!(missing.contains("there is no connection 7"), "{missing}");
}

//! How each cause is drawn: what makes it, in ranges where it is the one that holds the transfer
//! back, and what the kernel's counters must then say.

use super::exchanges;
use super::{AMPLE, Chance, Draw, MSS, Setting, bits, bytes, ms, open_handed, path, set, verify, window_based};

/// All that is drawn; a draw's place is part of the seed.
pub(super) const DRAWS: &[Draw] = &[
    ("none", healthy),
    ("slow-start", slow_start),
    ("early-slow-start-exit", early_exit),
    ("restart-after-idle", restart),
    ("receive-window", receive_window),
    ("no-window-scaling", no_window_scaling),
    ("zero-window", zero_window),
    ("sender-cap", sender_cap),
    ("protocol-window", protocol_window),
    ("application", application),
    ("server-think", server_think),
    ("turn-taking", turn_taking),
    ("nagle-delayed-ack", nagle),
    ("new-connection-each-time", new_connections),
    ("bandwidth", bandwidth),
    ("bufferbloat", bufferbloat),
    ("pacing", pacing),
    ("shaper", shaper),
    ("policer", policer),
    ("ecn", ecn),
    ("no-sack", no_sack),
    ("loss", loss),
    ("timeout", timeout),
    ("tail-loss", tail_loss),
    ("reordering", reordering),
    ("syn-loss", syn_loss),
    ("mtu-black-hole", black_hole),
    ("proxy-split", proxy_split),
    ("delayed-ack", delayed_ack),
    ("duplication", duplication),
    ("small-segments", small_segments),
    ("tls-record-buffering", tls_records),
    ("amplification-risk", amplification),
    ("small-requests", exchanges::small_requests),
    ("pushes", exchanges::pushes),
    ("shared-bottleneck", exchanges::shared_bottleneck),
    ("slow-second-query", exchanges::slow_second_query),
    ("no-answer", exchanges::no_answer),
    ("reset", exchanges::reset),
];

/// Nothing to blame: too short, or as fast as the path for nearly all of the time.
fn healthy(chance: &mut Chance) -> Vec<Setting> {
    if chance.is(0.5) {
        return line_rate(chance);
    }
    let rtt = chance.between(0.001, 0.05);
    // Too short to be held back by anything: it fits into the first flight.
    let size = chance.between(1_000.0, 12_000.0);
    let mut all = open_handed();
    all.extend(path(rtt, 1e9, "10MB"));
    all.extend([set("work.download.size", bytes(size)), verify(&["server.retransmitted <= 0"])]);
    all
}

/// A path so short that its rate is reached at once, for seconds.
fn line_rate(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.001, 0.004), chance.between(10e6, 150e6));
    let mut all = open_handed();
    all.extend(path(rtt, rate, &bytes(rate / 8.0 * 0.02)));
    let size = (rate / 8.0 * chance.between(2.0, 4.0)).min(50e6);
    all.extend([set("work.download.size", bytes(size)), verify(&[&format!("goodput >= {}", bits(0.8 * rate))])]);
    all
}

fn slow_start(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.01, 0.3);
    let product = 1e9 / 8.0 * rtt;
    let size = chance.between(60.0 * MSS, (0.5 * product).min(5e6));
    let mut all = open_handed();
    all.extend(path(rtt, 1e9, "50MB"));
    all.extend([
        set("work.download.size", bytes(size)),
        set("server.tcp_wmem", r#"["4KiB", "256KiB", "16MiB"]"#),
        verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%", "server.max_cwnd >= 30"]),
    ]);
    all
}

fn early_exit(chance: &mut Chance) -> Vec<Setting> {
    let mut all = open_handed();
    all.extend(path(chance.between(0.03, 0.15), 1e9, "50MB"));
    all.extend([
        set("path.down.loss", "{ packets = [12, 40, 90, 150, 260] }"),
        set("server.no_metrics_save", "false"),
        set("server.no_ssthresh_metrics_save", "false"),
        set("work.download.sizes", format!("[\"600kB\", {:?}]", bytes(chance.between(8e5, 2e6)))),
        set("work.download.pause", "500ms"),
        window_based(chance),
        verify(&["server.first_ssthresh <= 80", "down.lost >= 5"]),
    ]);
    all
}

fn restart(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.02, 0.15);
    let mut all = open_handed();
    all.extend(path(rtt, 1e9, "50MB"));
    all.extend([
        set("work.download.size", bytes(chance.between(300e3, 1.2e6))),
        set("work.download.count", "2"),
        set("work.download.pause", format!("{}ms", chance.whole(1200, 2500))),
        set("work.download.connection", "reused"),
        set("server.tcp_wmem", r#"["4KiB", "256KiB", "16MiB"]"#),
        window_based(chance),
        verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%"]),
    ]);
    all
}

fn receive_window(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.001, 0.3);
    let window = chance.between(8_192.0, 2e6_f64.min(1e9 / 8.0 * rtt / 4.0));
    let buffer = bytes(window);
    vec![
        set("path.rtt", ms(rtt)),
        set("client.tcp_rmem", format!("[\"4096B\", {buffer:?}, {buffer:?}]")),
        set("work.download.size", bytes(window * chance.between(12.0, 25.0))),
        verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 0"]),
    ]
}

fn no_window_scaling(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.03, 0.2))),
        set("client.tcp_rmem", r#"["4KiB", "4MiB", "8MiB"]"#),
        set("client.window_scaling", "false"),
        set("work.download.size", bytes(chance.between(1e6, 2.5e6))),
        verify(&["server.rwnd_limited >= 60%", "server.max_peer_window <= 65535B"]),
    ]
}

fn zero_window(chance: &mut Chance) -> Vec<Setting> {
    let mut all = vec![
        set("path.rtt", ms(chance.between(0.005, 0.06))),
        set("client.rcvbuf", bytes(chance.between(40e3, 200e3))),
        set("work.download.size", "1500kB"),
        set("work.download.read.chunk", "8KiB"),
        set("work.download.read.pause_after", "300kB"),
        set("work.download.read.pause", format!("{}ms", chance.whole(1500, 3500))),
    ];
    all.push(verify(&["zero_window >= 1", "server.rwnd_limited >= 50%", "client.max_unread >= 20kB"]));
    all
}

fn sender_cap(chance: &mut Chance) -> Vec<Setting> {
    let buffer = chance.between(16e3, 60e3);
    let mut all = open_handed();
    all.extend([
        set("path.rtt", ms(chance.between(0.03, 0.2))),
        set("server.sndbuf", bytes(buffer)),
        set("server.nodelay", "true"),
        set("work.download.write.chunk", "4KiB"),
        set("work.download.size", bytes(buffer * chance.between(20.0, 30.0))),
        verify(&["server.sndbuf_full >= 60%", "server.rwnd_limited <= 5%", "server.retransmitted <= 0"]),
    ]);
    all
}

fn protocol_window(chance: &mut Chance) -> Vec<Setting> {
    let window = chance.between(32_768.0, 2e6);
    // Far less than what the path would carry.
    let rtt = chance.between((4.0 * window * 8.0 / 1e9).max(0.03), 0.3);
    let mut all = open_handed();
    all.extend([
        set("path.rtt", ms(rtt)),
        set("client.nodelay", "true"),
        set("server.nodelay", "true"),
        set("server.tcp_wmem", r#"["4KiB", "256KiB", "16MiB"]"#),
        set("work.credit.size", bytes(window * chance.between(15.0, 25.0))),
        set("work.credit.window", bytes(window)),
        set("work.credit.grant", bytes(window / 4.0)),
        set("work.credit.message", "4KiB"),
        verify(&["server.rwnd_limited <= 5%", "server.retransmitted <= 0", "server.app_limited >= 50%"]),
    ]);
    all
}

fn application(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.001, 0.06);
    let every = chance.between(rtt * 1.6, 0.15_f64.max(rtt * 2.0));
    vec![
        set("path.rtt", ms(rtt)),
        set(
            "work.download.write",
            format!("{{ chunk = {:?}, every = {:?} }}", bytes(chance.between(2e3, 12e3)), ms(every)),
        ),
        set("work.download.size", bytes(chance.between(100e3, 250e3))),
        verify(&["server.app_limited >= 50%", "server.rwnd_limited <= 1%", "server.retransmitted <= 0"]),
    ]
}

fn server_think(chance: &mut Chance) -> Vec<Setting> {
    let think = chance.between(0.7, 2.0);
    let mut all = open_handed();
    all.extend([
        set("path.rtt", ms(chance.between(0.001, 0.3))),
        set("work.download.protocol", chance.among(&["plain", "http"])),
        set("work.download.think", ms(think)),
        set("work.download.size", bytes(chance.between(5e3, 100e3))),
        verify(&["first_byte >= 700ms", "server.retransmitted <= 0"]),
    ]);
    all
}

fn turn_taking(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.005, 0.3))),
        set("client.nodelay", "true"),
        set("server.nodelay", "true"),
        set("work.turns.count", chance.whole(20, 60).to_string()),
        verify(&["server.retransmitted <= 0", "client.retransmitted <= 0"]),
    ]
}

fn nagle(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.001, 0.02))),
        set("work.write_write_read.count", chance.whole(20, 40).to_string()),
        verify(&["transfer.median >= 38ms"]),
    ]
}

fn new_connections(chance: &mut Chance) -> Vec<Setting> {
    let mut all = open_handed();
    all.extend([
        set("path.rtt", ms(chance.between(0.02, 0.12))),
        set("client.nodelay", "true"),
        set("server.nodelay", "true"),
        set("work.download.count", chance.whole(12, 25).to_string()),
        set("work.download.size", bytes(chance.between(2e3, 12e3))),
        set("work.download.protocol", chance.among(&["plain", "http", "https"])),
        // TLS' version stands in an extension of the ServerHello.
        set("snaplen", "256B"),
        verify(&["server.retransmitted <= 0"]),
    ]);
    all
}

/// A rate that fills a few seconds, and a queue of about a bandwidth–delay product.
fn bandwidth(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.06), chance.between(1e6, 120e6));
    let queue = (rate / 8.0 * 0.025).max(12.0 * MSS);
    let longest = rtt + queue * 8.0 / rate + 0.04;
    let mut all = open_handed();
    all.extend(path(rtt, rate, &bytes(queue)));
    all.extend([
        set("work.download.size", bytes((rate / 8.0 * chance.between(3.0, 5.0)).min(50e6))),
        verify(&[
            &format!("goodput >= {}", bits(0.5 * rate)),
            "down.lost <= 0",
            &format!("rtt_max <= {}", ms(longest)),
        ]),
    ]);
    all
}

fn bufferbloat(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.05), chance.between(1e6, 15e6));
    let mut all = open_handed();
    all.extend(path(rtt, rate, &format!("{}ms", chance.whole(600, 2000))));
    all.extend([
        set("server.congestion", "reno"),
        set("work.download.size", bytes(rate / 8.0 * chance.between(4.0, 6.0))),
        verify(&["rtt_max >= 300ms", "server.rwnd_limited <= 20%"]),
    ]);
    all
}

/// A sender's own rate, far below the path's.
fn pacing(chance: &mut Chance) -> Vec<Setting> {
    let rate = chance.between(1e6, 100e6);
    let mut all = open_handed();
    all.extend(path(chance.between(0.01, 0.1), (rate * chance.between(8.0, 20.0)).min(1e9), "20MB"));
    all.extend([
        set("server.max_pacing", bits(rate)),
        set("work.download.size", bytes(rate / 8.0 * chance.between(1.5, 3.0))),
        verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%"]),
    ]);
    all
}

/// A fast beginning, then a slower rate with a queue.
fn shaper(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.04), chance.between(3e6, 10e6));
    let mut all = open_handed();
    all.extend(path(rtt, rate * chance.between(6.0, 10.0), "4MB"));
    all.extend([
        set("path.down.step", format!("[{{ at = {:?}, set = {{ rate = {:?} }} }}]", ms(10.0 * rtt), bits(rate))),
        set("work.download.size", bytes(rate / 8.0 * chance.between(2.0, 3.5))),
        window_based(chance),
        verify(&["down.lost <= 0", "down.queue_dropped <= 0", "server.rwnd_limited <= 5%"]),
    ]);
    all
}

/// A queue that marks instead of dropping, on a path long enough for the marks to cost something.
fn ecn(chance: &mut Chance) -> Vec<Setting> {
    let mut all = open_handed();
    all.extend(path(chance.between(0.05, 0.1), chance.between(15e6, 40e6), "4MB"));
    all.extend([
        set("client.ecn", "true"),
        set("server.ecn", "true"),
        set("path.down.ecn", "true"),
        set("path.down.aqm", r#"{ codel = { target = "1ms", interval = "20ms" } }"#),
        set("work.download.size", bytes(chance.between(1.5e6, 3e6))),
        window_based(chance),
        verify(&["down.marked >= 2", "server.retransmitted <= 0", "server.rwnd_limited <= 5%"]),
    ]);
    all
}

/// Several segments of the fourth flight of slow start (10, 20, 40, 80 segments) are lost, one
/// every third.
fn no_sack(chance: &mut Chance) -> Vec<Setting> {
    let lost: Vec<u32> = (0..chance.whole(7, 10)).map(|n| 75 + 3 * n).collect();
    let mut all = open_handed();
    all.extend(path(chance.between(0.03, 0.1), 1e9, "10MB"));
    all.extend([
        set("client.sack", "false"),
        set("path.down.loss", format!("{{ packets = {lost:?} }}")),
        set("work.download.size", bytes(chance.between(300e3, 500e3))),
        window_based(chance),
        verify(&["down.lost >= 7", "server.retransmitted >= 7", "server.timeouts <= 0"]),
    ]);
    all
}

fn policer(chance: &mut Chance) -> Vec<Setting> {
    let rate = chance.between(2e6, 50e6);
    let mut all = open_handed();
    all.extend([
        set("path.rtt", ms(chance.between(0.015, 0.06))),
        set(
            "path.down.policer",
            format!(
                "{{ rate = {:?}, burst = {:?} }}",
                bits(rate),
                bytes((rate / 8.0 * chance.between(0.02, 0.1)).max(12.0 * MSS))
            ),
        ),
        set("work.download.size", bytes(rate / 8.0 * chance.between(3.5, 5.0))),
        verify(&["down.policed >= 15", "down.queue_dropped <= 0"]),
    ]);
    all
}

fn loss(chance: &mut Chance) -> Vec<Setting> {
    let mut all = open_handed();
    all.extend(path(chance.between(0.01, 0.1), 200e6, "20MB"));
    all.extend([
        set("path.down.loss", format!("{:.2}%", chance.between(0.3, 3.0))),
        set("work.download.size", bytes(chance.between(1.5e6, 4e6))),
        window_based(chance),
        verify(&["down.lost >= 5", "server.retransmitted >= 5", "down.queue_dropped <= 0"]),
    ]);
    all
}

/// The third flight of slow start (10, 20, 40 segments) is lost as a whole, and the probe, and what
/// the timer sends at first: no ACK can tell of it.
fn timeout(chance: &mut Chance) -> Vec<Setting> {
    let lost: Vec<u32> = (31..=71 + chance.whole(1, 3)).collect();
    let mut all = open_handed();
    all.extend(path(chance.between(0.01, 0.06), 1e9, "10MB"));
    all.extend([
        set("path.down.loss", format!("{{ packets = {lost:?} }}")),
        set("work.download.size", bytes(chance.between(250e3, 400e3))),
        window_based(chance),
        verify(&["server.timeouts >= 1", "down.lost >= 20"]),
    ]);
    all
}

fn tail_loss(chance: &mut Chance) -> Vec<Setting> {
    let segments = chance.whole(20, 80);
    let mut all = open_handed();
    all.extend(path(chance.between(0.05, 0.2), 1e9, "10MB"));
    all.extend([
        set("client.timestamps", "true"),
        set("path.down.loss", format!("{{ packets = [{segments}] }}")),
        set("work.download.size", bytes(f64::from(segments) * MSS - 100.0)),
        verify(&["down.lost >= 1", "server.retransmitted >= 1"]),
    ]);
    all
}

fn reordering(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.02, 0.08);
    let mut all = open_handed();
    all.extend(path(rtt, 100e6, "10MB"));
    all.extend([
        set(
            "path.down.reorder",
            format!("{{ share = \"{:.1}%\", delay = {:?} }}", chance.between(1.0, 4.0), ms(rtt * 0.6)),
        ),
        set("work.download.size", bytes(chance.between(1.5e6, 4e6))),
        window_based(chance),
        verify(&["down.reordered >= 5", "client.received_out_of_order >= 5"]),
    ]);
    all
}

fn syn_loss(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.005, 0.08))),
        set("path.up.loss", "100%"),
        set("path.up.step", format!("[{{ at = {:?}, set = {{ loss = \"0%\" }} }}]", ms(chance.between(0.3, 0.9)))),
        set("work.download.size", bytes(chance.between(5e3, 60e3))),
        verify(&["syn_retransmitted >= 1"]),
    ]
}

fn black_hole(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.01, 0.06))),
        set("server.tso", "false"),
        set("path.down.mtu", r#"{ size = "1400B", icmp = false }"#),
        set(
            "path.down.step",
            format!(
                "[{{ at = \"{}ms\", set = {{ mtu = {{ size = \"1500B\", icmp = true }} }} }}]",
                chance.whole(1500, 3000)
            ),
        ),
        set("work.download.size", bytes(chance.between(60e3, 200e3))),
        verify(&["server.timeouts >= 1", "down.too_large >= 2"]),
    ]
}

/// A proxy near the client, and the server far behind it.
fn proxy_split(chance: &mut Chance) -> Vec<Setting> {
    let (near, far) = (chance.between(0.001, 0.008), chance.between(0.06, 0.2));
    let mut all = open_handed();
    all.extend([
        set("proxy.host.tcp_rmem", AMPLE),
        set("proxy.host.initrwnd", "2000"),
        set("path.rtt", ms(near)),
        set("proxy.path.rtt", ms(far)),
        set("work.download.size", bytes(chance.between(100e3, 600e3))),
        verify(&[&format!("transfer.1 >= {}", ms(2.5 * far)), "server.retransmitted <= 0"]),
    ]);
    all
}

/// An old initial window of one segment after each pause: the client is in no hurry to acknowledge
/// it.
fn delayed_ack(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.005, 0.012))),
        window_based(chance),
        set("server.initcwnd", "1"),
        set("server.rto_min", "50ms"),
        set("server.nodelay", "true"),
        set("work.download.size", bytes(f64::from(chance.whole(2, 3)) * MSS)),
        set("work.download.count", chance.whole(16, 24).to_string()),
        set("work.download.connection", "reused"),
        set("work.download.pause", "150ms"),
        verify(&[
            "transfer.slowest >= 45ms",
            "transfer.last >= 45ms",
            "server.retransmitted <= 0",
            "server.timeouts <= 0",
        ]),
    ]
}

fn duplication(chance: &mut Chance) -> Vec<Setting> {
    let mut all = open_handed();
    all.extend(path(chance.between(0.01, 0.06), chance.between(5e6, 50e6), "10MB"));
    all.extend([
        set("path.down.duplicate", format!("{:.1}%", chance.between(2.0, 8.0))),
        set("work.download.size", bytes(chance.between(400e3, 1.5e6))),
        verify(&["down.duplicated >= 5", "server.dsack_dups >= 5", "server.retransmitted <= 0"]),
    ]);
    all
}

/// A window that never has room for a whole segment.
fn small_segments(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.004, 0.04))),
        // The kernel makes it 2,304 B, its least, and offers half.
        set("client.rcvbuf", "1200B"),
        set("work.download.size", bytes(chance.between(30e3, 60e3))),
        verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 0"]),
    ]
}

/// The first record does not fit into the first flight.
fn tls_records(chance: &mut Chance) -> Vec<Setting> {
    let mut all = open_handed();
    all.extend([
        set("path.rtt", ms(chance.between(0.02, 0.1))),
        set("snaplen", "200B"),
        window_based(chance),
        set("work.download.size", bytes(chance.between(60e3, 200e3))),
        set("work.download.protocol", "tls"),
        verify(&["server.rwnd_limited <= 5%", "server.retransmitted <= 0", "tls_handshake >= 20ms"]),
    ]);
    all
}

/// A small request sets free a burst of a hundred segments.
fn amplification(chance: &mut Chance) -> Vec<Setting> {
    let window = chance.whole(64, 200);
    let size = f64::from(window) * MSS;
    let mut all = open_handed();
    all.extend([
        set("path.rtt", ms(chance.between(0.02, 0.1))),
        window_based(chance),
        set("server.initcwnd", window.to_string()),
        set("server.tcp_wmem", r#"["4KiB", "1MiB", "16MiB"]"#),
        set("work.download.size", bytes(size)),
        set("work.download.protocol", "http"),
        verify(&["server.retransmitted <= 0", &format!("server.max_in_flight >= {}", bytes(0.7 * size))]),
    ]);
    all
}

//! Draws for causes in the hosts and their programs.

use super::settings::{Chance, MSS, Setting, bits, bytes, large_receive_window, ms, path, set, verify, window_based};

pub(super) fn slow_start(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.01, 0.3);
    let product = 1e9 / 8.0 * rtt;
    let size = chance.between(60.0 * MSS, (0.5 * product).min(5e6));
    let mut all = large_receive_window();
    all.extend(path(rtt, 1e9, "50MB"));
    all.extend([
        set("work.download.size", bytes(size)),
        set("server.tcp_wmem", r#"["4KiB", "256KiB", "16MiB"]"#),
        verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%", "server.max_cwnd >= 30"]),
    ]);
    all
}

pub(super) fn early_exit(chance: &mut Chance) -> Vec<Setting> {
    let mut all = large_receive_window();
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

pub(super) fn restart(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.02, 0.15);
    let mut all = large_receive_window();
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

pub(super) fn receive_window(chance: &mut Chance) -> Vec<Setting> {
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

pub(super) fn no_window_scaling(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.03, 0.2))),
        set("client.tcp_rmem", r#"["4KiB", "4MiB", "8MiB"]"#),
        set("client.window_scaling", "false"),
        set("work.download.size", bytes(chance.between(1e6, 2.5e6))),
        verify(&["server.rwnd_limited >= 60%", "server.max_peer_window <= 65535B"]),
    ]
}

pub(super) fn zero_window(chance: &mut Chance) -> Vec<Setting> {
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

pub(super) fn sender_cap(chance: &mut Chance) -> Vec<Setting> {
    let buffer = chance.between(16e3, 60e3);
    let mut all = large_receive_window();
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

pub(super) fn protocol_window(chance: &mut Chance) -> Vec<Setting> {
    let window = chance.between(32_768.0, 2e6);
    // Far less than what the path would carry.
    let rtt = chance.between((4.0 * window * 8.0 / 1e9).max(0.03), 0.3);
    let mut all = large_receive_window();
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

pub(super) fn application(chance: &mut Chance) -> Vec<Setting> {
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

pub(super) fn server_think(chance: &mut Chance) -> Vec<Setting> {
    let think = chance.between(0.7, 2.0);
    let mut all = large_receive_window();
    all.extend([
        set("path.rtt", ms(chance.between(0.001, 0.3))),
        set("work.download.protocol", chance.among(&["plain", "http"])),
        set("work.download.think", ms(think)),
        set("work.download.size", bytes(chance.between(5e3, 100e3))),
        verify(&["first_byte >= 700ms", "server.retransmitted <= 0"]),
    ]);
    all
}

pub(super) fn turn_taking(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.005, 0.3))),
        set("client.nodelay", "true"),
        set("server.nodelay", "true"),
        set("work.turns.count", chance.whole(20, 60).to_string()),
        verify(&["server.retransmitted <= 0", "client.retransmitted <= 0"]),
    ]
}

pub(super) fn nagle(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.001, 0.02))),
        set("work.write_write_read.count", chance.whole(20, 40).to_string()),
        verify(&["transfer.median >= 38ms"]),
    ]
}

pub(super) fn new_connections(chance: &mut Chance) -> Vec<Setting> {
    let mut all = large_receive_window();
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

/// A sender's own rate, far below the path's.
pub(super) fn pacing(chance: &mut Chance) -> Vec<Setting> {
    let rate = chance.between(1e6, 100e6);
    let mut all = large_receive_window();
    all.extend(path(chance.between(0.01, 0.1), (rate * chance.between(8.0, 20.0)).min(1e9), "20MB"));
    all.extend([
        set("server.max_pacing", bits(rate)),
        set("work.download.size", bytes(rate / 8.0 * chance.between(1.5, 3.0))),
        verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%"]),
    ]);
    all
}

/// An old initial window of one segment after each pause: the client is in no hurry to acknowledge
/// it.
pub(super) fn delayed_ack(chance: &mut Chance) -> Vec<Setting> {
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

/// A window that never has room for a whole segment.
pub(super) fn small_segments(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.004, 0.04))),
        // The kernel makes it 2,304 B, its least, and offers half.
        set("client.rcvbuf", "1200B"),
        set("work.download.size", bytes(chance.between(30e3, 60e3))),
        verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 0"]),
    ]
}

/// The first record does not fit into the first flight.
pub(super) fn tls_records(chance: &mut Chance) -> Vec<Setting> {
    let mut all = large_receive_window();
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
pub(super) fn amplification(chance: &mut Chance) -> Vec<Setting> {
    let window = chance.whole(64, 200);
    let size = f64::from(window) * MSS;
    let mut all = large_receive_window();
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

//! Draws for paths that change while they are used, and for losses that cost nothing.

use super::settings::{
    AMPLE, Chance, MSS, Setting, bits, bytes, large_receive_window, ms, path, set, verify, window_based,
};

/// A rate that changes a few times a second, with a deep queue: a radio link.
pub(super) fn radio(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.02, 0.06), chance.between(4e6, 20e6));
    let mut at = 0.3;
    let mut steps = Vec::new();
    while at < 8.0 {
        let now = rate * chance.between(0.4, 1.6);
        steps.push(format!("{{ at = {:?}, set = {{ rate = {:?} }} }}", ms(at), bits(now)));
        at += chance.between(0.15, 0.5);
    }
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, "250ms"));
    all.extend([
        set("cause", "bandwidth"),
        set("path.down.step", format!("[{}]", steps.join(", "))),
        set("work.download.size", bytes(rate / 8.0 * chance.between(3.0, 5.0))),
        window_based(chance),
        verify(&["down.lost <= 0", "server.rwnd_limited <= 10%", "down.max_queue >= 60kB"]),
    ]);
    all
}

/// A full link whose queue is kept short by drops (CoDel, RFC 8289).
pub(super) fn managed(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.04), chance.between(4e6, 30e6));
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, "4MB"));
    all.extend([
        set("cause", "bandwidth"),
        set("path.down.aqm", r#"{ codel = { target = "5ms", interval = "100ms" } }"#),
        set("work.download.size", bytes(rate / 8.0 * chance.between(3.0, 5.0))),
        set("server.congestion", "cubic"),
        verify(&["down.lost <= 0", "down.queue_dropped >= 2", &format!("goodput >= {}", bits(0.75 * rate))]),
    ]);
    all
}

/// A radio link that lets nothing pass for a while, and all of it then: the timer sends again what
/// arrives in the end.
pub(super) fn hold(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate, held) = (chance.between(0.02, 0.06), chance.between(5e6, 30e6), chance.between(1.0, 2.5));
    let from = chance.between(0.5, 0.7);
    let end = from + held;
    let direction = if chance.is(0.5) { "up" } else { "down" };
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, "4MB"));
    all.extend([
        set("cause", "spurious-retransmission"),
        set(
            &format!("path.{direction}.step"),
            format!(
                "[{{ at = {:?}, set = {{ delay = {:?} }} }}, {{ at = {:?}, set = {{ delay = {:?} }} }}]",
                ms(from),
                ms(held + rtt / 2.0),
                ms(end),
                ms(rtt / 2.0)
            ),
        ),
        set("work.download.size", bytes(rate / 8.0 * chance.between(0.5, 0.9))),
        // Cubic leaves slow start when round trips grow.
        set("server.congestion", "reno"),
        verify(&["down.lost <= 0", "up.lost <= 0", "server.timeouts >= 1", "server.dsack_dups >= 1"]),
    ]);
    all
}

/// Packets that arrive up to some milliseconds late, in order, on a full link.
pub(super) fn jittery(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.02, 0.06), chance.between(3e6, 20e6));
    let queue = (rate / 8.0 * 0.06).max(24.0 * MSS);
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, &bytes(queue)));
    all.extend([
        set("cause", "bandwidth"),
        set("path.down.jitter", format!("{{ amount = {:?} }}", ms(chance.between(0.001, 0.006)))),
        set("work.download.size", bytes(rate / 8.0 * chance.between(3.0, 5.0))),
        window_based(chance),
        verify(&["down.lost <= 0", &format!("goodput >= {}", bits(0.7 * rate))]),
    ]);
    all
}

/// The path becomes longer, and a window that filled each round trip goes on to.
pub(super) fn longer_window(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, window) = (chance.between(0.02, 0.05), chance.between(14e3, 40e3));
    let buffer = bytes(window);
    let longer = rtt * chance.between(1.8, 3.0);
    let step = |at: f64| format!("[{{ at = {:?}, set = {{ delay = {:?} }} }}]", ms(at), ms(longer / 2.0));
    vec![
        set("cause", "receive-window"),
        set("path.up.delay", ms(rtt / 2.0)),
        set("path.down.delay", ms(rtt / 2.0)),
        set("path.down.step", step(1.0)),
        set("path.up.step", step(1.0)),
        set("client.tcp_rmem", format!("[\"4096B\", {buffer:?}, {buffer:?}]")),
        set("work.download.size", bytes(window * chance.between(40.0, 60.0))),
        // For a window as large as the congestion window the kernel blames either.
        verify(&[
            &format!("server.max_in_flight <= {}", bytes(1.2 * window)),
            "server.app_limited <= 20%",
            "server.retransmitted <= 0",
        ]),
    ]
}

/// A full link whose path becomes longer.
pub(super) fn longer_link(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.03), chance.between(3e6, 15e6));
    let longer = rtt * chance.between(1.8, 3.0);
    let step = |at: f64| format!("[{{ at = {:?}, set = {{ delay = {:?} }} }}]", ms(at), ms(longer / 2.0));
    let mut all = large_receive_window();
    all.extend([
        set("cause", "bandwidth"),
        set("path.up.delay", ms(rtt / 2.0)),
        set("path.down.delay", ms(rtt / 2.0)),
        set("path.down.rate", bits(rate)),
        set("path.down.queue", bytes((rate / 8.0 * 0.12).max(48.0 * MSS))),
        set("path.down.step", step(1.5)),
        set("path.up.step", step(1.5)),
        set("work.download.size", bytes(rate / 8.0 * chance.between(3.5, 5.0))),
        window_based(chance),
        verify(&["down.lost <= 0", &format!("goodput >= {}", bits(0.7 * rate))]),
    ]);
    all
}

/// ACKs are lost, which later ones make up for, on a full link.
pub(super) fn lost_acks(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.05), chance.between(3e6, 30e6));
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, &bytes((rate / 8.0 * 0.05).max(24.0 * MSS))));
    all.extend([
        set("cause", "bandwidth"),
        set("path.up.loss", format!("{:.1}%", chance.between(3.0, 15.0))),
        set("work.download.size", bytes(rate / 8.0 * chance.between(3.0, 5.0))),
        window_based(chance),
        verify(&["down.lost <= 0", "up.lost >= 10", &format!("goodput >= {}", bits(0.7 * rate))]),
    ]);
    all
}

/// Losses in bursts, as of a radio link that fails for moments.
pub(super) fn burst_losses(chance: &mut Chance) -> Vec<Setting> {
    let mut all = large_receive_window();
    all.extend(path(chance.between(0.02, 0.05), 100e6, "10MB"));
    let (bad, good) = (chance.between(0.4, 1.0), chance.between(20.0, 45.0));
    all.extend([
        set("cause", "loss"),
        set(
            "path.down.loss",
            format!("{{ gilbert_elliott = {{ to_bad = \"{bad:.2}%\", to_good = \"{good:.0}%\" }} }}"),
        ),
        set("work.download.size", bytes(chance.between(3e6, 6e6))),
        window_based(chance),
        verify(&["down.lost >= 10", "server.retransmitted >= 6", "down.queue_dropped <= 0"]),
    ]);
    all
}

/// Several downloads at once, each held by its own receive window: the link has room for all.
pub(super) fn narrow_at_once(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, window) = (chance.between(0.03, 0.1), chance.between(14e3, 60e3));
    let buffer = bytes(window);
    vec![
        set("cause", "receive-window"),
        set("path.rtt", ms(rtt)),
        set("client.tcp_rmem", format!("[\"4096B\", {buffer:?}, {buffer:?}]")),
        set("server.tcp_wmem", AMPLE),
        set("work.download.parallel", chance.whole(2, 4).to_string()),
        set("work.download.size", bytes(window * chance.between(12.0, 20.0))),
        verify(&["server.rwnd_limited >= 50%", "server.retransmitted <= 0"]),
    ]
}

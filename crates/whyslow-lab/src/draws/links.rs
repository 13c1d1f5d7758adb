//! Draws for causes on the path, and for paths without a fault.

use super::settings::{
    AMPLE, Chance, MSS, Setting, bits, bytes, large_receive_window, ms, path, set, verify, window_based,
};

/// Nothing to blame: too short, or as fast as the path for nearly all of the time.
pub(super) fn healthy(chance: &mut Chance) -> Vec<Setting> {
    if chance.is(0.5) {
        return line_rate(chance);
    }
    let rtt = chance.between(0.001, 0.05);
    // Too short to be held back by anything: it fits into the first flight.
    let size = chance.between(1_000.0, 12_000.0);
    let mut all = large_receive_window();
    all.extend(path(rtt, 1e9, "10MB"));
    all.extend([set("work.download.size", bytes(size)), verify(&["server.retransmitted <= 0"])]);
    all
}

/// A path so short that its rate is reached at once, for seconds.
fn line_rate(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.001, 0.004), chance.between(10e6, 150e6));
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, &bytes(rate / 8.0 * 0.02)));
    let size = (rate / 8.0 * chance.between(2.0, 4.0)).min(50e6);
    all.extend([set("work.download.size", bytes(size)), verify(&[&format!("goodput >= {}", bits(0.8 * rate))])]);
    all
}

/// A rate that fills a few seconds, and a queue of about a bandwidth–delay product.
pub(super) fn bandwidth(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.06), chance.between(1e6, 120e6));
    let queue = (rate / 8.0 * 0.025).max(12.0 * MSS);
    let longest = rtt + queue * 8.0 / rate + 0.04;
    let mut all = large_receive_window();
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

pub(super) fn bufferbloat(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.05), chance.between(1e6, 15e6));
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, &format!("{}ms", chance.whole(600, 2000))));
    all.extend([
        set("server.congestion", "reno"),
        set("work.download.size", bytes(rate / 8.0 * chance.between(4.0, 6.0))),
        verify(&["rtt_max >= 300ms", "server.rwnd_limited <= 20%"]),
    ]);
    all
}

/// A fast beginning, then a slower rate with a queue.
pub(super) fn shaper(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.04), chance.between(3e6, 10e6));
    let mut all = large_receive_window();
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
pub(super) fn ecn(chance: &mut Chance) -> Vec<Setting> {
    let mut all = large_receive_window();
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
pub(super) fn no_sack(chance: &mut Chance) -> Vec<Setting> {
    let lost: Vec<u32> = (0..chance.whole(7, 10)).map(|n| 75 + 3 * n).collect();
    let mut all = large_receive_window();
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

pub(super) fn policer(chance: &mut Chance) -> Vec<Setting> {
    let rate = chance.between(2e6, 50e6);
    let mut all = large_receive_window();
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

pub(super) fn loss(chance: &mut Chance) -> Vec<Setting> {
    let mut all = large_receive_window();
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
/// the timer sends at first: no ACK can report it.
pub(super) fn timeout(chance: &mut Chance) -> Vec<Setting> {
    let lost: Vec<u32> = (31..=71 + chance.whole(1, 3)).collect();
    let mut all = large_receive_window();
    all.extend(path(chance.between(0.01, 0.06), 1e9, "10MB"));
    all.extend([
        set("path.down.loss", format!("{{ packets = {lost:?} }}")),
        set("work.download.size", bytes(chance.between(250e3, 400e3))),
        window_based(chance),
        verify(&["server.timeouts >= 1", "down.lost >= 20"]),
    ]);
    all
}

pub(super) fn tail_loss(chance: &mut Chance) -> Vec<Setting> {
    let segments = chance.whole(20, 80);
    let mut all = large_receive_window();
    all.extend(path(chance.between(0.05, 0.2), 1e9, "10MB"));
    all.extend([
        set("client.timestamps", "true"),
        set("path.down.loss", format!("{{ packets = [{segments}] }}")),
        set("work.download.size", bytes(f64::from(segments) * MSS - 100.0)),
        verify(&["down.lost >= 1", "server.retransmitted >= 1"]),
    ]);
    all
}

pub(super) fn reordering(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.02, 0.08);
    let mut all = large_receive_window();
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

pub(super) fn syn_loss(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.005, 0.08))),
        set("path.up.loss", "100%"),
        set("path.up.step", format!("[{{ at = {:?}, set = {{ loss = \"0%\" }} }}]", ms(chance.between(0.3, 0.9)))),
        set("work.download.size", bytes(chance.between(5e3, 60e3))),
        verify(&["syn_retransmitted >= 1"]),
    ]
}

pub(super) fn black_hole(chance: &mut Chance) -> Vec<Setting> {
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
pub(super) fn proxy_split(chance: &mut Chance) -> Vec<Setting> {
    let (near, far) = (chance.between(0.001, 0.008), chance.between(0.06, 0.2));
    let mut all = large_receive_window();
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

pub(super) fn duplication(chance: &mut Chance) -> Vec<Setting> {
    let mut all = large_receive_window();
    all.extend(path(chance.between(0.01, 0.06), chance.between(5e6, 50e6), "10MB"));
    all.extend([
        set("path.down.duplicate", format!("{:.1}%", chance.between(2.0, 8.0))),
        set("work.download.size", bytes(chance.between(400e3, 1.5e6))),
        verify(&["down.duplicated >= 5", "server.dsack_dups >= 5", "server.retransmitted <= 0"]),
    ]);
    all
}

//! nginx and curl over faulty paths.

use super::super::programs::{self, Program};
use super::drawn::{DrawnRun, on_the_way, open, tight, wide};
use crate::draws::{Chance, MSS, Setting, bits, bytes, ms, set, verify};

fn download(settings: Vec<Setting>, size: f64) -> DrawnRun {
    let client = Program::client("curl", "exec curl -sS -o /dev/null http://$SERVER/file");
    DrawnRun { settings, server: programs::nginx(&programs::file("file", size), "80", ""), client }
}

pub(super) fn loss(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.02, 0.1));
    all.extend(open("client"));
    all.extend([
        set("path.down.loss", format!("{:.2}%", chance.between(0.4, 2.5))),
        set("server.congestion", chance.among(&["cubic", "reno"])),
        verify(&[
            "down.lost >= 6",
            "server.retransmitted >= 6",
            "down.queue_dropped <= 0",
            "server.rwnd_limited <= 25%",
        ]),
    ]);
    download(all, chance.between(2e6, 4e6))
}

pub(super) fn bursts(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.02, 0.08));
    all.extend(open("client"));
    let model =
        format!("{{ gilbert_elliott = {{ to_bad = \"{:.2}%\", to_good = \"30%\" }} }}", chance.between(0.2, 0.6));
    all.extend([
        set("path.down.loss", model),
        verify(&[
            "down.lost >= 20",
            "server.retransmitted >= 20",
            "down.queue_dropped <= 0",
            "server.rwnd_limited <= 30%",
        ]),
    ]);
    // Bursts enough for the rest of the transfer to be held by them.
    download(all, chance.between(7e6, 10e6))
}

pub(super) fn policer(chance: &mut Chance) -> DrawnRun {
    let rate = chance.between(2e6, 25e6);
    let burst = (rate / 8.0 * chance.between(0.02, 0.1)).max(12.0 * MSS);
    let mut all = on_the_way(chance.between(0.015, 0.06));
    all.extend([
        set("path.down.policer", format!("{{ rate = {:?}, burst = {:?} }}", bits(rate), bytes(burst))),
        verify(&["down.policed >= 15", "down.queue_dropped <= 0", "server.rwnd_limited <= 10%"]),
    ]);
    download(all, rate / 8.0 * chance.between(4.0, 6.0))
}

pub(super) fn shaper(chance: &mut Chance) -> DrawnRun {
    let (rtt, rate) = (chance.between(0.015, 0.04), chance.between(3e6, 12e6));
    let mut all = tight("down", rtt, rate * chance.between(6.0, 10.0), 1.0);
    let step = format!("[{{ at = {:?}, set = {{ rate = {:?} }} }}]", ms(1.0 + 12.0 * rtt), bits(rate));
    all.extend([
        set("path.down.step", step),
        set("path.down.queue", "4MB"),
        verify(&["down.queue_dropped <= 0", "server.rwnd_limited <= 20%", "rtt_max >= 50ms"]),
    ]);
    // The programs need about a second before they start; then the burst lasts as long as it lasts.
    download(all, rate / 8.0 * chance.between(5.0, 7.0))
}

pub(super) fn reordering(chance: &mut Chance) -> DrawnRun {
    let rtt = chance.between(0.03, 0.08);
    let mut all = wide(rtt);
    let reorder = format!("{{ share = \"{:.1}%\", delay = {:?} }}", chance.between(1.0, 4.0), ms(rtt * 0.6));
    all.extend([
        set("path.down.reorder", reorder),
        verify(&["down.reordered >= 5", "client.received_out_of_order >= 5", "down.queue_dropped <= 0"]),
    ]);
    download(all, chance.between(2e6, 4e6))
}

pub(super) fn black_hole(chance: &mut Chance) -> DrawnRun {
    let mut all = on_the_way(chance.between(0.01, 0.06));
    let mended = format!(
        "[{{ at = \"{}ms\", set = {{ mtu = {{ size = \"1500B\", icmp = true }} }} }}]",
        chance.whole(3500, 5000)
    );
    all.extend([
        set("server.tso", "false"),
        set("path.down.mtu", r#"{ size = "1400B", icmp = false }"#),
        set("path.down.step", mended),
        verify(&["server.timeouts >= 1", "down.too_large >= 2"]),
    ]);
    download(all, chance.between(60e3, 300e3))
}

pub(super) fn syn_loss(chance: &mut Chance) -> DrawnRun {
    let mut all = on_the_way(chance.between(0.005, 0.08));
    all.extend([
        set("path.up.loss", "100%"),
        set("path.up.step", r#"[{ at = "1800ms", set = { loss = "0%" } }]"#),
        verify(&["syn_retransmitted >= 1"]),
    ]);
    let mut drawn = download(all, chance.between(5e3, 60e3));
    // Early enough for the first SYN to be lost, late enough for the second or the third to pass.
    drawn.client.line =
        format!("exec curl -sS -o /dev/null --connect-timeout 20 http://$SERVER/file; # {}", drawn.client.line);
    drawn
}

pub(super) fn unreachable(chance: &mut Chance) -> DrawnRun {
    let mut all = on_the_way(chance.between(0.005, 0.08));
    all.extend([set("path.up.loss", "100%"), verify(&["syn_retransmitted >= 2"])]);
    let mut drawn = download(all, 1000.0);
    drawn.client.line = "curl -sS -o /dev/null --connect-timeout 5 http://$SERVER/file || true".to_owned();
    drawn
}

pub(super) fn refused(chance: &mut Chance) -> DrawnRun {
    let mut all = on_the_way(chance.between(0.005, 0.08));
    all.push(verify(&["server.resets >= 1"]));
    let mut drawn = download(all, 1000.0);
    drawn.client.line = "curl -sS -o /dev/null http://$SERVER:8080/file || true".to_owned();
    drawn
}

pub(super) fn ecn(chance: &mut Chance) -> DrawnRun {
    let rate = chance.between(10e6, 30e6);
    let mut all = tight("down", chance.between(0.04, 0.08), rate, 1.0);
    all.extend([
        set("client.ecn", "true"),
        set("server.ecn", "true"),
        set("path.down.ecn", "true"),
        set("path.down.aqm", r#"{ codel = { target = "2ms", interval = "30ms" } }"#),
        verify(&["down.marked >= 2", "server.retransmitted <= 0", "server.rwnd_limited <= 10%"]),
    ]);
    download(all, rate / 8.0 * chance.between(3.0, 4.5))
}

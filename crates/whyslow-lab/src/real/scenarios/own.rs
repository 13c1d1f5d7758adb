//! Small programs as people write them ([`super::super::programs::OWN`]).

use super::super::programs::own;
use super::drawn::{BETWEEN, DrawnRun, READ_FASTER, tight, wide};
use crate::draws::{Chance, Setting, bytes, set, verify};

fn pair(settings: Vec<Setting>, server: &str, client: &str) -> DrawnRun {
    DrawnRun { settings, server: own(server), client: own(&format!("{client} server=$SERVER")) }
}

fn over(chance: &mut Chance, rtt: (f64, f64), claims: &[&str]) -> Vec<Setting> {
    let mut all = wide(chance.between(rtt.0, rtt.1));
    all.push(verify(claims));
    all
}

pub(super) fn split(chance: &mut Chance) -> DrawnRun {
    let all = over(chance, (0.002, 0.02), &["client.retransmitted <= 0", "span >= 1s"]);
    let drawn = pair(all, "answering", &format!("split count={}", chance.whole(35, 60)));
    DrawnRun { client: drawn.client.fix_edits("TCP_NODELAY", "split ", "split nodelay=1 "), ..drawn }
}

pub(super) fn chunks(chance: &mut Chance) -> DrawnRun {
    let rtt = chance.between(0.005, 0.04);
    let mut all = wide(rtt);
    all.push(verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%", "span >= 2s"]));
    let every = chance.between(0.05_f64.max(1.6 * rtt), 0.15);
    // Smaller ones, one at a time, could as well be news.
    let chunk = chance.between(2e3, 12e3);
    let waits = format!("every={every:.3}");
    let drawn = pair(all, &format!("chunks count=50 chunk={chunk:.0} {waits}"), "get");
    DrawnRun { server: drawn.server.fix_edits(BETWEEN, waits, "every=0"), ..drawn }
}

pub(super) fn slow_reader(chance: &mut Chance) -> DrawnRun {
    let all = over(chance, (0.005, 0.06), &["server.rwnd_limited >= 60%", "server.retransmitted <= 10"]);
    let every = chance.between(0.08, 0.2);
    let size = 65_536.0 / every * 9.0;
    let waits = format!("every={every:.3}");
    let drawn = pair(all, &format!("bulk size={size:.0}"), &format!("get read=65536 {waits}"));
    DrawnRun { client: drawn.client.fix_edits(READ_FASTER, waits, ""), ..drawn }
}

pub(super) fn stopped_reader(chance: &mut Chance) -> DrawnRun {
    let all = over(chance, (0.005, 0.06), &["server.rwnd_limited >= 50%", "zero_window >= 1"]);
    let (buffer, stop) = (chance.between(50e3, 200e3), chance.between(2.0, 3.5));
    let stops = format!("stop_after=400000 stop={stop:.2}");
    let drawn = pair(all, "bulk size=1500000", &format!("get rcvbuf={buffer:.0} {stops}"));
    DrawnRun { client: drawn.client.fix_edits(READ_FASTER, stops, ""), ..drawn }
}

pub(super) fn sndbuf(chance: &mut Chance) -> DrawnRun {
    let buffer = chance.between(12e3, 40e3);
    let most = format!("server.max_in_flight <= {}", bytes(4.0 * buffer));
    let claims = [&most, "server.sndbuf_full >= 50%", "server.rwnd_limited <= 5%", "server.retransmitted <= 0"];
    let mut all = over(chance, (0.04, 0.12), &claims);
    all.push(set("server.congestion", chance.among(&["cubic", "bbr"])));
    let own = format!("sndbuf={buffer:.0} ");
    let drawn = pair(all, &format!("bulk {own}size={:.0}", buffer * chance.between(30.0, 45.0)), "get");
    DrawnRun { server: drawn.server.fix_edits("SO_SNDBUF", own, ""), ..drawn }
}

pub(super) fn pushes(chance: &mut Chance) -> DrawnRun {
    let all = over(chance, (0.005, 0.08), &["server.retransmitted <= 0", "span >= 2s"]);
    pair(all, &format!("pushes seed={} count=8 least=0.3 most=1.2", chance.whole(1, 1_000_000)), "get")
}

pub(super) fn long_poll(chance: &mut Chance) -> DrawnRun {
    let all = over(chance, (0.005, 0.08), &["server.retransmitted <= 0", "span >= 3s"]);
    pair(all, &format!("polled seed={} least=1.5 most=3.5", chance.whole(1, 1_000_000)), "poll count=2")
}

pub(super) fn log_lines(chance: &mut Chance) -> DrawnRun {
    let all = over(chance, (0.005, 0.08), &["client.retransmitted <= 0", "span >= 4s"]);
    pair(all, "sink", &format!("lines seed={} seconds=5 least=0.05 most=0.9", chance.whole(1, 1_000_000)))
}

pub(super) fn cut(chance: &mut Chance) -> DrawnRun {
    let mut all = tight("down", chance.between(0.01, 0.06), chance.between(4e6, 15e6), 0.04);
    all.push(verify(&["server.resets >= 1", "server.max_notsent >= 10kB"]));
    pair(all, &format!("cut after={:.2}", chance.between(1.0, 2.0)), "get")
}

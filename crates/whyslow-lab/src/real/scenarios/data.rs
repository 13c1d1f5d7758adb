//! Databases, and iperf3.

use super::super::programs::{self, Program};
use super::drawn::{BETWEEN, DrawnRun, PIPELINE, full, on_the_way, tight, wide};
use crate::draws::{Chance, MSS, Setting, bits, bytes, set, verify};
use std::fmt::Write;

fn quiet(chance: &mut Chance, claims: &[&str]) -> Vec<Setting> {
    let mut all = wide(chance.between(0.005, 0.05));
    let claims: Vec<&str> = ["server.retransmitted <= 0"].iter().chain(claims).copied().collect();
    all.push(verify(&claims));
    all
}

pub(super) fn queries(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, &[]);
    let statements: String = (0..300).fold(String::new(), |mut all, n| {
        // Writing to a string cannot fail.
        let _ = writeln!(all, "SELECT {n};");
        all
    });
    // Between these psql waits for no answer: they are one message.
    let together = statements.trim_end().replace(";\n", "\\;\n") + "\n";
    let client = programs::psql(&statements).fix_edits(PIPELINE, &statements, together);
    DrawnRun { settings, server: programs::postgres(), client }
}

pub(super) fn login_each(chance: &mut Chance) -> DrawnRun {
    let mut settings = wide(chance.between(0.03, 0.1));
    settings.push(verify(&["server.retransmitted <= 0", "span >= 1s"]));
    let line = format!(
        "for i in $(seq {}); do psql -q -h $SERVER -U postgres -d postgres -o /dev/null -c 'SELECT 1'; done",
        chance.whole(8, 15)
    );
    DrawnRun { settings, server: programs::postgres(), client: Program::client("psql", line) }
}

pub(super) fn copy(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let rows = size / 1000.0;
    let statement = format!("COPY (SELECT repeat('x', 999) FROM generate_series(1, {rows:.0})) TO STDOUT;\n");
    DrawnRun { settings, server: programs::postgres(), client: programs::psql(&statement) }
}

pub(super) fn sleep(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, &["span >= 900ms"]);
    let statement = format!("SELECT pg_sleep({:.3});\n", chance.between(0.9, 2.5));
    DrawnRun { settings, server: programs::postgres(), client: programs::psql(&statement) }
}

pub(super) fn second_slow(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, &["span >= 1s"]);
    let statements = format!("SELECT 1;\nSELECT pg_sleep({:.3});\nSELECT 3;\n", chance.between(1.0, 2.0));
    DrawnRun { settings, server: programs::postgres(), client: programs::psql(&statements) }
}

pub(super) fn rows(chance: &mut Chance) -> DrawnRun {
    let settings = {
        let mut all = wide(chance.between(0.005, 0.05));
        // A probe for an ACK that a busy machine makes late is not a loss.
        all.push(verify(&["span >= 3s", "server.rwnd_limited <= 5%", "down.lost <= 0", "server.retransmitted <= 5"]));
        all
    };
    // A row fills the server's buffer of 8 kB, and so it is sent when it is made.
    let length = chance.whole(8_500, 14_000);
    let sleep = format!(", pg_sleep({:.3})", chance.between(0.055, 0.1));
    let statement = format!("SELECT repeat('x', {length}){sleep} FROM generate_series(1, 60);\n");
    let client = programs::psql(&statement).fix_edits(BETWEEN, sleep, "");
    DrawnRun { settings, server: programs::postgres(), client }
}

pub(super) fn pauses(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, &["span >= 2400ms"]);
    let pause = chance.between(1.2, 2.0);
    let statements = format!("SELECT 1;\n\\! sleep {pause:.2}\nSELECT 2;\n\\! sleep {pause:.2}\nSELECT 3;\n");
    DrawnRun { settings, server: programs::postgres(), client: programs::psql(&statements) }
}

fn redis_client(line: &str) -> Program {
    Program::client("redis-cli", line)
}

pub(super) fn redis_loop(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, &[]);
    let count = chance.whole(60, 150);
    let line = format!("exec redis-cli -h $SERVER -r {count} GET key >/dev/null");
    let piped = format!("yes GET key | head -n {count} | redis-cli -h $SERVER --pipe >/dev/null");
    DrawnRun { settings, server: programs::redis(), client: redis_client(&line).fix_edits(PIPELINE, &line, piped) }
}

pub(super) fn redis_large(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    // A value that the server makes itself: nothing is uploaded before.
    let line = format!(
        "redis-cli -h $SERVER SETRANGE key {size:.0} x >/dev/null\nexec redis-cli -h $SERVER GET key >/dev/null"
    );
    DrawnRun { settings, server: programs::redis(), client: redis_client(&line) }
}

pub(super) fn redis_waits(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, &["span >= 2s"]);
    let line = format!("exec redis-cli -h $SERVER BLPOP queue {:.1} >/dev/null", chance.between(2.0, 4.0));
    DrawnRun { settings, server: programs::redis(), client: redis_client(&line) }
}

fn iperf3(settings: Vec<Setting>, arguments: &str) -> DrawnRun {
    let line = format!("exec iperf3 -c $SERVER -R {arguments} >/dev/null");
    DrawnRun { settings, server: programs::iperf3_server(), client: Program::client("iperf3", line) }
}

pub(super) fn iperf_cubic(chance: &mut Chance) -> DrawnRun {
    let (settings, ..) = full(chance, "down");
    iperf3(settings, "-t 4")
}

pub(super) fn iperf_bbr(chance: &mut Chance) -> DrawnRun {
    let (mut settings, ..) = full(chance, "down");
    settings.push(set("server.congestion", "bbr"));
    iperf3(settings, "-t 4")
}

pub(super) fn iperf_bbr_loss(chance: &mut Chance) -> DrawnRun {
    let (mut settings, ..) = full(chance, "down");
    settings
        .extend([set("server.congestion", "bbr"), set("path.down.loss", format!("{:.2}%", chance.between(0.3, 1.5)))]);
    iperf3(settings, "-t 5")
}

pub(super) fn iperf_bbr_policer(chance: &mut Chance) -> DrawnRun {
    let rate = chance.between(3e6, 20e6);
    let burst = (rate / 8.0 * chance.between(0.03, 0.1)).max(12.0 * MSS);
    let mut all = on_the_way(chance.between(0.02, 0.06));
    all.extend([
        set("server.congestion", "bbr"),
        set("path.down.policer", format!("{{ rate = {:?}, burst = {:?} }}", bits(rate), bytes(burst))),
        verify(&["down.policed >= 15", "down.queue_dropped <= 0", "server.rwnd_limited <= 10%"]),
    ]);
    iperf3(all, "-t 5")
}

pub(super) fn iperf_window(chance: &mut Chance) -> DrawnRun {
    let rtt = chance.between(0.04, 0.1);
    let mut all = wide(rtt);
    all.push(verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 0"]));
    let window = chance.between(24e3, 100e3);
    // About three seconds' worth of it, and as much without it.
    let own = format!("-w {window:.0}");
    let drawn = iperf3(all, &format!("-n {:.0} {own}", 3.0 * window / rtt));
    DrawnRun { client: drawn.client.fix_edits("SO_RCVBUF", own, ""), ..drawn }
}

pub(super) fn iperf_limited(chance: &mut Chance) -> DrawnRun {
    let rate = chance.between(2e6, 8e6);
    let mut all = tight("down", chance.between(0.01, 0.06), rate * 15.0, 1.0);
    all.push(verify(&["server.rwnd_limited <= 5%", "server.retransmitted <= 0"]));
    iperf3(all, &format!("-t 4 -b {rate:.0}"))
}

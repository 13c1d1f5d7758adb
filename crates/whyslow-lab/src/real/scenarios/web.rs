//! Web servers, proxies and their clients.

use super::super::programs::{self, Program};
use super::drawn::{BETWEEN, DrawnRun, READ_FASTER, full, open, tight, towards_the_server, wide};
use crate::draws::{Chance, Setting, bits, bytes, set, verify};

const CURL: &str = "exec curl -sS -k -o /dev/null";

fn curl(arguments: &str) -> Program {
    Program::client("curl", format!("{CURL} {arguments}"))
}

fn wget(arguments: &str) -> Program {
    Program::client("wget", format!("exec wget -q -O /dev/null {arguments}"))
}

fn one_file(settings: Vec<Setting>, size: f64, client: Program) -> DrawnRun {
    DrawnRun { settings, server: programs::nginx(&programs::file("file", size), "80", ""), client }
}

/// Rounds of slow start are all there is.
fn rounds(chance: &mut Chance) -> (Vec<Setting>, f64) {
    let mut all = wide(chance.between(0.05, 0.16));
    all.extend(open("client"));
    all.push(verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 15%", "server.max_cwnd >= 40"]));
    (all, chance.between(150e3, 900e3))
}

pub(super) fn far(chance: &mut Chance) -> DrawnRun {
    let (all, size) = rounds(chance);
    let client = if chance.is(0.5) { curl("http://$SERVER/file") } else { wget("http://$SERVER/file") };
    one_file(all, size, client)
}

pub(super) fn far_tls(chance: &mut Chance) -> DrawnRun {
    let (settings, size) = rounds(chance);
    let server = programs::nginx_tls(&programs::file("file", size), "", "");
    DrawnRun { settings, server, client: curl("--http1.1 https://$SERVER/file") }
}

pub(super) fn far_h2(chance: &mut Chance) -> DrawnRun {
    let (settings, size) = rounds(chance);
    let server = programs::nginx_tls(&programs::file("file", size), "http2", "");
    DrawnRun { settings, server, client: curl("--http2 https://$SERVER/file") }
}

pub(super) fn narrow(chance: &mut Chance) -> DrawnRun {
    let (all, _, size) = full(chance, "down");
    let client = if chance.is(0.5) { curl("http://$SERVER/file") } else { wget("http://$SERVER/file") };
    one_file(all, size, client)
}

pub(super) fn narrow_bbr(chance: &mut Chance) -> DrawnRun {
    let (mut all, _, size) = full(chance, "down");
    all.push(set("server.congestion", "bbr"));
    one_file(all, size, curl("http://$SERVER/file"))
}

pub(super) fn deep(chance: &mut Chance) -> DrawnRun {
    let (rtt, rate) = (chance.between(0.01, 0.05), chance.between(3e6, 10e6));
    let mut all = tight("down", rtt, rate, chance.between(0.6, 1.2));
    let throughput = format!("down.throughput >= {}", bits(0.7 * rate));
    all.push(verify(&["rtt_max >= 250ms", "server.rwnd_limited <= 20%", &throughput]));
    one_file(all, rate / 8.0 * chance.between(4.5, 6.0), curl("http://$SERVER/file"))
}

pub(super) fn four(chance: &mut Chance) -> DrawnRun {
    let (all, _, size) = full(chance, "down");
    let server = programs::nginx(&programs::file("file", size / 4.0), "80", "");
    let one = format!("{} http://$SERVER/file & ", CURL.trim_start_matches("exec "));
    DrawnRun { settings: all, server, client: Program::client("curl", format!("{}wait", one.repeat(4))) }
}

/// It begins so.
const TAKES_ANY: &str = "client_max_body_size 0;";
/// nginx hands a body on to a backend.
const TAKES_BODIES: &str =
    "client_max_body_size 0; location / { proxy_pass http://127.0.0.1:8081; proxy_request_buffering off; }";

fn upload(settings: Vec<Setting>, size: f64, protocol: &str) -> DrawnRun {
    let server = if protocol.is_empty() {
        programs::nginx("", "80", TAKES_BODIES)
    } else {
        programs::nginx_tls("", protocol, TAKES_BODIES)
    };
    let url = if protocol.is_empty() { "http://$SERVER/up" } else { "--http2 https://$SERVER/up" };
    let line = format!("truncate -s {size:.0} body\n{CURL} -H Expect: --data-binary @body {url}");
    let server = server
        .fix_edits("HTTP/2 stream", TAKES_ANY, format!("{TAKES_ANY} http2_body_preread_size {{B}};"))
        .after(programs::own_with_backend("backend think=0 size=100"));
    DrawnRun { settings, server, client: Program::client("curl", line) }
}

pub(super) fn h2_upload(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.03, 0.1));
    all.extend([
        towards_the_server(),
        verify(&["client.rwnd_limited <= 15%", "client.retransmitted <= 0", "client.max_in_flight <= 140kB"]),
    ]);
    all.extend(open("server"));
    upload(all, chance.between(1.5e6, 3e6), "http2")
}

pub(super) fn upload_narrow(chance: &mut Chance) -> DrawnRun {
    let (mut all, _, size) = full(chance, "up");
    all.push(towards_the_server());
    upload(all, size, "")
}

pub(super) fn limit_rate(chance: &mut Chance) -> DrawnRun {
    let rate = chance.between(100e3, 800e3);
    let mut all = wide(chance.between(0.01, 0.08));
    all.push(verify(&["server.rwnd_limited <= 5%", "server.retransmitted <= 0"]));
    let limit = format!("limit_rate {rate:.0};");
    let server = programs::nginx(&programs::file("file", rate * 4.5), "80", &limit)
        .fix_edits("limit_rate", &limit, "")
        .fix_edits(BETWEEN, &limit, "");
    DrawnRun { settings: all, server, client: curl("http://$SERVER/file") }
}

pub(super) fn sndbuf(chance: &mut Chance) -> DrawnRun {
    let buffer = chance.between(12e3, 40e3);
    let mut all = wide(chance.between(0.04, 0.12));
    // The kernel doubles it, and holds payload with its own overhead in it.
    let most = format!("server.max_in_flight <= {}", bytes(4.0 * buffer));
    all.push(verify(&[&most, "server.sndbuf_full >= 50%", "server.rwnd_limited <= 5%", "server.retransmitted <= 0"]));
    all.push(set("server.congestion", chance.among(&["cubic", "bbr"])));
    let server = programs::nginx(
        &programs::file("file", buffer * chance.between(30.0, 45.0)),
        &format!("80 sndbuf={buffer:.0}"),
        "sendfile off;",
    )
    .fix_edits("SO_SNDBUF", format!(" sndbuf={buffer:.0}"), "");
    DrawnRun { settings: all, server, client: curl("http://$SERVER/file") }
}

fn thinking(chance: &mut Chance) -> (Vec<Setting>, Program) {
    let mut all = wide(chance.between(0.005, 0.08));
    all.push(verify(&["server.retransmitted <= 0", "span >= 800ms"]));
    let (think, size) = (chance.between(0.8, 2.0), chance.between(2e3, 12e3));
    (all, programs::own_with_backend(&format!("backend think={think:.3} size={size:.0}")))
}

pub(super) fn slow_backend(chance: &mut Chance) -> DrawnRun {
    let (settings, backend) = thinking(chance);
    let server = programs::nginx("", "80", "location / { proxy_pass http://127.0.0.1:8081; }").after(backend);
    DrawnRun { settings, server, client: curl("http://$SERVER/report") }
}

pub(super) fn haproxy_slow(chance: &mut Chance) -> DrawnRun {
    let (settings, backend) = thinking(chance);
    DrawnRun { settings, server: programs::haproxy().after(backend), client: curl("http://$SERVER/report") }
}

pub(super) fn haproxy_narrow(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let backend = programs::own_with_backend(&format!("backend think=0 size={size:.0}"));
    DrawnRun { settings, server: programs::haproxy().after(backend), client: curl("http://$SERVER/file") }
}

pub(super) fn dribbling(chance: &mut Chance) -> DrawnRun {
    let rtt = chance.between(0.005, 0.05);
    let mut all = wide(rtt);
    all.push(verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%"]));
    let (chunk, every) = (chance.between(2e3, 12e3), chance.between(2.0 * rtt, 0.15_f64.max(2.5 * rtt)));
    let waits = format!("every={every:.3}");
    let backend = format!("backend think=0 size={:.0} chunk={chunk:.0} {waits}", chunk * 30.0);
    let server = programs::nginx("", "80", "location / { proxy_pass http://127.0.0.1:8081; proxy_buffering off; }")
        .after(programs::own_with_backend(&backend).fix_edits(BETWEEN, waits, "every=0"));
    DrawnRun { settings: all, server, client: curl("http://$SERVER/report") }
}

pub(super) fn pauses(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.005, 0.08));
    all.push(verify(&["server.retransmitted <= 0", "span >= 3s"]));
    let server = programs::nginx(&programs::file("small", chance.between(500.0, 9e3)), "80", "");
    let client =
        programs::own(&format!("pages server=$SERVER path=small count=4 pause={:.2}", chance.between(1.2, 2.5)));
    DrawnRun { settings: all, server, client }
}

pub(super) fn restart(chance: &mut Chance) -> DrawnRun {
    let rtt = chance.between(0.05, 0.12);
    let mut all = wide(rtt);
    let server = programs::nginx(&programs::file("file", chance.between(300e3, 700e3)), "80", "");
    all.extend(open("client"));
    all.push(verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 15%", "server.restarts >= 3"]));
    // So long that nothing is left of what the window was.
    let pause = 7.0 * (rtt + 0.21) + chance.between(0.1, 0.6);
    let client = programs::own(&format!("pages server=$SERVER path=file count=4 pause={pause:.2}"));
    DrawnRun { settings: all, server, client }
}

pub(super) fn new_connections(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.03, 0.1));
    all.push(verify(&["server.retransmitted <= 0", "span >= 1s"]));
    let server = programs::nginx(&programs::file("small", chance.between(1e3, 9e3)), "80", "");
    let count = chance.whole(15, 25);
    let line = format!("curl -sS -o /dev/null -H 'Connection: close' \"http://$SERVER/small?[1-{count}]\"");
    let client = Program::client("curl", line).fix_edits("keep", "-H 'Connection: close' ", "");
    DrawnRun { settings: all, server, client }
}

/// A command that is run several times, one after the other.
fn repeated(count: u32, command: &str) -> Program {
    Program::client("curl", format!("for i in $(seq {count}); do {command}; done"))
}

pub(super) fn http10(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.03, 0.1));
    all.push(verify(&["server.retransmitted <= 0", "span >= 1s"]));
    let server = programs::nginx(&programs::file("small", chance.between(1e3, 9e3)), "80", "");
    let client = repeated(chance.whole(10, 20), "curl -sS --http1.0 -o /dev/null http://$SERVER/small");
    DrawnRun { settings: all, server, client }
}

pub(super) fn tls_each(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.03, 0.1));
    all.push(verify(&["server.retransmitted <= 0", "span >= 1s"]));
    let server = programs::nginx_tls(&programs::file("small", chance.between(1e3, 9e3)), "", "");
    let client = repeated(chance.whole(8, 15), "curl -sS -k --http1.1 -o /dev/null https://$SERVER/small");
    DrawnRun { settings: all, server, client }
}

pub(super) fn one_by_one(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.01, 0.06));
    all.push(verify(&["server.retransmitted <= 0"]));
    let server = programs::nginx(&programs::file("small", chance.between(100.0, 5e3)), "80", "");
    let client = curl(&format!("\"http://$SERVER/small?[1-{}]\"", chance.whole(50, 90)));
    DrawnRun { settings: all, server, client }
}

pub(super) fn tiny(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.004, 0.05));
    all.push(verify(&["server.retransmitted <= 0", "client.retransmitted <= 0"]));
    one_file(all, chance.between(300.0, 10e3), curl("http://$SERVER/file"))
}

/// A client that reads this many bytes a second at most. The kernel's counter shows that its
/// window was the limit.
fn slow(chance: &mut Chance) -> (Vec<Setting>, f64) {
    let mut all = wide(chance.between(0.01, 0.06));
    // Probes of a closed window count as retransmitted.
    all.push(verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 10"]));
    (all, chance.between(300e3, 900e3))
}

/// A client that is otherwise as fast as it can be.
fn reads(client: Program, limit: &str) -> Program {
    client.fix_edits(READ_FASTER, limit, "")
}

pub(super) fn curl_slow(chance: &mut Chance) -> DrawnRun {
    let (all, rate) = slow(chance);
    one_file(
        all,
        rate * 8.0,
        reads(curl(&format!("--limit-rate {rate:.0} http://$SERVER/file")), &format!("--limit-rate {rate:.0} ")),
    )
}

pub(super) fn wget_slow(chance: &mut Chance) -> DrawnRun {
    let (all, rate) = slow(chance);
    one_file(
        all,
        rate * 8.0,
        reads(wget(&format!("--limit-rate={rate:.0} http://$SERVER/file")), &format!("--limit-rate={rate:.0} ")),
    )
}

pub(super) fn small_window(chance: &mut Chance) -> DrawnRun {
    let window = chance.between(24e3, 200e3);
    let mut all = wide(chance.between(0.04, 0.12));
    let buffer = bytes(window);
    all.extend([
        set("client.tcp_rmem", format!("[\"4096B\", {buffer:?}, {buffer:?}]")),
        verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 0"]),
    ]);
    one_file(all, window * chance.between(15.0, 25.0), wget("http://$SERVER/file"))
}

pub(super) fn no_scaling(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.04, 0.15));
    all.extend([
        set("client.window_scaling", "false"),
        verify(&["server.rwnd_limited >= 60%", "server.max_peer_window <= 65535B"]),
    ]);
    one_file(all, chance.between(1e6, 2.5e6), curl("http://$SERVER/file"))
}

//! Brokers, databases, proxies, file servers, and libraries of applications.

use super::super::programs::services::{self, java, mariadb, mariadb_client, node, rclone, service, webdav};
use super::super::programs::{self, Program};
use super::drawn::{BETWEEN, DrawnRun, READ_FASTER, full, open, towards_the_server, wide};
use super::row::{FULL, NO_WAIT, NOT_FULL, NOTHING, Row, SLOW_READER, row};
use crate::draws::{Chance, Setting, verify};
use std::fmt::Write;

/// Causes that a program that reads at its own pace rules out.
const NOT_THE_PATH: &[&str] = &["bandwidth", "shaper", "policer", "sender-cap"];
/// Nothing of the path, nor of the client.
const THE_SERVERS: &[&str] = &["bandwidth", "shaper", "client-think", "turn-taking", "no-answer"];
/// Turns are round trips, not work.
const TURNS: &[&str] = &["application", "protocol-window", "server-think"];

/// Placed after the others, so that their draws stay what they are.
pub(crate) const ROWS: &[Row] = &[
    row("grpc-calls", grpc_calls, &["turn-taking"], TURNS, "many calls, one after the other, over one channel"),
    row("grpc-slow-call", grpc_slow, &["server-think"], THE_SERVERS, "the handler sleeps before it answers"),
    row(
        "grpc-stream",
        grpc_stream,
        &["application"],
        &["bandwidth", "shaper", "receive-window", "protocol-window"],
        "each message of a stream takes time to make",
    ),
    row("grpc-narrow", grpc_narrow, FULL, NOT_FULL, "one large message at the link's rate"),
    row(
        "aiohttp-page",
        page,
        &["server-think"],
        &["bandwidth", "shaper", "no-answer"],
        "the page takes a second before its first byte, its parts take nothing",
    ),
    row("aiohttp-events", events, NOTHING, NO_WAIT, "server-sent events, when there are some"),
    row("aiohttp-chat", chat, NOTHING, NO_WAIT, "a WebSocket on which both ends send when they like"),
    row(
        "aiohttp-player",
        player,
        &["none", "client-think", "restart-after-idle", "slow-start"],
        &["application", "server-think", "no-answer", "bandwidth", "zero-window"],
        "a player that fetches a piece and waits until it wants the next; a piece takes rounds",
    ),
    row("aiohttp-slow-taker", slow_taker, SLOW_READER, NOT_THE_PATH, "a server that takes an upload slowly"),
    row(
        "aiohttp-stall",
        stall,
        &["application", "proxy-split", "server-think"],
        &["bandwidth", "loss", "no-answer", "client-think"],
        "the server stops in the middle of its answer for seconds; its window may fall back meanwhile",
    ),
    row("node-back-pressure", back_pressure, SLOW_READER, NOT_THE_PATH, "a pipeline whose last part is slow"),
    row(
        "node-no-keepalive",
        node_each,
        &["new-connection-each-time"],
        &["server-think", "application"],
        "an agent without keep-alive, Node's default until version 19",
    ),
    row("java-one-by-one", java_get, &["turn-taking"], TURNS, "HttpURLConnection, one request after the other"),
    row("java-upload-narrow", java_put, FULL, NOT_FULL, "HttpURLConnection sends a body at the link's rate"),
    row("memcached-one-by-one", memcached, &["turn-taking"], TURNS, "one get after the other"),
    row("mqtt-telemetry", telemetry, NOTHING, NO_WAIT, "a sensor that publishes now and then"),
    row("nats-news", nats, NOTHING, NO_WAIT, "messages that are published now and then, and passed on"),
    row(
        "rabbitmq-confirms",
        confirms,
        &["turn-taking"],
        &["bandwidth", "protocol-window", "loss"],
        "each message is confirmed before the next is published",
    ),
    row("mariadb-sleep", maria_sleep, &["server-think"], THE_SERVERS, "SLEEP(): the server thinks"),
    row("mariadb-queries", maria_queries, &["turn-taking"], TURNS, "many queries one after the other"),
    row(
        "stunnel-slow-backend",
        stunnel,
        &["server-think", "proxy-split"],
        THE_SERVERS,
        "the backend behind TLS takes a second",
    ),
    row(
        "squid-slow-origin",
        squid,
        &["server-think", "proxy-split"],
        THE_SERVERS,
        "the origin behind the proxy takes a second",
    ),
    row(
        "varnish-slow-backend",
        varnish,
        &["server-think", "proxy-split"],
        THE_SERVERS,
        "the backend behind the cache takes a second",
    ),
    row("samba-narrow", samba, FULL, NOT_FULL, "a file of a share at the link's rate"),
    row("ftp-narrow", ftp, FULL, NOT_FULL, "a file over FTP at the link's rate"),
    row("webdav-narrow", dav_large, FULL, NOT_FULL, "a file over WebDAV at the link's rate"),
    row(
        "webdav-many",
        dav_many,
        &["turn-taking"],
        &["application", "protocol-window", "bandwidth"],
        "many small files, one after the other",
    ),
    row("lighttpd-layers", layers, FULL, NOT_FULL, "three layers of an image at once share one full link"),
];

fn quiet(chance: &mut Chance, rtt: (f64, f64), claims: &[&str]) -> Vec<Setting> {
    let mut all = wide(chance.between(rtt.0, rtt.1));
    let claims: Vec<&str> =
        ["server.retransmitted <= 0", "client.retransmitted <= 0"].iter().chain(claims).copied().collect();
    all.push(verify(&claims));
    all
}

fn grpc(settings: Vec<Setting>, server: &str, client: &str) -> DrawnRun {
    let server = service(&format!("grpc_server {server}"), &["grpc"], 50_051);
    let client = service(&format!("grpc_client server=$SERVER {client}"), &["grpc"], 50_051);
    DrawnRun { settings, server, client }
}

fn grpc_calls(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.02, 0.06), &["span >= 1s"]);
    grpc(settings, "think=0", &format!("calls={}", chance.whole(60, 120)))
}

fn grpc_slow(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.06), &["span >= 800ms"]);
    let think = chance.between(0.8, 2.5);
    grpc(settings, &format!("think={think:.3}"), &format!("calls={}", chance.whole(1, 3)))
}

fn grpc_stream(chance: &mut Chance) -> DrawnRun {
    let rtt = chance.between(0.005, 0.03);
    let mut settings = wide(rtt);
    settings.push(verify(&["server.retransmitted <= 0", "server.rwnd_limited <= 5%", "span >= 2s"]));
    let every = chance.between(0.06_f64.max(2.0 * rtt), 0.14);
    let waits = format!("every={every:.3}");
    let size = chance.whole(6_000, 14_000);
    let drawn = grpc(settings, &format!("count=40 size={size} {waits}"), "stream=1");
    DrawnRun { server: drawn.server.fix_edits(BETWEEN, waits, "every=0"), ..drawn }
}

fn grpc_narrow(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    grpc(settings, &format!("think=0 size={size:.0}"), "calls=1")
}

fn web(settings: Vec<Setting>, server: &str, client: Program) -> DrawnRun {
    DrawnRun { settings, server: service(&format!("web {server}"), &["aiohttp"], 8080), client }
}

fn aiohttp(what: &str) -> Program {
    service(&format!("{what} server=$SERVER"), &["aiohttp"], 8080)
}

fn curl(arguments: &str) -> Program {
    Program::client("curl", format!("exec curl -sS -k -o /dev/null {arguments}"))
}

fn page(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.01, 0.06), &["span >= 800ms"]);
    let think = chance.between(0.8, 1.8);
    web(settings, &format!("think={think:.3}"), aiohttp(&format!("browser parts={}", chance.whole(12, 30))))
}

fn events(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.08), &["span >= 2s"]);
    let news = format!("seed={} count=8 least=0.3 most=1.4", chance.whole(1, 1_000_000));
    web(settings, &news, curl("-N http://$SERVER:8080/events"))
}

fn chat(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.08), &["span >= 2s"]);
    let (one, other) = (chance.whole(1, 1_000_000), chance.whole(1, 1_000_000));
    web(settings, &format!("seed={one}"), aiohttp(&format!("chat seed={other} count=8 least=0.3 most=1.4")))
}

fn player(chance: &mut Chance) -> DrawnRun {
    let mut settings = quiet(chance, (0.005, 0.025), &["span >= 4s"]);
    settings.extend(open("client"));
    let (size, pause) = (chance.between(100e3, 400e3), chance.between(1.5, 2.5));
    web(settings, "think=0", aiohttp(&format!("player count=4 size={size:.0} pause={pause:.2}")))
}

fn slow_taker(chance: &mut Chance) -> DrawnRun {
    let mut settings = wide(chance.between(0.005, 0.05));
    settings.extend([
        towards_the_server(),
        // Probes of a closed window count as retransmitted.
        verify(&["client.rwnd_limited >= 60%", "client.retransmitted <= 10"]),
    ]);
    let every = chance.between(0.06, 0.15);
    let size = 65_536.0 / every * 8.0;
    let waits = format!("every={every:.3}");
    let line =
        format!("truncate -s {size:.0} body\nexec curl -sS -o /dev/null -H Expect: -T body http://$SERVER:8080/upload");
    let drawn = web(settings, &waits, Program::client("curl", line));
    DrawnRun { server: drawn.server.fix_edits(READ_FASTER, waits, "every=0"), ..drawn }
}

fn stall(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.06), &["span >= 1500ms"]);
    let (size, stall) = (chance.between(20e3, 200e3), chance.between(1.5, 5.0));
    web(settings, &format!("size={size:.0} stall={stall:.2}"), curl("http://$SERVER:8080/stalls"))
}

fn back_pressure(chance: &mut Chance) -> DrawnRun {
    let mut settings = wide(chance.between(0.005, 0.05));
    settings.push(verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 10"]));
    let rate = chance.between(500e3, 2e6);
    let size = rate * 8.0;
    let client = node(&format!("read $SERVER {rate:.0}")).fix_edits(READ_FASTER, format!("{rate:.0}"), "1e9");
    DrawnRun { settings, server: node(&format!("serve {size:.0}")), client }
}

fn node_each(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.03, 0.1), &["span >= 1s"]);
    let size = chance.whole(500, 9_000);
    let client = node(&format!("each $SERVER {}", chance.whole(15, 25)));
    DrawnRun { settings, server: node(&format!("serve {size}")), client }
}

fn java_get(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.02, 0.06), &["span >= 1s"]);
    let server = programs::nginx(&programs::file("small", chance.between(100.0, 5e3)), "80", "");
    DrawnRun { settings, server, client: java(&format!("get http://$SERVER/small {}", chance.whole(50, 90))) }
}

fn java_put(chance: &mut Chance) -> DrawnRun {
    let (mut settings, _, size) = full(chance, "up");
    settings.push(towards_the_server());
    web(settings, "every=0", java(&format!("put http://$SERVER:8080/upload {size:.0}")))
}

fn memcached(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.01, 0.06), &["span >= 500ms"]);
    let client = service(&format!("memcached server=$SERVER count={}", chance.whole(60, 150)), &[], 11_211);
    DrawnRun { settings, server: services::memcached(), client }
}

fn telemetry(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.08), &["span >= 3s"]);
    let lines = (0..8).fold(String::new(), |mut all, nth| {
        // Writing to a string cannot fail.
        let _ = write!(all, "sleep {:.2}; echo temperature {nth}; ", chance.between(0.3, 1.2));
        all
    });
    let client = Program::client("mosquitto_pub", format!("{{ {lines}}} | mosquitto_pub -h $SERVER -t lab -l"));
    DrawnRun { settings, server: services::mosquitto(), client }
}

fn nats(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.08), &["span >= 2s"]);
    let news = format!("nats server=$SERVER seed={} count=8 least=0.3 most=1.2", chance.whole(1, 1_000_000));
    DrawnRun { settings, server: services::nats(), client: service(&news, &[], 4222) }
}

fn confirms(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.02, 0.06), &["span >= 1s"]);
    let client = service(&format!("rabbit server=$SERVER count={}", chance.whole(60, 120)), &["pika"], 5672);
    DrawnRun { settings, server: services::rabbitmq(), client }
}

fn maria_sleep(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.05), &["span >= 900ms"]);
    let statements = format!("SELECT SLEEP({:.3});\n", chance.between(0.9, 2.5));
    DrawnRun { settings, server: mariadb(), client: mariadb_client(&statements) }
}

fn maria_queries(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.01, 0.05), &["span >= 1s"]);
    let statements = (0..chance.whole(120, 250)).fold(String::new(), |mut all, n| {
        let _ = writeln!(all, "SELECT {n};");
        all
    });
    DrawnRun { settings, server: mariadb(), client: mariadb_client(&statements) }
}

fn behind(chance: &mut Chance, proxy: Program, client: &str) -> DrawnRun {
    let settings = quiet(chance, (0.005, 0.08), &["span >= 800ms"]);
    let (think, size) = (chance.between(0.8, 2.0), chance.between(2e3, 12e3));
    let backend = programs::own_with_backend(&format!("backend think={think:.3} size={size:.0}"));
    DrawnRun { settings, server: proxy.after(backend), client: curl(client) }
}

fn stunnel(chance: &mut Chance) -> DrawnRun {
    behind(chance, services::stunnel(), "https://$SERVER/report")
}

fn squid(chance: &mut Chance) -> DrawnRun {
    behind(chance, services::squid(), "-x http://$SERVER:3128 http://127.0.0.1:8081/report")
}

fn varnish(chance: &mut Chance) -> DrawnRun {
    behind(chance, services::varnish(), "http://$SERVER/report")
}

fn samba(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let line = "exec smbclient -s /dev/null -N //$SERVER/www -c 'get file /dev/null' >/dev/null";
    let server = services::samba(&programs::file("file", size));
    DrawnRun { settings, server, client: Program::client("smbclient", line) }
}

fn ftp(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let server = services::vsftpd(&programs::file("file", size));
    DrawnRun { settings, server, client: curl("ftp://$SERVER/file") }
}

fn dav_large(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let server = webdav(&programs::file("file", size));
    DrawnRun { settings, server, client: rclone("copyto :webdav:file got") }
}

fn dav_many(chance: &mut Chance) -> DrawnRun {
    let settings = quiet(chance, (0.02, 0.06), &["span >= 1s"]);
    let (count, size) = (chance.whole(40, 80), chance.whole(200, 4_000));
    let files = format!("mkdir -p www\nfor n in $(seq {count}); do head -c {size} /dev/zero >www/$n; done");
    let client = rclone("--transfers 1 --checkers 1 copy :webdav: got");
    DrawnRun { settings, server: webdav(&files), client }
}

fn layers(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let shares = [0.5, 0.3, 0.2].map(|share| share * size);
    let files: Vec<String> =
        shares.iter().enumerate().map(|(n, &size)| programs::file(&format!("layer{n}"), size)).collect();
    let one = |n: usize| format!("curl -sS -o /dev/null http://$SERVER/layer{n} & ");
    let line = (0..shares.len()).map(one).collect::<String>() + "wait";
    DrawnRun { settings, server: services::lighttpd(&files.join("\n")), client: Program::client("curl", line) }
}

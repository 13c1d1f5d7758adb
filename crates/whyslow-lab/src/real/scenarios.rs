//! The table of scenarios: which programs over which path, and the required explanation.
//!
//! Names are unique. Claims are about figures of the kernels and of the emulator's log. A path's
//! parameters are drawn from ranges where the label holds throughout.

mod data;
pub(crate) mod drawn;
mod own;
mod row;
mod services;
mod shell;
mod trouble;
mod web;

use crate::net::config::Host;
pub(crate) use row::Row;
use row::{FULL, NO_LOSS, NO_WAIT, NOT_FULL, NOTHING, SLOW_READER, row};

/// All of them; a scenario's place is part of the seed.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(services::ROWS)
}

const ROWS: &[Row] = &[
    row(
        "nginx-far",
        web::far,
        &["slow-start"],
        &["application"],
        "a file of a few hundred kB, no loss, no window in the way: rounds of slow start are all there is",
    ),
    row("nginx-far-tls", web::far_tls, &["slow-start"], &["application"], "the same behind TLS"),
    row(
        "nginx-far-h2",
        web::far_h2,
        &["slow-start"],
        &["application", "protocol-window"],
        "the same over HTTP/2, whose windows are larger than the file",
    ),
    row("nginx-narrow", web::narrow, FULL, NOT_FULL, "five seconds at the link's rate: its throughput is the link's"),
    row("nginx-narrow-bbr", web::narrow_bbr, FULL, NOT_FULL, "the same under BBR"),
    row("nginx-deep-queue", web::deep, &["bufferbloat"], NOT_FULL, "a second of queue before a slow link"),
    row("nginx-four-at-once", web::four, FULL, NOT_FULL, "four downloads share one full link"),
    row(
        "nginx-h2-upload",
        web::h2_upload,
        &["protocol-window"],
        &["bandwidth", "pacing"],
        "without proxy_request_buffering nginx takes 64 kB of a body ahead of its reading, its default: HTTP/2's window, far below what the path carries",
    ),
    row("nginx-upload-narrow", web::upload_narrow, FULL, NOT_FULL, "an upload at the link's rate"),
    row(
        "nginx-limit-rate",
        web::limit_rate,
        &["pacing", "application"],
        &["bandwidth", "shaper", "policer", "receive-window", "sender-cap"],
        "limit_rate: nginx itself writes no faster",
    ),
    row(
        "nginx-sndbuf",
        web::sndbuf,
        &["sender-cap"],
        &["bandwidth", "shaper"],
        "listen … sndbuf=: a send buffer far below what the path holds",
    ),
    row(
        "nginx-slow-backend",
        web::slow_backend,
        &["server-think", "proxy-split"],
        &["application", "bandwidth"],
        "the backend takes a second before its first byte",
    ),
    row(
        "nginx-dribbling-backend",
        web::dribbling,
        &["application", "proxy-split"],
        &["bandwidth", "shaper", "receive-window"],
        "the backend makes its answer in pieces, and nginx passes each one on",
    ),
    row(
        "nginx-pauses",
        web::pauses,
        &["none", "client-think"],
        NO_WAIT,
        "small files, with pauses between requests that are the client's own",
    ),
    row(
        "nginx-restart",
        web::restart,
        &["restart-after-idle"],
        &["application", "server-think"],
        "large files with pauses between: the window falls back each time, as the kernel's samples show",
    ),
    row(
        "nginx-no-keepalive",
        web::new_connections,
        &["new-connection-each-time"],
        &["server-think"],
        "a connection for each of many small files",
    ),
    row(
        "curl-http10-loop",
        web::http10,
        &["new-connection-each-time"],
        &["server-think", "client-think"],
        "a process of curl for each file, with HTTP/1.0",
    ),
    row(
        "curl-tls-loop",
        web::tls_each,
        &["new-connection-each-time"],
        &["server-think", "client-think"],
        "a process of curl for each file, with a TLS handshake each",
    ),
    row(
        "nginx-one-by-one",
        web::one_by_one,
        &["turn-taking"],
        &["application", "protocol-window"],
        "many small files, one after the other over one connection",
    ),
    row("nginx-tiny", web::tiny, NOTHING, NO_WAIT, "a file that fits into the first flight: nothing is slow"),
    row(
        "curl-limit-rate",
        web::curl_slow,
        SLOW_READER,
        &["bandwidth", "shaper", "policer", "sender-cap"],
        "curl --limit-rate reads slowly: the kernel counts its window as the limit",
    ),
    row(
        "wget-limit-rate",
        web::wget_slow,
        SLOW_READER,
        &["bandwidth", "shaper", "policer", "sender-cap"],
        "wget --limit-rate likewise",
    ),
    row(
        "wget-small-window",
        web::small_window,
        &["receive-window"],
        &["bandwidth", "sender-cap"],
        "net.ipv4.tcp_rmem far below what the path holds",
    ),
    row(
        "curl-no-scaling",
        web::no_scaling,
        &["no-window-scaling"],
        &["bandwidth", "sender-cap"],
        "net.ipv4.tcp_window_scaling=0",
    ),
    row(
        "haproxy-slow-backend",
        web::haproxy_slow,
        &["server-think", "proxy-split"],
        &["application", "bandwidth"],
        "the backend takes a second before its first byte",
    ),
    row("haproxy-narrow", web::haproxy_narrow, FULL, NOT_FULL, "five seconds at the link's rate, through HAProxy"),
    row(
        "nginx-loss",
        trouble::loss,
        &["loss", "random-loss"],
        &["policer", "application", "shaper"],
        "the link loses packets at random",
    ),
    row(
        "nginx-loss-bursts",
        trouble::bursts,
        &["loss", "random-loss"],
        &["application", "shaper"],
        "the link loses packets in bursts",
    ),
    row(
        "nginx-policer",
        trouble::policer,
        &["policer"],
        &["random-loss", "application"],
        "a policer drops what exceeds its rate, without a queue",
    ),
    row(
        "nginx-shaper",
        trouble::shaper,
        &["shaper", "bandwidth", "bufferbloat"],
        &["policer", "random-loss", "pacing", "application"],
        "the rate falls after a burst, and a queue builds up",
    ),
    row(
        "nginx-reordering",
        trouble::reordering,
        &["reordering", "spurious-retransmission"],
        &["loss", "random-loss", "policer"],
        "the link reorders, and loses nothing; a Linux sender that learns of needless copies takes its window back, so that the rest may cost more",
    )
    .need_not_be_first(),
    row(
        "nginx-black-hole",
        trouble::black_hole,
        &["mtu-black-hole"],
        &["policer", "random-loss"],
        "full-size segments never pass, and nobody says so",
    )
    .invisible_at(&[Host::Client]),
    row("nginx-syn-loss", trouble::syn_loss, &["syn-loss"], &["server-think"], "the first SYN is lost")
        .invisible_at(&[Host::Server]),
    row("nginx-gone", trouble::unreachable, &["no-answer"], &["server-think"], "no SYN ever arrives")
        .invisible_at(&[Host::Server]),
    row("nginx-refused", trouble::refused, &["reset", "no-answer"], &["server-think"], "nobody listens on that port"),
    row(
        "nginx-ecn",
        trouble::ecn,
        &["ecn", "bandwidth"],
        &["random-loss", "policer", "application"],
        "CoDel marks at a full link",
    ),
    row(
        "ssh-cat-far",
        shell::cat_far,
        &["protocol-window"],
        &["bandwidth", "receive-window", "application", "early-slow-start-exit"],
        "OpenSSH's channel window of 2 MiB, below what the path carries",
    ),
    row("ssh-cat-narrow", shell::cat_narrow, FULL, NOT_FULL, "ssh cat at the link's rate"),
    row("scp-narrow", shell::scp_narrow, FULL, NOT_FULL, "scp at the link's rate"),
    row("scp-upload-narrow", shell::scp_upload, FULL, NOT_FULL, "scp towards the server at the link's rate"),
    row(
        "sftp-one-request",
        shell::sftp_one,
        &["protocol-window", "turn-taking"],
        &["bandwidth", "application", "sender-cap"],
        "sftp -R 1: one request a round trip or more",
    ),
    row(
        "ssh-typing",
        shell::typing,
        &["none", "server-think", "client-think"],
        NO_LOSS,
        "a shell with small output every second or so; what its login took is the server's",
    ),
    row("rsync-narrow", shell::rsync_narrow, FULL, NOT_FULL, "rsync's own protocol at the link's rate"),
    row("rsync-upload-narrow", shell::rsync_upload, FULL, NOT_FULL, "the same towards the server"),
    row(
        "git-clone-narrow",
        shell::git_narrow,
        FULL,
        &["policer", "random-loss", "mtu-black-hole", "host-cpu", "pacing"],
        "a clone of random data at the link's rate, after the server has packed it",
    ),
    row(
        "pg-300-queries",
        data::queries,
        &["turn-taking"],
        &["application", "protocol-window"],
        "300 queries one after the other",
    ),
    row(
        "psql-login-loop",
        data::login_each,
        &["new-connection-each-time"],
        &["server-think", "client-think"],
        "a process of psql for each statement: a login each time",
    ),
    row("pg-copy-narrow", data::copy, FULL, NOT_FULL, "COPY at the link's rate"),
    row("pg-sleep", data::sleep, &["server-think"], &["application", "no-answer"], "pg_sleep: the server thinks"),
    row(
        "pg-second-slow",
        data::second_slow,
        &["server-think"],
        &["application", "no-answer", "client-think"],
        "the second of three queries takes over a second",
    ),
    row(
        "pg-rows-over-time",
        data::rows,
        &["application"],
        &["bandwidth", "shaper", "slow-start"],
        "the rows of one answer take 50 ms each to make",
    ),
    row(
        "pg-pauses",
        data::pauses,
        &["none", "client-think", "server-think"],
        NO_LOSS,
        "a psql that sleeps between its queries; what its login took is the server's",
    ),
    row(
        "redis-one-by-one",
        data::redis_loop,
        &["turn-taking"],
        &["application", "protocol-window"],
        "one GET after the other",
    ),
    row(
        "redis-large-narrow",
        data::redis_large,
        FULL,
        &["application", "policer", "random-loss", "mtu-black-hole", "host-cpu", "pacing"],
        "one value of megabytes at the link's rate; making it took the server a while",
    ),
    row(
        "redis-waits",
        data::redis_waits,
        &["none", "server-think"],
        &["application", "no-answer", "turn-taking"],
        "BLPOP waits for what does not come: no capture tells that from a slow answer",
    ),
    row("iperf3-cubic", data::iperf_cubic, FULL, NOT_FULL, "iperf3 fills the link"),
    row("iperf3-bbr", data::iperf_bbr, FULL, NOT_FULL, "the same under BBR"),
    row(
        "iperf3-bbr-loss",
        data::iperf_bbr_loss,
        FULL,
        &["policer", "application", "slow-start"],
        "BBR fills the link in spite of random loss: its throughput is the link's",
    ),
    row(
        "iperf3-bbr-policer",
        data::iperf_bbr_policer,
        &["policer"],
        &["random-loss", "application"],
        "a policer under BBR",
    ),
    row(
        "iperf3-small-window",
        data::iperf_window,
        &["receive-window"],
        &["bandwidth", "sender-cap"],
        "iperf3 -w: the receiver's buffer",
    ),
    row(
        "iperf3-limited",
        data::iperf_limited,
        &["pacing", "application"],
        &["bandwidth", "shaper", "policer"],
        "iperf3 -b: far below the link's rate",
    ),
    row(
        "own-split-writes",
        own::split,
        &["nagle-delayed-ack"],
        &["bandwidth", "server-think"],
        "each request in two writes: the second waits for the ACK of the first",
    ),
    row(
        "own-chunks",
        own::chunks,
        &["application"],
        &["bandwidth", "shaper", "pacing", "receive-window", "slow-start"],
        "an answer in pieces that take time to make",
    ),
    row(
        "own-slow-reader",
        own::slow_reader,
        SLOW_READER,
        &["bandwidth", "sender-cap", "application"],
        "a program that reads 64 kB at a time, and sleeps",
    ),
    row(
        "own-stopped-reader",
        own::stopped_reader,
        &["zero-window", "host-cpu"],
        &["bandwidth", "application", "server-think"],
        "a program that reads nothing for seconds",
    ),
    row(
        "own-sndbuf",
        own::sndbuf,
        &["sender-cap"],
        &["bandwidth", "shaper", "receive-window"],
        "SO_SNDBUF far below what the path holds",
    ),
    row("own-pushes", own::pushes, NOTHING, NO_WAIT, "news when there are some"),
    row(
        "own-long-poll",
        own::long_poll,
        &["none", "server-think"],
        &["application", "no-answer", "turn-taking", "client-think"],
        "an answer when there is something to tell: no capture tells that from a slow one",
    ),
    row("own-log-lines", own::log_lines, NOTHING, NO_WAIT, "log lines as they occur"),
    row(
        "own-cut",
        own::cut,
        &["reset"],
        &["server-think", "no-answer"],
        "the server breaks off in the middle of its answer",
    )
    .need_not_be_first(),
];

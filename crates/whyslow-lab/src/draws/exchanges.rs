//! Draws for connections with several exchanges, or with none that succeeds. The configuration
//! defines which end waited.
//!
//! A draw knows its pauses and messages, and so which cause must cost most. That may be a cause
//! with a draw of its own, or none. A pause is either well below a second (a program's own time
//! within a series of requests), or long enough that no user was waiting and every congestion
//! window is back at its initial size.

use super::settings::{Chance, MSS, Setting, bytes, large_receive_window, ms, path, set, verify, window_based};

/// Linux halves the window of an idle connection for each timeout that passed (tcp_cwnd_restart).
/// This long after a transfer of at most [`LARGEST`] bytes, 560 segments, the window is back at its
/// start: six timeouts of a round trip and 200 ms each.
fn long_pause(chance: &mut Chance, rtt: f64) -> f64 {
    (7.0 * (rtt + 0.21)).max(1.6) + chance.between(0.1, 1.0)
}

const LARGEST: f64 = 800e3;

/// A bulk long enough for several rounds of slow start, on a path that nothing else holds back.
fn bulk(chance: &mut Chance) -> (f64, f64, Vec<Setting>) {
    let (rtt, size) = (chance.between(0.03, 0.1), chance.between(300e3, LARGEST));
    let mut all = large_receive_window();
    all.extend(path(rtt, 1e9, "50MB"));
    for end in ["client", "server"] {
        all.push(set(&format!("{end}.tcp_wmem"), r#"["4KiB", "256KiB", "16MiB"]"#));
    }
    all.push(window_based(chance));
    (rtt, size, all)
}

/// The same bulk again and again over one connection: where windows restart after idle time that
/// costs most, for it comes twice or more, and slow start only once.
fn again(chance: &mut Chance, sender: &str, times: u32) -> Vec<Setting> {
    let restarts = chance.is(0.6);
    let cause = if restarts { "restart-after-idle" } else { "slow-start" };
    let fell = if restarts { format!("{sender}.restarts >= {}", times - 1) } else { format!("{sender}.restarts <= 0") };
    let same = [
        format!("{sender}.retransmitted <= 0"),
        format!("{sender}.rwnd_limited <= 5%"),
        format!("{sender}.max_cwnd >= 100"),
        fell,
    ];
    let claims: Vec<&str> = same.iter().map(String::as_str).collect();
    vec![set("cause", cause), set(&format!("{sender}.slow_start_after_idle"), restarts.to_string()), verify(&claims)]
}

/// Requests as small as a query, or a head that HPACK has shortened.
fn request(chance: &mut Chance) -> Setting {
    set("work.download.request", bytes(chance.between(8.0, 120.0)))
}

/// Requests of a few bytes after pauses without a wait.
pub(super) fn small_requests(chance: &mut Chance) -> Vec<Setting> {
    let mut all = match chance.whole(1, 20) {
        1..=9 => bulk_answers(chance),
        10..=12 => narrow_answers(chance),
        13..=16 => small_answers(chance),
        _ => own_pauses(chance),
    };
    all.extend([request(chance), set("work.download.connection", "reused")]);
    all
}

fn bulk_answers(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, size, mut all) = bulk(chance);
    let times = chance.whole(3, 4);
    all.extend([
        set("work.download.size", bytes(size)),
        set("work.download.count", times.to_string()),
        set("work.download.pause", ms(long_pause(chance, rtt))),
    ]);
    all.extend(again(chance, "server", times));
    all
}

/// Each answer is held by a small receive buffer.
fn narrow_answers(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, window) = (chance.between(0.02, 0.08), chance.between(12e3, 30e3));
    let buffer = bytes(window);
    vec![
        set("cause", "receive-window"),
        set("path.rtt", ms(rtt)),
        set("client.tcp_rmem", format!("[\"4096B\", {buffer:?}, {buffer:?}]")),
        set("work.download.size", bytes(window * chance.between(12.0, 18.0))),
        set("work.download.count", "3"),
        set("work.download.pause", ms(long_pause(chance, rtt))),
        verify(&["server.rwnd_limited >= 60%", "server.retransmitted <= 0"]),
    ]
}

/// Each answer fits into one flight, so nothing is slow.
fn small_answers(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.005, 0.1);
    let mut all = large_receive_window();
    all.extend([
        set("cause", "none"),
        set("path.rtt", ms(rtt)),
        set("work.download.size", bytes(chance.between(20.0, 8.0 * MSS))),
        set("work.download.count", chance.whole(3, 4).to_string()),
        set("work.download.pause", ms(long_pause(chance, rtt))),
        verify(&["server.retransmitted <= 0", &format!("transfer.slowest <= {}", ms(2.0 * rtt + 0.03))]),
    ]);
    all
}

/// Short pauses of one evident series are the client's own program's.
fn own_pauses(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.005, 0.04);
    let mut all = large_receive_window();
    all.extend([
        set("cause", "client-think"),
        set("path.rtt", ms(rtt)),
        set("work.download.size", bytes(chance.between(200.0, 8.0 * MSS))),
        set("work.download.count", chance.whole(4, 8).to_string()),
        set("work.download.pause", ms(chance.between(0.2, 0.6))),
        verify(&["server.retransmitted <= 0", &format!("transfer.slowest <= {}", ms(2.0 * rtt + 0.03))]),
    ]);
    all
}

/// A bulk every few seconds without a request: from the server, or from a client that ships what
/// it has gathered.
pub(super) fn pushes(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, size, mut all) = bulk(chance);
    let times = chance.whole(3, 4);
    // Six rounds at most, and the pause behind them.
    let every = 7.0 * rtt + long_pause(chance, rtt);
    let (work, sender) = if chance.is(0.7) { ("download", "server") } else { ("upload", "client") };
    if sender == "client" {
        all.extend(large_receive_window().into_iter().map(|(key, value)| (key.replace("client.", "server."), value)));
        all.push(set("client.congestion", chance.among(&["cubic", "reno"])));
    } else if chance.is(0.5) {
        all.push(set("work.download.request", "0B"));
    }
    all.extend([
        set(&format!("work.{work}.size"), bytes(size.round() * f64::from(times))),
        set(&format!("work.{work}.write"), format!("{{ chunk = {:?}, every = {:?} }}", bytes(size), ms(every))),
    ]);
    all.extend(again(chance, sender, times));
    all
}

/// Several downloads at once that fill one link: each gets less, and none of them can help it.
pub(super) fn shared_bottleneck(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate, clients) = (chance.between(0.01, 0.06), chance.between(4e6, 60e6), chance.whole(2, 4));
    // As long as a bandwidth-delay product to three of them.
    let queue = (rate / 8.0 * (rtt * chance.between(1.0, 3.0)).max(0.02)).max(24.0 * MSS);
    let seconds = chance.between(3.0, 5.0);
    let each = rate / 8.0 * seconds / f64::from(clients);
    // Headers take a twentieth, handshakes and slow start a few round trips: else the link was not
    // full all the time. Senders that have lost much, or that BBR paces, do not take up at once
    // what others leave.
    let longest = 1.2 * seconds + 6.0 * rtt;
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, &bytes(queue)));
    all.extend([
        set("cause", "bandwidth"),
        set("work.download.parallel", clients.to_string()),
        set("work.download.size", bytes(each)),
        verify(&[
            "down.lost <= 0",
            "server.rwnd_limited <= 20%",
            &format!("down.max_queue >= {}", bytes(0.5 * queue)),
            &format!("span <= {}", ms(longest)),
        ]),
    ]);
    all
}

/// Queries on one connection, of which the second takes the server long.
pub(super) fn slow_second_query(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, think) = (chance.between(0.002, 0.15), chance.between(0.5, 2.0));
    let queries = chance.whole(2, 4);
    let thinks: Vec<String> = (1..=queries).map(|nth| if nth == 2 { ms(think) } else { "0ms".to_owned() }).collect();
    let mut all = large_receive_window();
    all.extend([
        set("cause", "server-think"),
        set("path.rtt", ms(rtt)),
        request(chance),
        set("work.download.size", bytes(chance.between(200.0, 60e3))),
        set("work.download.count", queries.to_string()),
        set("work.download.connection", "reused"),
        set("work.download.thinks", format!("{thinks:?}")),
        verify(&[&format!("transfer.2 >= {}", ms(think)), "server.retransmitted <= 0"]),
    ]);
    all
}

/// A SYN, a request or data without an answer.
pub(super) fn no_answer(chance: &mut Chance) -> Vec<Setting> {
    match chance.whole(1, 3) {
        1 => no_connection(chance),
        2 => no_reply(chance),
        _ => cut_off(chance),
    }
}

/// The SYNs, or the answers to them, vanish.
fn no_connection(chance: &mut Chance) -> Vec<Setting> {
    vec![
        set("path.rtt", ms(chance.between(0.005, 0.2))),
        set(&format!("path.{}.loss", chance.among(&["up", "down"])), "100%"),
        // SYNs at 0, 1 and 3 s.
        set("work.download.patience", ms(chance.between(3.4, 6.0))),
        verify(&["syn_retransmitted >= 2"]),
    ]
}

/// The server has the request, and does not respond before the client gives up. That an answer was
/// due
/// shows in the request itself, or, if that cannot be read, in several that were answered before;
/// the first message is usually a request.
fn no_reply(chance: &mut Chance) -> Vec<Setting> {
    let (protocol, before) = match chance.whole(1, 3) {
        1 => ("plain", 0),
        2 => ("plain", chance.whole(3, 5)),
        _ => ("http", chance.whole(0, 2)),
    };
    let patience = chance.between(1.8, 4.0);
    let mut thinks = vec!["0ms".to_owned(); before as usize];
    thinks.push(ms(patience + 0.6));
    let mut all = large_receive_window();
    all.extend([
        set("path.rtt", ms(chance.between(0.005, 0.1))),
        set("work.download.size", bytes(chance.between(500.0, 60e3))),
        set("work.download.count", (before + 1).to_string()),
        set("work.download.connection", "reused"),
        set("work.download.protocol", protocol),
        set("work.download.thinks", format!("{thinks:?}")),
        set("work.download.patience", ms(patience)),
        verify(&[&format!("transfer.last >= {}", ms(patience)), "server.retransmitted <= 0"]),
    ]);
    all
}

/// Nothing passes any more from the middle of a download on, either way.
fn cut_off(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, rate) = (chance.between(0.01, 0.1), chance.between(4e6, 30e6));
    let dead = format!("[{{ at = {:?}, set = {{ loss = \"100%\" }} }}]", ms(chance.between(1.5, 2.2)));
    let mut all = large_receive_window();
    all.extend(path(rtt, rate, &bytes((rate / 8.0 * 0.05).max(24.0 * MSS))));
    all.extend([
        set("path.up.step", dead.clone()),
        set("path.down.step", dead),
        // Twice the bytes until then.
        set("work.download.size", bytes(rate / 8.0 * 5.0)),
        set("work.download.patience", ms(chance.between(3.0, 4.0))),
        verify(&["server.timeouts >= 2", "down.lost >= 3", "server.max_in_flight >= 3kB"]),
    ]);
    all
}

/// Refused, or reset by the server in place of its answer, or amid it.
pub(super) fn reset(chance: &mut Chance) -> Vec<Setting> {
    let rtt = chance.between(0.005, 0.15);
    let mut all = large_receive_window();
    all.push(verify(&["server.resets >= 1", "server.retransmitted <= 0"]));
    match chance.whole(1, 3) {
        1 => {
            all.retain(|(key, _)| key != "verify");
            let tries = chance.whole(1, 3).to_string();
            all.extend([
                set("path.rtt", ms(rtt)),
                set("work.download.refused", "true"),
                set("work.download.count", tries.clone()),
                set("work.download.pause", ms(chance.between(0.1, 0.5))),
                verify(&[&format!("server.resets >= {tries}")]),
            ]);
        }
        2 => all.extend([
            set("path.rtt", ms(rtt)),
            set("work.download.think", ms(chance.between(0.02, 0.8))),
            set("work.download.closes", "server"),
            set("work.download.reset_after", "0B"),
        ]),
        _ => {
            let rate = chance.between(4e6, 50e6);
            all.extend(path(rtt, rate, "400ms"));
            all.extend([
                set("work.download.size", "20MB"),
                set("work.download.closes", "server"),
                set("work.download.reset_after", bytes(rate / 8.0 * chance.between(0.5, 1.5))),
            ]);
        }
    }
    all
}

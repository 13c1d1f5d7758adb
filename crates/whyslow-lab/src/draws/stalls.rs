//! Draws for programs that stop amid a message, write a little at a time, or read slowly; and for
//! connections without a wait.

use super::settings::{Chance, MSS, Setting, bits, bytes, large_receive_window, ms, path, set, verify};

/// Between a pause of a collector and that of a backend which is restarted.
fn stall(chance: &mut Chance) -> f64 {
    chance.between(0.4, 4.0)
}

/// A message that the sender writes in two or three parts, with a stall between them.
fn in_parts(chance: &mut Chance, work: &str, protocols: &[&str]) -> Vec<Setting> {
    let (parts, part) = (f64::from(chance.whole(2, 3)), chance.between(30e3, 200e3));
    let (rtt, stall) = (chance.between(0.003, 0.06), stall(chance));
    let sender = if work == "upload" { "client" } else { "server" };
    let mut all = large_receive_window();
    all.extend([
        set("cause", "application"),
        set("path.rtt", ms(rtt)),
        set(&format!("work.{work}.protocol"), chance.among(protocols)),
        set(&format!("work.{work}.size"), bytes((part * parts).round())),
        set(&format!("work.{work}.write"), format!("{{ chunk = {:?}, every = {:?} }}", bytes(part), ms(stall))),
        verify(&[
            &format!("transfer.slowest >= {}", ms(0.95 * stall * (parts - 1.0))),
            &format!("{sender}.retransmitted <= 0"),
            &format!("{sender}.rwnd_limited <= 5%"),
        ]),
    ]);
    all
}

/// A web server that stops amid an answer whose length it has announced.
pub(super) fn response(chance: &mut Chance) -> Vec<Setting> {
    in_parts(chance, "download", &["http"])
}

/// The same in TLS, which hides the length.
pub(super) fn tls_response(chance: &mut Chance) -> Vec<Setting> {
    in_parts(chance, "download", &["https", "tls"])
}

/// A client that stops in the middle of an upload. Without a protocol it is unknown whether parts
/// seconds apart are one message.
pub(super) fn upload(chance: &mut Chance) -> Vec<Setting> {
    in_parts(chance, "upload", &["http", "https"])
}

/// A program that writes less than a segment every few milliseconds.
pub(super) fn trickle(chance: &mut Chance) -> Vec<Setting> {
    let (rtt, every) = (chance.between(0.005, 0.08), chance.between(0.008, 0.03));
    let piece = chance.between(200.0, 0.8 * MSS);
    vec![
        set("cause", "application"),
        set("path.rtt", ms(rtt)),
        set("server.nodelay", "true"),
        set("work.download.protocol", chance.among(&["plain", "http", "tls"])),
        set("work.download.write", format!("{{ chunk = {:?}, every = {:?} }}", bytes(piece), ms(every))),
        set("work.download.size", bytes(piece * chance.between(60.0, 150.0))),
        verify(&["server.app_limited >= 30%", "server.rwnd_limited <= 5%", "server.retransmitted <= 0"]),
    ]
}

/// A program that reads at a rate of its own, far below the path's.
pub(super) fn slow_reader(chance: &mut Chance) -> Vec<Setting> {
    let rate = chance.between(0.8e6, 6e6);
    let mut all = path(chance.between(0.005, 0.05), 200e6, "10MB");
    all.extend([
        set("cause", "zero-window"),
        set("client.rcvbuf", bytes(chance.between(30e3, 120e3))),
        set(
            "work.download.read",
            format!("{{ chunk = {:?}, rate = {:?} }}", bytes(chance.between(4e3, 40e3)), bits(rate)),
        ),
        set("work.download.size", bytes(rate / 8.0 * chance.between(2.5, 4.0))),
        verify(&["server.rwnd_limited >= 50%", "down.lost <= 0"]),
    ]);
    all
}

/// Two people who write to each other.
pub(super) fn chat(chance: &mut Chance) -> Vec<Setting> {
    talk(chance, &["client", "server", "server", "client", "server", "client"], 40.0, 400.0)
}

/// Signs of life of both ends, and no request.
pub(super) fn heartbeats(chance: &mut Chance) -> Vec<Setting> {
    talk(chance, &["client", "server", "client", "server", "client", "server"], 6.0, 40.0)
}

/// A server that sends news now and then, to a client that has asked for them once.
pub(super) fn news(chance: &mut Chance) -> Vec<Setting> {
    talk(chance, &["client", "server", "server", "server", "server"], 60.0, 900.0)
}

/// Small messages, each after time to think.
fn talk(chance: &mut Chance, speakers: &[&str], least: f64, most: f64) -> Vec<Setting> {
    let messages: Vec<String> = speakers
        .iter()
        .enumerate()
        .map(|(nth, from)| {
            let wait = if nth == 0 { "0ms".to_owned() } else { ms(chance.between(1.2, 3.0)) };
            format!("{{ from = {from:?}, size = {:?}, wait = {wait:?} }}", bytes(chance.between(least, most)))
        })
        .collect();
    vec![
        set("cause", "none"),
        set("path.rtt", ms(chance.between(0.002, 0.08))),
        set("work.script.messages", format!("[{}]", messages.join(", "))),
        verify(&["server.retransmitted <= 0", "client.retransmitted <= 0"]),
    ]
}

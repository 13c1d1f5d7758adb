//! [`verdict`]: the verdict from the kernel's account (TCP_INFO) if no packet was recorded.
//!
//! It names the phase that took most. For an upload the kernel knows the limit: it records the time
//! limited by the peer's window and by the send buffer. For a download it is the receiver, which
//! knows little of the sender's limits: only how the bytes grew from round trip to round trip, and
//! whether segments arrived out of order.

use super::floor::{acked, received};
use crate::client::exchange::{Exchange, Hop};
use crate::client::sampler::Sample;
use whyslow_analysis::cause::Cause;
use whyslow_report::text::units;

/// Share of a phase from which it is named.
const MOST: f64 = 0.5;
/// A round trip that carries this many times the bytes of the one before is one of growth.
const GROWS: f64 = 1.3;
/// A window that grew by this factor has limited the earlier data.
const DOUBLED: f64 = 2.0;
/// Round trips that are looked at.
const MOST_ROUNDS: usize = 10_000;

/// The verdict on a request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Verdict {
    /// The cause's name, where it has one.
    pub cause: Option<&'static str>,
    pub text: String,
}

/// Which phase took most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Dns,
    Connect,
    Tls,
    Upload,
    Wait,
    Download,
}

/// The limit of a request, by the kernel's account; `None` if nothing took long.
pub(crate) fn verdict(exchange: &Exchange, rtt: Option<f64>) -> Option<Verdict> {
    let hop = exchange.last();
    let (phase, seconds) = longest(hop, rtt.unwrap_or(0.0))?;
    let total = hop.times.total.as_secs_f64();
    let of = format!("{} of {}", figure(seconds), figure(total));
    if seconds < MOST * total {
        let text = format!("nothing took most of the time; the longest was {}: {of}", name(phase));
        return Some(Verdict { cause: None, text });
    }
    let (cause, why) = match phase {
        Phase::Upload => upload(hop),
        Phase::Download => download(hop, rtt),
        Phase::Wait => (Some(Cause::ServerThink), "the server, or who stands before it, took it".to_owned()),
        Phase::Connect if hop.attempts.len() > 1 => (None, "addresses were tried that gave no connection".to_owned()),
        Phase::Dns | Phase::Connect | Phase::Tls => (None, "a connection that is kept open spares it".to_owned()),
    };
    Some(Verdict { cause: cause.map(Cause::slug), text: format!("{} took {of}: {why}", name(phase)) })
}

fn figure(seconds: f64) -> String {
    units::figure(seconds, "s")
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Dns => "the DNS lookup",
        Phase::Connect => "connecting",
        Phase::Tls => "the TLS handshake",
        Phase::Upload => "sending",
        Phase::Wait => "waiting for the answer, beyond a round trip,",
        Phase::Download => "receiving",
    }
}

fn longest(hop: &Hop, rtt: f64) -> Option<(Phase, f64)> {
    let times = &hop.times;
    let dns = times.namelookup.unwrap_or_default();
    let connect = times.connect.map_or(dns, |connect| connect.max(dns));
    let tls = times.appconnect.unwrap_or(connect);
    let sent = if hop.sent_bytes > 0 { times.acknowledged.or(times.posttransfer) } else { times.posttransfer };
    let sent = sent.unwrap_or(times.pretransfer).min(times.first_packet.max(times.pretransfer));
    let waited = times.first_packet.saturating_sub(sent).as_secs_f64();
    let rtt = if hop.sent_bytes > 0 { 0.0 } else { rtt };
    let parts = [
        (Phase::Dns, dns.as_secs_f64()),
        (Phase::Connect, connect.saturating_sub(dns).as_secs_f64()),
        (Phase::Tls, tls.saturating_sub(connect).as_secs_f64()),
        (Phase::Upload, sent.saturating_sub(times.pretransfer).as_secs_f64()),
        (Phase::Wait, (waited - rtt).max(0.0)),
        (Phase::Download, times.total.saturating_sub(times.first_packet).as_secs_f64()),
    ];
    parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, seconds)| *seconds > 0.0)
}

/// The limit of an upload.
fn upload(hop: &Hop) -> (Option<Cause>, String) {
    let [Some(first), Some(last)] = [hop.samples.first(), hop.samples.last()] else {
        return (None, "this system does not tell why".to_owned());
    };
    let grown = |get: fn(&Sample) -> Option<u64>| get(last).unwrap_or(0).saturating_sub(get(first).unwrap_or(0)) as f64;
    let busy = grown(|sample| sample.info.busy_time).max(1.0);
    let rwnd = grown(|sample| sample.info.rwnd_limited) / busy;
    let sndbuf = grown(|sample| sample.info.sndbuf_limited) / busy;
    let again = grown(|sample| sample.info.total_retrans.map(u64::from));
    let cwnd = |sample: &Sample| sample.info.snd_cwnd.unwrap_or(0);
    if rwnd > MOST {
        (Some(Cause::ReceiveWindow), format!("{} of it the server's window was full", units::share(rwnd)))
    } else if sndbuf > MOST {
        (Some(Cause::SenderCap), format!("{} of it the send buffer was full", units::share(sndbuf)))
    } else if again > 0.0 {
        (Some(Cause::Loss), format!("{} retransmitted", units::count(again as u64, "segment")))
    } else if f64::from(cwnd(last)) >= DOUBLED * f64::from(cwnd(first).max(1)) {
        // HyStart sets a threshold without a loss: the window limited the earlier data.
        let grew = format!("the congestion window grew from {} to {} segments", cwnd(first), cwnd(last));
        let end = match last.info.snd_ssthresh {
            None => "in slow start to the end".to_owned(),
            Some(exit) => format!("and left slow start at {exit} without a loss"),
        };
        (Some(Cause::SlowStart), format!("{grew}, {end}"))
    } else {
        (None, "the kernel's account does not tell why".to_owned())
    }
}

/// The limit of a download, as far as the receiver knows.
fn download(hop: &Hop, rtt: Option<f64>) -> (Option<Cause>, String) {
    let unknown = || (None, "the receiver's account does not tell why; a capture does".to_owned());
    let (Some(rtt), Some(last)) = (rtt.filter(|rtt| *rtt > 0.0), hop.samples.last()) else { return unknown() };
    let out_of_order = last.info.rcv_ooopack.unwrap_or(0);
    let rounds = rounds(hop, rtt);
    let growing = rounds.windows(2).filter(|pair| pair[1] as f64 > GROWS * pair[0] as f64).count();
    if rounds.len() >= 3 && (growing + 1) as f64 >= MOST * rounds.len() as f64 {
        let what = format!("in {growing} of {} round trips more came than in the one before", rounds.len());
        return (Some(Cause::SlowStart), format!("{what}: the server's congestion window was growing"));
    }
    let window = f64::from(last.info.rcv_wnd.unwrap_or(u32::MAX));
    let most = rounds.iter().copied().max().unwrap_or(0) as f64;
    if rounds.len() >= 3 && most > 0.8 * window {
        let window = units::bytes(window as u64);
        return (Some(Cause::ReceiveWindow), format!("a round trip carried all of this end's window, {window}"));
    }
    if out_of_order > 0 {
        let what =
            format!("{} out of order: lost on the way, or overtaken", units::count(out_of_order.into(), "segment"));
        return (Some(Cause::Loss), what);
    }
    unknown()
}

/// Bytes received in each round trip of the answer.
pub(crate) fn rounds(hop: &Hop, rtt: f64) -> Vec<u64> {
    let begin = hop.began + hop.times.first_packet;
    let before = |time: f64| {
        let until = begin + std::time::Duration::from_secs_f64(time);
        hop.samples.iter().take_while(|sample| sample.at <= until).filter_map(received).last()
    };
    let start = before(-0.0).unwrap_or(0);
    let took = hop.times.total.saturating_sub(hop.times.first_packet).as_secs_f64();
    let count = ((took / rtt).ceil().max(1.0) as usize).min(MOST_ROUNDS);
    let mut so_far = start;
    (1..=count)
        .map(|round| {
            let now = before(round as f64 * rtt).unwrap_or(so_far);
            now.saturating_sub(std::mem::replace(&mut so_far, now))
        })
        .collect()
}

/// Bytes acknowledged or received while the request lasted, whichever is more, by sample.
pub(crate) fn is_upload(hop: &Hop) -> bool {
    let grown = |get: fn(&Sample) -> Option<u64>| {
        let ends = hop.samples.first().and_then(get).zip(hop.samples.last().and_then(get));
        ends.map_or(0, |(first, last)| last.saturating_sub(first))
    };
    hop.sent_bytes > 0 && grown(acked) > grown(received)
}

//! [`TransferScenario`]: the lab's scenario for a transfer that was captured.

use super::captured::Captured;
use super::conversation::Conversation;
use super::hosts::{self, HostChoice};
use super::path::{self, Losses, PathChoice};
use whyslow_analysis::{End, LimitSpan, LimitingFactor};
use whyslow_lab::scenario::Scenario;
use whyslow_lab::scenario::path::{LossSpec, StepSpec};
use whyslow_lab::scenario::script::Script;
use whyslow_lab::scenario::units::{Share, Size, Time};
use whyslow_lab::scenario::work::Work;

/// A pattern that repeats shows within this part of a transfer, seconds.
const ENOUGH: f64 = 12.0;
/// A beginning is like the whole if at most this share of its time is under other limits.
const DIFFERENT_MAX: f64 = 0.2;
/// What the capture does not show, and is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub host: HostChoice,
    pub path: PathChoice,
}

impl Choice {
    /// What is tried first.
    pub fn first(captured: &Captured) -> Self {
        let losses = match captured.share(&[LimitingFactor::Bandwidth]) >= path::BY_PATH {
            _ if captured.policed().is_some() => Losses::Policer,
            true => Losses::Queue,
            false => Losses::Listed,
        };
        Self {
            host: HostChoice {
                congestion: if captured.is_spaced() { "bbr" } else { "cubic" },
                receive_scale: 1.0,
                send_scale: 1.0,
                growth: None,
            },
            path: PathChoice { losses, usual_rtt: false },
        }
    }
}

/// A scenario, and what of the capture it is to reproduce.
#[derive(Clone, Debug)]
pub(super) struct TransferScenario {
    pub scenario: Scenario,
    /// The place of the transfer's first byte among its sender's bytes here.
    pub place: u64,
    /// How much of it is run, bytes.
    pub bytes: u64,
    /// The captured time of that, seconds.
    pub captured_s: f64,
    /// The transfer is this many times as long as the part that is run.
    pub factor: f64,
    /// What is run ends at this moment of the capture.
    pub until: f64,
}

/// Builds the scenario; a run lasts for at most `at_most` seconds.
pub(super) fn build(captured: &Captured, choice: Choice, at_most: f64) -> TransferScenario {
    let from = captured.from();
    let cut = cut(captured, at_most);
    let mut conversation = Conversation::of(&captured.connection, &captured.packets, cut.until);
    if let Some(place) = cut.place {
        conversation.cut(from, place);
    }
    let start = captured.transfer().start_s.as_secs_f64();
    let skipped = if captured.is_about_connection {
        [0; 2]
    } else {
        // A window restarts after an idle period of this length, here as in the capture.
        conversation.shorten_pauses(start - captured.thought() - 0.01, 6.0 * (captured.rtt() + 0.25));
        conversation.skip_before(start - at_most / 2.0)
    };
    let scenario = scenario(captured, choice, &conversation, skipped);
    let whole = captured.transfer().bytes;
    let bytes = cut.place.map_or(whole, |place| place - captured.place);
    TransferScenario {
        scenario,
        place: captured.place.saturating_sub(skipped[from.index()]),
        bytes,
        captured_s: cut.seconds,
        factor: cut.factor,
        until: cut.until,
    }
}

fn scenario(captured: &Captured, choice: Choice, conversation: &Conversation, skipped: [u64; 2]) -> Scenario {
    let from = captured.from();
    let reads = hosts::reading(captured, skipped[from.index()]);
    let mut script = Script { messages: conversation.script(), ..Script::default() };
    // A small send buffer is filled by small writes alone.
    script.chunk = if captured.cap().is_some() { Size(4_096) } else { script.chunk };
    let window = choice.host.growth.map(|growth| captured.window(growth));
    match from {
        End::Client => (script.server_reads, script.client_window) = (reads, window),
        End::Server => (script.client_reads, script.server_window) = (reads, window),
    }
    let mut scenario = Scenario {
        cause: captured.top().map_or("none", |finding| finding.cause.slug()).to_owned(),
        path: path::path(captured, choice.path, captured.mss(), skipped),
        client: hosts::host(captured, End::Client, choice.host),
        server: hosts::host(captured, End::Server, choice.host),
        work: Work::Script(script),
        timeout: Time(300_000_000_000),
        ..Scenario::default()
    };
    lose_syns(captured, &mut scenario);
    scenario
}

/// SYNs that were retransmitted are lost again: nothing passes until the last of them was sent.
fn lose_syns(captured: &Captured, scenario: &mut Scenario) {
    let Some(handshake) = &captured.connection.handshake else { return };
    let links = [&mut scenario.path.up, &mut scenario.path.down];
    for (link, retries) in links.into_iter().zip(handshake.retries) {
        if retries == 0 || retries > 4 {
            continue;
        }
        // They are sent after 1, 3, 7, … s; the first one leaves a moment after the start.
        let last = ((1_u64 << (retries - 1)) - 1) as f64 + 0.85;
        let after = link.loss.clone().unwrap_or(LossSpec::Share(Share(0.0)));
        let at = Time((last * 1e9) as u64);
        link.loss = Some(LossSpec::Share(Share(1.0)));
        link.step.push(StepSpec {
            at,
            set: whyslow_lab::scenario::path::LinkSpec { loss: Some(after), ..Default::default() },
        });
    }
}

/// Where a run ends.
struct Ending {
    /// The place after the last byte of the transfer's part; `None` for all of it.
    place: Option<u64>,
    until: f64,
    seconds: f64,
    factor: f64,
}

/// How much is run: all of it, or a beginning that is like the rest.
fn cut(captured: &Captured, at_most: f64) -> Ending {
    let transfer = captured.transfer();
    let start = transfer.start_s.as_secs_f64();
    let whole = transfer.duration_s.as_secs_f64();
    let connection_end = (captured.connection.start_s + captured.connection.duration_s).as_secs_f64();
    if captured.is_about_connection {
        let begun = captured.connection.start_s.as_secs_f64();
        let seconds = captured.seconds();
        if seconds <= at_most {
            return Ending { place: None, until: connection_end, seconds, factor: 1.0 };
        }
        return Ending { place: None, until: begun + at_most, seconds: at_most, factor: seconds / at_most };
    }
    let enough = if whole > ENOUGH && begins_alike(captured, ENOUGH) { ENOUGH } else { at_most };
    let all = Ending { place: None, until: start + whole, seconds: captured.seconds(), factor: 1.0 };
    if whole <= enough * 1.25 {
        return all;
    }
    let from = captured.from();
    let acked = captured.packets.all.iter().filter(|packet| packet.from != from && packet.at <= start + enough);
    let place = acked.filter_map(|packet| packet.ack).max().unwrap_or(0);
    if place <= captured.place {
        return all;
    }
    let seconds = enough + captured.thought();
    let factor = transfer.bytes as f64 / (place - captured.place) as f64;
    Ending { place: Some(place), until: start + enough, seconds, factor }
}

/// Whether the limits of the first seconds are those of the whole.
fn begins_alike(captured: &Captured, seconds: f64) -> bool {
    let transfer = captured.transfer();
    let end = transfer.start_s.as_secs_f64() + seconds;
    let whole = transfer.duration_s.as_secs_f64();
    let within = |span: &LimitSpan| {
        let start = span.start_s.as_secs_f64();
        ((start + span.seconds.as_secs_f64()).min(end) - start).max(0.0)
    };
    let apart: f64 = transfer
        .limits
        .iter()
        .map(|share| {
            let own = transfer.timeline.iter().filter(|span| span.limit == share.limit);
            (own.map(within).sum::<f64>() / seconds - share.seconds.as_secs_f64() / whole).abs()
        })
        .sum();
    apart / 2.0 <= DIFFERENT_MAX
}

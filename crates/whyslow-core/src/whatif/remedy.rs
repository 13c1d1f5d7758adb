//! What each cause's fix changes in the model: the one place where causes and scenarios meet.

use super::carried_window::CarriedWindow;
use super::model::{Algorithm, Losses, Silence, Window};
use super::plan::DEFAULT_RECEIVE_WINDOW;
use super::replay::{Fitted, Replay};
use crate::cause::Cause;
use crate::limit::LARGEST_INITIAL_WINDOW;
use crate::types::Limit;
use crate::units::Nanos;

/// The fitted scenario with the cause removed; none for causes whose fix the model cannot show.
pub(super) fn apply(cause: Cause, replay: &Replay, fitted: &Fitted) -> Option<Fitted> {
    let mut changed = fitted.clone();
    // Late ACKs met small flights; where the flights change they do not come again.
    if cause != Cause::DelayedAck && cause != Cause::Application {
        remove(&mut changed, Limit::AckDelay);
    }
    let scenario = &mut changed.scenario;
    match cause {
        Cause::SlowStart => {
            // The first flight that the fix names, as far as the receiver's first window allows.
            let needed = scenario.bytes.div_ceil(scenario.mss).min(LARGEST_INITIAL_WINDOW) as f64;
            let cap = match &scenario.receiver.window {
                Window::Seen(steps) => steps.first().map_or(f64::INFINITY, |step| (step.1 / scenario.mss) as f64),
                _ => f64::INFINITY,
            };
            scenario.sender.initial_window = needed.min(cap).max(scenario.sender.initial_window);
            scenario.sender.ssthresh = scenario.sender.ssthresh.max(scenario.sender.initial_window);
        }
        Cause::RestartAfterIdle => {
            if let Some(CarriedWindow { cwnd: window, grows }) =
                replay.carried.filter(|it| it.cwnd > scenario.sender.initial_window)
            {
                scenario.sender.initial_window = window;
                if !grows {
                    scenario.sender.ssthresh = window;
                }
            }
            for (pause, _) in changed.stalls.iter_mut().filter(|(pause, _)| pause.kind == Silence::Idle) {
                pause.kind = Silence::Program;
            }
        }
        Cause::EarlySlowStartExit => {
            scenario.sender.ssthresh = f64::INFINITY;
            // Slow growth is flat around the window of an earlier loss (RFC 9438 section 4.2), and
            // looks like a cap there.
            scenario.sender.cap = None;
        }
        Cause::ReceiveWindow | Cause::NoWindowScaling => scenario.receiver.window = Window::Unlimited,
        Cause::ZeroWindow => {
            let_reader_keep_up(&mut scenario.receiver.window, replay);
            remove(&mut changed, Limit::ZeroWindow);
            // Shorter silences around it, which nothing in the capture ended, come from it too.
            remove(&mut changed, Limit::Unknown);
        }
        Cause::SenderCap => {
            scenario.sender.cap = None;
            let_window_grow(&mut scenario.receiver.window, replay);
        }
        // Without its own rate it fills the path's, which the first flight told: ten segments leave
        // unpaced.
        Cause::Pacing => {
            scenario.rate = Some(replay.path_rate()?);
            scenario.sender.pacing = None;
            scenario.sender.initial_window = scenario.sender.initial_window.max(10.0);
            scenario.sender.hystart = scenario.sender.algorithm == Algorithm::Cubic;
        }
        Cause::ProtocolWindow => {
            scenario.sender.cap = None;
            let_window_grow(&mut scenario.receiver.window, replay);
            remove(&mut changed, Limit::ProtocolWindow);
        }
        Cause::Application => {
            let_window_grow(&mut scenario.receiver.window, replay);
            remove(&mut changed, Limit::Application);
        }
        Cause::NagleDelayedAck => remove(&mut changed, Limit::NagleDelayedAck),
        Cause::DelayedAck => {
            remove(&mut changed, Limit::AckDelay);
            changed.tail = Nanos::ZERO;
        }
        Cause::Loss
        | Cause::RandomLoss
        | Cause::Policer
        | Cause::MtuBlackHole
        | Cause::SpuriousRetransmission
        | Cause::LostRetransmission => {
            scenario.losses = Losses::NONE;
            // Shaped instead of policed, the rate stays.
            if cause == Cause::Policer {
                scenario.rate = replay.passed_rate.or(scenario.rate);
            }
            // A window that losses keep small grows far beyond all that was seen: what the path
            // carries must be known.
            if cause != Cause::Policer && cause != Cause::MtuBlackHole {
                scenario.rate = Some(scenario.rate.or(replay.path_rate())?);
            }
            // Windows that a loss cuts again and again stay about as large without anything in the
            // sender that caps them.
            scenario.sender.cap = scenario.sender.cap.filter(|_| !replay.has_losses_while_capped);
            remove(&mut changed, Limit::Timeout);
            if cause == Cause::MtuBlackHole {
                remove(&mut changed, Limit::Unknown);
            }
        }
        // With a repair that waits for no timer a lost segment costs a round trip and a little (RFC
        // 8985).
        Cause::Timeout | Cause::TailLoss | Cause::NoSack => {
            let repair = scenario.rtt.scale(1.25);
            for (pause, _) in changed.stalls.iter_mut().filter(|(_, kind)| *kind == Limit::Timeout) {
                pause.length = pause.length.min(repair);
                pause.kind = Silence::Program;
            }
        }
        _ => return None,
    }
    Some(changed)
}

/// A receiver that sizes its buffer by what arrives (Linux' `tcp_rcv_space_adjust`) offered little
/// because little came: a window that grew and held nothing grows on with larger flights.
fn let_window_grow(window: &mut Window, replay: &Replay) {
    let Window::Seen(steps) = &*window else { return };
    let Some((initial, last)) = steps.first().map(|step| step.1).zip(steps.last().map(|step| step.1)) else { return };
    if last > initial && replay.passing_window.is_none() {
        *window = Window::Autotuned { initial, most: last.max(DEFAULT_RECEIVE_WINDOW) };
    }
}

/// The first window and the largest one of a Linux receiver with its default buffer (`tcp_rmem`'s
/// 131,072 B, tcp(7)) whose program never read enough for it to grow, bytes.
const DEFAULT_BUFFER_WINDOWS: (u64, u64) = (64_000, 82_000);

/// A reader that keeps up has the buffer that it has: the largest window that was offered stays. A
/// buffer of the default size grows as soon as its program reads.
fn let_reader_keep_up(window: &mut Window, replay: &Replay) {
    let Window::Seen(steps) = window else { return };
    let most = steps.iter().map(|step| step.1).max().unwrap_or(u64::MAX);
    let initial = steps.first().map_or(0, |step| step.1);
    if (DEFAULT_BUFFER_WINDOWS.0..=u64::from(u16::MAX)).contains(&initial) && most <= DEFAULT_BUFFER_WINDOWS.1 {
        *window = Window::Autotuned { initial, most: DEFAULT_RECEIVE_WINDOW };
        return;
    }
    let most = replay.passing_largest.map_or(most, |passing| passing.min(most));
    let full = steps.iter().position(|step| step.1 >= most).unwrap_or(steps.len());
    steps.truncate(full);
    steps.push((steps.last().map_or(0, |step| step.0 + 1), most));
}

fn remove(changed: &mut Fitted, limit: Limit) {
    changed.stalls.retain(|(_, kind)| *kind != limit);
}

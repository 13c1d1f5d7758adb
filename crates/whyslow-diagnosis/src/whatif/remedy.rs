//! Changes to the model by the fix of a cause. Each rule lists the changes of its own fix.

use super::carried_window::CarriedWindow;
use super::replay::{Fitted, Replay};
use crate::estimate::LARGEST_INITIAL_WINDOW;
use whyslow_analysis::types::{LimitingFactor, ModelChange};
use whyslow_model::plan::DEFAULT_RECEIVE_WINDOW;
use whyslow_model::{Algorithm, Losses, PauseKind, Scenario, Window};
use whyslow_units::Nanos;

/// Returns the fitted scenario with these changes; `None` if the capture lacks the data for one of
/// them.
pub(super) fn apply(changes: &[ModelChange], replay: &Replay, fitted: &Fitted) -> Option<Fitted> {
    let mut changed = fitted.clone();
    // Late ACKs met small flights; where the flights change they do not come again.
    if !changes.contains(&ModelChange::SameFlights) {
        remove(&mut changed, LimitingFactor::AckDelay);
    }
    for &change in changes {
        make(change, replay, &mut changed)?;
    }
    Some(changed)
}

fn make(change: ModelChange, replay: &Replay, changed: &mut Fitted) -> Option<()> {
    let scenario = &mut changed.scenario;
    match change {
        ModelChange::SameFlights => {}
        ModelChange::NoSilence(limit) => remove(changed, limit),
        ModelChange::NoLateLastAck => changed.tail = Nanos::ZERO,
        ModelChange::RepairWithoutTimer => repair_without_timer(changed),
        ModelChange::NoLosses => {
            scenario.losses = Losses::NONE;
            // Windows that a loss cuts again and again stay about as large without anything in the
            // sender that caps them.
            scenario.sender.cap = scenario.sender.cap.filter(|_| !replay.has_losses_while_capped);
            remove(changed, LimitingFactor::Timeout);
        }
        ModelChange::HeldToPathRate => scenario.rate = Some(scenario.rate.or(replay.path_rate())?),
        ModelChange::HeldToInterLossRate => scenario.rate = replay.passed_rate.or(scenario.rate),
        ModelChange::LargeInitialWindow => enlarge_initial_window(scenario),
        ModelChange::ReusedConnection => reuse_connection(scenario, replay)?,
        ModelChange::WindowKeptWhenIdle => keep_window_when_idle(changed, replay),
        ModelChange::SlowStartUntilLoss => scenario.sender.ssthresh = f64::INFINITY,
        ModelChange::NoSenderCap => scenario.sender.cap = None,
        // Without its own rate it fills the path's, which the first flight showed: ten segments
        // leave unpaced.
        ModelChange::NoPacing => {
            scenario.rate = Some(replay.path_rate()?);
            scenario.sender.pacing = None;
            scenario.sender.initial_window = scenario.sender.initial_window.max(10.0);
            scenario.sender.hystart = scenario.sender.algorithm == Algorithm::Cubic;
        }
        ModelChange::UnlimitedReceiveWindow => scenario.receiver.window = Window::Unlimited,
        ModelChange::GrowingReceiveWindow => let_window_grow(&mut scenario.receiver.window, replay),
        ModelChange::PromptReader => let_reader_keep_up(&mut scenario.receiver.window, replay),
    }
    Some(())
}

/// The first flight that the fix names, as far as the receiver's first window allows.
fn enlarge_initial_window(scenario: &mut Scenario) {
    let needed = scenario.bytes.div_ceil(scenario.mss).min(LARGEST_INITIAL_WINDOW) as f64;
    let cap = match &scenario.receiver.window {
        Window::Advertised(steps) => steps.first().map_or(f64::INFINITY, |step| (step.1 / scenario.mss) as f64),
        _ => f64::INFINITY,
    };
    scenario.sender.initial_window = needed.min(cap).max(scenario.sender.initial_window);
    scenario.sender.ssthresh = scenario.sender.ssthresh.max(scenario.sender.initial_window);
}

/// The congestion window and the receiver's window that this transfer leaves to the next one.
fn reuse_connection(scenario: &mut Scenario, replay: &Replay) -> Option<()> {
    let CarriedWindow { cwnd, grows } = replay.left?;
    let sender = &mut scenario.sender;
    sender.initial_window = cwnd.max(sender.initial_window);
    sender.ssthresh = if grows { sender.ssthresh.max(sender.initial_window) } else { sender.initial_window };
    if let Window::Advertised(steps) = &mut scenario.receiver.window
        && let Some(largest) = steps.iter().map(|step| step.1).max()
    {
        *steps = vec![(0, largest)];
    }
    Some(())
}

fn keep_window_when_idle(changed: &mut Fitted, replay: &Replay) {
    let sender = &mut changed.scenario.sender;
    if let Some(CarriedWindow { cwnd, grows }) = replay.carried.filter(|it| it.cwnd > sender.initial_window) {
        sender.initial_window = cwnd;
        if !grows {
            sender.ssthresh = cwnd;
        }
    }
    for (pause, _) in changed.stalls.iter_mut().filter(|(pause, _)| pause.kind == PauseKind::Idle) {
        pause.kind = PauseKind::Program;
    }
}

/// With a repair that waits for no timer a lost segment costs a round trip and a little (RFC 8985).
fn repair_without_timer(changed: &mut Fitted) {
    let repair = changed.scenario.rtt.scale(1.25);
    for (pause, _) in changed.stalls.iter_mut().filter(|(_, kind)| *kind == LimitingFactor::Timeout) {
        pause.length = pause.length.min(repair);
        pause.kind = PauseKind::Program;
    }
}

/// A receiver that sizes its buffer by received data (Linux' `tcp_rcv_space_adjust`) offered little
/// because little came: a window that grew and was not a limit keeps growing with larger flights.
fn let_window_grow(window: &mut Window, replay: &Replay) {
    let Window::Advertised(steps) = &*window else { return };
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
    let Window::Advertised(steps) = window else { return };
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

fn remove(changed: &mut Fitted, limit: LimitingFactor) {
    changed.stalls.retain(|(_, kind)| *kind != limit);
}

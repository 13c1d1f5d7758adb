//! [`ModelChange`]: how a fix changes the model of a transfer.

use super::LimitingFactor;

/// One change that a fix makes to the model of a captured transfer. Every change except
/// `SameFlights` also removes the late ACKs of small flights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelChange {
    /// Keeps the flights and their late ACKs.
    SameFlights,
    /// Removes silences caused by this limit.
    NoSilence(LimitingFactor),
    /// Removes the delay of the last ACK.
    NoLateLastAck,
    /// Repairs lost segments without the retransmission timer.
    RepairWithoutTimer,
    /// Removes losses, and the window reductions that they cause.
    NoLosses,
    /// Limits the rate to the link's rate. Without an estimate of it there is no prediction.
    HeldToPathRate,
    /// Limits the rate to the rate between losses: replaces a policer by a shaper.
    HeldToInterLossRate,
    /// Uses the largest advisable initial window, as far as the transfer needs it.
    LargeInitialWindow,
    /// Repeats the transfer on a connection that has carried a similar one, with its final windows.
    ReusedConnection,
    /// Keeps the window after an idle period.
    WindowKeptWhenIdle,
    /// Continues slow start until a loss.
    SlowStartUntilLoss,
    /// Removes limits of the window in the sender.
    NoSenderCap,
    /// Removes pacing by the sender.
    NoPacing,
    /// Removes the limit by the receive window.
    UnlimitedReceiveWindow,
    /// Lets the receive window continue to grow with larger flights, if it grew before.
    GrowingReceiveWindow,
    /// The receiving application reads as fast as data arrives.
    PromptReader,
}

//! [`ModelChange`]: what a fix changes in the model of a transfer.

use super::Limit;

/// One thing that a fix changes in the model of a captured transfer. The late ACKs that small
/// flights met are gone with every fix, unless the flights stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelChange {
    /// Flights stay as they are, and so do the late ACKs that they met.
    SameFlights,
    /// Silences under this limit do not happen.
    NoSilence(Limit),
    /// The last ACK is not held back.
    NoLateLastAck,
    /// A lost segment is repaired without the retransmission timer.
    RepairWithoutTimer,
    /// Nothing is lost, and no window is kept small by losses.
    NoLosses,
    /// What the path carries holds the transfer: without a rate nothing is predicted.
    HeldToPathRate,
    /// The rate between losses holds it: a policer's, were it a shaper.
    HeldToInterLossRate,
    /// The initial window is the largest that is advised, as far as the transfer needs it.
    LargeInitialWindow,
    /// The same transfer on a connection that has carried one like it: the windows that it left.
    ReusedConnection,
    /// The window stays as large as it was before the sender was idle.
    WindowKeptWhenIdle,
    /// Slow start goes on until a loss.
    SlowStartUntilLoss,
    /// Nothing in the sender caps its window.
    NoSenderCap,
    /// The sender paces its segments no longer.
    NoPacing,
    /// The receiver's window never holds the sender.
    UnlimitedReceiveWindow,
    /// The receiver's window grows on as larger flights arrive, if it grew before.
    GrowingReceiveWindow,
    /// The receiver's program reads as fast as data arrives.
    PromptReader,
}

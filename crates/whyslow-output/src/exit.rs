//! Exit statuses that the programs share, other than success.

/// The input could not be read, or the arguments are invalid.
pub const FAILED: u8 = 2;

/// The exit status of a program that a signal ended: 128 and the signal's number, as in a shell.
pub const fn ended_by(signal: i32) -> u8 {
    128 + signal as u8
}

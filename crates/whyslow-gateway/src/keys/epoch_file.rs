//! An epoch as a file: its identity, in an age file that every operator opens.
//!
//! The plaintext is an age identity file, so that stock age is enough to open the objects:
//!
//! ```text
//! age -d -i operator.key epoch.age > epoch.key
//! age -d -i epoch.key object
//! ```

use super::epoch::Epoch;
use crate::age::{self, AgeError, Identity, KeyError, NoRandomness, Recipient};
use zeroize::Zeroizing;

/// Why an epoch's file cannot be opened or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EpochFileError {
    /// The age file cannot be opened.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// Its contents are not an identity file.
    #[error("in the file: {0}")]
    Identity(#[from] KeyError),
    /// Its contents are not text.
    #[error("there is no text in the file")]
    NotText,
    /// An epoch is one identity.
    #[error("the file has {0} identities, and an epoch is one")]
    Several(usize),
    /// It has no recipient, so it could not be opened.
    #[error("there is no recipient, so nobody could open the file")]
    NoRecipient,
    /// The system gives no random bytes.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

/// The file of `epoch` for these operators.
///
/// # Errors
/// When there is no recipient, or the system gives no random bytes.
pub fn seal(epoch: &Epoch, operators: &[Recipient]) -> Result<Vec<u8>, EpochFileError> {
    if operators.is_empty() {
        return Err(EpochFileError::NoRecipient);
    }
    let secret = epoch.identity().to_text();
    let text = Zeroizing::new(format!("# whyslow gateway, epoch {}\n{}\n", epoch.id(), &*secret));
    Ok(age::seal(text.as_bytes(), operators)?)
}

/// The epoch in a file that [`seal`] or stock age made.
///
/// # Errors
/// When none of `operators` opens it, it was changed, or it has no epoch.
pub fn open(file: &[u8], operators: &[Identity]) -> Result<Epoch, EpochFileError> {
    let plaintext = age::open(file, operators)?;
    let text = std::str::from_utf8(&plaintext).map_err(|_| EpochFileError::NotText)?;
    let mut identities = age::identities(text)?;
    match (identities.pop(), identities.len()) {
        (Some(identity), 0) => Ok(Epoch::new(identity)),
        (_, others) => Err(EpochFileError::Several(others + 1)),
    }
}

/// The same epoch for other operators. Objects stay as they are.
///
/// Operators who could open the old file may have kept the epoch's identity: only a new epoch
/// protects later objects from them.
///
/// # Errors
/// As [`open`] and [`seal`].
pub fn rekey(file: &[u8], operators: &[Identity], to: &[Recipient]) -> Result<Vec<u8>, EpochFileError> {
    seal(&open(file, operators)?, to)
}

//! [`Identity`] opens, [`Recipient`] seals: X25519 keys as `age-keygen` writes them.

use super::NoRandomness;
use super::primitives::random;
use bech32::{Bech32, Hrp};
use std::fmt;
use std::str::FromStr;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, Zeroizing};

const RECIPIENT: Hrp = Hrp::parse_unchecked("age");
const IDENTITY: Hrp = Hrp::parse_unchecked("age-secret-key-");

/// A secret key: `AGE-SECRET-KEY-1…`.
#[derive(Clone)]
pub struct Identity {
    secret: StaticSecret,
    recipient: Recipient,
}

/// The public key of an [`Identity`]: `age1…`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Recipient(PublicKey);

/// Why a text is not a key. It never repeats the text, which may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text is not an X25519 recipient.
    #[error("this is no age recipient: `age1` and 58 more letters and digits, as `age-keygen -y` prints it")]
    Recipient,
    /// The text is not an X25519 identity, at this line.
    #[error(
        "line {0} is no age identity: `AGE-SECRET-KEY-1` and 58 more letters and digits, as `age-keygen` prints it"
    )]
    Identity(usize),
    /// The text has no identity.
    #[error("there is no line with an age identity (`AGE-SECRET-KEY-1…`)")]
    NoIdentity,
}

impl Identity {
    /// Generates a new identity.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn generate() -> Result<Self, NoRandomness> {
        random().map(|bytes| Self::from_bytes(&bytes))
    }

    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Self {
        let secret = StaticSecret::from(*bytes);
        let recipient = Recipient(PublicKey::from(&secret));
        Self { secret, recipient }
    }

    /// The recipient that belongs to it.
    pub fn recipient(&self) -> Recipient {
        self.recipient
    }

    /// As age writes it: `AGE-SECRET-KEY-1…`. This is the secret itself.
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(bech32::encode_upper::<Bech32>(IDENTITY, self.secret.as_bytes()).expect("32 bytes fit"))
    }

    pub(crate) fn secret(&self) -> &StaticSecret {
        &self.secret
    }

    fn parse(text: &str) -> Option<Self> {
        // age demands capitals.
        text.starts_with("AGE-SECRET-KEY-1").then_some(())?;
        let mut bytes = key_bytes(text, IDENTITY)?;
        let identity = Self::from_bytes(&bytes);
        bytes.zeroize();
        Some(identity)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity(of {})", self.recipient)
    }
}

impl Recipient {
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(PublicKey::from(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.0
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bech32::encode_lower_to_fmt::<Bech32, _>(f, RECIPIENT, self.bytes()).map_err(|_| fmt::Error)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient({self})")
    }
}

impl FromStr for Recipient {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let lower = text.starts_with("age1");
        let bytes = key_bytes(text, RECIPIENT).filter(|_| lower).ok_or(KeyError::Recipient)?;
        Ok(Self::from_bytes(bytes))
    }
}

/// The identities in the text of an identity file: one a line, between comments (`#`) and empty
/// lines.
///
/// # Errors
/// When a line is something else, or there is none.
pub fn identities(text: &str) -> Result<Vec<Identity>, KeyError> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            found.push(Identity::parse(line).ok_or(KeyError::Identity(index + 1))?);
        }
    }
    if found.is_empty() { Err(KeyError::NoIdentity) } else { Ok(found) }
}

fn key_bytes(text: &str, kind: Hrp) -> Option<[u8; 32]> {
    let (hrp, data) = bech32::primitives::decode::CheckedHrpstring::new::<Bech32>(text)
        .map(|checked| (checked.hrp(), Zeroizing::new(checked.byte_iter().collect::<Vec<u8>>())))
        .ok()?;
    (hrp == kind).then_some(())?;
    data.as_slice().try_into().ok()
}

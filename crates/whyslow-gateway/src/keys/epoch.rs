//! [`Epoch`]: the identity that objects are sealed to, and the keys that come from it.

use crate::age::{Identity, NoRandomness, Recipient, hkdf};
use std::fmt;
use zeroize::Zeroizing;

/// Names an epoch in the objects that are sealed to it: the first eight bytes of a hash of its
/// recipient, which does not reveal the recipient.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochId([u8; EpochId::SIZE]);

impl EpochId {
    /// Bytes of an id.
    pub const SIZE: usize = 8;

    pub(crate) fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }

    fn of(recipient: Recipient) -> Self {
        let mut context = ring::digest::Context::new(&ring::digest::SHA256);
        context.update(b"whyslow-gateway/1 epoch");
        context.update(recipient.bytes());
        let digest = context.finish();
        let mut id = [0; Self::SIZE];
        id.copy_from_slice(&digest.as_ref()[..Self::SIZE]);
        Self(id)
    }
}

impl fmt::Display for EpochId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for EpochId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EpochId({self})")
    }
}

/// Objects are sealed to it: an age identity, and the keys that prove that a gateway made them.
///
/// Anyone with a recipient can make age files for it. So every slice, object and token carries an
/// HMAC whose key comes from the identity's secret half, which the storage never has.
#[derive(Clone)]
pub struct Epoch {
    id: EpochId,
    identity: Identity,
    slices: Zeroizing<[u8; 32]>,
    metadata: Zeroizing<[u8; 32]>,
    tokens: Zeroizing<[u8; 32]>,
    names: Zeroizing<[u8; 64]>,
    checksums: Zeroizing<[u8; 64]>,
}

impl Epoch {
    /// A new one.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn generate() -> Result<Self, NoRandomness> {
        Identity::generate().map(Self::new)
    }

    /// The epoch of this identity. Nothing else may be sealed to it.
    pub fn new(identity: Identity) -> Self {
        let secret = identity.secret().as_bytes();
        Self {
            id: EpochId::of(identity.recipient()),
            slices: hkdf(&[], secret, "whyslow-gateway/1 slices"),
            metadata: hkdf(&[], secret, "whyslow-gateway/1 metadata"),
            tokens: hkdf(&[], secret, "whyslow-gateway/1 tokens"),
            names: hkdf(&[], secret, "whyslow-gateway/1 names"),
            checksums: hkdf(&[], secret, "whyslow-gateway/1 checksums"),
            identity,
        }
    }

    /// An epoch with this identity and another's derived keys: all that a party with the recipient
    /// alone can make.
    #[cfg(test)]
    pub(crate) fn with_secrets_of(&self, other: &Self) -> Self {
        Self { id: self.id, identity: self.identity.clone(), ..other.clone() }
    }

    /// Its name in objects.
    pub fn id(&self) -> EpochId {
        self.id
    }

    /// The identity, with which stock age opens its objects.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Binds a slice's fields, together with the slice's file key.
    pub(crate) fn slice_key(&self) -> &[u8] {
        &self.slices[..]
    }

    /// Binds an object's metadata.
    pub(crate) fn metadata_key(&self) -> &[u8] {
        &self.metadata[..]
    }

    /// Binds upload ids and parts' ETags.
    pub(crate) fn token_key(&self) -> &[u8] {
        &self.tokens[..]
    }

    /// Encrypts names.
    pub(crate) fn names_key(&self) -> &[u8; 64] {
        &self.names
    }

    /// Encrypts checksums of plaintext.
    pub(crate) fn checksums_key(&self) -> &[u8; 64] {
        &self.checksums
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epoch({})", self.id)
    }
}

/// The epoch that new objects are sealed to, and all whose objects can be opened.
#[derive(Clone, Debug)]
pub struct Keyring {
    /// The current one first.
    epochs: Vec<Epoch>,
}

impl Keyring {
    /// With `older` ones, whose objects can be opened, newest first.
    pub fn new(current: Epoch, older: impl IntoIterator<Item = Epoch>) -> Self {
        Self { epochs: std::iter::once(current).chain(older).collect() }
    }

    /// The one that new objects are sealed to.
    pub fn current(&self) -> &Epoch {
        &self.epochs[0]
    }

    /// The last one of the older ones, or the current one.
    pub fn oldest(&self) -> &Epoch {
        self.epochs.last().unwrap_or(&self.epochs[0])
    }

    /// All of them, the current one first.
    pub fn epochs(&self) -> impl Iterator<Item = &Epoch> {
        self.epochs.iter()
    }

    /// The one of this name.
    pub fn get(&self, id: EpochId) -> Option<&Epoch> {
        self.epochs.iter().find(|epoch| epoch.id == id)
    }
}

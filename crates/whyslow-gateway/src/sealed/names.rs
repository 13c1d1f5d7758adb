//! [`Names`]: what the storage calls what clients name.

use super::checked::OURS;
use super::error::{SealedError, SealedErrorKind};
use crate::format::NameCipher;
use crate::keys::Epoch;
use crate::store::ObjectName;

/// Bytes of a key, as in S3.
const LONGEST: usize = 1024;

/// Plain names, or encrypted ones.
#[derive(Debug)]
pub(super) struct Names {
    /// `None` if names are plain.
    epoch: Option<Epoch>,
}

impl Names {
    pub(super) fn new(epoch: Option<Epoch>) -> Self {
        Self { epoch }
    }

    /// The epoch that names are encrypted under; `None` where they are plain.
    pub(super) fn epoch(&self) -> Option<&Epoch> {
        self.epoch.as_ref()
    }

    /// The cipher of a bucket's names; `None` if they are plain.
    pub(super) fn cipher(&self, bucket: &str) -> Option<NameCipher> {
        self.epoch.as_ref().map(|epoch| NameCipher::new(epoch, bucket))
    }

    /// The storage's name of an object.
    pub(super) fn stored(&self, object: &ObjectName) -> Result<ObjectName, SealedError> {
        let key = &object.key;
        if key.is_empty() || key.len() > LONGEST {
            let why = format!("a key has 1 to {LONGEST} bytes, and this one {}", key.len());
            return Err(SealedError::new(SealedErrorKind::InvalidName, why));
        }
        if key.starts_with(OURS) {
            let why = format!("keys that begin with `{OURS}` are the gateway's own");
            return Err(SealedError::new(SealedErrorKind::InvalidRequest, why));
        }
        match self.cipher(&object.bucket) {
            None => Ok(object.clone()),
            Some(cipher) => Ok(ObjectName::new(&object.bucket, cipher.encrypt(key)?)),
        }
    }

    /// The client's key of a stored one; `None` if it was not encrypted with these keys.
    pub(super) fn plain(&self, bucket: &str, key: &str) -> Option<String> {
        match self.cipher(bucket) {
            None => Some(key.to_owned()),
            Some(cipher) => cipher.decrypt(key).ok(),
        }
    }
}

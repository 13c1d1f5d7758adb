//! [`NameCipher`]: names that the storage cannot read, folder by folder.
//!
//! Every component of a key is encrypted by itself with AES-256-SIV (RFC 5297): the same
//! name always gives the same text and can be requested, and a folder's list is a prefix's list.
//! The
//! components before it are its associated data: the same component has another text in
//! another folder or bucket, and cannot be moved there.

use super::metadata::base64;
use crate::keys::Epoch;
use aes_siv::KeyInit;
use aes_siv::siv::Aes256Siv;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use zeroize::Zeroizing;

/// Bytes of a key, as in S3.
const LONGEST: usize = 1024;

/// The reason why a name cannot be encrypted or decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The encrypted key would be too long.
    #[error("the encrypted key would have {0} bytes, and storage takes {LONGEST}")]
    TooLong(usize),
    /// The key was not encrypted with this epoch, or it was changed or moved.
    #[error("the key was not encrypted with this epoch, or was changed or moved")]
    Foreign,
}

/// Encrypts the names of one bucket's objects.
///
/// Names must stay the same: they are encrypted under the epoch of the bucket's beginning,
/// regardless of the epoch of its objects.
pub struct NameCipher {
    key: Zeroizing<[u8; 64]>,
    bucket: String,
}

impl fmt::Debug for NameCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NameCipher({})", self.bucket)
    }
}

impl NameCipher {
    /// For the names in `bucket`.
    pub fn new(epoch: &Epoch, bucket: &str) -> Self {
        Self { key: Zeroizing::new(*epoch.names_key()), bucket: bucket.to_owned() }
    }

    /// Returns the storage's key for a client's key. Slashes and empty components stay.
    ///
    /// # Errors
    /// If it would be too long: each component takes 22 letters and 4/3 of its bytes.
    pub fn encrypt(&self, key: &str) -> Result<String, NameError> {
        let mut encrypted = String::new();
        let mut folder = 0;
        for (index, component) in key.split('/').enumerate() {
            if index > 0 {
                encrypted.push('/');
            }
            if !component.is_empty() {
                let data = [self.bucket.as_bytes(), &key.as_bytes()[..folder]];
                let sealed = self.siv().encrypt(data, component.as_bytes());
                encrypted.push_str(&base64(&sealed.map_err(|_| NameError::TooLong(key.len()))?));
            }
            folder += component.len() + 1;
        }
        if encrypted.len() > LONGEST { Err(NameError::TooLong(encrypted.len())) } else { Ok(encrypted) }
    }

    /// Returns the client's key for a storage's key.
    ///
    /// # Errors
    /// If it was not encrypted for this place.
    pub fn decrypt(&self, key: &str) -> Result<String, NameError> {
        let mut folder = String::new();
        for (index, component) in key.split('/').enumerate() {
            if index > 0 {
                folder.push('/');
            }
            if !component.is_empty() {
                let sealed = URL_SAFE_NO_PAD.decode(component).map_err(|_| NameError::Foreign)?;
                let data = [self.bucket.as_bytes(), folder.as_bytes()];
                let text = self.siv().decrypt(data, &sealed).map_err(|_| NameError::Foreign)?;
                folder.push_str(std::str::from_utf8(&text).map_err(|_| NameError::Foreign)?);
            }
        }
        Ok(folder)
    }

    /// Returns the storage's prefix for a client's prefix, and the beginning that decrypted names
    /// must have beyond that.
    ///
    /// # Errors
    /// As [`encrypt`](Self::encrypt).
    pub fn prefix<'p>(&self, prefix: &'p str) -> Result<(String, &'p str), NameError> {
        let (folder, rest) = prefix.split_at(prefix.rfind('/').map_or(0, |slash| slash + 1));
        Ok((self.encrypt(folder)?, rest))
    }

    fn siv(&self) -> Aes256Siv {
        Aes256Siv::new(&(*self.key).into())
    }
}

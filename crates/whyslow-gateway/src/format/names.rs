//! [`NameCipher`]: names that the storage cannot read, folder by folder.
//!
//! Every component of a key is encrypted by itself with AES-256-SIV (RFC 5297), so that the same
//! name is always the same text and can be asked for, and a folder's list is a prefix's list. What
//! stands before a component is its associated data: the same component looks different in
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

/// Why a name cannot be encrypted or decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It would be too long.
    #[error("the encrypted key would have {0} bytes, and storage takes {LONGEST}")]
    TooLong(usize),
    /// It was not encrypted here, or was changed or moved.
    #[error("the key was not encrypted with this epoch, or was changed or moved")]
    Foreign,
}

/// Encrypts the names of one bucket's objects.
///
/// Names must stay the same: they are encrypted under the epoch that the bucket was begun with,
/// whatever its objects are sealed to.
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

    /// The storage's key for a client's one. Slashes stay, and so do empty components.
    ///
    /// # Errors
    /// When it would be too long: each component takes 22 letters and 4/3 of its bytes.
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

    /// The client's key for a storage's one.
    ///
    /// # Errors
    /// When it was not encrypted for this place.
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

    /// What to list for a client's prefix: the storage's prefix, and what the decrypted names in it
    /// must begin with beyond that.
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

//! Upload ids and parts' ETags that carry all facts which the gateway needs about them. So it
//! remembers nothing, and any gateway with the same keys can take the next part, or complete the
//! upload.

use super::bind;
use super::manifest::Part;
use super::metadata::{Kind, Name, Object, base64, bytes};
use super::slice::{ObjectId, SliceTag};
use super::sums::Sums;
use crate::age::equal;
use crate::keys::{Epoch, EpochId, Keyring};

const UPLOAD: &str = "w1u-";
const PART: &str = "w1p-";
/// A part with its CRCs.
const SUMMED_PART: &str = "w2p-";

/// Bytes of a part's token without CRCs.
const PLAIN: usize = 8 + 4 + SliceTag::SIZE + bind::TAG;

/// The reason why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// It is not a token of a gateway.
    #[error("this was not given by a gateway")]
    Syntax,
    /// Its epoch is not available.
    #[error("it is of epoch {0}, which is not in the keyring")]
    UnknownEpoch(EpochId),
    /// It was changed, or belongs to another upload, part or name.
    #[error("it was changed, or belongs to another upload, part or name")]
    Tag,
}

/// A multipart upload: its object, and the storage's id of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadToken {
    /// The object.
    pub object: Object,
    /// The storage's own id of the upload.
    pub backend: String,
}

impl UploadToken {
    /// The upload id for the client.
    ///
    /// # Errors
    /// When the object's epoch is not in the keyring.
    pub fn to_text(&self, keyring: &Keyring, name: Name<'_>) -> Result<String, TokenFault> {
        let mut all = [0; EpochId::SIZE + ObjectId::SIZE + bind::TAG];
        all[..8].copy_from_slice(self.object.epoch.bytes());
        all[8..24].copy_from_slice(self.object.id.bytes());
        all[24..].copy_from_slice(&self.tag(epoch(keyring, self.object)?, name));
        Ok(format!("{UPLOAD}{}.{}", base64(&all), self.backend))
    }

    /// Returns the upload of a client's id.
    ///
    /// # Errors
    /// If no gateway began it for this name.
    pub fn verify(keyring: &Keyring, text: &str, name: Name<'_>) -> Result<Self, TokenFault> {
        let (token, tag) = Self::parse(text).ok_or(TokenFault::Syntax)?;
        if equal(&token.tag(epoch(keyring, token.object)?, name), &tag) { Ok(token) } else { Err(TokenFault::Tag) }
    }

    fn parse(text: &str) -> Option<(Self, [u8; bind::TAG])> {
        let (own, backend) = text.strip_prefix(UPLOAD)?.split_once('.')?;
        let all: [u8; EpochId::SIZE + ObjectId::SIZE + bind::TAG] = bytes(own)?;
        let (epoch, rest) = all.split_first_chunk()?;
        let (id, tag) = rest.split_first_chunk()?;
        let (epoch, id) = (EpochId::from_bytes(*epoch), ObjectId::from_bytes(*id));
        let object = Object { epoch, id, kind: Kind::Multipart };
        Some((Self { object, backend: backend.to_owned() }, tag.try_into().ok()?))
    }

    fn tag(&self, epoch: &Epoch, name: Name<'_>) -> [u8; bind::TAG] {
        let Object { epoch: id, id: object, .. } = &self.object;
        let backend = self.backend.as_bytes();
        let fields = [&id.bytes()[..], object.bytes(), name.bucket.as_bytes(), name.key.as_bytes(), backend];
        bind::tag(epoch.token_key(), "upload", &fields)
    }
}

/// A stored part: its entry of the manifest, and the storage's own ETag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartToken {
    /// The part.
    pub part: Part,
    /// The storage's ETag, without quotes.
    pub backend: String,
    /// CRCs of its plaintext; `None` from earlier versions.
    pub sums: Option<Sums>,
}

impl PartToken {
    /// The ETag for the client, without quotes. It is never 32 hex digits.
    ///
    /// # Errors
    /// When the object's epoch is not in the keyring.
    pub fn to_text(&self, keyring: &Keyring, object: Object) -> Result<String, TokenFault> {
        let mut all = Vec::with_capacity(8 + 4 + SliceTag::SIZE + Sums::SIZE + bind::TAG);
        all.extend_from_slice(&self.part.length.to_be_bytes());
        all.extend_from_slice(&self.part.filler.to_be_bytes());
        all.extend_from_slice(self.part.tag.bytes());
        all.extend(self.sums.map(Sums::to_bytes).into_iter().flatten());
        all.extend_from_slice(&self.tag(epoch(keyring, object)?, object));
        let prefix = if self.sums.is_some() { SUMMED_PART } else { PART };
        Ok(format!("{prefix}{}.{}", base64(&all), self.backend))
    }

    /// Returns the part `number` of `object` of a client's ETag.
    ///
    /// # Errors
    /// If it is not a gateway's for this part of this upload.
    pub fn verify(keyring: &Keyring, text: &str, object: Object, number: u32) -> Result<Self, TokenFault> {
        let (token, tag) = Self::parse(text, number).ok_or(TokenFault::Syntax)?;
        if equal(&token.tag(epoch(keyring, object)?, object), &tag) { Ok(token) } else { Err(TokenFault::Tag) }
    }

    fn parse(text: &str, number: u32) -> Option<(Self, [u8; bind::TAG])> {
        let (own, sums, backend) = match text.strip_prefix(PART) {
            Some(rest) => {
                let (own, backend) = rest.split_once('.')?;
                (bytes(own)?, None, backend)
            }
            None => {
                let (own, backend) = text.strip_prefix(SUMMED_PART)?.split_once('.')?;
                let all: [u8; PLAIN + Sums::SIZE] = bytes(own)?;
                let (before, rest) = all.split_first_chunk::<{ PLAIN - bind::TAG }>()?;
                let (sums, tag) = rest.split_first_chunk()?;
                let own = [&before[..], tag].concat().try_into().ok()?;
                (own, Some(Sums::from_bytes(*sums)), backend)
            }
        };
        let own: [u8; PLAIN] = own;
        let (length, rest) = own.split_first_chunk()?;
        let (filler, rest) = rest.split_first_chunk()?;
        let (slice, tag) = rest.split_first_chunk()?;
        let part = Part {
            number,
            length: u64::from_be_bytes(*length),
            filler: u32::from_be_bytes(*filler),
            tag: SliceTag::from_bytes(*slice),
        };
        Some((Self { part, backend: backend.to_owned(), sums }, tag.try_into().ok()?))
    }

    fn tag(&self, epoch: &Epoch, object: Object) -> [u8; bind::TAG] {
        let Part { number, length, filler, tag } = &self.part;
        let (number, length, filler) = (number.to_be_bytes(), length.to_be_bytes(), filler.to_be_bytes());
        let sums = self.sums.map(Sums::to_bytes);
        let mut fields = vec![&object.id.bytes()[..], &number, &length, &filler, tag.bytes(), self.backend.as_bytes()];
        fields.extend(sums.as_ref().map(|sums| &sums[..]));
        bind::tag(epoch.token_key(), "part", &fields)
    }
}

fn epoch(keyring: &Keyring, object: Object) -> Result<&Epoch, TokenFault> {
    keyring.get(object.epoch).ok_or(TokenFault::UnknownEpoch(object.epoch))
}

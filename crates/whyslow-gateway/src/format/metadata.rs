//! [`Object`]: the object that is stored under a name, and its kind, bound by a tag in its
//! metadata.

use super::bind;
use super::slice::ObjectId;
use crate::age::{NoRandomness, equal};
use crate::keys::{Epoch, EpochId, Keyring};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const VERSION: &str = "1";

/// An object's name, as clients know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'n> {
    /// The bucket.
    pub bucket: &'n str,
    /// The key in it, in plain text also where names are encrypted.
    pub key: &'n str,
}

/// How an object is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One slice, which is one age file.
    Single,
    /// A slice for each part, and a manifest.
    Multipart,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Multipart => "multipart",
        }
    }
}

/// An object that is being written, or whose metadata was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub(super) epoch: EpochId,
    pub(super) id: ObjectId,
    pub(super) kind: Kind,
}

/// The reason why an object's metadata is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataFault {
    /// No gateway of this version wrote it.
    #[error("the object's metadata is not of this format: no gateway stored it, or it was changed")]
    Syntax,
    /// The epoch is not available.
    #[error("the object is sealed to epoch {0}, which is not in the keyring")]
    UnknownEpoch(EpochId),
    /// It is another object's, or was changed.
    #[error("the object's metadata was changed, or is another object's")]
    Tag,
}

impl Object {
    /// Creates a new object, sealed to this epoch.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new(epoch: &Epoch, kind: Kind) -> Result<Self, NoRandomness> {
        Ok(Self { epoch: epoch.id(), id: ObjectId::generate()?, kind })
    }

    /// The id in every slice.
    pub fn id(&self) -> ObjectId {
        self.id
    }

    /// The epoch that all its slices are sealed to.
    pub fn epoch(&self) -> EpochId {
        self.epoch
    }

    /// How it is stored.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The metadata to store: ASCII letters, digits, `-`, `_` and dots. It binds the object to its
    /// name, and to `attributes`: names and values of the other things that the storage keeps with
    /// it, as its content type. Their order and the case of their names do not matter.
    ///
    /// # Errors
    /// When the object's epoch is not in the keyring.
    pub fn to_metadata(
        &self,
        keyring: &Keyring,
        name: Name<'_>,
        attributes: &[(&str, &str)],
    ) -> Result<String, MetadataFault> {
        let epoch = keyring.get(self.epoch).ok_or(MetadataFault::UnknownEpoch(self.epoch))?;
        let fields = [&self.epoch.bytes()[..], self.id.bytes(), &self.tag(epoch, name, attributes)];
        let [epoch, object, tag] = fields.map(base64);
        Ok(format!("{VERSION}.{}.{epoch}.{object}.{tag}", self.kind.word()))
    }

    /// Returns the object of this metadata, if it belongs to this name and was stored with these
    /// attributes.
    ///
    /// # Errors
    /// If it does not.
    pub fn verify(
        keyring: &Keyring,
        metadata: &str,
        name: Name<'_>,
        attributes: &[(&str, &str)],
    ) -> Result<Self, MetadataFault> {
        let (object, tag) = Self::parse(metadata).ok_or(MetadataFault::Syntax)?;
        let epoch = keyring.get(object.epoch).ok_or(MetadataFault::UnknownEpoch(object.epoch))?;
        if equal(&object.tag(epoch, name, attributes), &tag) { Ok(object) } else { Err(MetadataFault::Tag) }
    }

    fn parse(metadata: &str) -> Option<(Self, [u8; bind::TAG])> {
        let mut fields = metadata.split('.');
        (fields.next()? == VERSION).then_some(())?;
        let word = fields.next()?;
        let kind = [Kind::Single, Kind::Multipart].into_iter().find(|kind| kind.word() == word)?;
        let epoch = EpochId::from_bytes(bytes(fields.next()?)?);
        let id = ObjectId::from_bytes(bytes(fields.next()?)?);
        let tag = bytes(fields.next()?)?;
        fields.next().is_none().then_some((Self { epoch, id, kind }, tag))
    }

    fn tag(&self, epoch: &Epoch, name: Name<'_>, attributes: &[(&str, &str)]) -> [u8; bind::TAG] {
        let mut sorted: Vec<(String, &str)> =
            attributes.iter().map(|(name, value)| (name.to_ascii_lowercase(), *value)).collect();
        sorted.sort();
        let mut fields = vec![
            self.kind.word().as_bytes(),
            self.epoch.bytes(),
            self.id.bytes(),
            name.bucket.as_bytes(),
            name.key.as_bytes(),
        ];
        fields.extend(sorted.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
        bind::tag(epoch.metadata_key(), "object", &fields)
    }
}

/// base64url without padding, as in metadata, tokens and names.
pub(super) fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(super) fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

//! Arguments and results: objects as clients know them.

use crate::format::{Checksums, Fault};
use crate::keys::EpochId;
use crate::memory::Memory;
use crate::pool::{ByteStream, Transfer, Transfers};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

/// Plaintext to be stored.
pub struct Content {
    /// Bytes.
    pub length: u64,
    /// The bytes. An error stores nothing: the last chunk is sealed only after the stream has
    /// ended, so that a checksum may be verified before that.
    pub bytes: ByteStream,
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("length", &self.length).finish_non_exhaustive()
    }
}

/// The attributes that a client stores with an object; the object's metadata binds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Content-Type; without one objects have `binary/octet-stream`, as in S3.
    pub content_type: Option<String>,
    /// Headers of these names, in lower case: `cache-control`, `content-disposition`,
    /// `content-encoding`, `content-language`, `expires`, `x-amz-tagging`.
    pub headers: BTreeMap<String, String>,
    /// The client's own: names in lower case, without `x-amz-meta-`.
    pub user: BTreeMap<String, String>,
    /// Checksums of the plaintext, which the storage keeps encrypted.
    pub checksums: Checksums,
}

/// Makes a copy's attributes from those of the source.
pub type Change<'c> = &'c (dyn Fn(Attributes) -> Attributes + Send + Sync);

/// An object or a part that was stored.
#[derive(Clone, Debug, Default)]
pub struct Receipt {
    /// Its ETag, without quotes.
    pub tag: String,
    /// How the bytes went to the storage, where they went over the network; of several parts
    /// the sum, with the connection and phases of the slowest one.
    pub transfer: Option<Transfer>,
    /// Time in the cipher.
    pub sealing: Duration,
    /// When it was stored, where that is known.
    pub modified: Option<SystemTime>,
    /// Checksums of the whole object, of an upload whose parts all have CRCs.
    pub checksums: Checksums,
}

/// A client's description of an object when it completes the upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Bytes of plaintext.
    pub size: Option<u64>,
    /// CRC-32.
    pub crc32: Option<u32>,
    /// CRC-32C.
    pub crc32c: Option<u32>,
    /// CRC-64/NVME.
    pub crc64nvme: Option<u64>,
}

/// The known properties of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The key.
    pub key: String,
    /// Bytes of plaintext.
    pub size: u64,
    /// Its ETag, without quotes: the same in every answer.
    pub tag: String,
    /// When it was stored.
    pub modified: SystemTime,
    /// Attributes that were stored with it; empty in lists.
    pub attributes: Attributes,
    /// The client's parts, of a multipart object.
    pub parts: Option<u32>,
}

/// The fault that ended an object's bytes, if one did. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct FoundFault(Arc<OnceLock<Fault>>);

impl FoundFault {
    /// The fault, once the bytes have ended.
    pub fn get(&self) -> Option<Fault> {
        self.0.get().copied()
    }

    pub(super) fn set(&self, fault: Fault) {
        // The first one counts.
        let _ = self.0.set(fault);
    }
}

/// An object that is being read.
pub struct Opened {
    /// The object; its size is that of all of it.
    pub info: Info,
    /// Range of plaintext bytes that `bytes` returns; the end is exclusive.
    pub range: (u64, u64),
    /// Verified plaintext. It ends with an error if the object is not as it was sealed.
    pub bytes: ByteStream,
    /// How the stored bytes came: complete when all of `bytes` did.
    pub transfers: Transfers,
    /// Why `bytes` ended early, if the object is not as it was sealed.
    pub fault: FoundFault,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("info", &self.info).field("range", &self.range).finish_non_exhaustive()
    }
}

/// A page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Objects, by key.
    pub objects: Vec<Info>,
    /// Common prefixes, in order.
    pub prefixes: Vec<String>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<String>,
}

/// A part of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartInfo {
    /// Its number.
    pub number: u32,
    /// The ETag that the client was given, without quotes.
    pub tag: String,
    /// Bytes of plaintext.
    pub size: u64,
    /// When it was stored.
    pub modified: SystemTime,
}

/// An upload under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadInfo {
    /// The new key.
    pub key: String,
    /// The id that the client was given.
    pub upload_id: String,
    /// Since when.
    pub begun: SystemTime,
}

/// How objects are sealed and stored.
#[derive(Clone, Debug)]
pub struct SealedOptions {
    /// Whether the storage sees encrypted names.
    pub encrypt_names: bool,
    /// The epoch that names are encrypted under, which must stay the same: none is the oldest one
    /// of the keyring.
    pub names_epoch: Option<EpochId>,
    /// The gateways that this one is of: a bucket that belongs to others is refused.
    pub gateway: Option<String>,
    /// Bound of all buffers.
    pub memory: Memory,
    /// The storage takes no smaller part but the last, bytes: 5 MiB in S3, 0 in a folder.
    pub least_part: u32,
    /// Sizes of multipart objects that are remembered, 100 bytes each.
    pub sizes_cached: usize,
    /// Objects and parts up to this many bytes are held until the storage has answered, so that
    /// they can be sent again; not if other requests need the memory.
    pub held_for_repeat: u64,
}

impl Default for SealedOptions {
    fn default() -> Self {
        Self {
            encrypt_names: false,
            names_epoch: None,
            gateway: None,
            memory: Memory::new(256 << 20),
            least_part: 5 << 20,
            sizes_cached: 100_000,
            held_for_repeat: 16 << 20,
        }
    }
}

//! Objects by their plaintext, kept sealed in a [`Store`](crate::store::Store).
//!
//! ```text
//!   SealedStore ─┬─ put, multipart ─▶ sealing ─▶ Body of known length ─▶ Store
//!                ├─ get ◀─ opening ◀─ answers, several at once ◀──────── Store
//!                ├─ head, list: sizes by arithmetic, or from a multipart object's tail
//!                └─ copy: the storage copies, the metadata is made for the new name
//! ```
//!
//! The front handles plaintext and names alone; the store sees neither. [`crate::format`] defines
//! the bytes.
//! Nothing is stored in between, and [`Memory`] bounds all bytes under way.
//! Nothing depends on the cache (`known`): any gateway with the same keys can continue.

mod attributes;
mod checked;
mod context;
mod copy;
mod encrypted_list;
mod error;
mod facade;
mod get;
mod head;
mod known;
mod list;
mod marker;
mod multipart;
mod names;
mod opening;
mod own;
mod part;
mod put;
mod sealing;
mod tags;
mod tail;
mod types;
mod verify;

pub use crate::memory::{Memory, Permit};
pub use error::{SealedError, SealedErrorKind};
pub use facade::SealedStore;
pub use own::Setting;
pub use types::{
    Attributes, Change, Content, FoundFault, Info, Listing, Opened, PartInfo, Receipt, SealedOptions, UploadInfo, Whole,
};
pub use verify::{StoredPage, Verdict};

#[cfg(test)]
mod tests;

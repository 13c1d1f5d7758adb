//! Stored objects: sealed, sized, opened, without a file or a socket.
//!
//! ```text
//!   PUT         ┌─ slice ─────────────────────┐
//!               │ header │ chunk │ … │ chunk  │
//!   multipart   slice: part 1 │ filler │ … │ slice: part n │ filler │ slice: manifest │ locator
//! ```
//!
//! A *slice* is an age file with a header of [`HEADER`] bytes; our stanza in it has the
//! object, its place there, and its length.
//!
//! | to | use |
//! |---|---|
//! | begin an object, verify one | [`Object`]: its metadata |
//! | seal a PUT or a part | [`SliceWriter`] |
//! | complete a multipart upload | [`manifest::seal`], [`UploadToken`], [`PartToken`] |
//! | compute sizes | [`sealed_size`], [`plain_size`], [`manifest::stored_size`] |
//! | read a range, or all | [`Layout::plan`] for the bytes to ask for, [`Reader`] to open them |
//! | find a multipart object's parts | [`manifest::read_tail`] |
//! | name and tag objects | [`NameCipher`], [`etag`] |
//!
//! All bytes from the storage are hostile: every length is checked, nothing panics, and a [`Fault`]
//! has the place of the first wrong byte.

mod bind;
mod checksums;
pub mod etag;
mod fault;
mod header;
mod layout;
pub mod manifest;
mod metadata;
mod names;
mod plan;
mod reader;
mod size;
mod slice;
mod sums;
mod token;
mod writer;

pub use checksums::{Algorithm, Checksums};
pub use fault::{Fault, Problem};
pub use layout::{Layout, Slice};
pub use manifest::PartsError;
pub use metadata::{Kind, MetadataFault, Name, Object};
pub use names::{NameCipher, NameError};
pub use plan::Plan;
pub use reader::Reader;
pub use size::{HEADER, MAX_LENGTH, plain_size, sealed_size, suffix_size};
pub use slice::{ObjectId, Role, SliceHead, SliceTag};
pub use sums::{Summer, Sums};
pub use token::{PartToken, TokenFault, UploadToken};
pub use writer::{SliceWriter, WriteError};

#[cfg(test)]
mod tests;

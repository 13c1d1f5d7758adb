//! [`Object`]: bytes that are neither file nor pipe, opened by another crate.

use std::fmt::Debug;
use std::io::{self, Read};
use std::ops::Deref;
use std::sync::Arc;

/// Bytes that can be opened again and again, and are the same each time, as an object of an object
/// store is. Nothing is known here of how they come.
pub trait Object: Debug + Send + Sync {
    /// Its name in messages and in the analysis.
    fn name(&self) -> &str;

    /// Identifies it; it may hold secrets.
    fn location(&self) -> &str;

    /// Its size in bytes, as it is stored, if that can be known.
    fn size(&self) -> Option<u64>;

    /// Checks, without reading, that it is there and no other than before.
    ///
    /// # Errors
    /// When it is not. The message does not name it.
    fn check(&self) -> io::Result<()>;

    /// Its bytes from the first one on. Reading may fail with
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) after some time without bytes, and is then tried
    /// again.
    ///
    /// # Errors
    /// When it cannot be opened, or is another than before. The message does not name it.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// An [`Object`] as an input. Two are equal if their locations are.
#[derive(Clone, Debug)]
pub struct ObjectInput(Arc<dyn Object>);

impl ObjectInput {
    /// An input of this object.
    pub fn new(object: Arc<dyn Object>) -> Self {
        Self(object)
    }
}

impl Deref for ObjectInput {
    type Target = dyn Object;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for ObjectInput {
    fn eq(&self, other: &Self) -> bool {
        self.location() == other.location()
    }
}

impl Eq for ObjectInput {}

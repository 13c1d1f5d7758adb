//! [`Bulk`]: how large objects go, and the memory that they may take.

use super::plan::Plan;
use crate::memory::Memory;
use crate::pool::BodyError;
use crate::store::error::{ErrorKind, StoreError};

/// How a large object is cut, and the bound of the memory for it.
#[derive(Clone, Debug)]
pub struct Bulk {
    /// How it is cut.
    pub plan: Plan,
    /// The bound.
    pub memory: Memory,
}

impl Bulk {
    /// A part is held whole, and another one should go meanwhile.
    pub(super) fn must_fit(&self) -> Result<(), StoreError> {
        let (part, most) = (self.plan.part_size, self.memory.capacity() / 2);
        if part <= most {
            return Ok(());
        }
        let why = format!("parts of {part} B are held in memory, and {most} B of it are for one: raise its bound");
        Err(StoreError::new(ErrorKind::TooLarge, why))
    }
}

pub(super) fn stopped(error: &dyn std::error::Error) -> StoreError {
    StoreError::new(ErrorKind::Body(BodyError::Source(error.to_string())), "")
}

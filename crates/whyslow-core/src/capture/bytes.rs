//! Reads integers from hostile bytes: every read is checked, in either byte order.

/// The byte order of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub(super) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    pub(super) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(super) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The 16 bits at `at`, if available.
    pub(super) fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        bytes.get(at..)?.first_chunk().map(|chunk| self.u16(*chunk))
    }

    /// The 32 bits at `at`, if available.
    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        bytes.get(at..)?.first_chunk().map(|chunk| self.u32(*chunk))
    }
}

/// The byte order of the section header block at the start of `block`; `None` if it is invalid.
pub(super) fn section_order(block: &[u8]) -> Option<Order> {
    let magic = block.get(8..)?.first_chunk()?;
    [Order::Little, Order::Big].into_iter().find(|order| order.u32(*magic) == BYTE_ORDER_MAGIC)
}

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

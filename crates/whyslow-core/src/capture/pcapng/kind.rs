//! Block types.

pub(crate) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
pub(crate) const INTERFACE: u32 = 1;
pub(crate) const OBSOLETE_PACKET: u32 = 2;
pub(crate) const SIMPLE_PACKET: u32 = 3;
pub(crate) const NAME_RESOLUTION: u32 = 4;
pub(crate) const STATISTICS: u32 = 5;
pub(crate) const ENHANCED_PACKET: u32 = 6;
pub(crate) const JOURNAL: u32 = 9;
pub(crate) const SECRETS: u32 = 10;
/// With and without the permission to copy the block.
pub(crate) const CUSTOM: u32 = 0x0bad;
pub(crate) const CUSTOM_NO_COPY: u32 = 0x4000_0bad;
/// System calls recorded by sysdig, in three versions.
pub(crate) const SYSDIG_EVENTS: [u32; 3] = [0x204, 0x216, 0x221];

/// Types that, together with a length at both ends, show that a block starts there.
pub(crate) fn is_known(block_type: u32) -> bool {
    matches!(block_type, SECTION_HEADER | INTERFACE..=ENHANCED_PACKET | JOURNAL | SECRETS | CUSTOM | CUSTOM_NO_COPY)
}

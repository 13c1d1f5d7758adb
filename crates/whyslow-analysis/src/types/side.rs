//! The two ends of a connection before it is known which one is the client.

use std::ops::{Index, IndexMut, Not};

/// One of the two ends: `A` sent the first captured packet. It indexes pairs, `pair[side]`, and
/// `!side` is the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The sender of the first captured packet.
    #[default]
    A,
    /// Its peer.
    B,
}

impl Side {
    /// Both ends, in the order of a pair.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];
}

impl Not for Side {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

impl<T> Index<Side> for [T; 2] {
    type Output = T;

    #[inline]
    fn index(&self, side: Side) -> &T {
        &self[side as usize]
    }
}

impl<T> IndexMut<Side> for [T; 2] {
    #[inline]
    fn index_mut(&mut self, side: Side) -> &mut T {
        &mut self[side as usize]
    }
}

//! [`Draw`]: numbers by chance that are the same everywhere, for none of them passes through a
//! mathematical library.

/// splitmix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of 0 to `below` - 1; 0 when there is none.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(below)) >> 64) as u64
    }

    /// Between the two, and as often in each octave.
    pub(crate) fn octaves(&mut self, low: u64, high: u64) -> u64 {
        let low = low.max(1);
        let octaves = (high.max(low) / low).ilog2();
        let base = low << self.below(u64::from(octaves) + 1);
        (base + self.below(base)).min(high)
    }

    /// Whether something of this probability, in millionths, happens.
    pub(crate) fn happens(&mut self, millionths: u64) -> bool {
        millionths > 0 && self.below(1_000_000) < millionths
    }
}

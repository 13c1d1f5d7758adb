//! An interface's clock: converts ticks since an offset to nanoseconds since the epoch.

/// Unit and offset of an interface's timestamps (options `if_tsresol` and `if_tsoffset`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolution {
    scale: Scale,
    /// Offset to add, ns.
    offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// A tick is this many nanoseconds.
    Times(u64),
    /// A nanosecond is this many ticks.
    Per(u128),
    /// A second is 2 to the power of this many ticks.
    Binary(u32),
}

const NANOS: u32 = 9;

impl Default for Resolution {
    /// Microseconds since the epoch.
    fn default() -> Self {
        Self { scale: Scale::Times(1_000), offset: 0 }
    }
}

impl Resolution {
    /// Sets the unit: the value of `if_tsresol`, a negative power of 10, or of 2 with the highest
    /// bit set.
    pub(super) fn set_unit(&mut self, value: u8) {
        let exponent = u32::from(value & 0x7f);
        self.scale = match exponent {
            _ if value & 0x80 != 0 => Scale::Binary(exponent),
            0..=NANOS => Scale::Times(10_u64.pow(NANOS - exponent)),
            // With more than 10^38 ticks per nanosecond, 64 bits of ticks are less than a
            // nanosecond.
            _ => Scale::Per(10_u128.checked_pow(exponent - NANOS).unwrap_or(u128::MAX)),
        };
    }

    /// Sets the offset: the value of `if_tsoffset`, seconds.
    pub(super) fn set_offset(&mut self, seconds: i64) {
        self.offset = seconds.saturating_mul(1_000_000_000);
    }

    /// Nanoseconds since the epoch, rounded down; saturates if 64 bits are not enough.
    #[inline]
    pub(super) fn nanos(self, ticks: u64) -> i64 {
        let since = match self.scale {
            Scale::Times(factor) => match ticks.checked_mul(factor) {
                Some(nanos) => i64::try_from(nanos).unwrap_or(i64::MAX),
                None => i64::MAX,
            },
            Scale::Per(divisor) => saturate(u128::from(ticks) / divisor),
            // 64 bits and the 30 bits of 10^9 fit.
            Scale::Binary(exponent) => saturate((u128::from(ticks) * 1_000_000_000) >> exponent),
        };
        since.saturating_add(self.offset)
    }
}

fn saturate(nanos: u128) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

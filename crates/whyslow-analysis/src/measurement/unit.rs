//! [`Unit`]: the unit of a measured value.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};

macro_rules! units {
    ($($(#[doc = $doc:literal])* $name:ident $symbol:literal,)*) => {
        /// The unit of a measured value. Counted units stand in the plural.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
        pub enum Unit {
            $($(#[doc = $doc])* $name,)*
        }

        impl Unit {
            /// Every unit.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its symbol, as in the JSON.
            pub const fn symbol(self) -> &'static str {
                match self {
                    $(Self::$name => $symbol,)*
                }
            }
        }
    };
}

units! {
    /// A ratio.
    One "",
    /// Seconds.
    Seconds "s",
    /// Milliseconds.
    Milliseconds "ms",
    /// Bytes.
    Bytes "B",
    /// Bits per second.
    BitsPerSecond "bit/s",
    /// Percent.
    Percent "%",
    /// ACKs.
    Acks "ACKs",
    /// Connections.
    Connections "connections",
    /// Errors.
    Errors "errors",
    /// Holes in the sequence space.
    Holes "holes",
    /// Routers on the way.
    Hops "hops",
    /// Losses.
    Losses "losses",
    /// Messages.
    Messages "messages",
    /// Packets.
    Packets "packets",
    /// Pauses.
    Pauses "pauses",
    /// Probes.
    Probes "probes",
    /// Rounds.
    Rounds "rounds",
    /// Segments.
    Segments "segments",
    /// Stretches of time.
    Stretches "stretches",
    /// SYN-ACKs.
    SynAcks "SYN-ACKs",
    /// SYNs.
    Syns "SYNs",
    /// How often.
    Times "times",
    /// Tries.
    Tries "tries",
    /// Turns.
    Turns "turns",
    /// Waits.
    Waits "waits",
}

impl Unit {
    /// The unit with this symbol.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|unit| unit.symbol() == symbol)
    }
}

/// Serializes the symbol.
impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn unit_symbols_are_unique() {
        for unit in Unit::ALL {
            assert_eq!(Unit::from_symbol(unit.symbol()), Some(*unit));
        }
    }
}

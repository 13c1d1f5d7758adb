//! [`Grade`]: kind of evidence for a conclusion.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// Evidence for a finding besides the rule that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// The model of the transfer, built with the same cause, does not take the measured time.
    Contradicted,
    /// Nothing: it is inferred from how flights and rates look, and no model was run.
    Inferred,
    /// The model of the transfer, built with the same cause, takes the measured time.
    Reproduced,
    /// Single packets show the cause.
    Shown,
}

impl Grade {
    /// All of them, the weakest first.
    pub const ALL: [Self; 4] = [Self::Contradicted, Self::Inferred, Self::Reproduced, Self::Shown];

    /// Its name in JSON.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Contradicted => "contradicted",
            Self::Inferred => "inferred",
            Self::Reproduced => "reproduced",
            Self::Shown => "shown",
        }
    }
}

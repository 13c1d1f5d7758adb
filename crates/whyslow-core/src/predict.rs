//! `predict`: a transfer that has not been made yet, and the effect of each change to it.
//!
//! A [`Plan`] is played by the model of TCP that also plays captured transfers without one limit.
//!
//! ```
//! use whyslow_core::predict::{Idea, Plan};
//! use whyslow_core::units::Nanos;
//!
//! // A megabyte over a new connection, 100 ms away.
//! let plan = Plan::new(1_000_000, Nanos::from_millis(100));
//! let forecast = plan.forecast();
//! assert!(forecast.total > Nanos::from_millis(500));
//!
//! // The change that saves most comes first.
//! let changes = plan.changes(&forecast);
//! assert!(changes[0].total < forecast.total);
//! assert!(changes.iter().any(|change| change.idea == Idea::Reuse));
//! ```

pub use crate::whatif::model::{Algorithm, Outcome};
pub use crate::whatif::plan::{Change, Forecast, Idea, Plan, Tls, WARM_TRANSFERS, Way};

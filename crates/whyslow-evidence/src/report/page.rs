//! [`PageStatement`]: where the time of a page load went.

use super::phase::Phase;
use serde::Serialize;

/// Where the time of a page load went.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PageStatement {
    /// Requests were in one phase; time of several at once counts once.
    PagePhase {
        /// Which.
        phase: Phase,
        /// For how long.
        took_s: f64,
        /// Time of the load.
        whole_s: f64,
        /// Requests with at least a tenth of a second of it.
        requests: f64,
        /// The request with most of it, without its query.
        worst: String,
        /// Its time in the phase.
        worst_s: f64,
    },
    /// Redirects came before a response.
    PageRedirects {
        /// How many.
        count: f64,
        /// How long they took, together.
        took_s: f64,
        /// Time of the load.
        whole_s: f64,
    },
}

//! Makes requests, and measures where their time went.
//!
//! ```text
//!   Plan ─▶ Requests ─▶ Client ─▶ Exchange ─┬▶ Results ─▶ figures, floor, spread ─▶ page, JSON
//!                         └▶ packets ─▶ Recording (explainer) ┘
//! ```
//!
//! - [`Client`] makes requests and measures them; it judges nothing.
//! - [`Requests`] makes those of a [`Plan`].
//! - [`Recording`] hands the requests' own packets to the explainer as they come.
//! - [`Results`] holds both; [`report`] prints them.

mod client;
mod metrics;
mod monitor;
mod plan;
mod recording;
pub mod report;
mod requests;
mod results;
mod threshold;

pub use client::Client;
pub use client::body::{Form, Upload};
pub use client::dial::{Attempt, Outcome};
pub use client::exchange::{Exchange, FirstRecord, Handshake, Hop, Times, Tls};
pub use client::failure::{Failure, Phase};
pub use client::options::{Options, Resumption};
pub use client::proxy::Proxies;
pub use client::request::Ask;
pub use client::resolve::{Family, Pinned, Reroute};
pub use client::sampler::Sample;
pub use client::target::Target;
pub use metrics::Metrics;
pub use monitor::{Schedule, monitor};
pub use plan::{MOST_REQUESTS, Plan, Series};
pub use recording::{Capture, NAME, Recording};
pub use report::figures::Figure;
pub use report::page::Detail;
pub use requests::{Request, Requests};
pub use results::{RecordedPackets, Results};
pub use threshold::{Relation, Threshold};

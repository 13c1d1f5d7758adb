//! `estimate`: properties of a connection's path and hosts, from its facts; one file and one
//! definition for each. Thresholds about paths and hosts are here, with their sources.

mod context;
mod full_link;
mod loss_episodes;
mod offered_load;
mod path;
pub(crate) mod product;
mod queue;
mod rate_between_losses;
mod sender;
mod slow_reader;
mod stability;
pub(crate) mod stack;
mod steady_rate;
#[cfg(test)]
pub(crate) mod synthetic_transfer;

pub use context::Context;
pub(crate) use full_link::full_link;
pub(crate) use loss_episodes::{LossEpisode, loss_episodes, mean_size};
pub use offered_load::OfferedLoad;
pub(crate) use offered_load::{MIN_POLICED_LOSSES, offered_load};
pub(crate) use path::{BURST_SEGMENTS, HEADERS, LINE_RATE};
pub use path::{INITIAL_WINDOW, LARGEST_INITIAL_WINDOW, burst_rate, first_lossy_flight, least_rate, rounds_needed};
pub use rate_between_losses::InterLossRate;
pub(crate) use rate_between_losses::{ABOVE_MEDIAN, BELOW_MEDIAN, INFLATED_RTT, inter_loss_rate};
pub(crate) use slow_reader::is_unread;
pub(crate) use stability::{alike_rates, is_growing};
pub use steady_rate::Burst;
pub(crate) use steady_rate::{
    after_burst, after_losses, clumped_rate, first_round, is_paced, is_path_rate, program_rate, queues,
};

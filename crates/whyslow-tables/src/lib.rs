//! What whyslow finds, as tables for other programs: a row for each connection, transfer, finding.
//!
//! A [`Table`] is a list of columns, and each column defines how it is read off a row of the
//! [`Analysis`](whyslow_analysis::Analysis): nothing is computed here. [`Batches`] gives a
//! table as Arrow record batches of bounded size; [`write_all`] writes tables of more connections
//! than an analysis lists.
//!
//! Types are those that all engines take: signed 64-bit integers, 64-bit floats, UTF-8 with 32-bit
//! offsets, booleans, lists of integers, and microseconds UTC next to nanoseconds since the epoch.
//! What is unknown is null. The contract is [`SCHEMA`]: columns are added, never renamed or given
//! another meaning.
#![forbid(unsafe_code)]

mod batch;
mod column;
mod columns;
mod community_id;
mod identity;
mod ipc;
#[cfg(feature = "parquet")]
mod parquet;
mod row;
mod table;
mod tsv;
mod writer;

pub use batch::{Batches, Error, ROWS};
pub use column::{Column, Kind};
pub use table::Table;
pub use writer::{Format, TableWriter, write_all};

/// The version of the contract; each schema's metadata has it as `whyslow.schema`.
pub const SCHEMA: &str = "whyslow-tables/1";

#[cfg(test)]
mod tests;

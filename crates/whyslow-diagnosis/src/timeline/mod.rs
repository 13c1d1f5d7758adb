//! `timeline`: whose each moment was.
//!
//! `limit` cuts a transfer's time into spans of one
//! [`LimitingFactor`](whyslow_analysis::types::LimitingFactor) each.
//! Here every span gets one owner: an exchange's spans name the party that was waited for
//! (`waiting`, `exchange`), and a finding's spans are the moments that its cause cost
//! (`attribution`). A cause's cost is the sum of its spans, no moment belongs to two causes, and
//! the order in which causes get their time is one table (`precedence`).

mod attribution;
mod exchange;
mod precedence;
mod waiting;

pub(crate) use attribution::{Stretch, attribute, end_to_end, give_up, reduce_to};
pub(crate) use exchange::{ExchangeCut, ExchangeParts};
pub(crate) use precedence::{Explainer, excluded_by, is_explained_by};

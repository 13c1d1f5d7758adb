//! `ping`, `mtr` and `traceroute`: round trips and losses of probes.

mod hops;
mod ping;

use crate::report::{Evidence, Subject};
use crate::text::Text;

/// Probes of a path.
pub(crate) struct Path;

impl Evidence for Path {
    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let mut out = ping::subjects(text);
        out.extend(hops::mtr(text));
        out.extend(hops::traceroute(text));
        out
    }
}

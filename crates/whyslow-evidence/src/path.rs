//! `ping`, `mtr` and `traceroute`: round trips and losses of probes.

mod hops;
mod ping;

use crate::evidence::Evidence;
use crate::report::{Limitation, Source, Subject};
use crate::text::Text;
use hops::{MTR, TRACEROUTE};
use ping::PING;

/// Probes of a path.
pub(crate) struct Path;

impl Evidence for Path {
    fn sources(&self) -> &'static [Source] {
        &[PING, MTR, TRACEROUTE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::ProbesOnly]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let mut out = ping::subjects(text);
        out.extend(hops::mtr(text));
        out.extend(hops::traceroute(text));
        out
    }
}

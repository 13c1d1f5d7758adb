//! `ethtool -S`: what a network card and its driver counted, one look or two.

mod judge;
mod parse;

use crate::evidence::Evidence;
use crate::report::{Limitation, Source, Subject};
use crate::text::Text;
use parse::SOURCE;

/// Counters of network cards, whatever their driver calls them.
pub(crate) struct Ethtool;

impl Evidence for Ethtool {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::WhichTraffic]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        judge::subjects(&parse::looks(text))
    }
}

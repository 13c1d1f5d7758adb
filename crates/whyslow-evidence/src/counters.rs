//! `nstat`, `netstat -s`, `/proc/net/netstat` and `snmp`: counts of a host.

mod judge;
mod parse;

use crate::evidence::Evidence;
use crate::report::{Limitation, Source, Subject};
use crate::text::Text;
use parse::SOURCE;

/// Counters of the kernel, one look or two.
pub(crate) struct Counters;

impl Evidence for Counters {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::WhichConnection]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let looks = parse::looks(text);
        judge::subject(&looks).into_iter().collect()
    }
}

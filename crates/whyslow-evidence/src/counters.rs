//! `nstat`, `netstat -s`, `/proc/net/netstat` and `snmp`: counts of a host.

mod judge;
mod parse;

use crate::report::{Evidence, Subject};
use crate::text::Text;

/// Counters of the kernel, one look or two.
pub(crate) struct Counters;

impl Evidence for Counters {
    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let looks = parse::looks(text);
        judge::subject(&looks).into_iter().collect()
    }
}

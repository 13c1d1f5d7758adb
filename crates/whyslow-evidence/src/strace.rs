//! `strace` of socket calls: for whom a process waited.

mod judge;
mod parse;

use crate::evidence::Evidence;
use crate::report::{Limitation, Source, Subject};
use crate::text::Text;
use parse::SOURCE;

/// `strace -ttT`, `-tttT`, `-r`, with or without `-f` and `-y`.
pub(crate) struct Strace;

impl Evidence for Strace {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::CallsOnly]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        judge::subject(&parse::trace(text)).into_iter().collect()
    }
}

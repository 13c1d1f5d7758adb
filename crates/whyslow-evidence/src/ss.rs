//! `ss -ti`: the kernel's account of each connection.

pub(crate) mod judge;
pub(crate) mod parse;

use crate::evidence::Evidence;
use crate::report::{Limitation, Source, Subject};
use crate::text::Text;
use parse::SOURCE;

/// `ss -tin`, `-tinmo`, `-tie`, once or in a loop.
pub(crate) struct Ss;

impl Evidence for Ss {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::OneEnd]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        judge::subjects(&parse::looks(text))
    }
}

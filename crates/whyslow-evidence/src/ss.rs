//! `ss -ti`: the kernel's account of each connection.

mod judge;
mod parse;

use crate::report::{Evidence, Subject};
use crate::text::Text;

/// `ss -tin`, `-tinmo`, `-tie`, once or in a loop.
pub(crate) struct Ss;

impl Evidence for Ss {
    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        judge::subjects(&parse::looks(text))
    }
}

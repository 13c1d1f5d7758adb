//! [`Evidence`]: a kind of output that is read.

use crate::report::{Limitation, Source, Subject};
use crate::text::Text;

/// A kind of output that is read. A new one is a module that implements it, and a line in
/// [`KINDS`](crate::KINDS).
pub(crate) trait Evidence: Sync {
    /// The tools whose output it is.
    fn sources(&self) -> &'static [Source];

    /// What such an output never shows: stated for subjects without a finding, so that "nothing
    /// slow" is not taken for more than it is.
    fn cannot_show(&self) -> &'static [Limitation];

    /// The subjects of a text, recognised by content; empty if it is of another kind.
    fn read(&self, text: &Text<'_>) -> Vec<Subject>;

    /// Completes its subjects with those of other texts: a ping gives iperf3 its round trip.
    fn complete(&self, _subjects: &mut [Subject]) {}
}

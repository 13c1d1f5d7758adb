//! [`Report`]: the conclusions as data. This is the JSON contract `whyslow-evidence/2`.

mod account;
mod calls;
mod device;
mod figure;
mod finding;
mod fix;
pub mod host;
mod limitation;
mod page;
mod phase;
mod slug;
mod source;
mod statement;
mod subject;

pub use account::{Account, Place};
pub use calls::{Call, CallStatement};
pub use device::{Allowance, DeviceStatement};
pub use figure::Figure;
pub use finding::Finding;
pub use fix::{Advice, Fix};
pub use limitation::Limitation;
pub use page::PageStatement;
pub use phase::Phase;
pub use slug::{HostCause, Slug};
pub use source::Source;
pub use statement::Statement;
pub use subject::{Subject, Verdict};

use serde::Serialize;

/// The version of the contract.
pub const SCHEMA: &str = "whyslow-evidence/2";

/// Everything that was concluded.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The texts, in the order in which they were given.
    pub inputs: Vec<Input>,
    /// Subjects, the worst first.
    pub subjects: Vec<Subject>,
    /// Empty: programs that read captures' JSON find no captures here.
    pub captures: [Input; 0],
    /// Empty, likewise.
    pub connections: [Subject; 0],
}

impl Default for Report {
    fn default() -> Self {
        Self { schema: SCHEMA, inputs: Vec::new(), subjects: Vec::new(), captures: [], connections: [] }
    }
}

/// A text.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The kinds of output in it.
    pub sources: Vec<Source>,
}

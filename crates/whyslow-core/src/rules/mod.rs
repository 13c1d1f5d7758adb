//! `rules`: limits and events → findings. One file a rule; its documentation is the file's own doc comment.

/// A cause's documentation, as `help-cause` prints it.
#[derive(Clone, Copy, Debug)]
pub struct CauseDoc {
    /// Public name.
    pub slug: &'static str,
    /// The rule file's doc comment, Markdown, with the `//! ` still in front of every line of the source.
    source: &'static str,
}

impl CauseDoc {
    /// The documentation as Markdown: the first line is the cause in one sentence.
    pub fn markdown(&self) -> String {
        self.source
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .map(|line| line.trim_start_matches("//!").trim_start_matches(' '))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Every cause that there is a rule for, in alphabetical order.
pub fn causes() -> &'static [CauseDoc] {
    &[]
}

//! The documentation of each [`Cause`], which stands at the top of its rule's file.

use std::sync::LazyLock;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::documentation;
use whyslow_analysis::for_each_cause;

macro_rules! sources {
    ($($file:ident $name:ident $slug:literal,)*) => {
        /// The documentation at the beginning of a rule's file, and nothing else of the file.
        const fn source(cause: Cause) -> &'static [u8] {
            match cause {
                $(Cause::$name => {
                    const FILE: &[u8] = include_bytes!(concat!("rules/", stringify!($file), ".rs"));
                    const DOC: [u8; documentation::length(FILE)] = documentation::copied(FILE);
                    &DOC
                })*
            }
        }
    };
}
for_each_cause!(sources);

/// A cause's documentation as Markdown, as `causes` prints it: the first line is the cause in one
/// sentence.
pub fn of(cause: Cause) -> String {
    documentation::markdown(source(cause))
}

/// How to see that a cause's fix worked, as a clause: the section of that name.
pub fn verification(cause: Cause) -> Option<&'static str> {
    static CLAUSES: LazyLock<Vec<Option<String>>> =
        LazyLock::new(|| Cause::ALL.iter().map(|cause| clause(&of(*cause))).collect());
    CLAUSES.get(cause as usize)?.as_deref()
}

/// The section on how to see that the fix worked, as a clause.
fn clause(markdown: &str) -> Option<String> {
    let lines = markdown.lines().skip_while(|line| *line != "## To see that it worked").skip(1);
    let words: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let text = words.join(" ");
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next()?;
    Some(first.to_lowercase().chain(letters).collect())
}

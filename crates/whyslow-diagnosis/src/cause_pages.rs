//! The documentation of each [`Cause`], which stands at the top of its rule's file.

use std::sync::LazyLock;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::for_each_cause;

macro_rules! sources {
    ($($file:ident $name:ident $slug:literal,)*) => {
        /// The documentation at the beginning of a rule's file, and nothing else of the file.
        const fn source(cause: Cause) -> &'static [u8] {
            match cause {
                $(Cause::$name => {
                    const FILE: &[u8] = include_bytes!(concat!("rules/", stringify!($file), ".rs"));
                    const DOC: [u8; documentation_length(FILE)] = documentation(FILE);
                    &DOC
                })*
            }
        }
    };
}
for_each_cause!(sources);

/// The length of the comment that a rule's file begins with, bytes.
pub const fn documentation_length(file: &[u8]) -> usize {
    let mut at = 0;
    while at + 2 < file.len() && file[at] == b'/' && file[at + 1] == b'/' && file[at + 2] == b'!' {
        while at < file.len() && file[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    at
}

/// The comment that a rule's file begins with, copied: a part of the file would keep all of it in
/// the program.
pub const fn documentation<const LENGTH: usize>(file: &[u8]) -> [u8; LENGTH] {
    let mut copy = [0; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        copy[at] = file[at];
        at += 1;
    }
    copy
}

/// Such a comment as Markdown: the first line is the cause in one sentence.
pub fn markdown(documentation: &[u8]) -> String {
    let text = String::from_utf8_lossy(documentation)
        .lines()
        .map(|line| line.trim_start_matches("//!").trim_start_matches(' '))
        .collect::<Vec<_>>()
        .join("\n");
    // The title may be wrapped in the source.
    match text.split_once("\n\n") {
        Some((title, rest)) => format!("{}\n\n{rest}", title.replace('\n', " ")),
        None => text,
    }
}

/// A cause's documentation as Markdown, as `causes` prints it: the first line is the cause in one
/// sentence.
pub fn of(cause: Cause) -> String {
    markdown(source(cause))
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

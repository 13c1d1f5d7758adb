//! The documentation of a cause, taken from the top of its rule's source file when the program is
//! built.

/// The length of the comment that a rule's file begins with, bytes.
pub const fn length(file: &[u8]) -> usize {
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
pub const fn copied<const LENGTH: usize>(file: &[u8]) -> [u8; LENGTH] {
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

//! Errors of an age file.

/// The system gave no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random bytes")]
pub struct NoRandomness;

/// Why an age file cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgeError {
    /// It does not begin as an age file.
    #[error("this is no age file (version 1)")]
    NotAge,
    /// It is in ASCII armor.
    #[error("the file is in ASCII armor: make it without `age --armor`")]
    Armored,
    /// Its header breaks the format.
    #[error("the file's header is damaged")]
    Header,
    /// None of the identities opens it.
    #[error("the file is sealed to none of these identities")]
    NoMatch,
    /// Its header was changed.
    #[error("the file's header was changed: its MAC is wrong")]
    HeaderMac,
    /// A chunk was changed or is missing.
    #[error("chunk {0} of the file was changed, or the file was cut there")]
    Chunk(u64),
}

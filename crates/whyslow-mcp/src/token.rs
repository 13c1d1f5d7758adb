//! [`Token`]: the secret of the HTTP server.

use std::fmt;
use std::io;

/// Random bytes of a token.
const BYTES: usize = 16;
/// Shortest and longest token that is taken from the environment.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=256;

/// A secret; it is printed once, and compared in constant time.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// When the system provides no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(format!("no random numbers: {error}")))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// A token that was chosen elsewhere.
    ///
    /// # Errors
    /// When it is too short to be a secret, or does not fit into a header.
    pub fn given(text: &str) -> Result<Self, &'static str> {
        if !LENGTHS.contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token has 16 to 256 printable ASCII characters and no blank");
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, to be shown to the server's user.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    pub(crate) fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        own.len() == other.len() && own.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// Not the secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn tokens_differ_and_are_compared_as_a_whole() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(a.reveal().len(), 2 * BYTES);
        assert!(a.is(a.reveal()) && !a.is(b.reveal()));
        assert!(!a.is(&a.reveal()[1..]) && !a.is("") && !a.is(&format!("{}0", a.reveal())));
        assert_eq!(format!("{a:?}"), "Token");
    }

    #[test]
    fn short_tokens_are_refused() {
        for text in ["", "secret", "with a blank in it ....", "0123456789abcde\u{e9}"] {
            assert!(Token::given(text).is_err(), "{text}");
        }
        assert!(Token::given("0123456789abcdef").is_ok());
    }
}

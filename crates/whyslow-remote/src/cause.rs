//! The message of a library's error, in the fewest words.

use std::error::Error;

/// Maximum length of an unexpected response in a message, in characters.
const SHOWN: usize = 300;

/// The innermost cause: its wrappers add nothing.
pub(crate) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let last = std::iter::successors(Some(error), |error| (*error).source()).last().unwrap_or(error);
    let text = last.to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Whether TLS ended it, which it does again the next time.
pub(crate) fn is_tls(cause: &str) -> bool {
    ["certificate", "corrupt message", "received fatal alert", "HandshakeFailure"]
        .iter()
        .any(|word| cause.contains(word))
}

/// What to do about it.
pub(crate) fn tls(cause: &str) -> String {
    let help = match cause.contains("certificate") {
        true => "if its authority is one of your own, name the file with it in SSL_CERT_FILE",
        false => "perhaps the server speaks no TLS on this port",
    };
    format!("TLS failed: {cause}; {help}")
}

//! [`Label`]: the value of a label.

use prometheus_client::encoding::{EncodeLabelValue, LabelValueEncoder};
use std::fmt::{self, Write};
use whyslow_report::text::harmless;

/// Maximum characters of a value.
const MOST: usize = 120;

/// The value of a label, from any text. Clients choose host names, and users choose process names;
/// prometheus-client writes values as they are.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub(super) struct Label(String);

impl Label {
    /// Shortens the text and writes out hidden characters.
    pub(super) fn new(text: &str) -> Self {
        let text = harmless(text);
        match text.char_indices().nth(MOST) {
            Some((end, _)) => Self(format!("{}…", text.get(..end).unwrap_or_default())),
            None => Self(text.into_owned()),
        }
    }
}

/// Escapes what the exposition formats escape: backslashes, quotation marks and line feeds.
impl EncodeLabelValue for Label {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => encoder.write_str(r"\\")?,
                '"' => encoder.write_str("\\\"")?,
                '\n' => encoder.write_str(r"\n")?,
                c => encoder.write_char(c)?,
            }
        }
        Ok(())
    }
}

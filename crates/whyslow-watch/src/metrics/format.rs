//! The formats of the answer: OpenMetrics, and Prometheus' own text format for all others.

use std::borrow::Cow;

/// The format that a request accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    OpenMetrics,
    Text,
}

impl Format {
    /// Chooses by the header `Accept`.
    pub(super) fn accepted(accept: Option<&str>) -> Self {
        let is_accepted = accept.is_some_and(|accept| accept.contains("application/openmetrics-text"));
        if is_accepted { Self::OpenMetrics } else { Self::Text }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Converts the encoder's output, which is OpenMetrics.
    pub(super) fn convert(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::OpenMetrics => Cow::Borrowed(text),
            Self::Text => Cow::Owned(plain(text)),
        }
    }
}

/// Prometheus' text format: a counter's family has the name of its samples, which ends in `_total`;
/// units and the end mark are missing.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut help = None;
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(name), Some(text)) => help = Some((name, text)),
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let suffix = if kind == "counter" { "_total" } else { "" };
                if let Some((_, text)) = help.take().filter(|(of, _)| *of == name) {
                    out += &format!("# HELP {name}{suffix} {text}\n");
                }
                out += &format!("# TYPE {name}{suffix} {kind}\n");
            }
            (Some("#"), ..) => {}
            _ => {
                out += line;
                out.push('\n');
            }
        }
    }
    out
}

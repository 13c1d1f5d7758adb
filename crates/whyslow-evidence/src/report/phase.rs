//! [`Phase`]: a part of a request.

use serde::Serialize;

/// A phase of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "they are those of curl")]
pub enum Phase {
    Blocked,
    Dns,
    Connect,
    Tls,
    Redirect,
    Send,
    Wait,
    Download,
}

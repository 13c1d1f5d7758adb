//! [`Reply`]: a tool's result, for assistants as text and for programs as data.

use crate::failure::Failure;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;
use whyslow_report::text::harmless_lines;

/// Text, and the same as data.
#[derive(Debug)]
pub(crate) struct Reply {
    text: String,
    data: Value,
}

impl Reply {
    /// Both must agree: a client shows the assistant one of them.
    ///
    /// # Errors
    /// None that a value with a schema has.
    pub(crate) fn new(text: String, data: &impl Serialize) -> Result<Self, Failure> {
        let data = serde_json::to_value(data).map_err(|_| Failure::fault())?;
        Ok(Self { text, data })
    }
}

impl From<Reply> for CallToolResult {
    fn from(reply: Reply) -> Self {
        let mut result = Self::structured(reply.data);
        result.content = vec![ContentBlock::text(harmless_lines(&reply.text))];
        result
    }
}

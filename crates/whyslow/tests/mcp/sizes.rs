//! How large answers are, and how large they may be.
//!
//! A token is taken for four bytes, which is near what tokenizers of large models make of English
//! and of JSON.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const BYTES_OF_TOKEN: usize = 4;

/// The most tokens of an answer as text, and as data.
const BOUNDS: &[(&str, [usize; 2])] = &[
    ("tools/list", [0, 3_600]),
    ("explain", [900, 1_000]),
    ("finding", [600, 700]),
    ("packets", [400, 600]),
    ("predict", [400, 500]),
    ("compare", [700, 800]),
    ("causes", [1_400, 1_700]),
    ("causes (one)", [900, 1_000]),
];

/// The smallest and the largest answer of each tool, as text and as data, tokens.
#[derive(Debug, Default)]
pub struct Sizes(BTreeMap<&'static str, [Span; 2]>);

#[derive(Clone, Copy, Debug)]
struct Span {
    least: usize,
    most: usize,
}

impl Default for Span {
    fn default() -> Self {
        Self { least: usize::MAX, most: 0 }
    }
}

impl Span {
    fn add(&mut self, bytes: usize) {
        let tokens = bytes.div_ceil(BYTES_OF_TOKEN);
        self.least = self.least.min(tokens);
        self.most = self.most.max(tokens);
    }

    /// Rounded, so that another wording is not another table.
    fn shown(self) -> String {
        let round = |tokens: usize| tokens.div_ceil(100) * 100;
        match (round(self.least.min(self.most)), round(self.most)) {
            (_, 0) => "–".to_owned(),
            (least, most) if least == most => format!("{most}"),
            (least, most) => format!("{least} to {most}"),
        }
    }
}

impl Sizes {
    /// An answer of a tool.
    #[track_caller]
    pub fn add(&mut self, tool: &'static str, result: &Value) {
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let [as_text, as_data] = self.0.entry(tool).or_default();
        as_text.add(text.len());
        as_data.add(result["structuredContent"].to_string().len());
    }

    /// An answer that is data alone.
    pub fn add_value(&mut self, name: &'static str, result: &Value) {
        self.0.entry(name).or_default()[1].add(result.to_string().len());
    }

    /// Checks that none is larger than it may be.
    #[track_caller]
    pub fn check(&self) {
        for (tool, most) in BOUNDS {
            let spans = self.0.get(tool).unwrap_or_else(|| panic!("{tool} was not asked"));
            for (span, most) in spans.iter().zip(most) {
                assert!(span.most <= *most, "{tool}: {} tokens, more than {most}", span.most);
            }
        }
    }

    /// A row for each tool.
    pub fn table(&self) -> String {
        let mut out = "| answer of | tokens as text | tokens as data |\n|---|---:|---:|\n".to_owned();
        for (tool, _) in BOUNDS {
            let [text, data] = self.0[tool];
            let _ = writeln!(out, "| `{tool}` | {} | {} |", text.shown(), data.shown());
        }
        out
    }
}

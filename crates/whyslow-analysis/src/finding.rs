//! [`Finding`]: a cause with its evidence and its remedies, as data. Sentences about it are made by
//! the renderers.

use super::grade::Grade;
use super::measurement::Measurement;
use super::question::Question;
use super::remedy::{Promise, Remedy};
use super::span::{CostSpan, MAX_COST_SPANS};
use super::statement::Statement;
use super::verify::Verify;
use crate::cause::Cause;
use crate::types::Frame;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// Why a transfer was slow: the cause, its cost, the evidence and the remedies.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Finding {
    /// The cause's public name.
    pub cause: Cause,
    /// Time that the cause cost.
    pub cost_s: Nanos,
    /// Its moments, in time order: no two findings of a transfer share one. At most
    /// [`MAX_COST_SPANS`], the longest; empty for a finding over a connection or several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<CostSpan>,
    /// How many spans there were, where not all are listed. Where all are, they add up to `cost_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans_total: Option<u64>,
    /// 0–1.
    pub confidence: f64,
    /// Evidence for the finding besides its rule.
    pub grade: Grade,
    /// How sure its rule is, 0–1: `confidence` follows from this and `grade`.
    #[serde(skip)]
    pub weight: f64,
    /// The finding's statement, with its quantities.
    pub statement: Statement,
    /// Further facts that qualify the statement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Statement>,
    /// Measurements that support it.
    pub evidence: Vec<Measurement>,
    /// Possible fixes, the recommended one first.
    pub remedies: Vec<Remedy>,
    /// How to see that the fix worked. Left out if the finding spans connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// Ids of the connections, when it spans several; of a transfer's part of a bottleneck, those
    /// that share it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<u64>,
    /// It sums up findings of these connections, and its time is theirs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Open questions, and the observation that would answer each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to_confirm: Vec<Question>,
}

impl Finding {
    /// Whether a user waited for the network or the server in this time. The client's own
    /// processing time is reported, and ranks behind all other causes.
    pub fn is_waited_for(&self) -> bool {
        self.cause != Cause::ClientThink
    }

    /// A finding to which evidence and remedies are added.
    pub fn new(cause: Cause, cost_s: Nanos, confidence: f64, statement: impl Into<Statement>) -> Self {
        let confidence = (confidence.clamp(0.0, 1.0) * 100.0).round() / 100.0;
        Self {
            cause,
            cost_s,
            spans: Vec::new(),
            spans_total: None,
            confidence,
            grade: Grade::Inferred,
            weight: confidence,
            statement: statement.into(),
            details: Vec::new(),
            evidence: Vec::new(),
            remedies: Vec::new(),
            verify: None,
            connections: Vec::new(),
            shared: false,
            to_confirm: Vec::new(),
        }
    }

    /// Records when its cost was. Spans that meet become one.
    pub fn place(&mut self, mut spans: Vec<CostSpan>) {
        spans.sort_unstable_by_key(|span| span.start_s);
        spans.dedup_by(|next, last| {
            let meet = next.start_s <= last.end();
            if meet {
                last.seconds = last.seconds.max(next.end() - last.start_s);
            }
            meet
        });
        self.spans_total = None;
        if spans.len() > MAX_COST_SPANS {
            self.spans_total = Some(spans.len() as u64);
            spans.sort_by_key(|span| (std::cmp::Reverse(span.seconds), span.start_s));
            spans.truncate(MAX_COST_SPANS);
            spans.sort_unstable_by_key(|span| span.start_s);
        }
        spans.shrink_to_fit();
        self.spans = spans;
    }

    /// The recommended remedy.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedies.first()
    }

    /// The time after the recommended remedy, seconds: of the transfer, of the connection for a
    /// finding over one, of the connections together for one that spans several. `None` if that
    /// remedy has no promise: another one's would stand next to the wrong fix.
    pub fn predicted(&self) -> Option<Nanos> {
        self.remedies.first().and_then(|remedy| remedy.promise).map(|promise| promise.time_s)
    }

    /// Attaches the time after the recommended remedy, if there is one.
    pub fn promise(&mut self, time: Option<Nanos>) {
        if let Some(first) = self.remedies.first_mut() {
            first.promise = time.map(|time_s| Promise { time_s, range_s: None, assumed: None });
        }
    }

    /// Applies `act` to every frame of its evidence.
    pub fn for_each_frame(&mut self, act: impl Fn(&mut Frame)) {
        self.evidence.iter_mut().flat_map(|one| &mut one.frames).for_each(act);
    }
}

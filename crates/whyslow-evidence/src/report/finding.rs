//! [`Finding`]: a cause with its evidence and its fixes.

use super::figure::Figure;
use super::fix::{Advice, Fix};
use super::host::{Extent, HostCheck};
use super::limitation::Limitation;
use super::slug::Slug;
use super::statement::Statement;
use core::net::IpAddr;
use serde::Serialize;
use whyslow_analysis::{Action, Actor, Remedy, Unit};

/// A cause with its evidence and its fixes.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its public name; `None` if the output shows where the time went, and the vocabulary has no
    /// cause for it.
    pub cause: Option<Slug>,
    /// Seconds that it cost, if they are known.
    pub cost_s: Option<f64>,
    /// Its cost, if seconds alone do not express it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extent: Option<Extent>,
    /// The network namespace, if it is not the program's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The peer that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<IpAddr>,
    /// 0–1.
    pub confidence: f64,
    /// What happened.
    pub statement: Statement,
    /// Figures that show it.
    pub evidence: Vec<Figure>,
    /// The recommended fix first.
    pub remedies: Vec<Fix>,
    /// What shows that a fix worked, if a look at a machine can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<HostCheck>,
    /// Open questions that this output cannot answer.
    pub to_confirm: Vec<Limitation>,
}

impl Finding {
    /// A finding to which evidence and remedies are added.
    pub fn new(cause: impl Into<Slug>, confidence: f64, statement: impl Into<Statement>) -> Self {
        Self { cause: Some(cause.into()), ..Self::unnamed(confidence, statement.into()) }
    }

    pub(crate) fn unnamed(confidence: f64, statement: Statement) -> Self {
        Self {
            cause: None,
            cost_s: None,
            extent: None,
            namespace: None,
            peer: None,
            confidence,
            statement,
            evidence: Vec::new(),
            remedies: Vec::new(),
            verify: None,
            to_confirm: Vec::new(),
        }
    }

    pub(crate) fn costs(self, seconds: f64) -> Self {
        Self { cost_s: Some(seconds), ..self }
    }

    pub(crate) fn shown(mut self, name: &str, value: f64, unit: Unit) -> Self {
        self.evidence.push(Figure::new(name, value, unit));
        self
    }

    pub(crate) fn advised(mut self, actor: Actor, advice: Advice) -> Self {
        self.remedies.push(Fix::Own { actor, action: advice });
        self
    }

    /// The same remedy as for a capture.
    pub(crate) fn remedied(mut self, actor: Actor, action: impl Into<Action>) -> Self {
        self.remedies.push(Fix::OfCaptures(Remedy::new(actor, action)));
        self
    }

    pub(crate) fn open(mut self, gap: Limitation) -> Self {
        self.to_confirm.push(gap);
        self
    }

    /// Likely findings come before possible ones, and then by cost.
    pub(crate) fn weight(&self) -> f64 {
        let likely = if self.confidence >= 0.6 { 1e6 } else { 0.0 };
        likely + self.cost_s.unwrap_or(0.0).min(1e5) + self.confidence
    }
}

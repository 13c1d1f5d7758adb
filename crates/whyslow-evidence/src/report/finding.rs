//! [`Finding`]: a cause with its evidence and its fixes.

use super::figure::Figure;
use super::fix::{Advice, Fix};
use super::gap::Gap;
use super::statement::Statement;
use serde::{Serialize, Serializer};
use whyslow_core::analysis::{Action, Actor, Remedy, Unit};
use whyslow_core::cause::Cause;

/// A cause with its evidence and its fixes.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its public name; `None` if the output shows where the time went, and the vocabulary has no
    /// cause for it.
    pub cause: Option<Slug>,
    /// Seconds that it cost, if they are known.
    pub cost_s: Option<f64>,
    /// 0–1.
    pub confidence: f64,
    /// What happened.
    pub statement: Statement,
    /// Figures that show it.
    pub evidence: Vec<Figure>,
    /// The recommended fix first.
    pub remedies: Vec<Fix>,
    /// What this output leaves open about it.
    pub to_confirm: Vec<Gap>,
}

impl Finding {
    pub(crate) fn new(cause: impl Into<Slug>, confidence: f64, statement: Statement) -> Self {
        Self { cause: Some(cause.into()), ..Self::unnamed(confidence, statement) }
    }

    pub(crate) fn unnamed(confidence: f64, statement: Statement) -> Self {
        Self {
            cause: None,
            cost_s: None,
            confidence,
            statement,
            evidence: Vec::new(),
            remedies: Vec::new(),
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

    pub(crate) fn open(mut self, gap: Gap) -> Self {
        self.to_confirm.push(gap);
        self
    }

    /// Likely findings come before possible ones, and then by cost.
    pub(crate) fn weight(&self) -> f64 {
        let likely = if self.confidence >= 0.6 { 1e6 } else { 0.0 };
        likely + self.cost_s.unwrap_or(0.0).min(1e5) + self.confidence
    }
}

/// Public names of causes: those of captures, and those that only a host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slug {
    /// As in captures.
    Known(Cause),
    /// As in `whyslow host`.
    Host(&'static str),
}

impl Slug {
    /// The public name.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Known(cause) => cause.slug(),
            Self::Host(slug) => slug,
        }
    }
}

impl From<Cause> for Slug {
    fn from(cause: Cause) -> Self {
        Self::Known(cause)
    }
}

impl Serialize for Slug {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}

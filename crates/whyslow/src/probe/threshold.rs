//! [`Threshold`]: what a script holds a request to.

use super::figures::Figure;
use crate::quantity;
use std::fmt;

/// A figure and its limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Threshold {
    pub(super) figure: Figure,
    relation: Relation,
    /// Seconds, or bits per second.
    bound: f64,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Threshold {
    /// Reads `FIGURE>VALUE`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let signs =
            [(">=", Relation::AtLeast), ("<=", Relation::AtMost), (">", Relation::Above), ("<", Relation::Below)];
        let (name, relation, bound) = signs
            .iter()
            .find_map(|(sign, relation)| text.split_once(sign).map(|(name, bound)| (name, *relation, bound)))
            .ok_or_else(|| format!("`{text}` is not FIGURE>VALUE, as `total>1s`"))?;
        let figure = Figure::named(name.trim()).ok_or_else(|| {
            let known = Figure::ALL.iter().map(|figure| figure.name()).collect::<Vec<_>>().join(", ");
            format!("`{}` is none of the figures: {known}", name.trim())
        })?;
        let bound = match figure {
            Figure::Speed => quantity::rate(bound.trim())?,
            _ => quantity::pause(bound.trim())?.as_secs_f64(),
        };
        Ok(Self { figure, relation, bound, text: text.to_owned() })
    }

    /// Whether a figure of this value passes it.
    pub(super) fn is_passed(&self, value: f64) -> bool {
        match self.relation {
            Relation::Above => value > self.bound,
            Relation::AtLeast => value >= self.bound,
            Relation::Below => value < self.bound,
            Relation::AtMost => value <= self.bound,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn thresholds_are_read() {
        let total = Threshold::parse("total > 1s").unwrap();
        assert!(total.is_passed(1.1) && !total.is_passed(1.0));
        assert!(Threshold::parse("first-byte>=200ms").unwrap().is_passed(0.2));
        assert!(Threshold::parse("speed<10mbit").unwrap().is_passed(9e6));
        assert_eq!(Threshold::parse("time_total>1s").unwrap().figure, total.figure);
        for wrong in ["total", "total>1", "sum>1s", "speed>1s"] {
            assert!(Threshold::parse(wrong).is_err(), "{wrong}");
        }
    }
}

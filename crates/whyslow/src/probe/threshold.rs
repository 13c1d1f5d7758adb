//! Reads a [`Threshold`] of `--fail-on`.

use whyslow_cli::quantity;
use whyslow_probe::{Figure, Relation, Threshold};

/// Reads `FIGURE>VALUE`.
///
/// # Errors
/// The error in the text.
pub(super) fn parse(text: &str) -> Result<Threshold, String> {
    let signs = [(">=", Relation::AtLeast), ("<=", Relation::AtMost), (">", Relation::Above), ("<", Relation::Below)];
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
    Ok(Threshold { figure, relation, bound, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn thresholds_are_read() {
        let total = parse("total > 1s").unwrap();
        assert!(total.is_passed(1.1) && !total.is_passed(1.0));
        assert!(parse("first-byte>=200ms").unwrap().is_passed(0.2));
        assert!(parse("speed<10mbit").unwrap().is_passed(9e6));
        assert_eq!(parse("time_total>1s").unwrap().figure, total.figure);
        for wrong in ["total", "total>1", "sum>1s", "speed>1s"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}

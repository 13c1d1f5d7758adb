//! Figures of several values.

/// The median; of an even number of values the larger one of the two in the middle; `None` without
/// values.
pub fn median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

/// As [`median`], of numbers with a fraction.
pub fn median_f64(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_not_below_half_of_the_values() {
        assert_eq!(median::<u64>(Vec::new()), None);
        assert_eq!(median(vec![7]), Some(7));
        assert_eq!(median(vec![9, 1, 5]), Some(5));
        assert_eq!(median(vec![9, 1, 5, 7]), Some(7));
        assert_eq!(median_f64(vec![0.5, -1.0, 0.25]), Some(0.25));
        assert_eq!(median_f64(Vec::new()), None);
    }
}

//! The inputs have the claimed properties.
#![allow(clippy::unwrap_used)]

use super::*;

fn bytes(input: &GrowingInput, factor: f64) -> Vec<u8> {
    let mut out = Vec::new();
    input.write(&mut out, factor).unwrap();
    out
}

#[test]
fn inputs_are_the_same_each_time_and_grow_with_the_factor() {
    let all = inputs();
    assert!(all.len() >= 12);
    for input in &all {
        let (one, four) = (bytes(input, 0.05), bytes(input, 0.2));
        assert_eq!(one, bytes(input, 0.05), "{}", input.name);
        // Some begin with segments of a number that stays.
        assert!(four.len() > one.len() && four.len() < 5 * one.len(), "{}: {} {}", input.name, one.len(), four.len());
    }
}

#[test]
fn all_names_are_different() {
    let mut names: Vec<_> = inputs().iter().map(|input| input.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), inputs().len());
}

#[test]
fn an_exponent_is_that_of_time_over_size() {
    let input = inputs()[0];
    let run = |size: u64, cpu: f64| (size, Measurement { cpu, peak: None });
    let exponent = |runs: &[(u64, Measurement)]| GrowthRow { input, runs: runs.to_vec(), remark: None }.exponent();
    assert_eq!(exponent(&[run(100, 1.0), run(200, 2.0), run(400, 4.0)]), Some(1.0));
    assert_eq!(exponent(&[run(100, 1.0), run(200, 4.0), run(400, 16.0)]), Some(2.0));
    assert_eq!(exponent(&[run(100, 0.0), run(200, 0.0), run(400, 0.0)]), Some(0.0));
    assert_eq!(exponent(&[run(100, 1.0)]), None);
}

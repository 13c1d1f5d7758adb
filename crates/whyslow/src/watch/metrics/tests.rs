use super::*;

#[test]
fn names_behind_the_first_ones_are_counted_together() {
    let mut names = Names::default();
    let labels: Vec<String> = (0..MAX_NAMES + 5).map(|index| names.label(&format!("server {index}"))).collect();
    assert_eq!(labels.iter().filter(|label| *label == OTHER).count(), 5);
    assert_eq!(names.label("server 0"), "server 0");
    assert_eq!(names.label("server 52"), OTHER);
}

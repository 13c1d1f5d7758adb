#![allow(clippy::unwrap_used)]

use super::super::example;
use super::*;

fn tsv_of(analysis: &Analysis) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    tsv(analysis, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn every_transfer_has_a_line() {
    let many = example::many();
    let transfers: usize = many.connections.iter().map(|one| one.transfers.len()).sum();
    assert_eq!(tsv_of(&many).len(), 1 + transfers);
    let page = anstream::adapter::strip_str(&terminal(&many, 200)).to_string();
    assert_eq!(page.lines().count(), 1 + transfers);
    assert!(page.contains("receive-window") && page.contains("certain"), "{page}");
}

#[test]
fn every_row_has_a_cell_for_every_title_and_steers_nothing() {
    for row in tsv_of(&example::everything()) {
        assert_eq!(row.len(), TITLES.len(), "{row:?}");
        assert!(!row.concat().contains(|c: char| c.is_control() || c == '\u{202e}'), "{row:?}");
    }
}

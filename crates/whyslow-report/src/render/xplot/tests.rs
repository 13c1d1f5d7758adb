#![allow(clippy::unwrap_used)]

use super::*;
use crate::render::example::points;

fn drawn() -> [String; 4] {
    let mut files: [Vec<u8>; 4] = Default::default();
    let [a, b, c, d] = &mut files;
    let mut graphs = Xplot::new(End::Server, "a\nb", [a, b, c, d]).unwrap();
    for point in points::lossy() {
        graphs.push(&point).unwrap();
    }
    graphs.finish().unwrap();
    files.map(|file| String::from_utf8(file).unwrap())
}

#[test]
fn time_and_sequence() {
    insta::assert_snapshot!(drawn()[0]);
}

#[test]
fn the_other_graphs() {
    insta::assert_snapshot!(drawn()[1..].join("\n"));
}

#[test]
fn every_line_is_one_that_xplot_knows() {
    const COLORS: [&str; 9] = ["white", "green", "red", "blue", "yellow", "purple", "orange", "magenta", "pink"];
    for file in drawn() {
        let mut lines = file.lines();
        assert_eq!(lines.next(), Some("dtime signed"));
        let mut last = "";
        while let Some(line) = lines.next() {
            let words: Vec<_> = line.split(' ').collect();
            let numbers = match words[0] {
                "title" | "xlabel" | "ylabel" => {
                    lines.next().unwrap();
                    0
                }
                "atext" | "btext" => {
                    lines.next().unwrap();
                    2
                }
                "dot" | "darrow" | "uarrow" | "htick" | "utick" | "dtick" | "diamond" | "box" => 2,
                "line" => 4,
                "go" => 0,
                color => {
                    assert!(COLORS.contains(&color), "{line}");
                    0
                }
            };
            assert!(words.iter().skip(1).take(numbers).all(|word| word.parse::<f64>().is_ok()), "{line}");
            assert!(words.get(numbers + 1).is_none_or(|color| COLORS.contains(color)), "{line}");
            last = line;
        }
        assert_eq!(last, "go");
    }
}

#![allow(clippy::unwrap_used)]

use super::page::wrap;
use super::units::*;
use super::*;

fn micros(value: i64) -> i64 {
    value * 1_000
}

#[test]
fn figures_have_separators_and_units_that_fit() {
    assert_eq!(thousands(0), "0");
    assert_eq!(thousands(999), "999");
    assert_eq!(thousands(1_000), "1,000");
    assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    assert_eq!(count(1, "packet"), "1 packet");
    assert_eq!(count(0, "packet"), "0 packets");
    assert_eq!(rate(24_400_000.0), "24.4 Mbit/s");
    assert_eq!(rate(999_600.0), "1.00 Mbit/s");
    assert_eq!(rate(5e13), "50,000 Gbit/s");
    assert_eq!(share(0.614), "61 %");
    assert_eq!(share(0.034), "3.4 %");
    assert_eq!(share(0.0), "0 %");
    assert_eq!(figure(65_535.0, "B"), "65,535 B");
    assert_eq!(figure(0.1004, "s"), "100 ms");
    assert_eq!(figure(2.5, ""), "2.50");
    assert_eq!(figure(f64::NAN, "B"), "unknown");
    assert_eq!(figure(-1_234_567.8, "B"), "-1,234,568 B");
}

#[test]
fn times_are_printed_in_a_fitting_unit() {
    assert_eq!(seconds(micros(184_000)), "0.184 s");
    assert_eq!(seconds(micros(3_420)), "3.42 ms");
    assert_eq!(seconds(micros(63_210_000)), "63.21 s");
    assert_eq!(seconds(micros(4_512_000_000)), "4,512 s");
    assert_eq!(span(0), "0 ms");
    assert_eq!(span(850), "850 ns");
    assert_eq!(span(micros(340)), "340 µs");
    assert_eq!(span(micros(25_840)), "25.8 ms");
    assert_eq!(span(micros(999_700)), "1.00 s");
    assert_eq!(span(micros(252_000_000)), "4 min 12 s");
    assert_eq!(span(micros(11_100_000_000)), "3 h 05 min");
    assert_eq!(short(micros(25_840)), "26 ms");
    assert_eq!(short(micros(3_420)), "3.4 ms");
    assert_eq!(short(micros(1_580_000)), "1.58 s");
}

#[test]
fn no_figure_panics() {
    for nanos in [i64::MIN, i64::MIN + 1, -1, 1, 999_499, 999_500, i64::MAX] {
        let _ = (span(nanos), seconds(nanos), short(nanos));
    }
    for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE] {
        let _ = (rate(value), share(value), figure(value, "B"), figure(value, "s"), millis(value));
    }
}

#[test]
fn a_line_lets_no_control_character_through() {
    let line = Line::new().plain("a\u{1b}[31mb\u{202e}c\td\u{9b}\n");
    assert_eq!(line.as_str(), "a\\u{1b}[31mb\\u{202e}c d\\u{9b}\\u{a}");
    assert_eq!(line.width(), width(line.as_str()));
}

#[test]
fn what_is_hidden_is_written_out_and_letters_of_any_script_are_not() {
    let controls = ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}');
    let reading_order =
        "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
    let no_width = "\u{200b}\u{200c}\u{200d}\u{2060}\u{2063}\u{feff}\u{ad}\u{34f}\u{180e}\u{115f}\u{3164}\u{ffa0}\u{fe0f}\u{e0100}\u{e007f}";
    let lines = "\u{2028}\u{2029}\u{fff9}\u{fffb}";
    for c in controls.chain(reading_order.chars()).chain(no_width.chars()).chain(lines.chars()) {
        let expected = if c == '\t' { " ".to_owned() } else { c.escape_unicode().to_string() };
        assert_eq!(harmless(&c.to_string()), expected);
        assert_eq!(harmless(&format!("a{c}b")), format!("a{expected}b"));
    }
    for text in [
        "",
        "plain.pcap#3 [::1]:443 \\u{202e}",
        "Grüße",
        "北京 東京",
        "привет",
        "שלום",
        "مرحبا",
        "नमस्ते",
        "สวัสดี",
        "🦀 → µs — “x”",
        "a\u{a0}b\u{3000}c",
        "e\u{301}",
    ] {
        assert!(matches!(harmless(text), std::borrow::Cow::Borrowed(same) if same == text), "{text}");
    }
    assert_eq!(harmless_lines("a\nb\r\nc\u{2028}"), "a\nb\\u{d}\nc\\u{2028}");
}

#[test]
fn wide_characters_take_two_columns() {
    let line = Line::new().plain("北京").pad(6).plain("x");
    assert_eq!(line.as_str(), "北京  x");
}

#[test]
fn text_wraps_between_words_and_long_words_stay_whole() {
    assert_eq!(wrap("one two  three", 7, 7), ["one two", "three"]);
    assert_eq!(wrap("a very-long-command-line b", 6, 6), ["a", "very-long-command-line", "b"]);
    assert_eq!(wrap("one two three", 0, 9), ["", "one two", "three"]);
    assert_eq!(wrap("", 10, 10), [""]);
    assert_eq!(wrap("took 1.21 s.", 10, 10), ["took", "1.21 s."]);
    assert_eq!(wrap("65,535 B / 26 ms = 1 µs", 8, 8), ["65,535 B", "/ 26 ms", "= 1 µs"]);
}

#[test]
fn a_narrow_page_drops_the_last_optional_column_first() {
    let mut table = Table::new(vec![
        Column::figures("n"),
        Column::words("first").optional(),
        Column::words("second").optional(),
        Column::words("empty"),
        Column::words("kept"),
    ]);
    table.row(["1", "aaaaaaaa", "bbbbbbbb", "", "cccc"].map(str::to_owned));
    table.row(["1,000", "a", "b", "", "c"].map(str::to_owned));
    table.remark("… 3 more".to_owned());
    let print = |width| {
        let mut page = Page::new(width);
        table.print(&mut page, 2);
        anstream::adapter::strip_str(&page.finish()).to_string()
    };
    assert_eq!(
        print(40),
        "      n  first     second    kept\n      1  aaaaaaaa  bbbbbbbb  cccc\n  1,000  a         b         c\n  … 3 more\n"
    );
    assert_eq!(print(24), "      n  first     kept\n      1  aaaaaaaa  cccc\n  1,000  a         c\n  … 3 more\n");
}

#[test]
fn a_page_keeps_its_styles_and_nothing_else_that_steers_a_terminal() {
    for plain in ["a\n b\u{1b}[1;31mc\u{1b}[0m\n", "", "ä😀"] {
        assert_eq!(harmless_page(plain), plain);
    }
    for (hostile, shown) in [
        ("\u{1b}[1mA\u{1b}[2J\u{9b}31m\u{202e}\u{1b}[0m", "\u{1b}[1mA\\u{1b}[2J\\u{9b}31m\\u{202e}\u{1b}[0m"),
        ("a\u{1b}]0;title\u{7}", "a\\u{1b}]0;title\\u{7}"),
        ("a\u{1b}", "a\\u{1b}"),
        ("\u{1b}[31;1\u{1b}[m", "\\u{1b}[31;1\u{1b}[m"),
        ("a\rb", "a\\u{d}b"),
    ] {
        assert_eq!(harmless_page(hostile), shown);
    }
}

#[test]
fn json_is_laid_out_as_serde_json_does() {
    use serde_json::json;
    // Deeper than any listing, and with nothing in it.
    let deep = (0..50).fold(json!([{}, [], null]), |inner, n| json!([n, { "a": inner, "b": [{}] }]));
    let mut out = Vec::new();
    json::object(&deep, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string_pretty(&deep).unwrap() + "\n");
}

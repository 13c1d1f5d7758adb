//! The formats, with names that others chose.
#![allow(clippy::unwrap_used)]

use super::*;

fn case(name: &str, failures: &[(&str, &str)]) -> Case {
    Case {
        capture: "a,b:c.pcap".to_owned(),
        name: name.to_owned(),
        waited_s: 1.5,
        cause: Some(("loss", 0.7)),
        failures: failures.iter().map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned())).collect(),
    }
}

fn empty() -> Analysis {
    whyslow_diagnosis::explain::Explainer::new().finish()
}

#[test]
fn junit_is_well_formed_whatever_names_hold() {
    let cases = [case("#1.1 download from <x>&\"\u{1}", &[("loss", "5 % & more\u{1b}[31m <b>")]), case("#1.2 ok", &[])];
    let mut out = Vec::new();
    junit(&cases, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                names.push(tag.name().as_ref().to_string());
            }
            _ => {}
        }
    }
    assert_eq!(names, ["testsuites", "testsuite", "testcase", "failure", "testcase"]);
    assert!(text.contains("tests=\"2\" failures=\"1\" time=\"3.000\"") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn annotations_are_one_line_each_and_cannot_be_commands() {
    let text = github(&empty(), &[case("#1.1 x\n::set-env name=a::b", &[("loss", "50 %\r\nmore")])]);
    assert_eq!(
        text,
        "::error file=a%2Cb%3Ac.pcap,title=whyslow%3A loss::#1.1 x%0A::set-env name=a::b: 50 %25\u{fffd}%0Amore\n"
    );
    assert!(github(&empty(), &[]).starts_with("::notice title=whyslow::"));
}

#[test]
fn markdown_of_foreign_names_is_text() {
    let text = markdown(&empty(), &[case("#1.1 <img src=x>|[a](b)", &[])], Some("<b>1</b>\n"));
    assert!(text.contains("#1.1 &lt;img src=x&gt;\\|\\[a\\](b)") && text.contains("<pre>&lt;b&gt;1"), "{text}");
}

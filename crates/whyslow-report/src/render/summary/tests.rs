use super::*;
use crate::render::example;

#[test]
fn a_slow_transfer() {
    let analysis = example::slow_start();
    insta::assert_snapshot!(markdown(analysis.captures.first(), &analysis.connections[0]));
}

#[test]
fn text_from_a_capture_is_escaped() {
    let mut analysis = example::slow_start();
    let connection = &mut analysis.connections[0];
    connection.server.name = Some("[x](http://evil) @all <b>|*".to_owned());
    connection.transfers[0].label = Some("HTTP GET /`rm`\n# head \u{202e}".to_owned());
    connection.problems.push(example::problem("short-snaplen", 1, "a\u{202e}b &#8238; &lt;"));
    let text = markdown(None, &analysis.connections[0]);
    assert!(text.contains(r"\[\[x\](http://evil) &#64;all \<b\>\|\*\]:443"), "{text}");
    assert!(text.contains(r"`HTTP GET /'rm'\u{a}# head \u{202e}`"), "{text}");
    // A backslash for the reader, and no character by its number.
    assert!(text.contains(r"a\\u{202e}b &amp;\#8238; &amp;lt;"), "{text}");
}

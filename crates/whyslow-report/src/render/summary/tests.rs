use super::*;
use crate::render::example;

#[test]
fn a_slow_transfer() {
    let analysis = example::slow_start();
    insta::assert_snapshot!(markdown(analysis.captures.first(), &analysis.connections[0]));
}

#[test]
fn text_from_a_capture_is_no_markup() {
    let mut analysis = example::slow_start();
    let connection = &mut analysis.connections[0];
    connection.server.name = Some("[x](http://evil) @all <b>|*".to_owned());
    connection.transfers[0].label = Some("HTTP GET /`rm`\n# head".to_owned());
    let text = markdown(None, &analysis.connections[0]);
    assert!(text.contains(r"\[x\](http://evil) &#64;all \<b\>\|\*:443"), "{text}");
    assert!(text.contains("`HTTP GET /'rm''# head`"), "{text}");
}

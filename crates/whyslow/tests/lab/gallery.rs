//! The gallery: a page with a row of graphs for each condition.

use super::{User, alone, text};
use whyslow_testing::{Lack, skip};

#[test]
fn a_gallery_is_one_page_with_a_row_of_graphs_for_each_condition() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    let only = ["--only", "none", "--only", "receive-rtt", "--only", "send-reorder"];
    let set = ["--set", "work.download.write.chunk=64KiB"];
    let output = user.lab(&[&["gallery", "--seconds", "1", "--attempts", "20"], &only[..], &set[..]].concat());
    let complaint = text(&output.stderr);
    if complaint.contains("no result") && complaint.contains(" late ") {
        skip(Lack::Quiet, format!("as {}: this machine is too busy: {complaint}", user.name));
        return;
    }
    assert!(output.status.success(), "{complaint}");
    assert_eq!(text(&output.stdout), "gallery.html\n");
    let page = std::fs::read_to_string(user.path("gallery.html")).unwrap();
    for row in ["none", "receive-rtt", "send-reorder"] {
        assert!(page.contains(&format!("<tr id=\"{row}\">")), "{row}");
    }
    assert_eq!(page.matches("<svg ").count(), 3 * 4);
    assert!(page.contains("<code>path.<wbr>rtt 100ms</code>"), "the row says what its condition is");
    for outside in ["http://", "https://", "<script", "<link", "src="] {
        assert!(!page.contains(outside), "it loads {outside}");
    }
    // A run with a time limit ended then, and counts the bytes received up to then.
    let result = user.path("lab-results/gallery-buffers/receive-rtt-1/result.json");
    let result: serde_json::Value = serde_json::from_slice(&std::fs::read(result).unwrap()).unwrap();
    let figure = |name: &str| result["figures"][name].as_f64().unwrap();
    assert!((1.0..3.0).contains(&figure("total")), "{result}");
    assert!(figure("goodput") > 0.0);
}

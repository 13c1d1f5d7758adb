//! The page as a file, and the report: the page with its data.

use crate::Document;
use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::read::GzDecoder;
use std::fmt;
use std::io::Read;
use std::sync::LazyLock;

/// The place in the page for its data.
const SLOT: &str = r#"<script type="text/plain" id="data"></script>"#;

/// The program was built without the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPage;

impl fmt::Display for NoPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this program was built without the page: in the source's folder run `make web` (Node 18 or later is needed), \
             then build again",
        )
    }
}

impl std::error::Error for NoPage {}

/// The page: one HTML file that loads nothing.
///
/// # Errors
/// When the program was built without it.
pub fn page() -> Result<&'static str, NoPage> {
    static PAGE: LazyLock<String> = LazyLock::new(|| {
        let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.html.gz"));
        let mut page = String::new();
        GzDecoder::new(packed).read_to_string(&mut page).expect("it was packed when this was built");
        page
    });
    if PAGE.is_empty() { Err(NoPage) } else { Ok(&PAGE) }
}

/// The page with this document in it: a file that needs no server and no network.
///
/// # Errors
/// When the program was built without the page.
pub fn report(document: &Document) -> Result<String, NoPage> {
    Ok(fill(page()?, document))
}

/// Compressed and in base64, so that nothing in a capture can be read as markup.
pub(crate) fn fill(page: &str, document: &Document) -> String {
    let data = BASE64_STANDARD.encode(document.bytes());
    page.replacen(SLOT, &format!(r#"<script type="text/plain" id="data">{data}</script>"#), 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Opening;

    #[test]
    fn a_report_holds_its_document_and_no_markup_of_a_capture() {
        let mut reading = whyslow_page::testing::reading(&[&["healthy-server"]]);
        reading.analysis.captures[0].path = "</script><script>alert(1)</script>".into();
        let document = Document::served(reading, &Opening::default());
        let page = format!("<html>{SLOT}</html>");
        let report = fill(&page, &document);
        assert_eq!(report.matches("<script").count(), 1);
        let data = report.split_once(r#"id="data">"#).unwrap().1.split_once('<').unwrap().0;
        assert_eq!(BASE64_STANDARD.decode(data).unwrap(), *document.bytes());
    }

    #[test]
    fn the_page_has_one_place_for_the_data_and_loads_nothing() {
        let Ok(page) = page() else { return };
        assert_eq!(page.matches(SLOT).count(), 1);
        for loads in ["src=\"http", "href=\"http", "src=\"/", "href=\"/", "@import", "modulepreload"] {
            assert!(!page.contains(loads), "the page has {loads}");
        }
    }
}

#![allow(clippy::unwrap_used)]

use super::*;

fn page(entries: &str) -> Bytes {
    Bytes::from(format!("<?xml version=\"1.0\"?>\n<ListBucketResult><Name>b</Name>{entries}</ListBucketResult>"))
}

#[test]
fn keys_that_cannot_be_read_are_removed_from_a_list() {
    let good = "<Contents><Key>a/b&amp;c.pcap</Key><Size>1</Size></Contents><CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes>";
    assert_eq!(readable(page(good)), page(good));
    let azure = "<Blobs><Blob><Name>a.pcap</Name></Blob><BlobPrefix><Name>d/</Name></BlobPrefix></Blobs>";
    assert_eq!(readable(page(azure)), page(azure));
    for bad in ["a/../b", "../b", "a//b", "a/&#46;./b", "a/&nothing;"] {
        for (entry, key) in ENTRIES {
            let hostile = format!("\n <{entry}><Size>1</Size><{key}>{bad}</{key}></{entry}>");
            let left = readable(page(&format!("{hostile}{good}{hostile}{hostile}")));
            assert_eq!(left, page(&format!("\n {good}\n \n ")), "{entry} {bad}");
        }
    }
    // Not a list, or a broken one: for the crate to judge.
    for odd in [
        "",
        "{\"a\": 1}",
        "<Contents>",
        "<Contents></Contents>",
        "<Contents><Key>a",
        "<ContentsX><Key>..</Key></ContentsX>",
    ] {
        assert_eq!(readable(page(odd)), page(odd), "{odd}");
    }
}

#[tokio::test]
async fn a_body_without_end_is_cut_off() {
    let piece = Bytes::from(vec![b'x'; 1 << 20]);
    let endless = futures_util::stream::repeat_with(move || Ok::<_, HttpError>(http_body::Frame::data(piece.clone())));
    let error =
        collect(HttpResponseBody::new(http_body_util::StreamBody::new(endless)), MOST_OF_LIST).await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::Unknown);
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert!(why.contains("more than 32 MiB"), "{why}");
    let whole = collect(HttpResponseBody::from("abc".to_owned()), 3).await.unwrap();
    assert_eq!(whole, "abc");
}

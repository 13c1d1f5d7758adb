#![allow(clippy::unwrap_used)]

use super::*;

fn read(url: &str) -> Result<Location, String> {
    Location::read(url).map_err(|error| error.to_string())
}

#[test]
fn a_key_stands_as_it_is_typed() {
    let location = read("s3://traces/a b/c%20d#e?.pcap").unwrap();
    let key = "a b/c%20d#e?.pcap".to_owned();
    assert_eq!(location, Location::Key { service: Service::S3, bucket: "traces".to_owned(), key });
    assert!(matches!(read("GS://b/k"), Ok(Location::Key { service: Service::Google, .. })));
    assert!(matches!(read("az://b/k"), Ok(Location::Key { service: Service::Azure, .. })));
    assert!(matches!(read("https://host/a?b=*"), Ok(Location::Web(_))));
}

#[test]
fn an_invalid_object_url_is_reported() {
    for (url, why) in [
        ("ftp://a/b", "unknown scheme `ftp`"),
        ("s3://", "names no bucket"),
        ("s3://a*/b", "names no bucket"),
        ("s3://a", "as in s3://a/*.pcap"),
        ("gs://a/b/", "as in gs://a/b/*.pcap"),
        ("http://", "is no URL"),
        ("http://a/*.pcap", "one by one"),
    ] {
        let error = read(url).unwrap_err();
        assert!(error.starts_with(&format!("{url}: ")) && error.contains(why), "{error}");
    }
}

#[test]
fn secrets_are_not_part_of_a_name() {
    let remote = Remote::new().unwrap();
    let name = |url: &str| remote.inputs(url).unwrap().remove(0).name();
    assert_eq!(name("https://user:hush@host/a.pcap?sig=hush#hush"), "https://host/a.pcap?…");
    assert_eq!(name("http://host/a.pcap"), "http://host/a.pcap");
    // They still distinguish states.
    assert_ne!(remote.inputs("http://host/a?id=1").unwrap(), remote.inputs("http://host/a?id=2").unwrap());
}

//! The examples of AWS' documentation ("Signature calculations: transferring payload in multiple
//! chunks"), cut anywhere; and wrong ones.
#![allow(clippy::unwrap_used)]

use super::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const DATE: &str = "20130524T000000Z";
const SCOPE: &str = "20130524/us-east-1/s3/aws4_request";
const SEED: &str = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
const SIGNATURES: [&str; 3] = [
    "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
    "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
    "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
];
const SEED_TRAILER: &str = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
const SIGNATURES_TRAILER: [&str; 3] = [
    "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
    "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
    "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
];
const EXAMPLE_TRAILERS: &str = "x-amz-checksum-crc32c:sOO8/Q==\r\n\
    x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n";

fn example(signatures: [&str; 3], trailers: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for (size, signature) in [0x10000, 0x400, 0].into_iter().zip(signatures) {
        body.extend_from_slice(format!("{size:x};chunk-signature={signature}\r\n").as_bytes());
        body.extend(std::iter::repeat_n(b'a', size));
        body.extend_from_slice(if size > 0 { b"\r\n" } else { b"" });
    }
    body.extend_from_slice(trailers.as_bytes());
    body.extend_from_slice(b"\r\n");
    body
}

fn decode(mut decoder: Decoder, body: &[u8], piece: usize) -> Result<(Vec<u8>, HeaderMap), S3Error> {
    let mut all = Vec::new();
    for piece in body.chunks(piece) {
        decoder.push(Bytes::copy_from_slice(piece));
        while let Some(bytes) = decoder.next()? {
            all.extend_from_slice(&bytes);
        }
    }
    Ok((all, decoder.finish()?))
}

fn signed(seed: &str, has_trailers: bool) -> Decoder {
    Decoder::new(Some(ChunkSigner::new(SECRET, DATE, SCOPE, seed)), has_trailers)
}

fn unsigned(body: &[u8]) -> Result<(Vec<u8>, HeaderMap), S3Error> {
    decode(Decoder::new(None, true), body, 3)
}

#[test]
fn the_documented_examples_are_decoded_wherever_they_are_cut() {
    for piece in [1, 7, 1000, 100_000] {
        let (bytes, _) = decode(signed(SEED, false), &example(SIGNATURES, ""), piece).unwrap();
        assert!(bytes.len() == 66_560 && bytes.iter().all(|&byte| byte == b'a'));
        let body = example(SIGNATURES_TRAILER, EXAMPLE_TRAILERS);
        let (bytes, trailers) = decode(signed(SEED_TRAILER, true), &body, piece).unwrap();
        assert_eq!(bytes.len(), 66_560);
        assert_eq!(trailers.get("x-amz-checksum-crc32c").unwrap(), "sOO8/Q==");
    }
}

#[test]
fn a_changed_byte_fails_wherever_it_is() {
    let body = example(SIGNATURES_TRAILER, EXAMPLE_TRAILERS);
    let length = body.len();
    // Sizes, signatures, bytes, trailers; not what only separates them.
    for at in [0, 20, 70, 100, 5_000, 65_700, 66_600, length - 260, length - 120, length - 60, length - 10] {
        let mut changed = body.clone();
        changed[at] ^= 1;
        assert!(decode(signed(SEED_TRAILER, true), &changed, 4_096).is_err(), "at {at} of {length}");
    }
    let error = decode(signed(SEED, true), &body, 4_096).unwrap_err();
    assert_eq!(error.code(), &S3ErrorCode::SignatureDoesNotMatch);
}

#[test]
fn a_body_that_is_cut_is_incomplete() {
    let body = example(SIGNATURES, "");
    for length in [0, 50, 1_000, 66_000, body.len() - 88] {
        let error = decode(signed(SEED, false), &body[..length], 999).unwrap_err();
        assert_eq!(error.code(), &S3ErrorCode::IncompleteBody, "{length}");
    }
}

#[test]
fn chunks_without_signatures() {
    let (bytes, trailers) = unsigned(b"3\r\nabc\r\n2\r\nde\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n").unwrap();
    assert_eq!((bytes.as_slice(), trailers.len()), (b"abcde".as_slice(), 1));
    assert_eq!(unsigned(b"0\r\n\r\n").unwrap().0, b"");
    assert_eq!(unsigned(b"1\r\na\r\n0\r\nx-amz-checksum-crc32:AAAAAA==").unwrap().1.len(), 1);
}

#[test]
fn what_is_no_chunk_is_refused_and_takes_no_memory() {
    let wrong: [&[u8]; 8] = [
        b"g\r\na\r\n",
        b"\r\n",
        b"-1\r\n",
        b"10000000000000000\r\n",
        b"1\r\nab\r\n",
        b"0\r\n\r\nmore",
        b"0\r\nno trailer\r\n\r\n",
        b"0\r\na:1\r\na:2\r\n\r\n",
    ];
    for body in wrong {
        assert!(unsigned(body).is_err(), "{}", String::from_utf8_lossy(body));
    }
    assert!(unsigned(&[b'1'; LINE + 1]).is_err());
    let long = [b"0\r\n".as_slice(), &[b'a'; TRAILERS + 1]].concat();
    assert!(unsigned(&long).is_err());
    let many: String = (0..20).map(|n| format!("a{n}:1\r\n")).collect();
    assert!(unsigned(format!("0\r\n{many}\r\n").as_bytes()).is_err());
}

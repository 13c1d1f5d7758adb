//! [`Verifier`]: compares the checksums that a client sends with its bytes.

use crate::format;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use s3s::crypto::{Checksum, Crc32, Crc32c, Crc64Nvme, Md5, Sha1, Sha256};
use s3s::{S3Error, S3ErrorCode, S3Result};
use subtle::ConstantTimeEq;

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Md5,
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
    /// SHA-256 in hexadecimal, which the signature covers.
    Content,
}

/// The algorithms with a field of their own, `x-amz-checksum-…`.
const NAMED: [(Algorithm, &str); 5] = [
    (Algorithm::Crc32, "x-amz-checksum-crc32"),
    (Algorithm::Crc32c, "x-amz-checksum-crc32c"),
    (Algorithm::Crc64Nvme, "x-amz-checksum-crc64nvme"),
    (Algorithm::Sha1, "x-amz-checksum-sha1"),
    (Algorithm::Sha256, "x-amz-checksum-sha256"),
];

enum Hasher {
    Md5(Md5),
    Crc32(Crc32),
    Crc32c(Crc32c),
    Crc64Nvme(Crc64Nvme),
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Hasher {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(hasher) => hasher.update(bytes),
            Self::Crc32(hasher) => hasher.update(bytes),
            Self::Crc32c(hasher) => hasher.update(bytes),
            Self::Crc64Nvme(hasher) => hasher.update(bytes),
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Md5(hasher) => hasher.finalize().to_vec(),
            Self::Crc32(hasher) => hasher.finalize().to_vec(),
            Self::Crc32c(hasher) => hasher.finalize().to_vec(),
            Self::Crc64Nvme(hasher) => hasher.finalize().to_vec(),
            Self::Sha1(hasher) => hasher.finalize().to_vec(),
            Self::Sha256(hasher) => hasher.finalize().to_vec(),
        }
    }
}

impl Algorithm {
    fn hasher(self) -> Hasher {
        match self {
            Self::Md5 => Hasher::Md5(Md5::new()),
            Self::Crc32 => Hasher::Crc32(Crc32::new()),
            Self::Crc32c => Hasher::Crc32c(Crc32c::new()),
            Self::Crc64Nvme => Hasher::Crc64Nvme(Crc64Nvme::new()),
            Self::Sha1 => Hasher::Sha1(Sha1::new()),
            Self::Sha256 | Self::Content => Hasher::Sha256(Sha256::new()),
        }
    }

    fn length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64Nvme => 8,
            Self::Sha1 => 20,
            Self::Sha256 | Self::Content => 32,
        }
    }

    fn of_field(name: &str) -> Option<Self> {
        NAMED.iter().find(|(_, field)| field.eq_ignore_ascii_case(name)).map(|&(algorithm, _)| algorithm)
    }

    /// The algorithm that objects are stored with; `None` for checksums of the request.
    fn stored(self) -> Option<format::Algorithm> {
        Some(match self {
            Self::Crc32 => format::Algorithm::Crc32,
            Self::Crc32c => format::Algorithm::Crc32c,
            Self::Crc64Nvme => format::Algorithm::Crc64Nvme,
            Self::Sha1 => format::Algorithm::Sha1,
            Self::Sha256 => format::Algorithm::Sha256,
            Self::Md5 | Self::Content => return None,
        })
    }

    fn field(self) -> &'static str {
        NAMED.iter().find(|&&(algorithm, _)| algorithm == self).map_or("Content-MD5", |&(_, field)| field)
    }

    fn decode(self, value: &[u8]) -> Option<Vec<u8>> {
        let sum = if self == Self::Content { from_hex(value)? } else { STANDARD.decode(value).ok()? };
        (sum.len() == self.length()).then_some(sum)
    }

    fn mismatch(self) -> S3Error {
        match self {
            Self::Content => S3Error::with_message(
                S3ErrorCode::Custom("XAmzContentSHA256Mismatch".into()),
                "the bytes that came have not the SHA-256 of x-amz-content-sha256",
            )
            .with_status(http::StatusCode::BAD_REQUEST),
            _ => S3Error::with_message(
                S3ErrorCode::BadDigest,
                format!("the bytes that came have not the checksum of {}", self.field()),
            ),
        }
    }
}

trait WithStatus {
    fn with_status(self, status: http::StatusCode) -> Self;
}

impl WithStatus for S3Error {
    fn with_status(mut self, status: http::StatusCode) -> Self {
        self.set_status_code(status);
        self
    }
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect()).flatten()
}

struct Check {
    algorithm: Algorithm,
    hasher: Hasher,
    /// `None` if it follows the bytes.
    expected: Option<Vec<u8>>,
}

/// Verified checksums, as in their fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksums(Vec<(Algorithm, String)>);

impl Checksums {
    pub(super) fn of(&self, algorithm: Algorithm) -> Option<String> {
        self.0.iter().find(|(one, _)| *one == algorithm).map(|(_, sum)| sum.clone())
    }

    /// The checksums to store with the object.
    pub(super) fn to_store(&self) -> format::Checksums {
        let mut sums = format::Checksums::default();
        for (algorithm, text) in &self.0 {
            if let (Some(algorithm), Ok(sum)) = (algorithm.stored(), STANDARD.decode(text)) {
                sums.add(algorithm, &sum);
            }
        }
        sums
    }
}

/// Takes a body's bytes, and then compares them with the client's checksums.
#[derive(Default)]
pub(super) struct Verifier(Vec<Check>);

impl Verifier {
    /// Verifies all checksums in a request's header, and those that it announces.
    pub(super) fn of(headers: &HeaderMap) -> S3Result<Self> {
        let mut this = Self::of_document(headers)?;
        for (algorithm, name) in NAMED {
            if let Some(value) = headers.get(name) {
                let invalid = || invalid(format!("the value of {name} is no checksum of this kind"));
                this.expect(algorithm, value.as_bytes()).ok_or_else(invalid)?;
            }
        }
        for name in headers.get_all("x-amz-trailer").iter().filter_map(|value| value.to_str().ok()) {
            for name in name.split(',').map(str::trim) {
                let unknown = || invalid(format!("x-amz-trailer announces {name:?}, which is no checksum"));
                let algorithm = Algorithm::of_field(name).ok_or_else(unknown)?;
                this.0.push(Check { algorithm, hasher: algorithm.hasher(), expected: None });
            }
        }
        Ok(this)
    }

    /// The same for a request whose `x-amz-checksum-` fields do not belong to its body.
    pub(super) fn of_document(headers: &HeaderMap) -> S3Result<Self> {
        let mut this = Self(Vec::new());
        if let Some(value) = headers.get("content-md5") {
            let invalid = || S3Error::with_message(S3ErrorCode::InvalidDigest, "Content-MD5 is not an MD5 in base64");
            this.expect(Algorithm::Md5, value.as_bytes()).ok_or_else(invalid)?;
        }
        if let Some(value) = headers.get("x-amz-content-sha256") {
            // Other values describe how the bytes are signed (`UNSIGNED-PAYLOAD` and others).
            this.expect(Algorithm::Content, value.as_bytes());
        }
        Ok(this)
    }

    /// Computes a CRC-64 if the client sent no checksum, as S3 does.
    pub(super) fn or_default(mut self) -> Self {
        if !self.0.iter().any(|check| NAMED.iter().any(|(algorithm, _)| *algorithm == check.algorithm)) {
            let algorithm = Algorithm::Crc64Nvme;
            // There is nothing to compare with, so the expected value is the computed one.
            self.0.push(Check { algorithm, hasher: algorithm.hasher(), expected: Some(Vec::new()) });
        }
        self
    }

    /// The checksums that the object will have, if all of them are known before its bytes.
    pub(super) fn stated(&self) -> Option<format::Checksums> {
        let mut sums = format::Checksums::default();
        for check in &self.0 {
            if let Some(algorithm) = check.algorithm.stored() {
                sums.add(algorithm, check.expected.as_ref().filter(|sum| !sum.is_empty())?);
            }
        }
        (!sums.is_empty()).then_some(sums)
    }

    fn expect(&mut self, algorithm: Algorithm, value: &[u8]) -> Option<()> {
        let expected = Some(algorithm.decode(value)?);
        self.0.push(Check { algorithm, hasher: algorithm.hasher(), expected });
        Some(())
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        for check in &mut self.0 {
            check.hasher.update(bytes);
        }
    }

    /// Compares, with the trailers of the body.
    pub(super) fn finish(self, trailers: &HeaderMap) -> S3Result<Checksums> {
        let mut sums = Vec::new();
        for Check { algorithm, hasher, expected } in self.0 {
            let expected = match expected {
                Some(expected) => expected,
                None => {
                    let value = trailers.get(algorithm.field());
                    let missing = || malformed(format!("{} is announced and did not come", algorithm.field()));
                    let value = value.ok_or_else(missing)?;
                    let wrong = || malformed(format!("the value of {} is no checksum", algorithm.field()));
                    algorithm.decode(value.as_bytes()).ok_or_else(wrong)?
                }
            };
            let sum = hasher.finish();
            if !expected.is_empty() && !bool::from(sum.ct_eq(&expected)) {
                return Err(algorithm.mismatch());
            }
            sums.push((algorithm, STANDARD.encode(sum)));
        }
        Ok(Checksums(sums))
    }
}

fn invalid(message: String) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidRequest, message)
}

fn malformed(message: String) -> S3Error {
    S3Error::with_message(S3ErrorCode::Custom("MalformedTrailerError".into()), message)
        .with_status(http::StatusCode::BAD_REQUEST)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use http::{HeaderName, HeaderValue};

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let field = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        fields.iter().map(field).collect()
    }

    fn verify(
        fields: &[(&'static str, &'static str)],
        trailers: &[(&'static str, &'static str)],
    ) -> S3Result<Checksums> {
        let mut verifier = Verifier::of(&headers(fields))?;
        verifier.update(b"hel");
        verifier.update(b"lo");
        verifier.finish(&headers(trailers))
    }

    /// Checksums of `hello` by other programs: md5sum, sha1sum, sha256sum, crc32 of Python's zlib,
    /// awscrt.
    const RIGHT: [(&str, &str); 7] = [
        ("content-md5", "XUFAKrxLKna5cZ2REBfFkg=="),
        ("x-amz-checksum-crc32", "NhCmhg=="),
        ("x-amz-checksum-crc32c", "mnG7TA=="),
        ("x-amz-checksum-crc64nvme", "M3eFcAZSQlc="),
        ("x-amz-checksum-sha1", "qvTGHdzF6KLavt4PO0gs2a6pQ00="),
        ("x-amz-checksum-sha256", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="),
        ("x-amz-content-sha256", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
    ];

    #[test]
    fn right_checksums_pass_and_wrong_ones_do_not() {
        assert_eq!(verify(&RIGHT, &[]).unwrap().0.len(), 7);
        for (name, value) in RIGHT {
            let first = if value.starts_with('A') { "B" } else { "A" };
            let wrong: &'static str = format!("{first}{}", &value[1..]).leak();
            let error = verify(&[(name, wrong)], &[]).unwrap_err();
            let code = if name == "x-amz-content-sha256" { "XAmzContentSHA256Mismatch" } else { "BadDigest" };
            assert_eq!((error.code().as_str(), error.status_code().unwrap().as_u16()), (code, 400), "{name}");
        }
    }

    #[test]
    fn announced_ones_must_come() {
        for (name, value) in RIGHT.into_iter().skip(1).take(5) {
            assert!(verify(&[("x-amz-trailer", name)], &[(name, value)]).is_ok(), "{name}");
            let error = verify(&[("x-amz-trailer", name)], &[]).unwrap_err();
            assert_eq!(error.code().as_str(), "MalformedTrailerError");
            assert!(verify(&[("x-amz-trailer", name)], &[(name, "AAAA")]).is_err());
        }
        assert!(verify(&[("x-amz-trailer", "x-amz-meta-a")], &[]).is_err());
    }

    #[test]
    fn what_is_no_checksum_is_refused_at_once() {
        assert_eq!(verify(&[("content-md5", "aGVsbG8=")], &[]).unwrap_err().code().as_str(), "InvalidDigest");
        for value in ["", "NhCmhg", "NhCmhgA=", "!"] {
            let error = verify(&[("x-amz-checksum-crc32", value)], &[]).unwrap_err();
            assert_eq!(error.code().as_str(), "InvalidRequest", "{value}");
        }
        assert!(verify(&[("x-amz-content-sha256", "UNSIGNED-PAYLOAD")], &[]).is_ok());
    }

    #[test]
    fn checksums_are_stated_if_all_are_in_the_header() {
        let stated = |fields: &[(&'static str, &'static str)]| Verifier::of(&headers(fields)).unwrap().stated();
        let sums = stated(&RIGHT).unwrap();
        assert_eq!(sums.get(format::Algorithm::Crc32), Some(&[0x36, 0x10, 0xa6, 0x86][..]));
        assert_eq!(verify(&RIGHT, &[]).unwrap().to_store(), sums);
        assert_eq!(stated(&[RIGHT[1], ("x-amz-trailer", "x-amz-checksum-sha1")]), None);
        // MD5 and the signature's SHA-256 belong to the request.
        assert_eq!(stated(&[RIGHT[0], RIGHT[6]]), None);
        assert_eq!(Verifier::default().or_default().stated(), None);
    }

    #[test]
    fn without_any_a_crc_is_computed() {
        let mut verifier = Verifier::of(&HeaderMap::new()).unwrap().or_default();
        verifier.update(b"hello");
        let sums = verifier.finish(&HeaderMap::new()).unwrap();
        assert_eq!(sums.of(Algorithm::Crc64Nvme).as_deref(), Some("M3eFcAZSQlc="));
        assert_eq!(sums.of(Algorithm::Crc32), None);
    }
}

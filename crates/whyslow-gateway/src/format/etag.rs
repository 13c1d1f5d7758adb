//! ETags of objects, as clients see them.
//!
//! The storage's ETag is often the MD5 of the ciphertext, and clients expect 32 hex digits to be
//! the MD5 of the plaintext. So clients get it with a prefix, which has a letter that is not a hex
//! digit, and a dash as in the ETag of a multipart upload. It is the same in every answer and list,
//! and is converted back for conditional requests.

const PREFIX: &str = "w1-";

/// The client's form of a storage's ETag (without quotes).
pub fn to_client(backend: &str) -> String {
    format!("{PREFIX}{backend}")
}

/// The storage's form of a client's ETag (without quotes); `None` if it has no prefix of a gateway.
pub fn to_backend(client: &str) -> Option<&str> {
    client.strip_prefix(PREFIX)
}

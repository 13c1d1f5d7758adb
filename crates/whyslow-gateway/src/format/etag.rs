//! ETags of objects, as clients see them.
//!
//! The storage's ETag is often the MD5 of the ciphertext, and clients take 32 hex digits for the
//! MD5 of the plaintext. So clients get it with a prefix, which has a letter that is not a hex
//! digit, and a dash, which tools take for a multipart upload's. It is the same in every answer,
//! lists too, and turns back into the storage's for conditional requests.

const PREFIX: &str = "w1-";

/// The client's form of a storage's ETag (without quotes).
pub fn to_client(backend: &str) -> String {
    format!("{PREFIX}{backend}")
}

/// The storage's form of a client's ETag (without quotes); `None` if no gateway gave it.
pub fn to_backend(client: &str) -> Option<&str> {
    client.strip_prefix(PREFIX)
}

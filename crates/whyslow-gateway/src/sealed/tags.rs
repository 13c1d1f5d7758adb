//! ETags and conditions, between clients and the storage.

use crate::format::etag;
use crate::store::Conditions;

/// A tag that no object has.
const NOBODYS: &str = "\"no-gateway-gave-this\"";

/// The client's form of a storage's tag, without quotes.
pub(super) fn to_client(stored: &str) -> String {
    etag::to_client(stored.trim_matches('"'))
}

/// Conditions on the client's tags, as conditions on the storage's.
pub(super) fn conditions(client: &Conditions) -> Conditions {
    Conditions {
        if_match: client.if_match.as_deref().map(|tags| list(tags, true)),
        if_none_match: client.if_none_match.as_deref().map(|tags| list(tags, false)),
        ..client.clone()
    }
}

/// A list of entity tags (RFC 9110 section 8.8.3). A weak one never matches in a strong comparison
/// (section 13.1.1).
fn list(tags: &str, is_strong: bool) -> String {
    if tags.trim() == "*" {
        return "*".to_owned();
    }
    let each = tags.split(',').map(|tag| {
        let tag = tag.trim();
        let (is_weak, tag) = tag.strip_prefix("W/").map_or((false, tag), |tag| (true, tag));
        let own = etag::to_backend(tag.trim_matches('"')).filter(|_| !(is_weak && is_strong));
        own.map_or_else(|| NOBODYS.to_owned(), |tag| format!("\"{tag}\""))
    });
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_clients_become_those_of_the_storage() {
        assert_eq!(to_client("\"abc-2\""), "w1-abc-2");
        let both = |tags: &str| (list(tags, true), list(tags, false));
        assert_eq!(both(" * "), ("*".to_owned(), "*".to_owned()));
        assert_eq!(list("\"w1-a\", w1-b", true), "\"a\", \"b\"");
        assert_eq!(both("W/\"w1-a\""), (NOBODYS.to_owned(), "\"a\"".to_owned()));
        // The storage's own form is none that a client can have.
        assert_eq!(list("\"a\"", true), NOBODYS);
    }
}

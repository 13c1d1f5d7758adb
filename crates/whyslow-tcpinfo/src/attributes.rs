//! Attributes of netlink messages: kind and value, nested at will.

use netlink_packet_core::{DefaultNla, Emitable, NLA_F_NESTED, NlasIterator};
use std::net::IpAddr;

/// Bytes of an attribute's length and kind.
const HEADER: usize = 4;

/// Attributes by kind, up to the first that is damaged.
pub fn read(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes).map_while(|attribute| {
        let attribute = attribute.ok()?;
        let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
        Some((kind, attribute.into_inner().get(HEADER..length)?))
    })
}

/// The first attribute of a kind.
pub fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    read(bytes).find(|&(other, _)| other == kind).map(|(_, value)| value)
}

/// Appends an attribute.
pub fn put(message: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let attribute = DefaultNla::new(kind, value.to_vec());
    let start = message.len();
    message.resize(start + attribute.buffer_len(), 0);
    attribute.emit(&mut message[start..]);
}

/// Appends an attribute that holds attributes.
pub fn put_nested(message: &mut Vec<u8>, kind: u16, attributes: &[u8]) {
    put(message, kind | NLA_F_NESTED, attributes);
}

/// Bytes at a place.
pub fn at<const N: usize>(bytes: &[u8], place: usize) -> Option<[u8; N]> {
    bytes.get(place..place.checked_add(N)?)?.try_into().ok()
}

/// A number at a place, in the machine's order of bytes.
pub fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    at(bytes, place).map(u16::from_ne_bytes)
}

/// A number at a place, in the machine's order of bytes.
pub fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    at(bytes, place).map(u32::from_ne_bytes)
}

/// A number at a place, in the machine's order of bytes.
pub fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    at(bytes, place).map(u64::from_ne_bytes)
}

/// A text, with or without a zero at its end.
pub fn text(value: &[u8]) -> String {
    let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

/// An address, by its length.
pub fn address(value: &[u8]) -> Option<IpAddr> {
    at::<16>(value, 0).map(IpAddr::from).or_else(|| at::<4>(value, 0).map(IpAddr::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_put_is_read() {
        let (mut inner, mut message) = (Vec::new(), Vec::new());
        put(&mut inner, 3, b"eth0\0");
        put_nested(&mut message, 1, &inner);
        put(&mut message, 2, &7_u32.to_ne_bytes());
        assert_eq!(find(&message, 1).and_then(|nested| find(nested, 3)).map(text).as_deref(), Some("eth0"));
        assert_eq!(find(&message, 2).and_then(|value| u32_at(value, 0)), Some(7));
        assert_eq!(find(&message, 9), None);
        // A truncated message keeps the attributes before the cut.
        assert_eq!(read(&message[..message.len() - 1]).count(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), place in any::<usize>()) {
            let length: usize = read(&bytes).map(|(_, value)| value.len() + HEADER).sum();
            prop_assert!(length <= bytes.len());
            let _ = (u16_at(&bytes, place), u32_at(&bytes, place), u64_at(&bytes, place));
            let _ = (text(&bytes), address(&bytes));
        }
    }
}

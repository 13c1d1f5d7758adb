//! Encoding of numbers and texts in a row: seven bits per byte (LEB128), differences with their
//! sign in the lowest bit (zigzag), texts with a length prefix.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reads the fields of a row in order; methods return `None` at the end or for invalid data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Number of remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    #[inline]
    pub(super) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub(super) fn number_u32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(super) fn number_u16(&mut self) -> Option<u16> {
        u16::try_from(self.number()?).ok()
    }

    pub(super) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }

    /// An optional value.
    pub(super) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => read(self).map(Some),
            _ => None,
        }
    }

    /// A list, each entry of which has at least one byte.
    pub(super) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok().filter(|&count| count <= self.rest.len())?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(read(self)?);
        }
        Some(list)
    }

    pub(super) fn address(&mut self) -> Option<IpAddr> {
        match self.byte()? {
            4 => Some(Ipv4Addr::from(*self.bytes(4)?.first_chunk::<4>()?).into()),
            6 => Some(Ipv6Addr::from(*self.bytes(16)?.first_chunk::<16>()?).into()),
            _ => None,
        }
    }

    pub(super) fn end(&mut self) -> Option<(IpAddr, u16)> {
        Some((self.address()?, self.number_u16()?))
    }
}

#[inline]
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[inline]
pub(super) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)) as u64);
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend(text.as_bytes());
}

pub(super) fn put_optional<T>(out: &mut Vec<u8>, value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

pub(super) fn put_list<T>(out: &mut Vec<u8>, list: &[T], mut put: impl FnMut(&mut Vec<u8>, &T)) {
    put_number(out, list.len() as u64);
    list.iter().for_each(|entry| put(out, entry));
}

pub(super) fn put_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => {
            out.push(4);
            out.extend(address.octets());
        }
        IpAddr::V6(address) => {
            out.push(6);
            out.extend(address.octets());
        }
    }
}

pub(super) fn put_end(out: &mut Vec<u8>, (address, port): (IpAddr, u16)) {
    put_address(out, address);
    put_number(out, port.into());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_roundtrip(number in any::<u64>(), signed in any::<i64>(), text in ".*", end in any::<(IpAddr, u16)>()) {
            let mut out = Vec::new();
            put_number(&mut out, number);
            put_signed(&mut out, signed);
            put_text(&mut out, &text);
            put_end(&mut out, end);
            put_optional(&mut out, Some(number), put_number);
            put_list(&mut out, &[number, 1], |out, number| put_number(out, *number));
            let mut fields = Fields::new(&out);
            prop_assert_eq!((fields.number(), fields.signed()), (Some(number), Some(signed)));
            prop_assert_eq!((fields.text(), fields.end()), (Some(text), Some(end)));
            prop_assert_eq!(fields.optional(Fields::number), Some(Some(number)));
            prop_assert_eq!(fields.list(Fields::number).unwrap(), vec![number, 1]);
            prop_assert!(fields.is_empty());
        }
    }

    #[test]
    fn number_with_too_many_bytes_is_rejected() {
        assert_eq!(Fields::new(&[0xff; 20]).number(), None);
        assert_eq!(Fields::new(&[0xff]).number(), None);
        assert_eq!(Fields::new(&[0xff, 0xff, 3]).list(Fields::byte), None, "more entries than bytes");
    }
}

//! The query of a question's URL.

/// The query of a URL.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    text: &'a str,
}

impl<'a> Query<'a> {
    /// The part of a URL after its `?`.
    pub fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// The whole query.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// The value of this name, with its %-escapes undone; invalid UTF-8 is replaced.
    pub fn get(&self, name: &str) -> Option<String> {
        let pairs = self.text.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| decode(value))
    }

    /// The value of this name as a number.
    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.get(name)?.parse().ok()
    }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = (*first == b'%').then(|| tail.get(..2)).flatten();
        let byte = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name_and_unescaped() {
        let query = Query::new("name=a%20b%2Fc.pcap&rest=2&odd=%zz%4");
        assert_eq!(query.get("name").as_deref(), Some("a b/c.pcap"));
        assert_eq!(query.number::<u32>("rest"), Some(2));
        assert_eq!(query.get("odd").as_deref(), Some("%zz%4"));
        assert_eq!(query.get("none"), None);
        assert_eq!(query.number::<u32>("name"), None);
    }
}

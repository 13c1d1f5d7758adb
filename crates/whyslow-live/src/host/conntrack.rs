//! Connection tracking: `/proc/sys/net/netfilter`, `/proc/net/stat/nf_conntrack`.

use super::Conntrack;
use std::path::Path;

/// Data of the thread's network namespace.
pub(super) fn read(net: &Path) -> Option<Conntrack> {
    let number = |name: &str| {
        let text = std::fs::read_to_string(Path::new("/proc/sys/net/netfilter").join(name)).ok()?;
        text.trim().parse().ok()
    };
    let text = std::fs::read_to_string(net.join("stat/nf_conntrack")).unwrap_or_default();
    Some(Conntrack {
        count: number("nf_conntrack_count")?,
        max: number("nf_conntrack_max")?,
        dropped: column(&text, "drop"),
        early_dropped: column(&text, "early_drop"),
        insert_failed: column(&text, "insert_failed"),
    })
}

/// A column's sum over the processors, each of which has a line, hexadecimal.
fn column(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    let place = lines.next()?.split_ascii_whitespace().position(|other| other == name)?;
    let value = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(place)?, 16).ok();
    Some(lines.filter_map(value).fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error
00000190  00000000 00000000 00000000 0000002b 00000000 00000000 00000000 00000000 00000001 0000000a 00000003 00000000
00000190  00000000 00000000 00000000 00000011 00000000 00000000 00000000 00000000 00000000 00000010 00000000 00000000
";

    #[test]
    fn a_column_is_summed_over_the_processors() {
        assert_eq!(
            ["drop", "early_drop", "insert_failed"].map(|name| column(TEXT, name)),
            [Some(26), Some(3), Some(1)]
        );
        assert_eq!((column(TEXT, "none"), column("", "drop")), (None, None));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z0-9 \n]{0,200}") {
            let _ = column(&text, "drop");
        }
    }
}

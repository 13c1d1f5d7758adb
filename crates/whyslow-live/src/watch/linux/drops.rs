//! Drops of interfaces before any filter.

use std::collections::BTreeMap;

/// The drops of each interface when the watch began.
#[derive(Debug)]
pub(super) struct InterfaceDrops {
    /// The watched devices; empty for all.
    names: Vec<String>,
    latest: BTreeMap<String, u64>,
    total: u64,
}

impl InterfaceDrops {
    pub(super) fn begin(names: &[String]) -> Self {
        Self { names: names.to_vec(), latest: read(), total: 0 }
    }

    /// Drops since the beginning. An interface that disappeared keeps its count; one that returns
    /// starts from zero.
    pub(super) fn read(&mut self) -> u64 {
        self.update(read())
    }

    fn update(&mut self, now: BTreeMap<String, u64>) -> u64 {
        for (name, drops) in &now {
            if self.names.is_empty() || self.names.contains(name) {
                let before = self.latest.get(name).copied().unwrap_or(0);
                self.total += if *drops < before { *drops } else { drops - before };
            }
        }
        self.latest = now;
        self.total
    }
}

/// Data of this thread's network namespace: `/sys/class/net` shows that of the mount.
fn read() -> BTreeMap<String, u64> {
    std::fs::read_to_string("/proc/thread-self/net/dev").map(|text| parse(&text)).unwrap_or_default()
}

/// `name: bytes packets errs drop fifo …`, behind two lines of headings.
fn parse(text: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (name, figures) = line.rsplit_once(':')?;
        let figures: Vec<u64> = figures.split_whitespace().map_while(|figure| figure.parse().ok()).collect();
        Some((name.trim().to_owned(), figures.get(3)?.saturating_add(*figures.get(4)?)))
    };
    text.lines().skip(2).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0
eth0:1: 2000 20 1 5 2 0 0 0 9 9 9 9 9 9 9 9
";

    #[test]
    fn receive_drops_are_read() {
        let drops = parse(TEXT);
        assert_eq!(drops, BTreeMap::from([("lo".into(), 0), ("eth0:1".into(), 7)]));
        assert!(parse("").is_empty());
        assert!(parse("a\nb\nno figures here\n x: 1 2\n").is_empty());
    }

    #[test]
    fn only_what_is_watched_counts_from_the_beginning_on() {
        let count = |a, b| BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
        let mut one = InterfaceDrops { names: vec!["a".into()], latest: count(10, 10), total: 0 };
        assert_eq!(one.update(count(12, 20)), 2);
        // It was removed and created again.
        assert_eq!(one.update(BTreeMap::new()), 2);
        assert_eq!(one.update(count(3, 0)), 5);
        let mut all = InterfaceDrops { names: vec![], latest: count(10, 10), total: 0 };
        assert_eq!(all.update(count(12, 20)), 12);
    }
}

//! Counters of a device's driver (`ethtool -S`): SIOCETHTOOL (linux/ethtool.h), as netlink does not
//! offer them.

use crate::sys;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

/// Requests.
const GSTRINGS: u32 = 0x1b;
const GSTATS: u32 = 0x1d;
const GSSET_INFO: u32 = 0x37;

/// The set of names that the counters have, and the bytes of one.
const STATISTICS: u32 = 1;
const NAME: usize = 32;

/// Counters of a driver that are read at most; large cards have some thousands.
const MOST: usize = 50_000;
/// Counters beyond those that the driver announced, for which there is room: it writes as many as
/// it has when it is asked for them, and each queue that is added meanwhile brings some more.
const ROOM: usize = 4096;

/// Parts of the names of counters of dropped packets.
const OF_DROPS: [&str; 8] =
    ["drop", "discard", "miss", "fifo", "no_buf", "out_of_buf", "no_dma_resources", "allowance_exceeded"];

/// The counters of dropped packets that are not zero.
///
/// # Errors
/// EOPNOTSUPP where the driver has none; else those of SIOCETHTOOL.
pub(super) fn of_drops(device: &str) -> io::Result<BTreeMap<String, u64>> {
    let socket = UnixDatagram::unbound()?;
    let ask = |request: &mut [u64]| sys::ethtool(socket.as_fd(), device, request);
    // cmd, reserved, sset_mask, and a number for each set that there is.
    let mut info = [pair(GSSET_INFO, 0), 1 << STATISTICS, 0];
    ask(&mut info)?;
    let count = if info[1] == 0 { 0 } else { (halves(info[2])[0] as usize).min(MOST) };
    if count == 0 {
        return Ok(BTreeMap::new());
    }
    // cmd, string_set, len, and the names.
    let mut names = vec![0; 2 + (count + ROOM) * NAME / size_of::<u64>()];
    names[0] = pair(GSTRINGS, STATISTICS);
    names[1] = pair(count as u32, 0);
    ask(&mut names)?;
    // cmd, n_stats, and the numbers.
    let mut numbers = vec![0; 1 + count + ROOM];
    numbers[0] = pair(GSTATS, count as u32);
    ask(&mut numbers)?;
    Ok(parse(count, &names, &numbers))
}

/// Counters of drops in the answers for names and for numbers.
fn parse(count: usize, names: &[u64], numbers: &[u64]) -> BTreeMap<String, u64> {
    let bytes: Vec<u8> = names.iter().flat_map(|word| word.to_ne_bytes()).skip(12).take(count * NAME).collect();
    let names = bytes.chunks_exact(NAME).map(|name| {
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).trim().to_owned()
    });
    let numbers = numbers.iter().skip(1).copied();
    names.zip(numbers).filter(|(name, number)| *number > 0 && is_of_drops(name)).collect()
}

fn is_of_drops(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    OF_DROPS.iter().any(|part| name.contains(part))
}

/// Two numbers as they lie side by side in memory.
fn pair(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

fn halves(word: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    [u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn drops_are_read_by_their_names() {
        let mut bytes = vec![0; 12];
        for name in ["rx_packets", "rx_out_of_buffer", "  rx_fifo_errors", "rx_missed"] {
            let mut field = name.as_bytes().to_vec();
            field.resize(NAME, 0);
            bytes.extend(field);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let names: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default())).collect();
        let numbers = [pair(GSTATS, 4), 1_000, 7, 8, 0];
        let expected = [("rx_out_of_buffer".to_owned(), 7), ("rx_fifo_errors".to_owned(), 8)];
        assert_eq!(parse(4, &names, &numbers), BTreeMap::from(expected));
    }

    #[test]
    fn an_unknown_device_has_no_counters() {
        assert!(of_drops("no-such-dev").is_err());
        assert!(of_drops("a name that is longer than any").is_err());
    }

    proptest! {
        #[test]
        fn any_answer_is_read(count in 0usize..100, names in prop::collection::vec(any::<u64>(), 0..50), numbers in prop::collection::vec(any::<u64>(), 0..50)) {
            prop_assert!(parse(count, &names, &numbers).len() <= count);
        }
    }
}

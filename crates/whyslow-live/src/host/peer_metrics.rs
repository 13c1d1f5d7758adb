//! The remembered values of peers: generic netlink `tcp_metrics` (linux/tcp_metrics.h).

use super::PeerMetrics;
use super::generic::Family;
use std::io;
use whyslow_tcpinfo::attributes::{address, read, u32_at, u64_at};
use whyslow_tcpinfo::netlink::List;

const TCP_METRICS_CMD_GET: u8 = 1;

/// Attributes of an entry.
const ADDR_IPV4: u16 = 1;
const ADDR_IPV6: u16 = 2;
const AGE: u16 = 3;
const VALS: u16 = 6;
const SADDR_IPV4: u16 = 11;
const SADDR_IPV6: u16 = 12;

/// Values, each of them `TCP_METRIC_*` + 1.
const RTT_MS: u16 = 1;
const RTTVAR_MS: u16 = 2;
const SSTHRESH: u16 = 3;
const CWND: u16 = 4;
const REORDERING: u16 = 5;
const RTT_US: u16 = 6;
const RTTVAR_US: u16 = 7;

/// The kernel keeps a round trip eight times, and its variation four times.
const RTT_FACTOR: u32 = 8;
const RTTVAR_FACTOR: u32 = 4;

/// All entries of the thread's network namespace.
///
/// # Errors
/// What the kernel answers; ENOENT where it does not have the family.
pub(super) fn all() -> io::Result<List<PeerMetrics>> {
    Family::open("tcp_metrics")?.list(TCP_METRICS_CMD_GET, &[], parse)
}

/// Reads an entry; `None` if it has no address.
fn parse(attributes: &[u8]) -> Option<PeerMetrics> {
    let (mut peer, mut source, mut age_ms, mut values) = (None, None, None, Values::default());
    for (kind, value) in read(attributes) {
        match kind {
            ADDR_IPV4 | ADDR_IPV6 => peer = address(value),
            SADDR_IPV4 | SADDR_IPV6 => source = address(value).filter(|address| !address.is_unspecified()),
            AGE => age_ms = u64_at(value, 0),
            VALS => values = Values::parse(value),
            _ => {}
        }
    }
    Some(PeerMetrics {
        address: peer?,
        source,
        age_ms,
        rtt_us: values.microseconds(RTT_US, RTT_MS).map(|rtt| rtt / RTT_FACTOR),
        rttvar_us: values.microseconds(RTTVAR_US, RTTVAR_MS).map(|variation| variation / RTTVAR_FACTOR),
        ssthresh: values.get(SSTHRESH),
        cwnd: values.get(CWND),
        reordering: values.get(REORDERING),
    })
}

/// Values by their kinds; what the kernel does not know it does not send.
#[derive(Default)]
struct Values([Option<u32>; 8]);

impl Values {
    fn parse(attributes: &[u8]) -> Self {
        let mut values = Self::default();
        for (kind, value) in read(attributes) {
            if let Some(place) = values.0.get_mut(usize::from(kind)) {
                *place = u32_at(value, 0);
            }
        }
        values
    }

    fn get(&self, kind: u16) -> Option<u32> {
        self.0.get(usize::from(kind)).copied().flatten()
    }

    /// Kernels before 3.15 know milliseconds alone.
    fn microseconds(&self, microseconds: u16, milliseconds: u16) -> Option<u32> {
        self.get(microseconds).or_else(|| self.get(milliseconds).map(|value| value.saturating_mul(1000)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use whyslow_tcpinfo::attributes::{put, put_nested};

    fn entry(values: &[(u16, u32)]) -> Vec<u8> {
        let (mut nested, mut bytes) = (Vec::new(), Vec::new());
        for (kind, value) in values {
            put(&mut nested, *kind, &value.to_ne_bytes());
        }
        put(&mut bytes, ADDR_IPV4, &[192, 0, 2, 7]);
        put(&mut bytes, SADDR_IPV4, &[192, 0, 2, 1]);
        put(&mut bytes, AGE, &1_051_050_000_u64.to_ne_bytes());
        put_nested(&mut bytes, VALS, &nested);
        bytes
    }

    #[test]
    fn an_entry_is_read_in_its_units() {
        let values =
            [(RTT_MS, 206), (RTTVAR_MS, 20), (RTT_US, 206_400), (RTTVAR_US, 20_000), (SSTHRESH, 40), (CWND, 361)];
        let metrics = parse(&entry(&values)).unwrap();
        assert_eq!((metrics.address, metrics.source), ([192, 0, 2, 7].into(), Some([192, 0, 2, 1].into())));
        assert_eq!(
            (metrics.rtt_us, metrics.rttvar_us, metrics.age_ms),
            (Some(25_800), Some(5_000), Some(1_051_050_000))
        );
        assert_eq!((metrics.ssthresh, metrics.cwnd, metrics.reordering), (Some(40), Some(361), None));
    }

    #[test]
    fn an_old_kernel_knows_milliseconds() {
        let metrics = parse(&entry(&[(RTT_MS, 200), (RTTVAR_MS, 40)])).unwrap();
        assert_eq!((metrics.rtt_us, metrics.rttvar_us), (Some(25_000), Some(10_000)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
            let _ = Values::parse(&bytes);
        }
    }
}

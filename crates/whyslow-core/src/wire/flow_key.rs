//! The two ends of a segment in a form that is fast to compare and hash.

use super::segment::Segment;
use std::net::IpAddr;

/// The two ends of a connection, and which of them sent the segment.
#[derive(Clone, Copy, Debug)]
pub struct FlowKey {
    /// The smaller end, then the greater one, so that both directions are equal. An IPv4 end is one
    /// word: its address, and above it the port. An IPv6 end is the two words of its address.
    words: [u64; 4],
    /// The ports of IPv6, in the same order.
    ports: u32,
    is_v6: bool,
    from_greater: bool,
    /// Marks QUIC, because TCP may have a connection between the same ends.
    is_quic: bool,
}

const _: () = assert!(size_of::<FlowKey>() <= 40, "every connection has one");

impl FlowKey {
    /// The key of a segment.
    pub fn of(segment: &Segment<'_>) -> Self {
        Self::between((segment.src, segment.src_port), (segment.dst, segment.dst_port))
    }

    /// The key of a segment between these ends.
    pub(super) fn between((src, src_port): (IpAddr, u16), (dst, dst_port): (IpAddr, u16)) -> Self {
        let ports = ports(src_port, dst_port);
        match (src, dst) {
            (IpAddr::V4(from), IpAddr::V4(to)) => Self::v4(&join(from.octets(), to.octets()), &ports),
            (IpAddr::V6(from), IpAddr::V6(to)) => Self::v6(&join(from.octets(), to.octets()), &ports),
            // No packet mixes both versions; treat it as IPv6.
            (IpAddr::V4(from), IpAddr::V6(to)) => Self::v6(&join(from.to_ipv6_mapped().octets(), to.octets()), &ports),
            (IpAddr::V6(from), IpAddr::V4(to)) => Self::v6(&join(from.octets(), to.to_ipv6_mapped().octets()), &ports),
        }
    }

    /// The key of the addresses and ports in header order.
    #[inline(always)]
    pub fn v4(addresses: &[u8; 8], ports: &[u8; 4]) -> Self {
        let (addresses, ports) = (u64::from_le_bytes(*addresses), u64::from(u32::from_le_bytes(*ports)));
        let from = addresses & 0xffff_ffff | (ports & 0xffff) << 32;
        let to = addresses >> 32 | (ports >> 16) << 32;
        Self {
            words: [from.min(to), from.max(to), 0, 0],
            ports: 0,
            is_v6: false,
            from_greater: from > to,
            is_quic: false,
        }
    }

    /// Like [`v4`](Self::v4).
    #[inline(always)]
    pub(super) fn v6(addresses: &[u8; 32], ports: &[u8; 4]) -> Self {
        let (words, _) = addresses.as_chunks::<8>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| words.get(at).map_or(0, |word| u64::from_le_bytes(*word)));
        let ports = u32::from_le_bytes(*ports);
        // The words that differ between hosts of one network come first.
        let from_greater = (b, a, ports & 0xffff) > (d, c, ports >> 16);
        let (words, ports) = if from_greater { ([c, d, a, b], ports.rotate_left(16)) } else { ([a, b, c, d], ports) };
        Self { words, ports, is_v6: true, from_greater, is_quic: false }
    }

    /// The key of a QUIC connection between the same ends.
    pub fn over_quic(self) -> Self {
        Self { is_quic: true, ..self }
    }

    /// Addresses and ports, the sender's first.
    pub fn to_endpoints(self) -> [(IpAddr, u16); 2] {
        let [a, b, c, d] = self.words;
        let port = |bytes: u64| u16::from_be((bytes & 0xffff) as u16);
        let v4 = |end: u64| (IpAddr::from((end as u32).to_le_bytes()), port(end >> 32));
        let v6 = |high: u64, low: u64, bytes: u32| {
            (IpAddr::from((u128::from(low) << 64 | u128::from(high)).to_le_bytes()), port(bytes.into()))
        };
        let [lesser, greater] =
            if self.is_v6 { [v6(a, b, self.ports), v6(c, d, self.ports >> 16)] } else { [v4(a), v4(b)] };
        if self.from_greater { [greater, lesser] } else { [lesser, greater] }
    }

    /// Whether both belong to the same connection, in either direction.
    #[inline(always)]
    pub fn same_connection(&self, other: &Self) -> bool {
        let [a, b, c, d] = self.words;
        let [e, f, g, h] = other.words;
        let first = a == e && b == f && self.is_v6 == other.is_v6 && self.is_quic == other.is_quic;
        first && (!self.is_v6 || (c == g && d == h && self.ports == other.ports))
    }

    /// Whether the same end sent both segments, if they belong to the same connection.
    #[inline(always)]
    pub fn same_sender(&self, other: &Self) -> bool {
        self.from_greater == other.from_greater
    }

    /// A hash that is equal for both directions and on every machine. It selects the connection's
    /// shard and its share of a capture. An attacker can choose ends with equal hashes.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        let [a, b, c, d] = self.words;
        if self.is_v6 {
            // The second and the last word are equal for hosts of one network.
            fold(fold(a ^ FIRST, c ^ SECOND) ^ b ^ d.rotate_left(32), THIRD ^ u64::from(self.ports))
        } else {
            // Neither factor is zero: an end has only 48 bits.
            fold(a ^ FIRST, b ^ SECOND)
        }
    }

    /// A hash that is equal for both directions. Without the seed, an attacker cannot choose ends
    /// with equal hashes.
    #[inline(always)]
    pub fn keyed_hash(&self, seed: &HashSeed) -> u64 {
        let ([a, b, c, d], [k, l, m, n]) = (self.words, seed.0);
        if self.is_v6 {
            // Hash each end separately, so that a difference in one cannot cancel a difference in
            // the other.
            fold(fold(a ^ k, b ^ l) ^ fold(c ^ m, d ^ n).rotate_left(32), l ^ n ^ u64::from(self.ports))
        } else {
            fold(fold(a ^ k, b ^ l), m)
        }
    }
}

/// The seed of the connection tables. With a random seed an attacker cannot choose connections that
/// all hash to the same slot. The analysis does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashSeed([u64; 4]);

impl HashSeed {
    /// Creates a seed from a number, which should be random.
    pub const fn new(number: u64) -> Self {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        let mut words = [0; 4];
        let (mut state, mut at) = (number, 0);
        while at < words.len() {
            state = state.wrapping_add(FIRST);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            words[at] = mixed ^ (mixed >> 31);
            at += 1;
        }
        Self(words)
    }
}

impl Default for HashSeed {
    /// The same on every machine, for input that is not hostile.
    fn default() -> Self {
        Self::new(0)
    }
}

/// The two ends in header order. They identify a connection and direction, like [`FlowKey`], but
/// need no sorting, so they are faster to compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawFlowKey {
    /// The ports, with a flag for IPv6 above them, then the addresses.
    words: [u64; 5],
}

/// Flag above the ports.
const IS_V6: u64 = 1 << 32;

impl RawFlowKey {
    /// The key of the addresses and ports in header order.
    #[inline(always)]
    pub(super) fn v4(addresses: &[u8; 8], ports: &[u8; 4]) -> Self {
        Self { words: [u32::from_le_bytes(*ports).into(), u64::from_le_bytes(*addresses), 0, 0, 0] }
    }

    /// Like [`v4`](Self::v4).
    #[inline(always)]
    pub(super) fn v6(addresses: &[u8; 32], ports: &[u8; 4]) -> Self {
        let (words, _) = addresses.as_chunks::<8>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| words.get(at).map_or(0, |word| u64::from_le_bytes(*word)));
        Self { words: [u64::from(u32::from_le_bytes(*ports)) | IS_V6, a, b, c, d] }
    }

    /// Whether both are equal.
    #[inline(always)]
    pub fn is_same(&self, other: &Self) -> bool {
        let [ports, a, b, c, d] = self.words;
        let [other_ports, e, f, g, h] = other.words;
        ports == other_ports && a == e && (ports < IS_V6 || (b == f && c == g && d == h))
    }

    /// A hash whose upper bits rarely collide.
    #[inline(always)]
    pub fn cache_hash(&self) -> u64 {
        let [ports, a, b, _, d] = self.words;
        // For IPv6, omits the words that are equal for hosts of one network.
        let word = if ports < IS_V6 { a } else { b ^ d.rotate_left(32) };
        (word ^ ports).wrapping_mul(FIRST)
    }
}

fn ports(from: u16, to: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (from.to_be_bytes(), to.to_be_bytes());
    [a, b, c, d]
}

fn join<const N: usize, const TWICE: usize>(from: [u8; N], to: [u8; N]) -> [u8; TWICE] {
    let mut both = [0; TWICE];
    both.iter_mut().zip(from.into_iter().chain(to)).for_each(|(place, byte)| *place = byte);
    both
}

/// Numbers without a pattern.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xd6e8_feb8_6659_fd93;
const THIRD: u64 = 0xa076_1d64_78bd_642f;

/// Mixes two numbers: combines both halves of their product, like wyhash and foldhash.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn v4(from: ([u8; 4], u16), to: ([u8; 4], u16)) -> FlowKey {
        FlowKey::v4(&join(from.0, to.0), &ports(from.1, to.1))
    }

    fn v6(from: ([u8; 16], u16), to: ([u8; 16], u16)) -> FlowKey {
        FlowKey::v6(&join(from.0, to.0), &ports(from.1, to.1))
    }

    impl RawFlowKey {
        /// The raw key of a segment.
        pub fn of(segment: &Segment<'_>) -> Self {
            let ports = ports(segment.src_port, segment.dst_port);
            match (segment.src, segment.dst) {
                (IpAddr::V4(from), IpAddr::V4(to)) => Self::v4(&join(from.octets(), to.octets()), &ports),
                (from, to) => {
                    let octets = |address: IpAddr| match address {
                        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                        IpAddr::V6(address) => address.octets(),
                    };
                    Self::v6(&join(octets(from), octets(to)), &ports)
                }
            }
        }
    }

    /// Consecutive clients with consecutive ports, all with one server: the hashes differ in their
    /// lower half, and are evenly distributed in the bits that choose a shard and a slot in a
    /// group.
    fn assert_scattered(ends: impl Fn(u32, u16) -> FlowKey) {
        assert_scattered_by(&ends, FlowKey::hash);
        for number in [0, 1, 0x1234_5678_9abc_def0] {
            let seed = HashSeed::new(number);
            assert_scattered_by(&ends, |key| key.keyed_hash(&seed));
        }
    }

    fn assert_scattered_by(ends: impl Fn(u32, u16) -> FlowKey, hash: impl Fn(&FlowKey) -> u64) {
        let (mut lower, mut parts, mut tags) = (HashSet::new(), [0u32; 64], [0u32; 128]);
        for client in 0..1000 {
            for port in 0..100 {
                let hash = hash(&ends(client, 50_000 + port));
                lower.insert(hash & 0xffff_ffff);
                parts[(hash >> 40) as usize % 64] += 1;
                tags[(hash >> 57) as usize] += 1;
            }
        }
        // With 100,000 32-bit numbers one collision is expected.
        assert!(lower.len() > 99_990, "{}", lower.len());
        assert!(parts.iter().all(|count| (1_300..1_850).contains(count)), "{parts:?}");
        assert!(tags.iter().all(|count| (600..1_000).contains(count)), "{tags:?}");
    }

    #[test]
    fn hashes_are_scattered() {
        let server = ([203, 0, 113, 1], 443);
        assert_scattered(|client, port| v4(((0x0a00_0000 + client).to_be_bytes(), port), server));
        assert_scattered(|client, port| v4(server, ((0x0a00_0000 + client).to_be_bytes(), port)));
        let host = |network: u8, number: u32| {
            let [a, b, c, d] = number.to_be_bytes();
            [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, a, b, c, d]
        };
        assert_scattered(|client, port| v6((host(1, client), port), (host(2, 1), 443)));
    }

    /// Ends with equal unkeyed hashes: a word of one cancels a word of the other, or makes a factor
    /// zero.
    #[test]
    fn seed_separates_colliding_ends() {
        let address =
            |high: u64, low: u64| (u128::from(high.swap_bytes()) << 64 | u128::from(low.swap_bytes())).to_be_bytes();
        let make_up = |i: u64| v6((address(1, i), 9), (address(2, 7 ^ i.rotate_right(32)), 9));
        let make_zero = |i: u64| v6((address(FIRST, 1), 9), (address(i << 8, 2), 9));
        for ends in [&make_up as &dyn Fn(u64) -> FlowKey, &make_zero] {
            let all: HashSet<_> = (0..1_000).map(|i| ends(i + 3).hash()).collect();
            assert!(all.len() < 10, "{}", all.len());
            for number in [0, 1, 77] {
                let seed = HashSeed::new(number);
                let keyed: HashSet<_> = (0..1_000).map(|i| ends(i + 3).keyed_hash(&seed)).collect();
                assert_eq!(keyed.len(), 1_000);
            }
        }
    }

    fn end() -> impl Strategy<Value = (IpAddr, u16)> {
        let v4 = (0u8..3, 0u8..2).prop_map(|(a, b)| IpAddr::from([a, 0, 0, b]));
        let v6 = (0u16..3, 0u16..2).prop_map(|(a, b)| IpAddr::from([a, 0, 0, 0, 0, 0, 0, b]));
        (prop_oneof![v4, v6], prop_oneof![0u16..3, Just(0x300)])
    }

    /// The raw keys that a packet would have, if both addresses have the same version.
    fn headings(from: (IpAddr, u16), to: (IpAddr, u16)) -> Option<(RawFlowKey, FlowKey)> {
        let ports = ports(from.1, to.1);
        match (from.0, to.0) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let addresses = join(a.octets(), b.octets());
                Some((RawFlowKey::v4(&addresses, &ports), FlowKey::v4(&addresses, &ports)))
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let addresses = join(a.octets(), b.octets());
                Some((RawFlowKey::v6(&addresses, &ports), FlowKey::v6(&addresses, &ports)))
            }
            _ => None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

        #[test]
        fn raw_key_identifies_connection_and_direction(ends in [end(), end(), end(), end()], same in any::<bool>(), turned in any::<bool>()) {
            let [a, b, c, d] = ends;
            let (c, d) = if same { (a, b) } else { (c, d) };
            let (c, d) = if turned { (d, c) } else { (c, d) };
            if let (Some((one, one_ends)), Some((other, other_ends))) = (headings(a, b), headings(c, d)) {
                let expected = one_ends.same_connection(&other_ends) && one_ends.same_sender(&other_ends);
                prop_assert_eq!(one.is_same(&other), expected);
                prop_assert!(!expected || one.cache_hash() == other.cache_hash());
            }
        }
    }

    proptest! {
        /// The two directions are one connection with equal hashes and different senders; another
        /// address or port at either end makes another connection.
        #[test]
        fn directions_of_a_connection_share_key_and_hash(
            v in any::<bool>(),
            addresses in any::<[[u8; 16]; 2]>(),
            shared in 0u8..3,
            ports in any::<[u16; 2]>(),
            change in (0usize..36, 1u8..),
        ) {
            let [a, mut b] = addresses;
            // Ends that differ only in half of the address, or in the port.
            if shared > 0 {
                b[..8].copy_from_slice(&a[..8]);
            }
            if shared > 1 {
                b = a;
            }
            let build = |bytes: &[u8; 36]| {
                let half = |at: usize| bytes[at..at + 16].first_chunk().copied().unwrap_or_default();
                let short = |address: [u8; 16]| address.first_chunk().copied().unwrap_or_default();
                let (from, to) = (half(0), half(16));
                let (p, q) = (u16::from_be_bytes([bytes[32], bytes[33]]), u16::from_be_bytes([bytes[34], bytes[35]]));
                match v {
                    false => (v4((short(from), p), (short(to), q)), v4((short(to), q), (short(from), p))),
                    true => (v6((from, p), (to, q)), v6((to, q), (from, p))),
                }
            };
            let [p, q] = ports.map(u16::to_be_bytes);
            let mut bytes = [0; 36];
            bytes.iter_mut().zip(a.into_iter().chain(b).chain(p).chain(q)).for_each(|(place, byte)| *place = byte);
            let (there, back) = build(&bytes);
            prop_assert!(there.same_connection(&back));
            let long = |address: [u8; 16]| if v { IpAddr::from(address) } else { IpAddr::from([address[0], address[1], address[2], address[3]]) };
            prop_assert_eq!(there.to_endpoints(), [(long(a), ports[0]), (long(b), ports[1])]);
            prop_assert_eq!(back.to_endpoints(), [(long(b), ports[1]), (long(a), ports[0])]);
            prop_assert_eq!(there.hash(), back.hash());
            let seed = HashSeed::new(u64::from(ports[0]));
            prop_assert_eq!(there.keyed_hash(&seed), back.keyed_hash(&seed));
            let same_end = if v { a == b } else { a[..4] == b[..4] } && p == q;
            prop_assert_eq!(there.same_sender(&back), same_end);

            let mut other = bytes;
            other[change.0] ^= change.1;
            let used = v || change.0 % 16 < 4 || change.0 >= 32;
            // Swapping the two ends gives the same connection.
            let swapped = other[..16] == bytes[16..32] && other[16..32] == bytes[..16];
            if used && !same_end && !swapped && other[32..] == bytes[32..] {
                prop_assert!(!there.same_connection(&build(&other).0));
            }
            if change.0 >= 32 && a != b && (v || a[..4] != b[..4]) {
                prop_assert!(!there.same_connection(&build(&other).0));
            }
        }
    }

    #[test]
    fn ipv4_key_differs_from_ipv6_key_of_the_same_words() {
        let short = v4(([192, 0, 2, 1], 80), ([192, 0, 2, 2], 81));
        let mut long = short;
        long.is_v6 = true;
        assert!(!short.same_connection(&long) && !long.same_connection(&short));
    }
}

//! Format of a packed segment: a head of four bytes, the numbers, and the unpacked fields.

// The head of a segment has four bytes: nine bits of flags; five as in `Seg::bits`; one bit for
// each field that is stored unpacked because it has an unexpected value; and two bits for the
// length of each number.
pub(super) const FLAGS: u32 = 0x1ff;
pub(super) const HAS: u32 = 0b1_1111;
pub(super) const HAS_AT: u32 = 9;
pub(super) const OTHER_WINDOW: u32 = 1 << 14;
pub(super) const OTHER_ID: u32 = 1 << 15;
/// Time to live, ECN bits, or role of the payload.
pub(super) const OTHER_TTL: u32 = 1 << 16;
pub(super) const SACKS: u32 = 1 << 17;
pub(super) const RARE: u32 = OTHER_WINDOW | OTHER_ID | OTHER_TTL | SACKS;
pub(super) const NUMBERS_AT: u32 = 18;
pub(super) const HEAD: usize = 4;

/// The possible lengths of a number.
pub(super) struct Sizes {
    /// Position of its two length bits in the head.
    at: u32,
    /// The lengths that these bits encode, bytes.
    bytes: [u8; 4],
    /// The largest number for each length.
    most: [u64; 4],
    /// Increment of [`PackedWriter::so_far`] for a number, by its [magnitude](Self::magnitude).
    step: [u64; 64],
}

/// The numbers of a segment, in the order in which they are stored.
pub(super) struct Layout {
    pub time: Sizes,
    pub place: Sizes,
    pub seq: Sizes,
    pub ack: Sizes,
    pub stamp: Sizes,
    pub echo: Sizes,
    pub len: Sizes,
}

/// In one static, so that one register can address all of them.
pub(super) static NUMBER: Layout = Layout {
    time: Sizes::of(NUMBERS_AT, [2, 3, 4, 8]),
    place: Sizes::of(NUMBERS_AT + 2, [1, 2, 3, 8]),
    seq: Sizes::of(NUMBERS_AT + 4, SMALL),
    ack: Sizes::of(NUMBERS_AT + 6, SMALL),
    stamp: Sizes::of(NUMBERS_AT + 8, SMALL),
    echo: Sizes::of(NUMBERS_AT + 10, SMALL),
    len: Sizes::of(NUMBERS_AT + 12, SMALL),
};
pub(super) const SMALL: [u8; 4] = [0, 1, 2, 4];
const _: () = assert!(NUMBERS_AT + 14 <= 8 * HEAD as u32);

impl Sizes {
    pub const fn of(at: u32, bytes: [u8; 4]) -> Self {
        let (mut most, mut step) = ([0; 4], [0; 64]);
        let mut index = 0;
        while index < 4 {
            most[index] = if bytes[index] == 0 { 0 } else { u64::MAX >> (64 - 8 * bytes[index] as u32) };
            index += 1;
        }
        let mut magnitude = 0;
        while magnitude < 64 {
            // Numbers that may have no bytes have 32 bits.
            let bits = if bytes[0] == 0 { magnitude } else { magnitude + 1 };
            let mut choice = 0;
            while choice < 3 && bits > 8 * bytes[choice] as usize {
                choice += 1;
            }
            step[magnitude] = (choice as u64) << (at + PackedWriter::HEAD_AT) | bytes[choice] as u64;
            magnitude += 1;
        }
        Self { at, bytes, most, step }
    }

    /// Position of the highest set bit of a number; plus one for numbers that may have no bytes, to
    /// have a value for 0.
    #[inline(always)]
    pub fn magnitude(&self, number: u64) -> usize {
        let filled = if self.bytes[0] == 0 { number << 1 | 1 } else { number | 1 };
        (filled.leading_zeros() ^ 63) as usize
    }

    /// The bits of its length in the head.
    pub const fn mask(&self) -> u32 {
        3 << self.at
    }
}

/// Largest size of the head and all numbers.
pub(super) const MAX_NUMBERS_LEN: usize = HEAD + 36;

/// Largest size of a segment: the numbers, 7 unpacked bytes, and 33 bytes of SACK blocks.
pub(super) const MAX_SEGMENT_LEN: usize = MAX_NUMBERS_LEN + 40;

/// Reads the numbers of a segment in order.
pub(super) struct NumberReader<'a> {
    pub head: u32,
    pub bytes: &'a [u8; MAX_NUMBERS_LEN],
    /// Offset after the last number.
    pub at: usize,
}

impl NumberReader<'_> {
    /// Reads one of the first two numbers, which are the large ones.
    #[inline(always)]
    pub fn large(&mut self, sizes: &Sizes) -> u64 {
        let choice = (self.head >> sizes.at & 3) as usize;
        let word = self.bytes[self.at & 31..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        self.at += usize::from(sizes.bytes[choice]);
        word & sizes.most[choice]
    }

    #[inline(always)]
    pub fn small(&mut self, sizes: &Sizes) -> u32 {
        let choice = (self.head >> sizes.at & 3) as usize;
        if choice == 0 {
            return 0;
        }
        let word = self.bytes.get(self.at..self.at + 4).and_then(<[u8]>::first_chunk);
        self.at += usize::from(sizes.bytes[choice]);
        word.map_or(0, |word| u32::from_le_bytes(*word)) & sizes.most[choice] as u32
    }
}

/// Reads unpacked bytes; zeros beyond the end, which valid data does not reach.
#[inline(always)]
pub(super) fn raw<const N: usize>(bytes: &[u8], at: &mut usize) -> [u8; N] {
    let from = *at;
    *at += N;
    bytes.get(from..*at).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// Writes a packed segment.
pub(super) struct PackedWriter {
    pub bytes: [u8; MAX_SEGMENT_LEN],
    /// The number of written bytes in the lowest byte, and the head from bit
    /// [`HEAD_AT`](Self::HEAD_AT) on: one addition updates both for a number.
    so_far: u64,
}

impl Default for PackedWriter {
    #[inline(always)]
    fn default() -> Self {
        Self { bytes: [0; MAX_SEGMENT_LEN], so_far: HEAD as u64 }
    }
}

impl PackedWriter {
    pub const HEAD_AT: u32 = 32;

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.so_far as usize & 0xff
    }

    /// Adds bits to the head.
    #[inline(always)]
    pub fn head(&mut self, bits: u32) {
        self.so_far |= u64::from(bits) << Self::HEAD_AT;
    }

    /// Writes the head before the rest.
    #[inline(always)]
    pub fn finish(&mut self) {
        if let Some(room) = self.bytes.first_chunk_mut() {
            *room = ((self.so_far >> Self::HEAD_AT) as u32).to_le_bytes();
        }
    }

    /// The packed segment.
    pub fn written(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or_default()
    }

    #[inline(always)]
    pub fn raw(&mut self, bytes: &[u8]) {
        let len = self.len();
        if let Some(room) = self.bytes.get_mut(len..len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.so_far += bytes.len() as u64;
        }
    }

    #[inline(always)]
    pub fn number(&mut self, sizes: &Sizes, number: u64) {
        // At most 39 when a number is written.
        let len = self.so_far as usize & 0x3f;
        if let Some(room) = self.bytes[len..].first_chunk_mut() {
            *room = number.to_le_bytes();
        }
        self.so_far += sizes.step[sizes.magnitude(number)];
    }
}

/// Moves the sign to the lowest bit, so that small numbers of either sign are short.
#[inline(always)]
pub(super) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[inline(always)]
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// The same for 32 bits.
#[inline(always)]
pub(super) fn zigzag_small(number: i32) -> u64 {
    ((number << 1 ^ number >> 31) as u32).into()
}

#[inline(always)]
pub(super) fn unzigzag_small(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

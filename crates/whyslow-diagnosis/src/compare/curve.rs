//! [`Curve`]: number of bytes by time, from the request on; beyond the transfer's end, its
//! extrapolation.

use super::chosen::ChosenTransfer;
use super::comparison::{ByteCurves, CurvePoint};
use super::reach::Prospect;
use whyslow_analysis::{LimitingFactor, Transfer};
use whyslow_units::Nanos;

/// Maximum number of rounds by which a curve is continued.
const MORE_ROUNDS: usize = 256;
/// Maximum bytes to which a curve is continued, as a multiple of the transferred ones.
const MORE_BYTES: u64 = 16;

/// A line through points, rising.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    points: Vec<CurvePoint>,
    /// Points beyond the transferred bytes.
    beyond: Vec<CurvePoint>,
}

impl Curve {
    /// The curve of a transfer, with its extrapolation.
    pub fn new(chosen: &ChosenTransfer<'_>, prospect: Option<&Prospect>) -> Self {
        let transfer = chosen.transfer;
        let zero = wait(transfer).unwrap_or_default();
        let (mut points, mut bytes) = (Vec::new(), 0_u64);
        let mut last = None;
        for round in &transfer.rounds {
            let start = zero + (round.start_s - transfer.start_s).or_zero();
            let first = CurvePoint { time: start, bytes };
            last = Some(first);
            points.push(first);
            bytes = bytes.saturating_add(round.bytes).min(transfer.bytes);
            points.push(CurvePoint { time: start + round.sending_s.or_zero(), bytes });
        }
        // The ACK of the last byte comes one round trip after it was sent.
        let done = zero + (transfer.duration_s - chosen.rtt().unwrap_or_default()).or_zero();
        points.push(CurvePoint { time: done, bytes: transfer.bytes });
        rise(&mut points);
        let mut curve = Self { points, beyond: Vec::new() };
        if let (Some(last), Some(prospect)) = (last, prospect) {
            curve.extrapolate(last, prospect);
        }
        curve
    }

    /// The last round, which the transfer did not fill, and those that would follow.
    fn extrapolate(&mut self, last_round: CurvePoint, prospect: &Prospect) {
        let Some(&end) = self.points.last() else { return };
        let most = end.bytes.saturating_mul(MORE_BYTES);
        let (mut start, mut flight) = (last_round, prospect.next);
        for _ in 0..MORE_ROUNDS {
            let whole = flight.max(1.0);
            let after = start.bytes.saturating_add(whole as u64);
            if after > end.bytes {
                self.beyond.push(start);
                self.beyond.push(CurvePoint { time: start.time + prospect.sending(whole), bytes: after });
            }
            if after >= most {
                break;
            }
            start = CurvePoint { time: start.time + prospect.round, bytes: after };
            flight = (flight * prospect.growth).min(prospect.most);
        }
        // It cannot have been there before the transfer's own last byte was.
        for point in &mut self.beyond {
            *point = point.max_of_each(end);
        }
        rise(&mut self.beyond);
    }

    /// When this many bytes have arrived; `None` if the curve ends before.
    pub fn when(&self, bytes: u64) -> Option<Nanos> {
        within(&self.points, bytes).or_else(|| within(&self.beyond, bytes))
    }

    /// For the renderers.
    pub fn into_output(mut self) -> ByteCurves {
        self.points.dedup();
        self.beyond.dedup();
        ByteCurves { captured: self.points, extrapolated: self.beyond }
    }

    /// The sizes at which the curve bends.
    pub fn bends(&self) -> impl Iterator<Item = u64> + '_ {
        self.points.iter().chain(&self.beyond).map(|point| point.bytes)
    }

    /// The largest size on it.
    pub fn end(&self) -> u64 {
        self.bends().max().unwrap_or(0)
    }
}

impl CurvePoint {
    /// The later time and the more bytes of two points.
    fn max_of_each(self, other: Self) -> Self {
        Self { time: self.time.max(other.time), bytes: self.bytes.max(other.bytes) }
    }
}

/// Time and bytes never go back.
fn rise(points: &mut [CurvePoint]) {
    let mut least = CurvePoint { time: Nanos::ZERO, bytes: 0 };
    for point in points {
        *point = point.max_of_each(least);
        least = *point;
    }
}

fn within(points: &[CurvePoint], bytes: u64) -> Option<Nanos> {
    let next = points.partition_point(|point| point.bytes < bytes);
    let &above = points.get(next)?;
    let Some(&below) = next.checked_sub(1).and_then(|last| points.get(last)) else {
        // The first extrapolated point is the end of the transfer.
        return (above.bytes == bytes).then_some(above.time);
    };
    let share = (bytes - below.bytes) as f64 / (above.bytes - below.bytes).max(1) as f64;
    Some(below.time + (above.time - below.time).scale(share))
}

/// From the request to the first byte; `None` if the transfer answers no request.
pub(super) fn wait(transfer: &Transfer) -> Option<Nanos> {
    let waits =
        |limit| matches!(limit, LimitingFactor::RequestWait | LimitingFactor::ServerThink | LimitingFactor::Timeout);
    let mut waited = transfer.before.iter().filter(|share| waits(share.limit)).peekable();
    waited.peek()?;
    Some(waited.map(|share| share.seconds.or_zero()).sum())
}

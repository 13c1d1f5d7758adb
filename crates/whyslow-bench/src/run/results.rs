//! [`Results`]: what was measured, and the arithmetic on it.

use super::input::Input;
use super::measure::Sample;

/// All measurements.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    pub(super) rows: Vec<Row>,
    /// Programs that are not installed.
    pub(super) missing: Vec<&'static str>,
    /// The packets of the inputs are those of the targets, divided by this.
    pub(super) smaller: u64,
    /// How many the machine has.
    pub(super) processors: usize,
}

/// One program on one input.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) input: &'static str,
    pub(super) program: &'static str,
    pub(super) packets: u64,
    pub(super) connections: u64,
    pub(super) samples: Vec<Sample>,
    /// Why there are no samples.
    pub(super) remark: Option<String>,
}

impl Row {
    pub(super) fn new(input: &Input, program: &'static str) -> Self {
        let &Input { name: input, packets, connections, .. } = input;
        Self { input, program, packets, connections, samples: Vec::new(), remark: None }
    }

    /// The median of something, and the least and the most.
    pub(super) fn of(&self, what: impl Fn(&Sample) -> f64) -> Option<[f64; 3]> {
        let mut values: Vec<_> = self.samples.iter().map(what).collect();
        values.sort_by(f64::total_cmp);
        Some([median(&values)?, *values.first()?, *values.last()?])
    }

    /// Seconds: the median.
    pub(super) fn wall(&self) -> Option<f64> {
        Some(self.of(|sample| sample.wall)?[0])
    }

    /// Seconds of the processors: the median.
    pub(super) fn cpu(&self) -> Option<f64> {
        Some(self.of(|sample| sample.cpu)?[0])
    }

    /// Nanoseconds a packet.
    pub(super) fn per_packet(&self) -> Option<f64> {
        Some(self.wall()? * 1e9 / self.packets.max(1) as f64)
    }

    /// The program's own memory at its most, bytes, over all runs: what is looked for too seldom is
    /// seen too low.
    pub(super) fn own(&self) -> Option<u64> {
        self.samples.iter().filter_map(|sample| sample.memory).map(|memory| memory.own).max()
    }

    /// Maximum memory, bytes.
    pub(super) fn peak(&self) -> Option<u64> {
        self.samples.iter().filter_map(|sample| sample.memory).map(|memory| memory.peak).max()
    }
}

impl Results {
    pub(super) fn missing(&mut self, program: &'static str) {
        if !self.missing.contains(&program) {
            self.missing.push(program);
        }
    }

    pub(super) fn row(&self, input: &str, program: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.input == input && row.program == program)
    }

    /// How many times as long the one took as the other.
    pub(super) fn ratio(&self, one: (&str, &str), other: (&str, &str)) -> Option<f64> {
        let wall = |(input, program)| self.row(input, program)?.wall();
        Some(wall(one)? / wall(other)?).filter(|ratio| ratio.is_finite())
    }

    /// Seconds that two things done at the same time take at least: as long as each of them alone,
    /// and as the processors need for both.
    pub(super) fn least_together(&self, one: (&str, &str), other: (&str, &str)) -> Option<f64> {
        let [one, other] = [one, other].map(|(input, program)| self.row(input, program));
        let (one, other) = (one?, other?);
        let shared = (one.cpu()? + other.cpu()?) / self.processors.max(1) as f64;
        Some(shared.max(one.wall()?).max(other.wall()?))
    }
}

/// The median of ascending values: the mean of the middle two if their number is even.
pub(super) fn median(ascending: &[f64]) -> Option<f64> {
    let upper = *ascending.get(ascending.len() / 2)?;
    let lower = *ascending.get(ascending.len().checked_sub(1)? / 2)?;
    Some((lower + upper) / 2.0)
}

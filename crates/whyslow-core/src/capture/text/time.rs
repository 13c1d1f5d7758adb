//! The times that tcpdump prints → nanoseconds on one line of time.
//!
//! Knows every form of `-t`: none (`-t`), the time of day, seconds since the epoch (`-tt`), the time since the packet
//! before (`-ttt`), date and time (`-tttt`) and the time since the first packet (`-ttttt`), in micro- or nanoseconds.
//! A time of day goes on over midnight. `-ttt`, `-ttttt` and a time of day just after midnight are written alike: the
//! reader holds the first packets back until the times themselves tell which it is. A date comes without its zone, and
//! is read as UTC.

use crate::capture::Clock;
use crate::units::Nanos;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// How many packets are held back at most, until it is known what their times count from.
const UNDECIDED: u32 = 64;

/// A time as printed, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Since the epoch: `-tt`, or `-tttt` with the date taken as UTC.
    Epoch(i64),
    /// `HH:MM:SS`: of the day, since the first packet, or since the packet before.
    Day(i64),
    /// Since the packet before, in the form of tcpdump before 4.0.
    Delta(i64),
}

/// A time at the start of `text`, how many bytes it takes, and how many digits its fraction has.
pub(super) fn parse(text: &str) -> Option<(Stamp, usize, usize)> {
    let (stamp, len, digits) = parse_form(text)?;
    text.as_bytes().get(len).is_some_and(|b| b.is_ascii_whitespace()).then_some((stamp, len, digits))
}

fn parse_form(text: &str) -> Option<(Stamp, usize, usize)> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'-' => {
            let (nanos, len, digits) = time_of_day(bytes.get(1..)?)?;
            return Some((Stamp::Day(-nanos), len + 1, digits));
        }
        b'A'..=b'Z' => return month_and_time(bytes),
        b'0'..=b'9' => {}
        _ => return None,
    }
    if let Some((nanos, len, digits)) = time_of_day(bytes) {
        return Some((Stamp::Day(nanos), len, digits));
    }
    if let Some(days) = date(bytes) {
        let (nanos, len, digits) = time_of_day(bytes.get(11..)?)?;
        return Some((Stamp::Epoch(days.checked_mul(DAY)?.checked_add(nanos)?), len + 11, digits));
    }
    let (seconds, len) = number(bytes, 1, 10)?;
    match bytes.get(len) {
        Some(b'.') if bytes.get(len + 1) == Some(&b' ') => {
            let (micros, digits) = number(bytes.get(len + 2..)?, 6, 6)?;
            let delta = seconds.checked_mul(SECOND)?.checked_add(micros * 1_000)?;
            Some((Stamp::Delta(delta), len + 2 + digits, 6))
        }
        Some(b'.') => {
            let (nanos, digits) = fraction(bytes.get(len + 1..)?)?;
            let known = digits >= 6;
            let epoch = seconds.checked_mul(SECOND)?.checked_add(nanos)?;
            known.then_some((Stamp::Epoch(epoch), len + 1 + digits, digits))
        }
        // Old -ttt below a second: six digits of microseconds and one space, where a packet's number has two.
        Some(b' ') if len == 6 && bytes.get(7).is_some_and(u8::is_ascii_alphabetic) => {
            Some((Stamp::Delta(seconds * 1_000), 6, 6))
        }
        _ => None,
    }
}

/// OpenBSD's `Jul 26 06:26:07.794026`: the year is missing, so that the date says nothing.
fn month_and_time(bytes: &[u8]) -> Option<(Stamp, usize, usize)> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    if !MONTHS.contains(&bytes.get(..3)?) || bytes.get(3) != Some(&b' ') || bytes.get(6) != Some(&b' ') {
        return None;
    }
    let (nanos, len, digits) = time_of_day(bytes.get(7..)?)?;
    Some((Stamp::Day(nanos), len + 7, digits))
}

/// `HH:MM:SS` with or without a fraction: nanoseconds, bytes taken, digits of the fraction.
fn time_of_day(bytes: &[u8]) -> Option<(i64, usize, usize)> {
    let (hours, _) = number(bytes, 2, 2)?;
    let (minutes, _) = number(bytes.get(3..)?, 2, 2)?;
    let (seconds, _) = number(bytes.get(6..)?, 2, 2)?;
    if bytes.get(2) != Some(&b':') || bytes.get(5) != Some(&b':') || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let whole = hours * HOUR + minutes * 60 * SECOND + seconds * SECOND;
    match bytes.get(8) {
        Some(b'.') => {
            let (nanos, digits) = fraction(bytes.get(9..)?)?;
            Some((whole + nanos, 9 + digits, digits))
        }
        _ => Some((whole, 8, 0)),
    }
}

/// `YYYY-MM-DD` and a separator: days since the epoch.
fn date(bytes: &[u8]) -> Option<i64> {
    let (year, _) = number(bytes, 4, 4)?;
    let (month, _) = number(bytes.get(5..)?, 2, 2)?;
    let (day, _) = number(bytes.get(8..)?, 2, 2)?;
    let separators = [bytes.get(4)?, bytes.get(7)?, bytes.get(10)?];
    let right = matches!(separators, [b'-', b'-', b' ' | b'T']) && (1..=12).contains(&month) && (1..=31).contains(&day);
    right.then(|| days_from_civil(year, month, day))
}

/// Days since 1970-01-01 in the Gregorian calendar; years count from March so that the leap day comes last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// A decimal number of `min` to `max` digits that no digit follows.
fn number(bytes: &[u8], min: usize, max: usize) -> Option<(i64, usize)> {
    let digits = bytes.iter().take(max + 1).take_while(|b| b.is_ascii_digit()).count();
    if digits < min || digits > max {
        return None;
    }
    let value = bytes.iter().take(digits).fold(0, |value: i64, b| value * 10 + i64::from(b - b'0'));
    Some((value, digits))
}

/// The digits after a decimal point, in nanoseconds. More than six are micro- or nanoseconds that a damaged capture had
/// too many of: they are not cut to a second.
fn fraction(bytes: &[u8]) -> Option<(i64, usize)> {
    let (value, digits) = number(bytes, 1, 10)?;
    let places = match digits {
        7 | 8 => 6,
        10 => 9,
        digits => digits,
    };
    Some(((places..9).fold(value, |value, _| value * 10), digits))
}

/// What the times are found to count from.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Start,
    Untimed,
    Epoch,
    Day { days: i64, before: i64 },
    Delta { now: i64 },
    Undecided { before: i64, steps: u32, up: u32, down: u32, halved: u32 },
}

/// Where a packet goes on the line of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    At(Nanos),
    /// Not known yet: to be asked again once [`Timeline::is_undecided`] ends.
    Held,
}

/// Puts the printed times on one line of time.
#[derive(Debug)]
pub(super) struct Timeline {
    mode: Mode,
    /// How many `t` the command line had, if the text shows it.
    hint: Option<usize>,
    last: Nanos,
    /// Packets whose time was of another form than the first one's: they got the time of the packet before.
    pub(super) odd: u64,
}

impl Timeline {
    pub(super) fn new() -> Self {
        Self { mode: Mode::Start, hint: None, last: Nanos::ZERO, odd: 0 }
    }

    /// Learns from a command line such as `tcpdump -nttt -i eth0`, before the first packet.
    pub(super) fn see_command(&mut self, line: &str) {
        let mut words = line.split_whitespace().skip_while(|word| !word.ends_with("tcpdump"));
        if words.next().is_none() || !matches!(self.mode, Mode::Start) {
            return;
        }
        let options =
            words.take_while(|word| *word != "|").filter(|word| word.starts_with('-') && !word.starts_with("--"));
        let count = options.map(|word| word.matches('t').count()).sum();
        self.hint = (count > 0).then_some(count);
    }

    /// What the times mean.
    pub(super) fn clock(&self) -> Clock {
        match self.mode {
            Mode::Epoch => Clock::Absolute,
            Mode::Start | Mode::Untimed => Clock::None,
            Mode::Day { .. } | Mode::Delta { .. } | Mode::Undecided { .. } => Clock::Relative,
        }
    }

    /// Whether the packets seen so far do not tell yet what their times count from.
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self.mode, Mode::Undecided { .. })
    }

    /// Where the next packet goes, in the order of the text.
    pub(super) fn place(&mut self, stamp: Option<Stamp>) -> Placed {
        if let Mode::Start = self.mode {
            self.mode = match (stamp, self.hint) {
                (None, _) => Mode::Untimed,
                (Some(Stamp::Epoch(_)), _) => Mode::Epoch,
                (Some(Stamp::Delta(_)), _) => Mode::Delta { now: 0 },
                (Some(Stamp::Day(at)), Some(3)) if at < HOUR => Mode::Delta { now: 0 },
                (Some(Stamp::Day(at)), None) if at < HOUR => {
                    Mode::Undecided { before: at, steps: 0, up: 0, down: 0, halved: 0 }
                }
                (Some(Stamp::Day(at)), _) => Mode::Day { days: 0, before: at },
            };
        }
        let at = match (&mut self.mode, stamp) {
            (Mode::Undecided { before, steps, up, down, halved }, Some(Stamp::Day(at))) => {
                *steps += 1;
                *up += u32::from(at > *before);
                *down += u32::from(at < *before);
                *halved += u32::from(at < *before / 2);
                *before = at;
                if *steps >= UNDECIDED {
                    self.decide();
                }
                return Placed::Held;
            }
            (Mode::Undecided { .. }, _) => return Placed::Held,
            (Mode::Untimed, _) => Some(0),
            (Mode::Epoch, Some(Stamp::Epoch(at))) => Some(at),
            (Mode::Day { days, before }, Some(Stamp::Day(at))) => {
                if at < before.saturating_sub(DAY / 2) {
                    *days = days.saturating_add(1);
                }
                *before = at;
                Some(days.saturating_mul(DAY).saturating_add(at))
            }
            (Mode::Delta { now }, Some(Stamp::Delta(step) | Stamp::Day(step))) => {
                *now = now.saturating_add(step);
                Some(*now)
            }
            _ => None,
        };
        match at {
            Some(at) => self.last = Nanos(at),
            None => self.odd += 1,
        }
        Placed::At(self.last)
    }

    /// Decides by what was seen: times since the packet before go down about as often as up, and far, or stay as they
    /// are; all others go up, but for packets out of order.
    pub(super) fn decide(&mut self) {
        if let Mode::Undecided { steps, up, down, halved, .. } = self.mode {
            let falls = down > 0 && (down * 5 >= steps || halved * 8 >= steps);
            let stays = up == 1 && down == 0 && steps > 2;
            let deltas = falls || stays;
            self.mode = if deltas { Mode::Delta { now: 0 } } else { Mode::Day { days: 0, before: i64::MIN } };
        }
    }
}

//! Converts the times that tcpdump prints to nanoseconds on one timeline.
//!
//! Supports all forms of `-t`: none (`-t`), the time of day, seconds since the epoch (`-tt`), the
//! time since the previous packet (`-ttt`), date and time (`-tttt`) and the time since the first
//! packet (`-ttttt`), in micro- or nanoseconds; and the forms of times in logs. A time of day
//! continues over midnight. `-ttt`, `-ttttt` and a time of day just after midnight look the same:
//! the first packets are queued until the times or the senders' TCP timestamps show which form it
//! is. A few times that only increase do not show it. A date without a zone counts as UTC.

use super::relative::End;
use crate::capture::Clock;
use whyslow_units::Time;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// Maximum number of packets that are queued until the form of their times is known.
const UNDECIDED: u32 = 64;
/// This many increasing times are from a common base: times since the previous packet would be in
/// this order by chance at most once in 120.
const RISING: u32 = 6;
/// Maximum number of senders whose timestamps are tracked while packets are queued.
const MAX_SENDERS: usize = 8;
/// Milliseconds between two timestamps of a sender that distinguish the two interpretations.
const MIN_TICKS: i64 = 20;

/// A printed time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextTime {
    /// Since the epoch: `-tt`, or `-tttt` with the date taken as UTC.
    Epoch(i64),
    /// `HH:MM:SS`: time of day, or since the first or the previous packet.
    Day(i64),
    /// Since the previous packet, in the form of tcpdump before 4.0.
    Delta(i64),
    /// Since the first or the previous packet: the time column of tshark.
    Elapsed(i64),
}

/// A time in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrintedTime {
    pub(super) stamp: TextTime,
    /// Its length in bytes, a closing bracket after it included.
    pub(super) len: usize,
    /// Number of fractional digits; 0 for whole seconds.
    pub(super) digits: usize,
    /// Not a form of tcpdump: a log added it.
    pub(super) logged: bool,
}

/// The time at the start of `text`.
pub(super) fn parse(text: &str) -> Option<PrintedTime> {
    let mut time = parse_form(text)?;
    let bytes = text.as_bytes();
    if let Some(b']' | b')' | b'|' | b',' | b':') = bytes.get(time.len) {
        (time.len, time.logged) = (time.len + 1, true);
    }
    bytes.get(time.len).is_some_and(u8::is_ascii_whitespace).then_some(time)
}

/// The time in `text`, which contains nothing else except spaces.
pub(super) fn parse_all(text: &str) -> Option<PrintedTime> {
    let time = parse_form(text.trim_end())?;
    (time.len == text.trim_end().len()).then_some(time)
}

fn parse_form(text: &str) -> Option<PrintedTime> {
    let bytes = text.as_bytes();
    let own = |(stamp, len, digits)| PrintedTime { stamp, len, digits, logged: false };
    match bytes.first()? {
        b'-' => {
            let (nanos, len, digits) = time_of_day(bytes.get(1..)?)?;
            return Some(own((TextTime::Day(-nanos), len + 1, digits)));
        }
        b'A'..=b'Z' => return month_and_time(bytes),
        b'0'..=b'9' => {}
        _ => return None,
    }
    if let Some((nanos, len, digits)) = time_of_day(bytes) {
        return Some(PrintedTime { logged: bytes.get(8) == Some(&b','), ..own((TextTime::Day(nanos), len, digits)) });
    }
    if let Some(days) = date(bytes) {
        return date_and_time(bytes, days);
    }
    let (seconds, len) = number(bytes, 1, 10)?;
    match bytes.get(len) {
        Some(b'.') if bytes.get(len + 1) == Some(&b' ') => {
            let (micros, digits) = number(bytes.get(len + 2..)?, 6, 6)?;
            let delta = seconds.checked_mul(SECOND)?.checked_add(micros * 1_000)?;
            Some(own((TextTime::Delta(delta), len + 2 + digits, 6)))
        }
        Some(b'.') => {
            let (nanos, digits) = fraction(bytes.get(len + 1..)?)?;
            let known = digits >= 6;
            let epoch = seconds.checked_mul(SECOND)?.checked_add(nanos)?;
            known.then_some(own((TextTime::Epoch(epoch), len + 1 + digits, digits)))
        }
        // Old -ttt below a second: six digits of microseconds and one space; a packet number has
        // two.
        Some(b' ') if len == 6 && bytes.get(7).is_some_and(u8::is_ascii_alphabetic) => {
            Some(own((TextTime::Delta(seconds * 1_000), 6, 6)))
        }
        _ => None,
    }
}

/// `2026-01-01 10:00:00.123456`, and the ISO 8601 forms of logs: with `T`, a comma, a zone.
fn date_and_time(bytes: &[u8], days: i64) -> Option<PrintedTime> {
    let (nanos, len, digits) = time_of_day(bytes.get(11..)?)?;
    let len = len + 11;
    // Logs write any number of digits; tcpdump writes other numbers for a damaged time.
    let decimals = bytes.get(20..20 + digits).filter(|_| bytes.get(10) == Some(&b'T') && digits > 0);
    let nanos = match decimals {
        Some(decimals) => time_of_day(bytes.get(11..19)?)?.0 + decimal_fraction(decimals),
        None => nanos,
    };
    let (east, zone) = zone(bytes.get(len..)?).unwrap_or((0, 0));
    let at = days.checked_mul(DAY)?.checked_add(nanos)?.checked_sub(east)?;
    let logged =
        zone > 0 || bytes.get(10) == Some(&b'T') || bytes.get(4) == Some(&b'/') || bytes.get(19) == Some(&b',');
    Some(PrintedTime { stamp: TextTime::Epoch(at), len: len + zone, digits, logged })
}

/// `Z`, `+01:00`, `+0100`, `+01`: nanoseconds east of UTC, and the number of bytes.
fn zone(bytes: &[u8]) -> Option<(i64, usize)> {
    let sign = match bytes.first()? {
        b'Z' => return Some((0, 1)),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |at: usize| number(bytes.get(at..at + 2)?, 2, 2).map(|(value, _)| value);
    let hours = two(1)?;
    let (minutes, len) = match bytes.get(3) {
        Some(b':') => (two(4)?, 6),
        Some(b'0'..=b'9') => (two(3)?, 5),
        _ => (0, 3),
    };
    (hours <= 14 && minutes <= 59).then_some((sign * (hours * HOUR + minutes * 60 * SECOND), len))
}

/// OpenBSD's `Jul 26 06:26:07.794026`, and syslog's `Jul 6 06:26:07`: without the year the date is
/// not usable.
fn month_and_time(bytes: &[u8]) -> Option<PrintedTime> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    if !MONTHS.contains(&bytes.get(..3)?) || bytes.get(3) != Some(&b' ') || bytes.get(6) != Some(&b' ') {
        return None;
    }
    let (nanos, len, digits) = time_of_day(bytes.get(7..)?)?;
    Some(PrintedTime { stamp: TextTime::Day(nanos), len: len + 7, digits, logged: digits != 6 })
}

/// `HH:MM:SS` with or without a fraction: nanoseconds, number of bytes, fractional digits.
fn time_of_day(bytes: &[u8]) -> Option<(i64, usize, usize)> {
    let (hours, _) = number(bytes, 2, 2)?;
    let (minutes, _) = number(bytes.get(3..)?, 2, 2)?;
    let (seconds, _) = number(bytes.get(6..)?, 2, 2)?;
    if bytes.get(2) != Some(&b':') || bytes.get(5) != Some(&b':') || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let whole = hours * HOUR + minutes * 60 * SECOND + seconds * SECOND;
    let comma = || bytes.get(8) == Some(&b',') && bytes.get(9).is_some_and(u8::is_ascii_digit);
    if bytes.get(8) == Some(&b'.') || comma() {
        let (nanos, digits) = fraction(bytes.get(9..)?)?;
        Some((whole + nanos, 9 + digits, digits))
    } else {
        Some((whole, 8, 0))
    }
}

/// `YYYY-MM-DD` or `YYYY/MM/DD` and a separator: days since the epoch.
fn date(bytes: &[u8]) -> Option<i64> {
    let (year, _) = number(bytes, 4, 4)?;
    let (month, _) = number(bytes.get(5..)?, 2, 2)?;
    let (day, _) = number(bytes.get(8..)?, 2, 2)?;
    let separators = [bytes.get(4)?, bytes.get(7)?, bytes.get(10)?];
    let known = matches!(separators, [b'-', b'-', b' ' | b'T'] | [b'/', b'/', b' ']);
    let right = known && (1..=12).contains(&month) && (1..=31).contains(&day);
    right.then(|| days_from_civil(year, month, day))
}

/// Days since 1970-01-01 in the Gregorian calendar; years count from March so that the leap day
/// comes last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// A decimal number of `min` to `max` digits, not followed by another digit.
fn number(bytes: &[u8], min: usize, max: usize) -> Option<(i64, usize)> {
    let digits = bytes.iter().take(max + 1).take_while(|b| b.is_ascii_digit()).count();
    if digits < min || digits > max {
        return None;
    }
    let value = bytes.iter().take(digits).fold(0, |value: i64, b| value * 10 + i64::from(b - b'0'));
    Some((value, digits))
}

/// The digits after a decimal point, in nanoseconds. More than six may be an invalid fraction of a
/// damaged capture: they are not limited to a second.
fn fraction(bytes: &[u8]) -> Option<(i64, usize)> {
    let (value, digits) = number(bytes, 1, 10)?;
    let places = match digits {
        7 | 8 => 6,
        10 => 9,
        digits => digits,
    };
    Some(((places..9).fold(value, |value, _| value * 10), digits))
}

/// The digits after a decimal point, in nanoseconds, for any number of digits.
fn decimal_fraction(digits: &[u8]) -> i64 {
    let nanos = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
    nanos.fold(0, |value, digit| value * 10 + i64::from(digit.wrapping_sub(b'0') % 10))
}

/// The base of the times.
#[derive(Debug)]
enum Mode {
    Start,
    Untimed,
    Epoch,
    Day { days: i64, before: i64 },
    Delta { now: i64 },
    Undecided(Box<UndecidedTimes>),
}

/// A packet's sender and its TCP timestamp, which counts milliseconds on nearly all current hosts.
pub(super) type Ticks = (End, u32);

/// State of times that are either from a common base or since the previous packet.
#[derive(Debug, Default)]
struct UndecidedTimes {
    first: i64,
    before: i64,
    /// Their sum.
    sum: i64,
    steps: u32,
    /// They are tshark's, which are from the first packet unless the times contradict that.
    from_first: bool,
    up: u32,
    down: u32,
    halved: u32,
    senders: Vec<(End, [TimestampTick; 2])>,
}

/// A timestamp and its two possible sending times: the printed time, and the sum up to it.
#[derive(Clone, Copy, Debug)]
struct TimestampTick {
    value: u32,
    printed: i64,
    sum: i64,
}

impl UndecidedTimes {
    fn observe(&mut self, at: i64, ticks: Option<Ticks>) {
        if self.steps == 0 {
            (self.first, self.before) = (at, at);
        }
        self.steps += 1;
        self.up += u32::from(at > self.before);
        self.down += u32::from(at < self.before);
        self.halved += u32::from(at < self.before / 2);
        self.before = at;
        self.sum = self.sum.saturating_add(at);
        let Some((sender, value)) = ticks else { return };
        let tick = TimestampTick { value, printed: at, sum: self.sum };
        if let Some((_, [_, last])) = self.senders.iter_mut().find(|(known, _)| *known == sender) {
            *last = tick;
        } else if self.senders.len() < MAX_SENDERS {
            self.senders.push((sender, [tick; 2]));
        }
    }

    /// Whether each is since the previous packet; `None` if unknown.
    fn are_steps(&self) -> Option<bool> {
        let many = self.steps >= RISING;
        // With few times, one that is a little less than the previous one may be a reordered
        // packet.
        let falls = self.halved * 8 >= self.steps && self.halved > 0 || many && self.down * 5 >= self.steps;
        let stays = self.up == 1 && self.down == 0 && many;
        // With one packet, or two starting at zero, both interpretations are equal.
        let equal = self.sum == self.before;
        // Just after midnight: the time between packets is small compared with the time of day.
        let far = self.before.saturating_sub(self.first) < self.first / 2;
        self.by_ticks().or(if falls || stays {
            Some(true)
        } else if many || far || equal {
            Some(false)
        } else {
            None
        })
    }

    /// The decision by the senders' timestamps.
    fn by_ticks(&self) -> Option<bool> {
        let mut votes = self.senders.iter().filter_map(|(_, [first, last])| {
            let ticks = i64::from(last.value.wrapping_sub(first.value) as i32);
            let fits = |time: i64| (time / 1_000_000 - ticks).abs() <= 2 + ticks / 20;
            let (printed, sum) = (fits(last.printed - first.printed), fits(last.sum - first.sum));
            (ticks >= MIN_TICKS && printed != sum).then_some(sum)
        });
        let first = votes.next()?;
        votes.all(|vote| vote == first).then_some(first)
    }
}

/// Position of a packet on the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimelinePlace {
    At(Time),
    /// Unknown so far: to be asked again after [`Timeline::is_undecided`] ends.
    Held,
}

/// Converts printed times to one timeline.
#[derive(Debug)]
pub(super) struct Timeline {
    mode: Mode,
    /// Number of `t` in the command line, if the text shows it.
    hint: Option<usize>,
    last: Time,
    /// Packets with a time in another form than the first one's: they got the time of the previous
    /// packet.
    pub(super) odd: u64,
    /// The times are whole seconds.
    pub(super) coarse: bool,
    /// It is unknown what the times are relative to.
    pub(super) unclear: bool,
}

impl Timeline {
    pub(super) fn new() -> Self {
        Self { mode: Mode::Start, hint: None, last: Time::ZERO, odd: 0, coarse: false, unclear: false }
    }

    /// Reads a command line such as `tcpdump -nttt -i eth0`, before the first packet.
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

    /// The meaning of the times.
    pub(super) fn clock(&self) -> Clock {
        match self.mode {
            _ if self.coarse || self.unclear => Clock::None,
            Mode::Epoch => Clock::Absolute,
            Mode::Start | Mode::Untimed => Clock::None,
            Mode::Day { .. } | Mode::Delta { .. } | Mode::Undecided { .. } => Clock::Relative,
        }
    }

    /// Whether the packets so far do not show what their times are relative to.
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self.mode, Mode::Undecided { .. })
    }

    /// Position of the next packet, in the order of the text. `digits`: fractional digits of its
    /// time.
    pub(super) fn place(&mut self, stamp: Option<TextTime>, digits: usize, ticks: Option<Ticks>) -> TimelinePlace {
        if let Mode::Start = self.mode {
            self.coarse = stamp.is_some() && digits == 0;
            self.mode = match (stamp, self.hint) {
                (None, _) => Mode::Untimed,
                (Some(TextTime::Epoch(_)), _) => Mode::Epoch,
                (Some(TextTime::Delta(_)), _) => Mode::Delta { now: 0 },
                (Some(TextTime::Elapsed(_)), _) => {
                    Mode::Undecided(Box::new(UndecidedTimes { from_first: true, ..UndecidedTimes::default() }))
                }
                (Some(TextTime::Day(at)), Some(3)) if at < HOUR => Mode::Delta { now: 0 },
                (Some(TextTime::Day(at)), None) if at < HOUR && !self.coarse => Mode::Undecided(Box::default()),
                (Some(TextTime::Day(at)), _) => Mode::Day { days: 0, before: at },
            };
        }
        let at = match (&mut self.mode, stamp) {
            (Mode::Undecided(undecided), Some(TextTime::Day(at) | TextTime::Elapsed(at))) => {
                undecided.observe(at, ticks);
                if undecided.steps >= UNDECIDED {
                    self.decide();
                }
                return TimelinePlace::Held;
            }
            (Mode::Undecided { .. }, _) => return TimelinePlace::Held,
            (Mode::Untimed, _) => Some(0),
            // A whole second among finer times is less precise than the previous packet's time.
            (_, Some(_)) if digits == 0 && !self.coarse => None,
            (Mode::Epoch, Some(TextTime::Epoch(at))) => Some(at),
            (Mode::Day { days, before }, Some(TextTime::Day(at) | TextTime::Elapsed(at))) => {
                if at < before.saturating_sub(DAY / 2) {
                    *days = days.saturating_add(1);
                }
                *before = at;
                Some(days.saturating_mul(DAY).saturating_add(at))
            }
            (Mode::Delta { now }, Some(TextTime::Delta(step) | TextTime::Day(step) | TextTime::Elapsed(step))) => {
                *now = now.saturating_add(step);
                Some(*now)
            }
            _ => None,
        };
        match at {
            Some(at) => self.last = Time(at),
            None => self.odd += 1,
        }
        TimelinePlace::At(self.last)
    }

    /// Decides from the times so far: times since the previous packet decrease about as often as
    /// they increase, and by large factors, or stay equal; all others increase, except for
    /// reordered packets.
    pub(super) fn decide(&mut self) {
        if let Mode::Undecided(undecided) = &self.mode {
            let steps = undecided.are_steps();
            self.unclear = steps.is_none() && !undecided.from_first;
            self.mode = match steps {
                Some(true) => Mode::Delta { now: 0 },
                _ => Mode::Day { days: 0, before: i64::MIN },
            };
        }
    }
}

//! Changes of lines and words: what mails, terminals and people do to a text.

use super::mutate::Random;

/// Numbers that a counter, a time or a length may hold.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "0.5",
    "1e308",
    "18446744073709551615",
    "9223372036854775807",
    "99999999999999999999",
    "NaN",
    "1,5",
    "00:00:00",
    "23:59:60",
];

/// Changes lines or words; returns whether there were any.
pub(crate) fn change(random: &mut Random, bytes: &mut Vec<u8>, pool: &[Vec<u8>]) -> bool {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return false;
    }
    let at = random.below(lines.len());
    match random.below(9) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, lines[random.below(lines.len())].clone()),
        2 => lines[at..].reverse(),
        // A mail breaks a line at any blank, or quotes it.
        3 => {
            let line = lines[at].clone();
            let blanks: Vec<usize> = line.match_indices(' ').map(|(blank, _)| blank).collect();
            if !blanks.is_empty() {
                let (first, rest) = line.split_at(*random.pick(&blanks));
                lines[at] = format!("{first}\n> {rest}");
            }
        }
        4 => lines.iter_mut().for_each(|line| line.insert_str(0, "> ")),
        // Another number.
        5 | 6 => {
            let line = &lines[at];
            let digits: Vec<(usize, &str)> = line.match_indices(|c: char| c.is_ascii_digit()).collect();
            if !digits.is_empty() {
                let (place, _) = *random.pick(&digits);
                lines[at] = format!("{}{}{}", &line[..place], random.pick(NUMBERS), &line[place + 1..]);
            }
        }
        // A part of another output.
        7 => {
            let other: &Vec<u8> = random.pick(pool);
            let other = String::from_utf8_lossy(other).into_owned();
            let from = random.below(other.lines().count());
            lines.extend(other.lines().skip(from).take(1 + random.below(20)).map(str::to_owned));
        }
        _ => lines.truncate(at + 1),
    }
    *bytes = lines.join("\n").into_bytes();
    true
}

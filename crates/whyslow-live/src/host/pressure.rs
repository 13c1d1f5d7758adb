//! How long tasks wait for a processor: `/proc/pressure/cpu` (PSI), and a cgroup's `cpu.pressure`.

use std::io;
use std::path::Path;

/// Share of the last 10 s in which some task waited, 0 to 100.
///
/// # Errors
/// NotFound where the kernel was built without PSI; EOPNOTSUPP where it is switched off.
pub(super) fn cpu(proc: &Path) -> io::Result<f64> {
    let text = std::fs::read_to_string(proc.join("pressure/cpu"))?;
    parse(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// The line `some` for the last 10 s.
pub(super) fn parse(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ten_seconds_are_read() {
        let text = "some avg10=1.53 avg60=0.62 avg300=2.65 total=9449844137\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(parse(text), Some(1.53));
        assert_eq!((parse(""), parse("some avg60=1"), parse("some avg10=x")), (None, None, None));
    }
}

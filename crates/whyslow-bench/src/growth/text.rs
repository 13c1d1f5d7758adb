//! Inputs that are text as tcpdump prints it.

use std::io::{self, Write};

/// Two new names on each line.
pub(super) fn names(out: &mut dyn Write, count: u64) -> io::Result<()> {
    for i in 0..count {
        let (time, end) = (i % 1_000_000, i + 100);
        writeln!(
            out,
            "12:00:00.{time:06} IP h{i}.example.4000 > s{i}.example.http: Flags [P.], seq {i}:{end}, ack 1, win 500, length 100"
        )?;
    }
    Ok(())
}

/// A query for another name on each line, without a response.
pub(super) fn lookups(out: &mut dyn Write, count: u64) -> io::Result<()> {
    for i in 0..count {
        let (time, id) = (i % 1_000_000, i % 65_536);
        writeln!(out, "12:00:00.{time:06} IP 10.0.0.1.4000 > 10.0.0.2.53: {id}+ A? h{i}.example. (40)")?;
    }
    Ok(())
}

/// Another client on each line.
pub(super) fn conversations(out: &mut dyn Write, count: u64) -> io::Result<()> {
    for i in 0..count {
        let (time, end, [_, a, b, c]) = (i % 1_000_000, i + 100, (i as u32).to_be_bytes());
        writeln!(
            out,
            "12:00:00.{time:06} IP 10.{a}.{b}.{c}.4000 > 10.0.0.2.80: Flags [P.], seq {i}:{end}, ack 1, win 500, length 100"
        )?;
    }
    Ok(())
}

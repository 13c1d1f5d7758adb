//! Indented JSON, byte for byte as `serde_json`'s pretty printer writes it with two spaces. That
//! one writes indentation level by level, which dominates a long listing; this one writes it in one
//! piece.

use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Spaces for each level.
const STEP: usize = 2;
/// A comma, a line feed, and the indentation of as many levels as there ever are.
const MARGIN: &[u8] = b",\n                                                                ";

/// Indents by two spaces a level.
#[derive(Debug, Default)]
pub(super) struct Indented {
    depth: usize,
    /// Whether the object or array that is open, or ended last, has content.
    has_value: bool,
}

impl Indented {
    /// Begins a line.
    #[inline]
    fn line<W: ?Sized + Write>(&self, out: &mut W, first: bool) -> io::Result<()> {
        let spaces = STEP * self.depth;
        match MARGIN.get(usize::from(first)..2 + spaces) {
            Some(margin) => out.write_all(margin),
            None => write!(out, "{}\n{:spaces$}", if first { "" } else { "," }, ""),
        }
    }

    #[inline]
    fn begin<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        out.write_all(bracket)
    }

    #[inline]
    fn end<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        if self.has_value {
            self.line(out, true)?;
        }
        out.write_all(bracket)
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.line(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.line(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

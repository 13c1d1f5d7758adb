//! [`Harmless`]: JSON whose text is safe to show.
//!
//! All text, the names of members included, is made [`harmless`], so a reader that prints it
//! (`jq -r .verdict`) prints nothing hidden. The members in [`RAW`], which a program uses again,
//! keep their value; their hidden characters are written as JSON escapes (`\u202e`), so the JSON
//! itself is safe to print too. So does everything in a log. For the page, which only shows text,
//! all of it is made harmless.

use crate::{harmless, is_hidden};
use serde_json::ser::{CharEscape, Formatter};
use std::io::{self, Write};

/// Members whose value a program uses again: the name of a capture opens the file.
const RAW: [&str; 2] = ["capture", "path"];

/// Members that keep their value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Keep {
    #[default]
    None,
    /// Those in [`RAW`].
    Names,
    All,
}

/// Formats as `F` does, and makes text harmless.
#[derive(Debug, Default)]
pub(super) struct Harmless<F> {
    layout: F,
    keep: Keep,
    /// Whether a member's name is being written.
    in_key: bool,
    /// Whether the value being written stays unescaped.
    is_raw: bool,
}

impl<F: Default> Harmless<F> {
    /// For programs.
    pub(super) fn to_programs() -> Self {
        Self { keep: Keep::Names, ..Self::default() }
    }

    /// For a log: every value is kept.
    pub(super) fn exact() -> Self {
        Self { keep: Keep::All, is_raw: true, ..Self::default() }
    }

    /// For a page.
    pub(super) fn to_people() -> Self {
        Self::default()
    }
}

impl<F> Harmless<F> {
    /// Whether the value of a member is kept.
    fn keeps(&self, member: &str) -> bool {
        match self.keep {
            Keep::None => false,
            Keep::Names => RAW.contains(&member),
            Keep::All => true,
        }
    }

    /// Writes the content of a JSON string, without hidden characters.
    fn visible<W: ?Sized + Write>(text: &str, out: &mut W) -> io::Result<()> {
        // What was written out has backslashes, which JSON escapes; a piece of a string has no
        // others.
        out.write_all(harmless(text).replace('\\', "\\\\").as_bytes())
    }
}

impl<F: Formatter> Formatter for Harmless<F> {
    #[inline]
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        // A name may come from outside as well: that of a process, as the key of a map.
        if self.in_key {
            self.is_raw = self.keeps(fragment);
            return Self::visible(fragment, out);
        }
        // The greatest of all bytes, and not the first that is too great: several are looked at in
        // a step.
        if fragment.bytes().fold(0, u8::max) < b'\x7f' || !fragment.contains(is_hidden) {
            return out.write_all(fragment.as_bytes());
        }
        if !self.is_raw {
            return Self::visible(fragment, out);
        }
        let mut units = [0; 2];
        for c in fragment.chars() {
            if is_hidden(c) {
                c.encode_utf16(&mut units).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
            } else {
                out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        let control = match escape {
            _ if self.is_raw && !self.in_key => None,
            CharEscape::Quote | CharEscape::ReverseSolidus | CharEscape::Solidus => None,
            CharEscape::Backspace => Some('\u{8}'),
            CharEscape::FormFeed => Some('\u{c}'),
            CharEscape::LineFeed => Some('\n'),
            CharEscape::CarriageReturn => Some('\r'),
            CharEscape::Tab => Some('\t'),
            CharEscape::AsciiControl(byte) => Some(char::from(byte)),
        };
        match control {
            Some(control) => Self::visible(control.encode_utf8(&mut [0; 4]), out),
            None => self.layout.write_char_escape(out, escape),
        }
    }

    #[inline]
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.in_key = true;
        self.layout.begin_object_key(out, first)
    }

    #[inline]
    fn end_object_key<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.in_key = false;
        self.layout.end_object_key(out)
    }

    #[inline]
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_object_value(out)
    }

    #[inline]
    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.is_raw = self.keep == Keep::All;
        self.layout.end_object_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_object(out)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_array(out)
    }

    #[inline]
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.layout.begin_array_value(out, first)
    }

    #[inline]
    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_array_value(out)
    }
}

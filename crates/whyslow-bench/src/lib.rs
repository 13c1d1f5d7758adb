//! How fast whyslow is: the inputs, the runs, and what is made of them.
//!
//! - [`make`] writes the inputs. They come from a program and depend on nothing but the
//!   [`make::Recipe`]: no download, no clock, no number by chance but those drawn from a fixed
//!   seed, so that two machines measure the same bytes.
//!
//! - [`run`] runs whyslow and other programs on them in turn, and tells medians, ratios and which
//!   targets are met.
//! - [`walk`](walk::walk) is a yardstick.
//!
//! Nothing here is part of what users run; the library that is measured and this crate share no
//! code, for a generator that shared the analysis' idea of TCP would make inputs that suit it.
#![forbid(unsafe_code)]

pub mod make;
pub mod run;
pub mod walk;

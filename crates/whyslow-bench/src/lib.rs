//! How fast whyslow is: inputs, runs, and a report.
//!
//! - [`make`] writes the inputs. They depend on nothing but the [`make::Recipe`]: no download, no
//!   clock, no randomness but a fixed seed. So two machines measure the same bytes.
//! - [`run`] runs whyslow and other programs on them in turn, and reports medians, ratios and which
//!   targets are met.
//! - [`growth`] runs whyslow on hostile inputs of growing size, and reports how time and memory
//!   grow.
//! - `replay` sends the packets of an input over a network interface, at a given rate (Linux).
//! - [`walk`](walk::walk) goes from record to record and does nothing else: a yardstick.
//!
//! This crate shares no code with the analysis. A generator with the same idea of TCP would make
//! inputs that suit it.
#![forbid(unsafe_code)]

pub mod growth;
pub mod make;
#[cfg(target_os = "linux")]
pub mod replay;
pub mod run;
pub mod walk;

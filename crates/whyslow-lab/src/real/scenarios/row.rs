//! A row of the table, and causes that several rows name.

use super::super::label::Label;
use super::drawn::DrawnRun;
use crate::draws::Chance;
use crate::net::config::Host;

/// A scenario of the table.
pub(crate) struct Row {
    /// Its name.
    pub name: &'static str,
    /// The right explanation.
    pub label: Label,
    /// Draws its path and its programs' arguments.
    pub draw: fn(&mut Chance) -> DrawnRun,
}

pub(super) const fn row(
    name: &'static str,
    draw: fn(&mut Chance) -> DrawnRun,
    right: &'static [&'static str],
    never: &'static [&'static str],
    why: &'static str,
) -> Row {
    Row { name, label: Label { right, never, why, unseen: &[], enough: false }, draw }
}

impl Row {
    /// It is enough that the cause is reported.
    pub(super) const fn need_not_be_first(mut self) -> Self {
        self.label.enough = true;
        self
    }

    pub(super) const fn invisible_at(mut self, hosts: &'static [Host]) -> Self {
        self.label.unseen = hosts;
        self
    }
}

/// The link is full, whatever else happens: a queue of more than 30 ms is deep by the vocabulary,
/// and a rate limit looks the same.
pub(super) const FULL: &[&str] = &["bandwidth", "bufferbloat", "shaper"];
/// A slow reader closes the window, or nearly.
pub(super) const SLOW_READER: &[&str] = &["zero-window", "receive-window", "host-cpu"];
/// No user waited for anything.
pub(super) const NOTHING: &[&str] = &["none"];
/// Causes that a program that waits only for its own user cannot have.
pub(super) const NO_WAIT: &[&str] =
    &["application", "server-think", "no-answer", "zero-window", "protocol-window", "delayed-ack"];
/// The same if the server has a login, which takes time.
pub(super) const NO_LOSS: &[&str] = &["application", "no-answer", "zero-window", "protocol-window", "delayed-ack"];
/// Causes that a full link rules out.
pub(super) const NOT_FULL: &[&str] =
    &["application", "policer", "random-loss", "mtu-black-hole", "host-cpu", "pacing", "server-think"];

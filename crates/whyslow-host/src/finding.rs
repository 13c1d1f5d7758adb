//! Findings of rules: the same data as those of texts ([`whyslow_evidence::Finding`]).

use whyslow_analysis::Unit;
use whyslow_evidence::Fix;
pub(crate) use whyslow_evidence::host::{
    BufferSize, Cap, Connections, Counted, Extent, Field, HostAction, HostCheck, HostStatement, Listener, Place,
    Processes, Since, Takes, TcpOption, Way, Who,
};
pub(crate) use whyslow_evidence::{Figure as Evidence, HostCause};
pub use whyslow_evidence::{Finding, Slug};

/// A figure with its unit.
pub(crate) fn figure(name: impl Into<String>, value: f64, unit: Unit, from: (Place, Since)) -> Evidence {
    Evidence::of_host(name, value, unit, from)
}

/// A text, as a socket's line.
pub(crate) fn text(name: impl Into<String>, text: impl Into<String>, from: (Place, Since)) -> Evidence {
    Evidence::text_of_host(name, text, from)
}

/// A remedy. Its command is pasted; it raises or removes what the finding names, and nothing else.
pub(crate) fn fix(actor: Who, action: HostAction, command: Option<String>) -> Fix {
    Fix::OfHost { actor, action, command }
}

/// The command of a finding's first remedy.
pub(crate) fn command(finding: &Finding) -> Option<&String> {
    match finding.remedies.first() {
        Some(Fix::OfHost { command, .. }) => command.as_ref(),
        _ => None,
    }
}

/// The same command, mutable.
pub(crate) fn command_mut(finding: &mut Finding) -> Option<&mut Option<String>> {
    match finding.remedies.first_mut() {
        Some(Fix::OfHost { command, .. }) => Some(command),
        _ => None,
    }
}

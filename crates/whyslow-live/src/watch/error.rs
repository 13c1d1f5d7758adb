//! Why nothing can be watched, and what to do about it.

use std::io;
use std::ops::Range;

/// Why packets cannot be taken from this machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// This user may not record packets.
    #[error(
        "packets cannot be recorded without the right to (CAP_NET_RAW)
  to do: run it with sudo, or give the program the right once:
         sudo setcap cap_net_raw+ep $(command -v whyslow)"
    )]
    NotPermitted,
    /// There is no such interface.
    #[error("there is no interface `{name}`; there are {}", known.join(", "))]
    NoInterface {
        /// The requested name.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// The interface that was watched was removed.
    #[error("the interface `{0}` was removed")]
    Removed(String),
    /// The kernel has no memory for the ring.
    #[error("the kernel has no memory for a ring of {size} bytes: ask for a smaller one")]
    RingTooLarge {
        /// Bytes that were asked for.
        size: usize,
    },
    /// An option has a value that cannot be.
    #[error("{what} is {value}: it must be {allowed}")]
    Option {
        /// The option, in words.
        what: &'static str,
        /// The requested value, with its unit.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// The filter cannot be used.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Some other error of the kernel's.
    #[error("{action}: {error}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// The kernel's error.
        error: io::Error,
    },
}

impl WatchError {
    /// For `map_err`: this was attempted.
    pub(super) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self + Copy {
        move |error| Self::System { action, error: error.into() }
    }
}

/// Why a filter cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// There is no compiler of filters.
    #[error(
        "a filter needs tcpdump, which compiles it, and it is not installed
  to do: install tcpdump (apt install tcpdump, dnf install tcpdump), or leave the filter out:
         TCP and ICMP errors are taken then"
    )]
    NoCompiler,
    /// tcpdump could not be started.
    #[error("tcpdump, which compiles filters, cannot be started: {0}")]
    Compiler(io::Error),
    /// The expression is not understood.
    #[error("the filter is not understood: {message}\n{}", caret(expression, at.as_ref()))]
    Expression {
        /// The filter.
        expression: String,
        /// libpcap's message.
        message: String,
        /// The bytes of the expression that it is about, where the message names them.
        at: Option<Range<usize>>,
    },
    /// The filter uses data that the kernel does not have where it runs it.
    #[error("the filter `{expression}` cannot be used here: {reason}\n  to do: {advice}")]
    Unusable {
        /// The filter.
        expression: String,
        /// Why.
        reason: String,
        /// An alternative.
        advice: &'static str,
    },
}

/// The expression, with carets below the wrong part.
fn caret(expression: &str, at: Option<&Range<usize>>) -> String {
    let mut out = format!("  {expression}");
    if let Some(at) = at {
        let column = expression[..at.start].chars().count();
        let width = expression[at.clone()].chars().count().max(1);
        out += &format!("\n  {}{}", " ".repeat(column), "^".repeat(width));
    }
    out
}

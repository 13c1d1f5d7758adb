//! Messages on stderr.

/// Reports something on stderr. It may name files and clients; it cannot steer the terminal.
pub(crate) fn complain(text: &str) {
    whyslow_output::complain("whyslow-gateway", text);
}

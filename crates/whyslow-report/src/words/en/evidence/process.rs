//! Where a process waited, and where the time of a page load went.

use super::phase::name;
use crate::words::quantity::{number, seconds};
use whyslow_evidence::{Call, CallStatement, PageStatement as P};

pub(super) fn calls(statement: &CallStatement) -> String {
    let CallStatement::Waited { call, on, took_s, whole_s, calls, longest_s } = statement;
    let on = if on.is_empty() { String::new() } else { format!(" ({on})") };
    let what = match call {
        Call::Receive => "waited for data of the peer",
        Call::Send => "waited for room in the send buffer: the kernel took its data late",
        Call::Connect => "waited for a connection",
        Call::Disk => "waited for files",
        Call::Sleep => "slept",
        Call::Lock => "waited for a lock",
    };
    format!(
        "the process {what}{on} for {} of {}, in {} calls of up to {}",
        seconds(*took_s),
        seconds(*whole_s),
        number(*calls),
        seconds(*longest_s)
    )
}

pub(super) fn page(statement: &P) -> String {
    match statement {
        P::PagePhase { phase: of, took_s, whole_s, requests, worst, worst_s } => format!(
            "{} took {} of the {} of the page load, in {} slow {}; most for {worst}: {}",
            name(*of),
            seconds(*took_s),
            seconds(*whole_s),
            number(*requests),
            if *requests == 1.0 { "request" } else { "requests" },
            seconds(*worst_s)
        ),
        P::PageRedirects { count, took_s, whole_s } => format!(
            "{} {} took {} of the {} of the page load",
            number(*count),
            if *count == 1.0 { "redirect" } else { "redirects" },
            seconds(*took_s),
            seconds(*whole_s)
        ),
    }
}

//! Resets.

use crate::words::en::ends::name;
use crate::words::quantity::{thousands, time};
use whyslow_analysis::{End, MessageKind, UnansweredRequest};
use whyslow_units::Nanos;

pub(super) fn amid(by: End, message: MessageKind, into: Option<Nanos>, unacknowledged: u64) -> String {
    let message = match (by, message) {
        (End::Client, MessageKind::Request) => "its request",
        (End::Client, MessageKind::Response) => "the server's response",
        (End::Server, MessageKind::Request) => "the client's request",
        (End::Server, MessageKind::Response) => "its response",
    };
    let (by, bytes) = (name(by), thousands(unacknowledged));
    match into {
        Some(into) => format!(
            "the {by} reset the connection {} into {message}: {bytes} B of it were never acknowledged",
            time(into)
        ),
        None => format!("the {by} reset the connection while {bytes} B of {message} were in flight"),
    }
}

pub(super) fn behind_full_segment(into: Nanos) -> String {
    let into = time(into);
    format!(
        "the server reset the connection {into} into its response, right behind a full segment; all that it sent arrived"
    )
}

pub(super) fn closed_before_request(request: &UnansweredRequest) -> String {
    format!("the server had closed the connection when a request arrived ({}), and sent a RST", label(request))
}

pub(super) fn request_reset(request: &UnansweredRequest) -> String {
    format!("the server responded to a request with a RST ({})", label(request))
}

pub(super) fn without_response(request: &UnansweredRequest, waited: Nanos) -> String {
    let waited = time(waited);
    format!("the server reset the connection {waited} after a request ({}), without a response", label(request))
}

pub(super) fn client_left(waited: Nanos) -> String {
    format!("the client ended the connection {} after its request, before a response arrived", time(waited))
}

pub(super) fn before_data(waited: Nanos) -> String {
    format!("the server reset the connection {} after the SYN, before any data was sent", time(waited))
}

/// `GET /`, or else `100 B`.
fn label(request: &UnansweredRequest) -> String {
    request.line.clone().unwrap_or_else(|| format!("{} B", thousands(request.bytes)))
}

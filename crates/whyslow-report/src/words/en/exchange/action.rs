//! What to do about applications, requests and connections.

use crate::words::en::ends::name;
use crate::words::en::lookup;
use crate::words::quantity::{thousands, time};
use whyslow_analysis::{ClientState, End, ExchangeAction, LogTopic};

const UDP_DROPS: &str = "look for a firewall or a rate limit that drops UDP, a full receive buffer of the server's UDP socket, or a lossy link";

pub(in crate::words::en) fn action(action: &ExchangeAction) -> String {
    use ExchangeAction as A;
    match action {
        A::KeepDataReady => {
            "have the data ready when it can be sent: read ahead, write larger pieces, and do not wait for other services between writes".to_owned()
        }
        A::WriteLargerPieces => {
            "write larger pieces, and profile what the application waits for between its writes".to_owned()
        }
        A::ProfileRequest { at: End::Server } => "profile this request on the server or its backend".to_owned(),
        A::ProfileRequest { at: End::Client } => "profile this request on the client".to_owned(),
        A::RequestEarlier => {
            "profile the client's application before it sends a request: do its own work in parallel with transfers, and request earlier".to_owned()
        }
        A::BatchRequests => "send the requests together: batch or pipeline them".to_owned(),
        A::MoveCloser => "run the two applications closer to each other".to_owned(),
        A::KeepUpstreamConnections => {
            "keep the connections behind this address open, so that slow start does not delay every response".to_owned()
        }
        A::KeepConnections { by } => keep_connections(*by),
        A::AddRoute { at, to } => format!("give {at} a route to {to}, or repair the one that it had"),
        A::CheckHost { host, router } => format!(
            "check that {host} is up: {router}, the last router before it, gets no response from it (ARP, neighbor discovery)"
        ),
        A::StartService { host, port } => format!("on {host}, start the service that should listen{}", on(*port)),
        A::AllowPort { at, host, port } => allow(at, host, *port),
        A::FindRoutingLoop { host, .. } => {
            format!("find routers that send packets to {host} back to each other: a routing loop")
        }
        A::CheckServer { host, port } => {
            let port = on(*port);
            format!("check that {host} is up and listens{port}, and that no firewall or route drops the SYNs or the responses")
        }
        A::CheckWayBack { host } => {
            format!("check whether a firewall, or the route back from the server, drops packets to {host}")
        }
        A::CheckPeer { end } => {
            format!("check that the {} is still up, and that packets still pass to it and back", name(*end))
        }
        A::SendKeepalives { idle_s } => keepalives(time(*idle_s)),
        A::ReadServerLog { about } => format!("check in the log of the server, or of a proxy before it, {}", log(*about)),
        A::FindWhyClientClosed { state } => client_closed(*state),
        A::FindResettingBox { end } => format!(
            "find the firewall or balancer between the two ends that sends resets in the name of the {end}: the {end} continued after this one",
            end = name(*end)
        ),
        A::FindWhyServerDrops => {
            "find out why the server drops connections that it has accepted: a full backlog (tcp_abort_on_overflow), a limit, or a proxy without a backend".to_owned()
        }
        A::CloseIdleSooner { idle_s } => close_sooner(time(*idle_s)),
        A::RetryOnNewConnection => "let the client repeat such a request on a new connection".to_owned(),
        A::CheckNameServer { .. } | A::CacheLookups | A::QualifyNames => lookup::action(action),
        A::KeepPathWarm => {
            "find what the first packet sets up (address resolution, NAT or firewall, VPN, radio, a balancer's own connection), and keep it active".to_owned()
        }
        A::FindSynDrops => {
            "look for a full accept backlog on the server, a firewall that drops SYNs, or a lossy link".to_owned()
        }
        A::FindUdpDrops => UDP_DROPS.to_owned(),
        A::LimitTlsRecords { to, first_flight } => limit_records(*to, *first_flight),
    }
}

fn keep_connections(by: End) -> String {
    match by {
        End::Client => {
            "keep the connection open in the client: use one client object with a pool, and read responses to their end"
        }
        End::Server => "let the server keep connections open (keep-alive and its timeout): it closes them first",
    }
    .to_owned()
}

fn allow(at: &str, host: &str, port: u16) -> String {
    let port = if port == 0 { String::new() } else { format!(" port {port}") };
    if at == host {
        format!("let the firewall on {at} pass packets to{}", if port.is_empty() { " it" } else { &port })
    } else {
        format!("let the filter at {at} pass packets to {host}{port}")
    }
}

fn on(port: u16) -> String {
    if port == 0 { String::new() } else { format!(" on port {port}") }
}

fn keepalives(idle: String) -> String {
    format!(
        "the connection had been silent for {idle}, and a NAT or firewall may have forgotten it: send keep-alives more often than its timeout"
    )
}

fn log(about: LogTopic) -> &'static str {
    match about {
        LogTopic::RequestReceived => "what the application does with this request: its host has acknowledged it",
        LogTopic::RequestDropped => "why it dropped this request",
        LogTopic::MessageCut => "why it gave up: what was transferred so far has to be transferred again",
        LogTopic::ResponseComplete => "whether it gave up before its response was complete",
    }
}

fn client_closed(state: ClientState) -> String {
    match state {
        ClientState::AmidResponse => {
            "find out why the client's application closed before it had read everything: a timeout, a limit, or a user who left"
        }
        ClientState::BeforeResponse => "find out why the client's application did not wait for the response",
    }
    .to_owned()
}

fn close_sooner(idle: String) -> String {
    format!(
        "the server had dropped the connection after {idle} of silence: let the client close idle connections sooner than the server does"
    )
}

fn limit_records(to: u64, first_flight: u64) -> String {
    format!(
        "begin responses with TLS records of at most {} B (the first flight is {} B); the data behind them takes as long as before",
        thousands(to),
        thousands(first_flight),
    )
}

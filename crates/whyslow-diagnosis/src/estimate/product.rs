//! The protocol above TCP and the program at an end: from headers, from the first bytes, or from
//! the port, which is the weaker evidence (IANA's registry of service names and port numbers).

use whyslow_analysis::types::{Application, Product, ProductEstimate, ProductEvidence, Side};
use whyslow_core::tcp::facts::Facts;
use whyslow_core::tcp::payload::Protocol;

/// The protocol of a connection.
pub(crate) fn application(facts: &Facts) -> Option<Application> {
    if let Some(notes) = &facts.quic {
        return Some(if notes.facts.is_http3() { Application::Http3 } else { Application::Quic });
    }
    let port = facts.endpoints[!facts.client].1;
    let carries = |protocol| facts.content.iter().any(|content| content.protocol == Some(protocol));
    if carries(Protocol::Ssh) {
        return Some(Application::Ssh);
    }
    if carries(Protocol::Tls) {
        return Some(of_tls_port(port));
    }
    if carries(Protocol::Http) {
        return Some(Application::Http);
    }
    of_port(port)
}

/// Whether packets show the protocol of a connection. A port alone is a convention: other protocols
/// use it as well (WebSocket on 8080, anything on 443).
pub(crate) fn is_application_shown(facts: &Facts) -> bool {
    facts.quic.is_some() || facts.content.iter().any(|content| content.protocol.is_some())
}

fn of_tls_port(port: u16) -> Application {
    match port {
        443 | 8443 => Application::Https,
        993 => Application::Imaps,
        465 => Application::Smtps,
        143 => Application::Imap,
        25 | 587 => Application::Smtp,
        5432 => Application::Postgresql,
        3306 => Application::Mysql,
        6379 | 6380 => Application::Redis,
        9092 | 9093 => Application::Kafka,
        _ => Application::Tls,
    }
}

fn of_port(port: u16) -> Option<Application> {
    Some(match port {
        22 => Application::Ssh,
        21 => Application::Ftp,
        25 | 587 => Application::Smtp,
        80 | 8080 => Application::Http,
        143 => Application::Imap,
        443 => Application::Https,
        465 => Application::Smtps,
        873 => Application::Rsync,
        993 => Application::Imaps,
        3306 => Application::Mysql,
        5201 => Application::Iperf,
        5432 => Application::Postgresql,
        6379 => Application::Redis,
        9092 => Application::Kafka,
        _ => return None,
    })
}

/// The program at `side`.
pub(crate) fn of(facts: &Facts, side: Side) -> Option<ProductEstimate> {
    let estimate = |value, evidence| Some(ProductEstimate { value, evidence });
    if let Some(value) = facts.content[side].product {
        return estimate(value, ProductEvidence::Header);
    }
    // Other SSH servers are rare; the greeting names the protocol, which has the same settings.
    if facts.content[side].protocol == Some(Protocol::Ssh) {
        return estimate(Product::Openssh, ProductEvidence::Greeting);
    }
    if side == facts.client {
        return None;
    }
    let value = match application(facts)? {
        Application::Postgresql => Product::Postgresql,
        Application::Mysql => Product::Mysql,
        Application::Redis => Product::Redis,
        Application::Kafka => Product::Kafka,
        Application::Ssh => Product::Openssh,
        Application::Http
        | Application::Https
        | Application::Imap
        | Application::Imaps
        | Application::Smtp
        | Application::Smtps
        | Application::Ftp
        | Application::Rsync
        | Application::Iperf
        | Application::Tls
        | Application::Http3
        | Application::Quic => return None,
    };
    estimate(value, ProductEvidence::Port)
}

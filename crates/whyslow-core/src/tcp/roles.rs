//! The side that opened a connection without captured SYNs, from its HTTP heads and its ports.
//! Requests of other protocols show it as well (`PayloadReaders::client`).

use super::payload::Content;
use whyslow_analysis::types::Side;

/// Ports of registered services where client ports are possible too: 512 to 1023 (rresvport(3),
/// used by NFS and rsh clients), and above (IANA's registry of service names and port numbers).
/// The port of a client may be a reserved one without a service: `mountd` and `lockd` serve such
/// clients on high ports.
const SERVICES: &[u16] = &[
    512, 513, 514, 515, 530, 540, 543, 544, 548, 554, 563, 587, 591, 593, 623, 631, 636, 639, 646, 647, 674, 691, 700,
    749, 783, 853, 860, 873, 902, 989, 990, 992, 993, 995, 1080, 1194, 1433, 1521, 1723, 1883, 2049, 2181, 2379, 2380,
    3128, 3260, 3268, 3306, 3389, 4222, 5060, 5222, 5269, 5432, 5671, 5672, 5900, 6379, 6443, 8080, 8443, 8883, 9042,
    9092, 11211, 27017,
];

/// Rank of a service's port.
const RANK_OF_SERVICE: u8 = 2;

/// Likelihood that a port belongs to a service; `None` for reserved ports, which clients use too.
/// Clients use high ports (RFC 6056).
fn service_rank(port: u16) -> Option<u8> {
    match port {
        _ if port < 512 || SERVICES.contains(&port) => Some(RANK_OF_SERVICE),
        512..1024 => None,
        1024..32_768 => Some(1),
        _ => Some(0),
    }
}

/// Returns the client; `None` if the ports do not differ in this respect.
pub(super) fn by_ports([a, b]: [u16; 2]) -> Option<Side> {
    let client = |is_a: bool| Some(if is_a { Side::A } else { Side::B });
    match (service_rank(a), service_rank(b)) {
        (Some(a), Some(b)) if a != b => client(a < b),
        (Some(RANK_OF_SERVICE), None) => client(false),
        (None, Some(RANK_OF_SERVICE)) => client(true),
        _ => None,
    }
}

/// Returns the client: the side that sends HTTP requests, or that does not send responses. `None`
/// without heads.
pub(super) fn by_heads(content: &[Content; 2]) -> Option<Side> {
    let is_request = |side: Side| {
        let (_, head) = content[side].heads.first()?;
        Some(head.starts_with(|first: char| first.is_ascii_alphabetic()))
    };
    match (is_request(Side::A), is_request(Side::B)) {
        (Some(true), None | Some(false)) | (None, Some(false)) => Some(Side::A),
        (None | Some(false), Some(true)) | (Some(false), None) => Some(Side::B),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_service_is_the_server() {
        // NFS and rsh clients use reserved ports.
        assert_eq!(by_ports([932, 2049]), Some(Side::A));
        assert_eq!(by_ports([514, 1023]), Some(Side::B));
        assert_eq!(by_ports([80, 40_000]), Some(Side::B));
        assert_eq!(by_ports([50_000, 7_000]), Some(Side::A));
        assert_eq!(by_ports([853, 40_000]), Some(Side::B));
        assert_eq!(by_ports([871, 40_000]), None, "a client of mountd, or an unregistered service");
        assert_eq!(by_ports([50_000, 51_000]), None);
    }

    #[test]
    fn status_line_comes_from_the_server() {
        let heads = |heads: [Option<&str>; 2]| {
            by_heads(&heads.map(|head| Content {
                heads: head.map(|head| (1, head.to_owned())).into_iter().collect(),
                ..Content::default()
            }))
        };
        assert_eq!(heads([Some("200 OK"), None]), Some(Side::B));
        assert_eq!(heads([Some("200 OK"), Some("POST /a")]), Some(Side::B));
        assert_eq!(heads([Some("GET /"), None]), Some(Side::A));
        assert_eq!(heads([None, None]), None);
        assert_eq!(heads([Some("GET /"), Some("GET /")]), None);
    }
}

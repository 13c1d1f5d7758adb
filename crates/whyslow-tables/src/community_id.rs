//! The Community ID of a flow (github.com/corelight/community-id-spec, version 1): what Zeek,
//! Suricata and Wireshark call the same connection.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use std::net::IpAddr;

/// As IP numbers protocols.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// An organisation's secret, so that others cannot guess its ids; 0 by default.
const SEED: u16 = 0;

/// The id of a connection over TCP, or of QUIC over UDP, in either order of its ends.
pub(crate) fn community_id(mut ends: [(IpAddr, u16); 2], is_quic: bool) -> String {
    ends.sort_by_key(|(address, port)| (octets(*address), *port));
    let mut hash = Sha1::new();
    hash.update(SEED.to_be_bytes());
    for (address, _) in ends {
        hash.update(octets(address));
    }
    hash.update([if is_quic { UDP } else { TCP }, 0]);
    for (_, port) in ends {
        hash.update(port.to_be_bytes());
    }
    format!("1:{}", STANDARD.encode(hash.finalize()))
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::community_id;

    fn of(ends: [(&str, u16); 2]) -> String {
        community_id(ends.map(|(address, port)| (address.parse().expect("an address"), port)), false)
    }

    /// From the specification's baseline, and from Zeek's test.
    #[test]
    fn published_vectors() {
        let vectors = [
            (("128.232.110.120", 34_855), ("66.35.250.204", 80), "1:LQU9qZlK+B5F3KDmev6m5PMibrg="),
            (("1.2.3.4", 1_122), ("5.6.7.8", 3_344), "1:wCb3OG7yAFWelaUydu0D+125CLM="),
            (
                ("2001:470:e5bf:dead:4957:2174:e82c:4887", 63_943),
                ("2607:f8b0:400c:c03::1a", 25),
                "1:/qFaeAR+gFe1KYjMzVDsMv+wgU4=",
            ),
        ];
        for (client, server, id) in vectors {
            assert_eq!(of([client, server]), id);
            assert_eq!(of([server, client]), id);
        }
    }
}
